"""Sparse matrices: what users give is checked before compiled code follows its indices; the kind they get."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config

from refpair._saved import require, starts_in_order


def sparse_kind() -> Any:
    """Return the class of sparse results: arrays or matrices, as scikit-learn's ``sparse_interface`` says.

    It has that option since 1.9; matrices are its default, and all that it returned before.
    """
    return sp.csr_array if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix


def check_sparse(X: Any, name: str) -> None:
    """Raise a ValueError that names X if it is a sparse matrix whose parts do not fit together.

    That takes linear time and changes nothing. It comes before all else: SciPy looks at hardly any of this by
    itself, and converts, sorts and slices such a matrix beyond the end of its arrays.
    """
    if not sp.issparse(X) or X.ndim != 2:
        return
    n_rows, n_columns = X.shape
    if X.format not in ("csr", "csc", "bsr"):
        cells = X.tocoo()
        _check_places(cells.row, n_rows, "row", name)
        _check_places(cells.col, n_columns, "column", name)
        require(len(cells.row) == len(cells.col) == len(cells.data), f"{name} is not one value a cell")
        return
    height, width = X.blocksize if X.format == "bsr" else (1, 1)
    axes = [(n_rows // height, "row"), (n_columns // width, "column")]
    (n_parts, part), (n_places, place) = axes[::-1] if X.format == "csc" else axes
    start, index = X.indptr, X.indices
    fits = start.ndim == index.ndim == 1 and len(start) == n_parts + 1 and len(index) == len(X.data)
    fits = fits and start[-1] <= len(index) and starts_in_order(start, start[-1], may_be_empty=True)
    require(
        fits,
        f"{name} is a broken sparse matrix: indptr must have a number for each {part} and one more, from 0 "
        "upwards to the number of stored cells, and indices as many numbers as data has",
    )
    _check_places(index[: start[-1]], n_places, place, name)


def _check_places(index: Any, n: int, axis: str, name: str) -> None:
    if len(index) == 0:
        return
    low, high = index.min(), index.max()
    wrong = low if low < 0 else high
    what = f"{name} is a broken sparse matrix: it has a cell in {axis} {wrong}, and {n} {axis}s from 0 on"
    require(np.issubdtype(index.dtype, np.integer) and low >= 0 and high < n, what)
