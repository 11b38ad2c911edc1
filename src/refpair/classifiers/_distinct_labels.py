"""The distinct rows of a label matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.tables.labels import LabelMatrix


@dataclass(frozen=True, eq=False)
class DistinctLabels:
    """The distinct rows of a label matrix, in an order that does not depend on that of its rows.

    ``of_row`` tells which of them each row is, and ``counts`` how many rows each of them has.
    """

    vectors: npt.NDArray[np.uint8]
    of_row: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


def distinct_labels(labels: LabelMatrix) -> DistinctLabels:
    """Find the distinct rows of an array, or of a CSR array without zeros; of this, only they are made dense.

    >>> found = distinct_labels(np.uint8([[1, 0], [0, 1], [1, 0]]))
    >>> found.vectors.tolist(), found.of_row.tolist(), found.counts.tolist()
    ([[0, 1], [1, 0]], [1, 0, 1], [1, 2])
    """
    if sp.issparse(labels):
        first, of_row = _alike(labels)
        vectors = labels[first].toarray()
        # Numbered as below, so that the same labels give the same model in either form.
        _, order, rank = np.unique(_as_bytes(vectors), return_index=True, return_inverse=True)
        vectors, of_row = vectors[order], rank[of_row]
    else:
        _, first, of_row = np.unique(_as_bytes(labels), return_index=True, return_inverse=True)
        vectors = labels[first]
    return DistinctLabels(
        np.ascontiguousarray(vectors), of_row.astype(np.int32), np.bincount(of_row, minlength=len(vectors))
    )


def _alike(labels: sp.csr_array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Find rows that have the same labels: return the first of each kind, and the kind of each row.

    Each label has a random number, and a row the sum of those of its labels: the same for the same labels,
    and hardly ever for others. That is looked at, and new numbers are drawn if it ever happens.
    """
    n_rows, n_labels = labels.shape
    start, sizes = labels.indptr[:-1].astype(np.int64), np.diff(labels.indptr)
    rng = np.random.default_rng(0)
    while True:
        numbers = rng.integers(2**64, size=n_labels, dtype=np.uint64)
        keys = np.zeros(n_rows, np.uint64)
        filled = sizes > 0  # reduceat has no empty sums
        if filled.any():
            keys[filled] = np.add.reduceat(numbers[labels.indices], start[filled])
        _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
        same = first[of_row]
        if (sizes == sizes[same]).all():
            theirs = np.repeat(start[same] - start, sizes) + np.arange(len(labels.indices))
            if (labels.indices == labels.indices[theirs]).all():
                return first, of_row


def _as_bytes(labels: npt.NDArray[np.uint8]) -> npt.NDArray[np.void]:
    """Return each row as one item, which sorts by the first label, then by the second, and so on."""
    packed = np.ascontiguousarray(np.packbits(labels, axis=1))
    return packed.view(f"V{packed.shape[1]}").ravel()
