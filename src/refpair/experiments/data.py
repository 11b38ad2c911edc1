"""Data sets as experiments need them: found by name or file, features that are numbers, labels 0 and 1."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from refpair._extras import pd
from refpair.datasets import MultiLabelData, list_datasets
from refpair.datasets.arff import read_arff
from refpair.datasets.load import find_data, is_file, read_data
from refpair.experiments.names import find_cost, is_own
from refpair.tables import Table, TableOptions, TableVectorizer
from refpair.tables.labels import label_columns, labeled_rows, read_labels, with_gaps

_SPARSE = 0.2  # of the cells are not 0, at most


@dataclass(frozen=True)
class Source:
    """Where a data set comes from: what tables call it, its file or name, and a digest of what is in it."""

    name: str
    data: str
    options: TableOptions = field(default_factory=TableOptions)
    digest: str = ""
    n_unknown: int = 0  # labels

    def read(self) -> MultiLabelData:
        """Read the data set."""
        return read_numeric(self.data, self.options)


def find_sources(
    data: Sequence[str],
    options: TableOptions = TableOptions(),  # noqa: B008  (it cannot be changed)
    costs: Sequence[str] = (),
) -> list[Source]:
    """Return the data sets that files, folders and names stand for; each is read, so that mistakes show now.

    Costs of the user's own are tried on the first labels of each, for the same reason.
    """
    words = [word for given in data for word in find_data(given)]
    if (options.labels is not None or options.drop) and not any(map(is_file, words)):
        raise ValueError(
            "data sets by name have their own labels and features; leave out --labels and --drop"
        )
    sources: dict[str, Source] = {}
    for word in words:
        if word == "-":
            raise ValueError("standard input can be read only once; experiments need a file")
        source = Source(Path(word).stem, word, options if is_file(word) else TableOptions())
        table = source.read()
        another = _is_another(table, source.name)  # results on it do not belong beside the paper's
        source = replace(
            source,
            name=Path(word).name if another else source.name,
            digest=_digest(table),
            n_unknown=int(np.isnan(table.Y).sum()),
        )
        known = sources.get(source.name)
        if known is not None and known != source:
            raise ValueError(f"{known.data} and {word} would both be called {source.name}; rename one")
        if table.X.shape[0] < 4:
            raise ValueError(f"{word}: {table.X.shape[0]} rows are too few to be split into halves")
        for name in filter(is_own, costs):
            _try_cost(name, table)
        sources[source.name] = source
    return list(sources.values())


def _try_cost(name: str, table: MultiLabelData) -> None:
    """Ask for the cost of some label vectors: one that fails should do so now, not after hours."""
    labels = table.Y[:5]
    try:
        find_cost(name).rows(labels, np.nan_to_num(labels[::-1]))
    except Exception as error:  # the user's own code may do anything
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"the cost {name} fails on labels of {table.name} ({why})") from error


def _is_another(table: MultiLabelData, name: str) -> bool:
    """Whether a table has the name of a data set of the paper, but is not of its size."""
    sizes = {info.name: (info.n_instances, info.n_features, info.n_labels) for info in list_datasets()}
    return name in sizes and (*table.X.shape, len(table.label_names)) != sizes[name]


def _digest(table: MultiLabelData) -> str:
    """Return a digest of features and labels."""
    digest = hashlib.sha256()
    X = table.X
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    for part in (*parts, table.Y):
        digest.update(str((part.shape, part.dtype)).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def read_numeric(data: str, options: TableOptions) -> MultiLabelData:
    """Read a file or a data set by its name, as numbers.

    In ARFF files, nominal values become numbers by their places, as in the paper's experiments. An .npz file
    has two arrays: features X, and labels Y of 0 and 1.
    """
    if Path(data).suffix.lower() == ".npz":
        return _read_arrays(Path(data))
    if Path(data).suffix.lower() == ".arff":
        return read_arff(data, options.labels, drop=options.drop)
    return numeric_data(read_data(data, options.labels, **options.reading), options)


def _read_arrays(path: Path) -> MultiLabelData:
    """Read X and Y; features of which less than a fifth are not zero become sparse."""
    with np.load(path, allow_pickle=False) as arrays:
        if not {"X", "Y"} <= {*arrays}:
            raise ValueError(f"{path}: the arrays X and Y are expected, and there are {', '.join(arrays)}")
        X, Y = arrays["X"], arrays["Y"]
    if X.ndim != 2 or Y.ndim != 2 or len(X) != len(Y) or not np.isin(Y, (0, 1)).all():
        raise ValueError(f"{path}: X and Y must be tables of as many rows, Y of 0 and 1")
    X = X.astype(np.float64)
    names = [f"x{place}" for place in range(X.shape[1])], [f"y{place}" for place in range(Y.shape[1])]
    is_sparse = np.count_nonzero(X) < _SPARSE * X.size
    return MultiLabelData(path.stem, sp.csr_array(X) if is_sparse else X, Y.astype(np.uint8), *names)


def numeric_data(table: Table, options: TableOptions) -> MultiLabelData:
    """Turn a table into numbers: a table of numbers as it is, others by :class:`refpair.TableVectorizer`."""
    if table.Y is None:
        raise ValueError(
            f"{table.name}: which columns are the labels? Name them, for example --labels joy,anger"
        )
    try:
        kept, _ = labeled_rows(table.Y)
        index = pd.Index(np.flatnonzero(kept) + 1)  # rows are named by their numbers in errors
        X, Y = table.X[kept].set_axis(index), table.Y[kept].set_axis(index)
        labels, form = read_labels(label_columns(Y, options.label_sep), "the labels", may_miss=True)
        if not options.kinds and all(map(pd.api.types.is_numeric_dtype, X.dtypes)):
            features, names = _numbers(X), [str(name) for name in X.columns]
        else:
            vectorizer = TableVectorizer(dict(options.kinds), folder=table.folder)
            features, names = vectorizer.fit_transform(X), vectorizer.get_feature_names_out().tolist()
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    label_names = [str(one) for one in form.classes]
    return MultiLabelData(table.name, features, np.asarray(with_gaps(labels)), names, label_names)


def _numbers(X: pd.DataFrame) -> np.ndarray | sp.csr_array:
    if X.shape[1] and all(isinstance(dtype, pd.SparseDtype) for dtype in X.dtypes):
        matrix = sp.csr_array(X.sparse.to_coo())  # type: ignore[attr-defined]
        matrix.sort_indices()
        parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
        return sp.csr_array(parts, shape=matrix.shape)
    return X.to_numpy(dtype=np.float64, na_value=np.nan)
