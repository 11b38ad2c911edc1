"""The distinct rows of a label matrix."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.tables.labels import LabelMatrix, has_unknown


@dataclass(frozen=True, eq=False)
class DistinctLabels:
    """The distinct rows of a label matrix, in an order that does not depend on that of its rows.

    ``of_row`` tells which of them each row is, and ``counts`` how many rows each of them has.
    """

    vectors: npt.NDArray[np.uint8]
    of_row: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


def distinct_labels(labels: LabelMatrix) -> DistinctLabels:
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
    return DistinctLabels(
        np.ascontiguousarray(vectors), of_row.astype(np.int32), np.bincount(of_row, minlength=len(vectors))
    )


def _as_bytes(labels: npt.NDArray[np.uint8]) -> npt.NDArray[np.void]:
    """Return each row as one item, which sorts by the first label, then by the second, and so on."""
    packed = np.ascontiguousarray(labels if has_unknown(labels) else np.packbits(labels, axis=1))
    return packed.view(f"V{packed.shape[1]}").ravel()
