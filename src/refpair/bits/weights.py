"""How often rows count in trees and bins, where they do not all count once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_MOST = 1 << 30  # copies of rows that whole numbers count
_STEPS = 1 << 10  # of the mean weight, where weights are not whole
_LEAST = 2.0**-30  # of the mean weight: less would be rounded up to as much, anyway


def check_row_weight(row_weight: npt.NDArray[np.float64], n_rows: int) -> None:
    """Refuse weights that are not one for each row, or that kernels cannot count with."""
    if row_weight.shape != (n_rows,):
        raise ValueError(f"weights of shape {row_weight.shape} are given for {n_rows} rows")
    if not ((row_weight > 0.0) & np.isfinite(row_weight)).all():
        raise ValueError("the weight of a row is not a finite number above 0")


def in_copies(row_weight: npt.NDArray[np.float64], most: int = _MOST) -> npt.NDArray[np.float64]:
    """Return weights that are whole numbers as they are: a row is as good as so many copies of it.

    Other weights, and those of more than `most` copies in all, are measured by their mean.
    """
    parts = row_weight / row_weight.max()
    if (row_weight == np.floor(row_weight)).all() and parts.sum() <= most / row_weight.max():
        return row_weight
    return np.asarray(np.maximum(parts / parts.mean(), _LEAST))


def in_whole_copies(row_weight: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], int]:
    """Return weights in whole numbers, and which of them stands for a row.

    That is 1 where they are whole numbers already. Other weights are rounded to 1/1024 of their mean, or to
    larger parts if there are very many rows; to one such part at least.
    """
    copies, unit = in_copies(row_weight), 1
    if copies is not row_weight:
        unit = max(1, min(_STEPS, _MOST // len(copies)))
    return np.maximum(np.rint(copies * unit), 1.0).astype(np.int64), unit
