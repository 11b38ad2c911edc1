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

    Those of labels are as `label_problems` has them.
    """
    n_bits = len(code) + n_votes * vectors.shape[1]
    return BitProblems(vector_of_row, n_bits, partial(_differences, code, vectors), seeds[:n_bits])


def label_problems(
    vectors: Bytes, vector_of_row: npt.NDArray[np.int32], seeds: npt.NDArray[np.uint64]
) -> BitProblems:
    """Return bits that ask whether a label is there: one of each label, then another one of each, and so on.

    Each is the reference pair of the label alone and of nothing, under the Hamming loss.
    """
    return BitProblems(vector_of_row, len(seeds), partial(_label_differences, vectors), seeds)


def _label_differences(vectors: Bytes, bits: slice) -> Floats:  # not a closure: other processes are given it
    labels = np.arange(bits.start, bits.stop) % vectors.shape[1]
    return np.asarray(2.0 * vectors[:, labels] - 1.0, np.float64)


def _differences(code: ReferencePairCode, vectors: Bytes, bits: slice) -> Floats:
    """Return what some of the bits have to learn. Not a closure: other processes are given it."""
    differences = code[bits.start : min(bits.stop, len(code))].differences(vectors)
    if not np.isfinite(differences).all():
        raise ValueError(f"the cost {code.cost.name!r} is too large: its differences are infinite")
    if bits.stop <= len(code):
        return differences
    labels = slice(max(bits.start - len(code), 0), bits.stop - len(code))
    return np.hstack([differences, _label_differences(vectors, labels)])
