"""Which bits were learnt without a row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["out_of_bag"]


def out_of_bag(
    in_bag: npt.NDArray[np.uint8], rows: npt.NDArray[np.integer], bits: slice
) -> npt.NDArray[np.bool_]:
    """Return which bits were learnt without which rows, of shape (n_rows, n_bits).

    Parameters
    ----------
    in_bag : ndarray of uint8, shape (n_bits, ceil(n / 8))
        As :attr:`TreeBank.in_bag_`.
    rows : ndarray of shape (n_rows,)
        Some of the n training rows: only their bits are unpacked.
    bits : slice

    Examples
    --------
    >>> in_bag = np.packbits(np.array([[1, 0, 1], [0, 1, 1]], np.uint8), axis=1)
    >>> out_of_bag(in_bag, np.array([0, 1]), slice(0, 2))
    array([[False,  True],
           [ True, False]])
    """
    packed = in_bag[bits][:, rows >> 3].T
    return np.asarray((packed >> (7 - (rows & 7)).astype(np.uint8)[:, None] & 1) == 0)
