"""Data sets as experiments need them: features that are numbers, labels that are 0 and 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from refpair.datasets import MultiLabelData, read_arff, read_data
from refpair.tables import Table, TableOptions, TableVectorizer
from refpair.tables.labels import label_columns, labelled_rows, read_labels

__all__ = ["numeric_data", "read_numeric"]


def read_numeric(data: str, options: TableOptions) -> MultiLabelData:
    """Read a file or a data set by its name, as numbers.

    In ARFF files, nominal values become numbers by their places, as in the paper's experiments.

    Examples
    --------
    >>> from refpair.experiments.data import read_numeric
    >>> from refpair.tables import TableOptions
    >>> read_numeric("digits", TableOptions())
    MultiLabelData('digits': 3000 instances, 64 features, 10 labels)
    """
    if Path(data).suffix.lower() == ".arff":
        return read_arff(data, options.labels, drop=options.drop)
    return numeric_data(read_data(data, options.labels, **options.reading), options)


def numeric_data(table: Table, options: TableOptions) -> MultiLabelData:
    """Turn a table into numbers: a table of numbers as it is, others by :class:`refpair.TableVectorizer`.

    Texts and categories are counted in all rows, without their labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from refpair.experiments.data import numeric_data
    >>> from refpair.tables import Table, TableOptions
    >>> columns = pd.DataFrame({"tempo": [120, 90]})
    >>> table = Table("songs.csv", columns, pd.DataFrame({"joy": [True, False]}), None)
    >>> numeric_data(table, TableOptions()).Y
    array([[1],
           [0]], dtype=uint8)
    """
    if table.Y is None:
        raise ValueError(
            f"{table.name}: which columns are the labels? Name them, for example --labels joy,anger"
        )
    try:
        kept, _ = labelled_rows(table.Y)
        index = pd.Index(np.flatnonzero(kept) + 1)  # rows are named by their numbers in errors
        X, Y = table.X[kept].set_axis(index), table.Y[kept].set_axis(index)
        labels, form = read_labels(label_columns(Y, options.label_sep), "the labels")
        if not options.kinds and all(map(pd.api.types.is_numeric_dtype, X.dtypes)):
            features, names = _numbers(X), [str(name) for name in X.columns]
        else:
            vectorizer = TableVectorizer(dict(options.kinds), folder=table.folder)
            features, names = vectorizer.fit_transform(X), vectorizer.get_feature_names_out().tolist()
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    return MultiLabelData(table.name, features, np.asarray(labels), names, [str(one) for one in form.classes])


def _numbers(X: pd.DataFrame) -> np.ndarray | sp.csr_array:
    if X.shape[1] and all(isinstance(dtype, pd.SparseDtype) for dtype in X.dtypes):
        matrix = sp.csr_array(X.sparse.to_coo())  # type: ignore[attr-defined]
        matrix.sort_indices()
        parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
        return sp.csr_array(parts, shape=matrix.shape)
    return X.to_numpy(dtype=np.float64, na_value=np.nan)
