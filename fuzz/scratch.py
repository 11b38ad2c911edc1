"""What targets that read files share: a file to write to, and what any table must be like."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from refpair.datasets import MultiLabelData
from refpair.tables import Table

T = TypeVar("T")

_IN_MEMORY = Path("/dev/shm")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for one input, in memory where the system has such a place."""
    where = _IN_MEMORY if _IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="refpair-fuzz-", dir=where) as folder:
        yield Path(folder)


def result_or_refusal(read: Callable[[], T], path: Path, refusal: type[Exception] = ValueError) -> T | None:
    """Return what a reader gives, or None if it refuses the file in the one way that is allowed.

    That is an error of the right kind which names the file. Warnings are none of a user's business: they
    count as errors of the wrong kind.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return read()
        except refusal as error:
            # By the stem: the labels of an ARFF file come from an XML file of the same name.
            if path.name.split(".")[0] not in str(error):
                raise AssertionError(f"the error does not name the file: {error!r}") from error
            return None


def check_table(table: Table) -> None:
    """Check that names, shapes and types of a table fit together."""
    for frame in (table.X, table.Y):
        if frame is None:
            continue
        assert isinstance(frame.index, pd.RangeIndex)
        assert len(frame) == len(table.X) > 0
        assert frame.shape[1] > 0
        names = list(frame)
        assert all(type(name) is str and name.strip() == name for name in names)
        assert len(set(names)) == len(names)
        # libsvm's files may have thousands of columns, all of numbers.
        for name in names if len(names) < 100 else names[:1]:
            _check_column(frame[name])
    if table.Y is not None:
        assert not set(table.X) & set(table.Y) or table.name.endswith(".svm")


def _check_column(column: pd.Series) -> None:
    kind = column.dtype
    if isinstance(kind, pd.SparseDtype):
        kind = kind.subtype
    if isinstance(kind, np.dtype) and kind.kind in "biufM":
        assert kind.kind in "bM" or kind in (np.float64, np.int64, np.uint8), kind
        return
    for cell in column.tolist():
        assert isinstance(cell, list | bool | str) or np.isnan(cell), cell
        assert not isinstance(cell, str) or (cell and cell.strip() == cell)


def check_data(data: MultiLabelData) -> None:
    """Check that names, shapes and types of a data set fit together."""
    X, Y = data.X, data.Y
    assert isinstance(X, np.ndarray | csr_array), type(X)
    assert X.dtype == np.float64
    assert X.shape[1] == len(data.feature_names) == len(set(data.feature_names))
    assert all(type(name) is str for name in [*data.feature_names, *data.label_names])
    assert len(set(data.label_names)) == len(data.label_names)
    assert not set(data.feature_names) & set(data.label_names)
    if isinstance(X, csr_array):
        check_csr(X)
    assert type(Y) is np.ndarray
    assert Y.dtype == np.uint8
    assert Y.shape == (X.shape[0], len(data.label_names))
    assert Y.max(initial=0) <= 1


def check_csr(X: csr_array) -> None:
    """Check what scikit-learn's trees, which check nothing, take for granted."""
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.indptr[0] == 0
    assert X.indptr[-1] == len(X.indices) == len(X.data)
    assert (np.diff(X.indptr) >= 0).all()
    assert X.indices.min(initial=0) >= 0
    assert X.indices.max(initial=-1) < X.shape[1]
    assert X.has_canonical_format
