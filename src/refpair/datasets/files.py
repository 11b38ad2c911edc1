"""Tables that users bring: CSV, Parquet, ARFF and libsvm files, told apart by their endings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ._data import Matrix, store, unknown_name
from ._frames import feature_array, label_array, read_frame
from ._svmlight import read_svmlight
from .arff import parse_arff, read_label_names, split_labels


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table with or without labels.

    Attributes
    ----------
    name : str
        The file.
    X : ndarray or scipy.sparse.csr_array of shape (n_instances, n_features)
        The features, float64; empty cells are NaN.
    Y : ndarray of shape (n_instances, n_labels) or None
        The labels, uint8, or None if the table has none.
    feature_names, label_names : list of str
        The names of the columns of ``X`` and of ``Y``.

    Examples
    --------
    >>> import numpy as np
    >>> from refpair.datasets import Table
    >>> Table("songs.csv", np.zeros((2, 1)), None, ["tempo"], [])
    Table('songs.csv': 2 instances, 1 features, no labels)
    """

    name: str
    X: Matrix
    Y: NDArray[np.uint8] | None
    feature_names: list[str]
    label_names: list[str]

    def __repr__(self) -> str:
        n_instances, n_features = self.X.shape
        labels = "no labels" if self.Y is None else f"{len(self.label_names)} labels"
        return f"Table({self.name!r}: {n_instances} instances, {n_features} features, {labels})"


def read_table(
    path: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    require_labels: bool = True,
) -> Table:
    r"""Read a table of numbers, with labels if it has them.

    Parameters
    ----------
    path : path-like
        A file ending in .csv, .tsv (also .gz), .parquet, .arff, or .svm, .libsvm, .txt for libsvm's
        multi-label format.
    labels : sequence of str, optional
        The names of the label columns. ARFF files have them in the XML file of the same name beside them,
        libsvm files in their rows (there, names are the numbers, such as "3"), if not given here.
    features : sequence of str, optional
        The feature columns that a model wants: those are taken, by name and in this order, and all others
        are ignored, text too. By default all columns are features that are neither labels nor dropped.
    drop : sequence of str, default=()
        Columns to leave out.
    require_labels : bool, default=True
        Whether a table without all its labels is an error. If not, it has ``Y=None``; label columns that
        are there are still no features.

    Returns
    -------
    Table
        Numbers and bools are taken as they are, empty cells are NaN. In libsvm files the features are
        named by their indices; what a model wants but the file never mentions is zero there.

    Raises
    ------
    ValueError
        If a column is unknown, holds text, or is a label and holds anything but 0, 1, true and false; if the
        file is broken, or a few bytes of it claim gigabytes.
    ImportError
        If the file is Parquet and pyarrow is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from refpair.datasets import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "songs.csv")
    ...     _ = path.write_text("title,tempo,joy,anger\nHey,120,1,0\nOh,,true,true\n")
    ...     table = read_table(path, ["joy", "anger"], drop=["title"])
    >>> table
    Table('songs.csv': 2 instances, 1 features, 2 labels)
    >>> table.Y
    array([[1, 0],
           [1, 1]], dtype=uint8)
    """
    path = Path(path)
    for name, times in Counter(labels or ()).items():
        if times > 1:
            raise ValueError(f"the label {name!r} is named twice; remove one")
    table = _reader(path)(path, labels, features, drop, require_labels)
    if features is not None:
        return match_columns(table, features)
    if not table.feature_names:
        raise ValueError(f"{path}: no feature columns are left besides labels and dropped ones")
    return table


