"""Bags: which rows each bit was learnt from, and so which bits were learnt without a row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from refpair._kernels.rng import draw_rows, write_out_of_bag
from refpair._saved import Savable, require

__all__ = ["Bags"]


@dataclass(frozen=True, eq=False)
class Bags(Savable):
    """The rows that bits drew, without replacement, of all training rows.

    They are not kept: a bit draws them from its seed, and draws them again whenever they are asked for.

    Attributes
    ----------
    seeds : ndarray of uint64, shape (n_bits,)
    n_rows : int
        How many training rows there were.
    n_sampled : int
        How many of them each bit drew.
    """

    seeds: npt.NDArray[np.uint64]
    n_rows: int
    n_sampled: int

    @classmethod
    def of(cls, seeds: npt.NDArray[np.uint64], n_rows: int, n_sampled: int) -> Bags | None:
        """Return the bags, or None if each bit has all rows."""
        return cls(seeds, n_rows, n_sampled) if n_sampled < n_rows else None

    def rows(self, bit: int) -> npt.NDArray[np.int32]:
        """Return the rows of a bit, in the order in which it drew them.

        Examples
        --------
        >>> Bags(np.uint64([7, 8]), n_rows=10, n_sampled=3).rows(0)
        array([5, 6, 3], dtype=int32)
        """
        return np.asarray(draw_rows(self.n_rows, self.n_sampled, self.seeds[bit]))

    def leave_out(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Return which bits were learnt without which rows, of shape (n_asked, n_bits).

        Parameters
        ----------
        rows : ndarray of shape (n_asked,)
            Some of the training rows.

        Examples
        --------
        >>> Bags(np.uint64([7, 8]), n_rows=10, n_sampled=3).leave_out(np.array([3, 8]))
        array([[False,  True],
               [ True, False]])
        """
        asked, which = np.unique(rows, return_inverse=True)
        place = np.full(self.n_rows, -1, np.int32)
        place[asked] = np.arange(len(asked), dtype=np.int32)
        out = np.empty((len(asked), len(self.seeds)), bool)
        write_out_of_bag(self.n_rows, self.n_sampled, self.seeds, place, out)
        return out[which]

    def take(self, bits: npt.NDArray[np.intp]) -> Bags:
        """Return the bags of some of the bits."""
        return replace(self, seeds=self.seeds[bits])

    def __len__(self) -> int:
        return len(self.seeds)

    def _check_saved(self) -> None:
        fine = self.seeds.ndim == 1 and 0 < self.n_sampled < self.n_rows < 2**31
        require(fine, "a bag is empty or too large")
