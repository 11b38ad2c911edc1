"""From rows of X to distributions over label vectors, by their predicted codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from refpair._progress import run_chunks
from refpair.bits import BitLearner
from refpair.bits.binning import Matrix
from refpair.bits.problem import chunks_of
from refpair.posterior.anchors import Agreement, Anchors
from refpair.posterior.calibration import LogOddsLine
from refpair.posterior.distribution import LabelDistribution
from refpair.posterior.reading import Reader, Reading

__all__ = ["CodePosterior", "label_probabilities"]

Floats = npt.NDArray[np.float64]

_ROWS = 4096  # whose codes are predicted at a time
_ROWS_A_CALL = 128  # that one job compares with the anchors: 2 MB of agreements with 4,000 of them


@dataclass(frozen=True, eq=False)
class CodePosterior:
    """A fitted posterior.

    Attributes
    ----------
    bits : BitLearner
        First the bits of the code, then those of single labels.
    anchors : Anchors
    vectors : ndarray of uint8, shape (n_vectors, n_labels)
    reading : Reading
    line : LogOddsLine
        What makes probabilities of labels out of :attr:`Reader.marginals`.
    """

    bits: BitLearner
    anchors: Anchors
    vectors: npt.NDArray[np.uint8]
    reading: Reading
    line: LogOddsLine

    def marginals(self, X: Matrix, *, n_jobs: int | None = None) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        out = np.empty((X.shape[0], self.vectors.shape[1]))
        for rows, signs, labels in self._codes(X):

            def read(
                some: slice, at: int = rows.start, signs: Signs = signs, labels: Labels = labels
            ) -> None:
                mixed = self._reader.marginals(
                    self.reading, self.anchors, self._agreement(signs[some]), _part(q, some)
                )
                out[at + some.start : at + some.stop] = self.line(mixed)

            chunks = chunks_of(len(signs), _ROWS_A_CALL)
            run_chunks(read, chunks, n_jobs=n_jobs, verbose=0, title="reading codes", in_place=True)
        return out

    def distributions(
        self, X: Matrix, *, n_jobs: int | None = None
    ) -> Iterator[tuple[slice, LabelDistribution]]:
        """Yield blocks of rows, in order, and the distributions over their label vectors."""
        for rows, signs, labels in self._codes(X):

            def read(some: slice, signs: Signs = signs, labels: Labels = labels) -> LabelDistribution:
                return self._reader.distribution(
                    self.reading, self.anchors, self._agreement(signs[some]), _part(labels, some)
                )

            chunks = chunks_of(len(signs), _ROWS_A_CALL)
            parts = run_chunks(read, chunks, n_jobs=n_jobs, verbose=0, title="reading codes", in_place=True)
            yield rows, LabelDistribution.join(parts)

    def _codes(self, X: Matrix) -> Iterator[tuple[slice, Signs, Labels]]:
        """Yield blocks of rows, their codes, and what the bits of single labels say of them."""
        n_code_bits = self.anchors.n_bits
        for rows in chunks_of(X.shape[0], _ROWS):
            part = X[rows]
            labels = None
            if self.reading.label_share > 0:
                labels = label_probabilities(
                    self.bits.values(part, slice(n_code_bits, None)), self.vectors.shape[1]
                )
            yield rows, self.bits.predict(part, slice(0, n_code_bits)), labels

    def _agreement(self, signs: Signs) -> Agreement:
        return self.anchors.agreement(signs)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.vectors)


Signs = npt.NDArray[np.int8]
Labels = Floats | None


def label_probabilities(
    values: npt.NDArray[np.float32], n_labels: int, known: npt.NDArray[np.bool_] | None = None
) -> Floats:
    """Return the probability of each label as the bits of single labels say it.

    Parameters
    ----------
    values : ndarray of shape (n, n_votes · n_labels)
        From −1 to 1, label by label and then the next vote of each.
    n_labels : int
    known : ndarray of bool, same shape, optional
        Which count. A label without any gets NaN.

    Examples
    --------
    >>> label_probabilities(np.float32([[1, -1, 0, -1]]), 2)
    array([[0.75, 0.  ]])
    """
    votes = values.reshape(len(values), -1, n_labels)
    if known is None:
        return np.asarray((1.0 + votes.mean(axis=1, dtype=np.float64)) / 2.0)
    counted = known.reshape(votes.shape)
    n = counted.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray((1.0 + (votes * counted).sum(axis=1, dtype=np.float64) / n) / 2.0)


def _part(labels: Labels, rows: slice) -> Labels:
    return None if labels is None else labels[rows]
