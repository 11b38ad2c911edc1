"""What the bits of a code have to learn."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.bits.problem import BitProblems
from refpair.coding.reference_pairs import ReferencePairCode
from refpair.tables.labels import UNKNOWN

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def bit_problems(
    code: ReferencePairCode,
    vectors: Bytes,
    vector_of_row: npt.NDArray[np.int32],
    seeds: npt.NDArray[np.uint64],
    n_votes: int = 0,
    *,
    shares: sp.csr_array | None = None,
    row_weight: Floats | None = None,
) -> BitProblems:
    """Return what the bits have to learn: first those of the code, then n_votes times one a label.

    Those of labels are as `label_problems` has them. If only probabilities of a row's label vector are known,
    `vector_of_row` is a row of the `shares` of the vectors, and it learns the expected difference E[Δ]. That
    is exact: of its expected loss, only −s · E[Δ] / 2 depends on the bit s that is predicted.
    """
    n_bits = len(code) + n_votes * vectors.shape[1]
    differences = partial(_differences, code, vectors, shares)
    return BitProblems(vector_of_row, n_bits, differences, seeds[:n_bits], row_weight=row_weight)


def label_problems(
    vectors: Bytes,
    vector_of_row: npt.NDArray[np.int32],
    seeds: npt.NDArray[np.uint64],
    row_weight: Floats | None = None,
) -> BitProblems:
    """Return bits that ask whether a label is there: one of each label, then another one of each, and so on.

    Each is the reference pair of the label alone and of nothing, under the Hamming loss. A row whose label is
    UNKNOWN is left out.
    """
    return BitProblems(
        vector_of_row, len(seeds), partial(_label_differences, vectors), seeds, row_weight=row_weight
    )


def _label_differences(vectors: Bytes, bits: slice) -> Floats:  # not a closure: other processes are given it
    asked = vectors[:, np.arange(bits.start, bits.stop) % vectors.shape[1]]
    return np.where(asked == UNKNOWN, 0.0, 2.0 * asked - 1.0)


def _differences(code: ReferencePairCode, vectors: Bytes, shares: sp.csr_array | None, bits: slice) -> Floats:
    """Return what some of the bits have to learn. Not a closure: other processes are given it."""
    of_code = code[bits.start : min(bits.stop, len(code))].differences(vectors)
    if not np.isfinite(of_code).all():
        raise ValueError(f"the cost {code.cost.name!r} is too large: its differences are infinite")
    if shares is not None:
        of_code = np.asarray(shares @ of_code)
    if bits.stop <= len(code):
        return of_code
    labels = slice(max(bits.start - len(code), 0), bits.stop - len(code))
    return np.hstack([of_code, _label_differences(vectors, labels)])
