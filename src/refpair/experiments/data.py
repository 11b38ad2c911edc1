"""Data sets as experiments need them: features that are numbers, labels that are 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from refpair.datasets import MultiLabelData, read_arff, read_data
from refpair.tables import Table

__all__ = ["numeric_data", "read_numeric"]

_TRUTH = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "false": 0.0, "true": 1.0}


def read_numeric(
    data: str,
    labels: Sequence[str] | None = None,
    *,
    drop: Sequence[str] = (),
    sep: str | None = None,
    encoding: str | None = None,
) -> MultiLabelData:
    """Read a file or a data set by its name, as numbers; see `read_data` for the parameters.

    In ARFF files, nominal values become numbers by their places, as in the paper's experiments.

    Examples
    --------
    >>> from refpair.experiments.data import read_numeric
    >>> read_numeric("digits")
    MultiLabelData('digits': 3000 instances, 64 features, 10 labels)
    """
    if Path(data).suffix.lower() == ".arff":
        return read_arff(data, labels, drop=drop)
    return numeric_data(read_data(data, labels, drop=drop, sep=sep, encoding=encoding))


def numeric_data(table: Table) -> MultiLabelData:
    """Turn a table into numbers; texts are refused.

    Examples
    --------
    >>> import pandas as pd
    >>> from refpair.experiments.data import numeric_data
    >>> from refpair.tables import Table
    >>> columns = pd.DataFrame({"tempo": [120, 90]})
    >>> numeric_data(Table("songs.csv", columns, pd.DataFrame({"joy": [True, False]}), None)).Y
    array([[1],
           [0]], dtype=uint8)
    """
    if table.Y is None:
        raise ValueError(
            f"{table.name}: which columns are the labels? Name them, for example --labels joy,anger"
        )
    names = [str(name) for name in table.X.columns]
    return MultiLabelData(table.name, _features(table), _labels(table), names, list(table.Y.columns))


def _features(table: Table) -> NDArray[np.float64] | csr_array:
    if all(isinstance(dtype, pd.SparseDtype) for dtype in table.X.dtypes):
        X = csr_array(table.X.sparse.to_coo())  # type: ignore[attr-defined]
        X.sort_indices()
        return csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    X = np.empty(table.X.shape)
    for place, name in enumerate(table.X.columns):
        try:
            X[:, place] = table.X[name].astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{table.name}: column {name!r} does not hold numbers ({error}); leave it out "
                f"with --drop {name!r}"
            ) from error
    return X


def _labels(table: Table) -> NDArray[np.uint8]:
    assert table.Y is not None
    Y = np.empty(table.Y.shape, dtype=np.uint8)
    for place, name in enumerate(table.Y.columns):
        cells = table.Y[name].tolist()
        values = np.array([_TRUTH.get(str(cell).lower(), np.nan) for cell in cells])
        for row in np.flatnonzero(np.isnan(values))[:1]:
            got = "an empty cell" if pd.isna(cells[row]) else repr(cells[row])
            raise ValueError(
                f"{table.name}: label column {name!r}, row {row + 1}: expected 0, 1, true or false, got {got}"
            )
        Y[:, place] = values
    return Y
