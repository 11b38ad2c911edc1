"""What the bits of a code have to learn."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from refpair.bits.problem import BitProblems
from refpair.coding.reference_pairs import ReferencePairCode

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def bit_problems(
    code: ReferencePairCode,
    vectors: Bytes,
    vector_of_row: npt.NDArray[np.int32],
    seeds: npt.NDArray[np.uint64],
    n_votes: int = 0,
) -> BitProblems:
    """Return what the bits have to learn: first those of the code, then n_votes times one a label.

    The bit of a single label asks whether the label is there: it is the reference pair of the label alone and
    of nothing, under the Hamming loss.
    """
    n_bits = len(code) + n_votes * vectors.shape[1]
    return BitProblems(vector_of_row, n_bits, partial(_differences, code, vectors), seeds[:n_bits])


def _differences(code: ReferencePairCode, vectors: Bytes, bits: slice) -> Floats:
    """Return what some of the bits have to learn. Not a closure: other processes are given it."""
    differences = code[bits.start : min(bits.stop, len(code))].differences(vectors)
    if not np.isfinite(differences).all():
        raise ValueError(f"the cost {code.cost.name!r} is too large: its differences are infinite")
    labels = np.arange(max(bits.start, len(code)), bits.stop) - len(code)
    if len(labels) == 0:
        return differences
    return np.hstack([differences, 2.0 * vectors[:, labels % vectors.shape[1]] - 1.0])