def match_columns(table: Table, feature_names: Sequence[str]) -> Table:
    """Pick feature columns by name, in the order given.

    Parameters
    ----------
    table : Table
        The table; it may have more columns, in any order.
    feature_names : sequence of str
        The names that a model was trained with.

    Returns
    -------
    Table
        The same table with these features.

    Raises
    ------
    ValueError
        If some are missing: the message lists them.

    Examples
    --------
    >>> import numpy as np
    >>> from refpair.datasets import Table, match_columns
    >>> table = Table("songs.csv", np.array([[1.0, 2.0, 3.0]]), None, ["a", "b", "c"], [])
    >>> match_columns(table, ["c", "a"]).X
    array([[3., 1.]])
    """
    position = {name: i for i, name in enumerate(table.feature_names)}
    missing = [name for name in feature_names if name not in position]
    if missing:
        listed = ", ".join(map(repr, missing[:10])) + (", ..." if len(missing) > 10 else "")
        raise ValueError(
            f"{table.name}: {len(missing)} of {len(feature_names)} feature columns are missing: {listed}; "
            f"{unknown_name('column', missing[0], position)}"
        )
    X = table.X[:, [position[name] for name in feature_names]]
    return replace(table, X=X, feature_names=list(feature_names))


Reader = Callable[[Path, Sequence[str] | None, Sequence[str] | None, Sequence[str], bool], Table]


def _reader(path: Path) -> Reader:
    readers: dict[Reader, tuple[str, ...]] = {
        _from_frame: (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq"),
        _from_arff: (".arff",),
        _from_svmlight: (".svm", ".libsvm", ".txt"),
    }
    for reader, endings in readers.items():
        if path.name.lower().endswith(endings):
            return reader
    known = ", ".join(ending for endings in readers.values() for ending in endings)
    raise ValueError(f"{path}: cannot tell the format by the name; known endings are {known}")


def _from_frame(
    path: Path,
    labels: Sequence[str] | None,
    features: Sequence[str] | None,
    drop: Sequence[str],
    require_labels: bool,
) -> Table:
    labels = _asked_for(path, labels, require_labels)
    frame = read_frame(path)
    _check_known(path, drop, list(frame.columns))
    frame = frame.drop(columns=list(drop))
    present = _present(path, labels, list(frame.columns), require_labels)
    Y = label_array(frame, labels, path) if labels and len(present) == len(labels) else None
    frame = frame.drop(columns=present)
    if features is not None:
        wanted = set(features)
        frame = frame[[name for name in frame.columns if name in wanted]]
    return Table(path.name, feature_array(frame, path), Y, list(frame.columns), [] if Y is None else labels)


def _from_arff(
    path: Path,
    labels: Sequence[str] | None,
    features: Sequence[str] | None,
    drop: Sequence[str],
    require_labels: bool,
) -> Table:
    xml = path.with_suffix(".xml")
    if labels is None and xml.is_file():
        labels = read_label_names(xml)
    labels = _asked_for(path, labels, require_labels)
    dropped, wanted = set(drop), None if features is None else {*features, *labels}
    file = parse_arff(path, lambda name: name not in dropped and (wanted is None or name in wanted))
    _check_known(path, drop, file.names)
    present = _present(path, labels, [a.name for a in file.attributes], require_labels)
    X, Y, names = split_labels(file, present)
    has_labels = bool(labels) and len(present) == len(labels)
    return Table(path.name, store(X, "auto"), Y if has_labels else None, names, labels if has_labels else [])


def _from_svmlight(
    path: Path,
    labels: Sequence[str] | None,
    features: Sequence[str] | None,
    drop: Sequence[str],
    require_labels: bool,
) -> Table:
    X, Y, names, found = read_svmlight(path, labels, features, strict=require_labels)
    _asked_for(path, found, require_labels)
    _check_known(path, drop, names)
    table = Table(path.name, X, Y, names, [] if Y is None else found)
    return match_columns(table, [name for name in names if name not in set(drop)]) if drop else table


def _asked_for(path: Path, labels: Sequence[str] | None, required: bool) -> list[str]:
    if required and not labels:
        raise ValueError(f"{path}: which columns are the labels? Name them, for example --labels joy,anger")
    return list(labels or ())


def _check_known(path: Path, names: Sequence[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{path}: {unknown_name('column', name, known)}")


def _present(path: Path, labels: list[str], columns: Collection[str], required: bool) -> list[str]:
    if required:
        _check_known(path, labels, columns)
    there = set(columns)
    return [label for label in labels if label in there]
