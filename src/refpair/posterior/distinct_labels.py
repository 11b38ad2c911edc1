"""The distinct rows of a label matrix, and what training rows say of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.tables.labels import UNKNOWN, LabelMatrix, has_unknown


@dataclass(frozen=True, eq=False)
class DistinctLabels:
    """The distinct rows of a label matrix, in an order that does not depend on that of its rows.

    ``of_row`` tells which of them each row is, and ``counts`` how many rows each of them has.

    Rows may count differently, by their ``row_weight``. If labels are unknown, ``of_row`` is a row of
    ``observed``, where some are UNKNOWN, and of ``shares``: the probabilities of the ``vectors``, given what
    is known (completion.py). Then ``counts`` are sums of these.
    """

    vectors: npt.NDArray[np.uint8]
    of_row: npt.NDArray[np.int32]
    counts: npt.NDArray[Any]
    row_weight: npt.NDArray[np.float64] | None = None
    observed: npt.NDArray[np.uint8] | None = None
    shares: sp.csr_array | None = None

    @property
    def is_plain(self) -> bool:
        """Whether all labels are known and all rows count once."""
        return self.shares is None and self.row_weight is None

    @property
    def known(self) -> npt.NDArray[np.uint8]:
        """What is known of the label vectors, in the rows that ``of_row`` tells of."""
        return self.vectors if self.observed is None else self.observed

    @cached_property
    def frequencies(self) -> npt.NDArray[np.float64]:
        """The share of rows that have each label, of those where it is known."""
        known = self.known
        weights = np.bincount(self.of_row, self.row_weight, minlength=len(known))
        there, known_of = weights @ (known == 1), weights @ (known != UNKNOWN)
        return np.asarray(there / np.maximum(known_of, np.finfo(float).tiny))

    @cached_property
    def likeliest(self) -> npt.NDArray[np.int32]:
        """The likeliest vector of each row, the first one where several are."""
        if self.shares is None:
            return self.of_row
        data, start = self.shares.data, self.shares.indptr[:-1]
        largest = np.repeat(np.maximum.reduceat(data, start), np.diff(self.shares.indptr))
        at = np.flatnonzero(data == largest)
        return np.asarray(self.shares.indices[at[np.searchsorted(at, start)]][self.of_row], np.int32)

    def shares_of(self, rows: npt.NDArray[np.integer]) -> sp.csr_array:
        """Return what rows count for each of the vectors: in total, as much as they weigh."""
        of_rows = self.of_row[rows]
        weights = np.ones(len(rows)) if self.row_weight is None else self.row_weight[rows]
        if self.shares is None:
            ends = np.arange(len(rows) + 1)
            return sp.csr_array((weights, of_rows, ends), shape=(len(rows), len(self.vectors)))
        return sp.csr_array(sp.diags_array(weights) @ self.shares[of_rows])


def distinct_labels(labels: LabelMatrix, row_weight: npt.NDArray[np.float64] | None = None) -> DistinctLabels:
    """Find the distinct rows of an array, or of a canonical CSR array; of this, only they are made dense.

    Unknown labels of an array are a third value.
    """
    if sp.issparse(labels):
        seen: dict[bytes, int] = {}
        cells, ends = labels.indices.tobytes(), labels.indptr.astype(np.int64) * labels.indices.itemsize
        rows = (cells[start:end] for start, end in pairwise(ends.tolist()))
        of_row = np.array([seen.setdefault(row, len(seen)) for row in rows], np.intp)
        vectors = labels[np.unique(of_row, return_index=True)[1]].toarray()
        # Numbered as below, so that the same labels give the same model in either form.
        _, order, rank = np.unique(_as_bytes(vectors), return_index=True, return_inverse=True)
        vectors, of_row = vectors[order], rank[of_row]
    else:
        _, first, of_row = np.unique(_as_bytes(labels), return_index=True, return_inverse=True)
        vectors = labels[first]
    counts = np.bincount(of_row, row_weight, minlength=len(vectors))
    return DistinctLabels(np.ascontiguousarray(vectors), of_row.astype(np.int32), counts, row_weight)


def _as_bytes(labels: npt.NDArray[np.uint8]) -> npt.NDArray[np.void]:
    """Return each row as one item, which sorts by the first label, then by the second, and so on."""
    packed = np.ascontiguousarray(labels if has_unknown(labels) else np.packbits(labels, axis=1))
    return packed.view(f"V{packed.shape[1]}").ravel()
