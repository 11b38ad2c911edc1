"""The weights of rows that a caller gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_consistent_length

from refpair._parallel import in_memory
from refpair.on_disk import RowsOnDisk

Floats = npt.NDArray[np.float64]

_LARGE = 1e12  # beyond, and below its inverse, sums of weights and their squares are not exact


def weigh(X: Any, Y: Any, sample_weight: Any) -> tuple[Any, Any, Floats | None, npt.NDArray[np.bool_]]:
    """Return the rows that have a weight other than 0, their labels and weights, and which rows these are.

    The weights are None if all are 1.

    All else is read later: of rows of weight 0 nothing is known, nor are labels that they alone have.
    """
    X, Y, given = in_memory(X), in_memory(Y), in_memory(sample_weight)
    check_consistent_length(X, Y)
    weight = read_weights(given, _num_samples(X))
    kept = weight > 0.0
    if not kept.all():
        used = np.flatnonzero(kept)
        X, Y, weight = take_rows(X, used), take_rows(Y, used), weight[used]
    return X, Y, None if (weight == 1.0).all() else weight, kept


def read_weights(given: Any, n_rows: int) -> Floats:
    """Return weights as an array of their own, checked."""
    try:
        weight = np.array(given, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be numbers: {error}") from error
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must be {n_rows} numbers, one a row, not of shape {weight.shape}")
    wrong = np.flatnonzero(~np.isfinite(weight) | (weight < 0.0))
    if len(wrong):
        raise ValueError(
            f"sample_weight must be finite and not negative, but is {weight[wrong[0]]} in row {wrong[0]}"
        )
    if not weight.any():
        raise ValueError("sample_weight is zero for all rows: nothing is left to learn from")
    if not 1.0 / _LARGE <= weight.max() <= _LARGE:
        raise ValueError(
            f"the largest sample_weight must be from {1.0 / _LARGE:g} to {_LARGE:g}, but is "
            f"{weight.max():g}: scale all of them"
        )
    return weight


def take_rows(data: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Return some rows, in whatever form they are."""
    if isinstance(data, RowsOnDisk):
        raise ValueError(
            f"{data.path}: rows on disk cannot be left out, and some have sample_weight 0 or no known label"
        )
    if sp.issparse(data):
        data = data.tocsr()  # some forms have no rows
    elif not hasattr(data, "__getitem__"):
        data = np.asarray(data)
    return _safe_indexing(data, rows)
