"""From rows of X to distributions over label vectors, by their predicted codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from refpair._kernels.posterior import sum_votes
from refpair._progress import run_chunks
from refpair._saved import require
from refpair.bits import BitLearner
from refpair.bits.binning import Matrix
from refpair.bits.problem import chunks_of
from refpair.coding.nearest import pack_bits
from refpair.posterior.anchors import Anchors
from refpair.posterior.calibration import LogOddsLine
from refpair.posterior.distribution import LabelDistribution
from refpair.posterior.independent import IndependentLabels
from refpair.posterior.reading import Reader, Reading, Weighed

__all__ = ["CodePosterior", "label_probabilities"]

Floats = npt.NDArray[np.float64]
Result = TypeVar("Result")

_ROWS = 2048  # whose codes are predicted at a time
_MOST_ANCHORS = 1 << 20  # in a file
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
        What makes probabilities of labels out of :meth:`Weighed.marginals`.
    """

    bits: BitLearner
    anchors: Anchors
    vectors: npt.NDArray[np.uint8]
    reading: Reading
    line: LogOddsLine

    def marginals(self, X: Matrix, *, calibrated: bool = True, n_jobs: int | None = None) -> Floats:
        """Return the probability of each label, of shape (n, n_labels).

        Calibrated, they mean what they say. As they are read, they are what the reading was chosen for: its
        cost's own decisions are better by them.
        """
        parts = [part for _, parts in self._read(X, Weighed.marginals, n_jobs) for part in parts]
        marginals = np.concatenate(parts)
        return self.line(marginals) if calibrated else marginals

    def distributions(
        self, X: Matrix, *, n_jobs: int | None = None
    ) -> Iterator[tuple[slice, LabelDistribution | IndependentLabels]]:
        """Yield blocks of rows, in order, and the distributions over their label vectors."""
        if self.reading.independent:
            for rows, marginals in self._read(X, Weighed.marginals, n_jobs):
                yield rows, IndependentLabels(np.concatenate(marginals))
            return
        for rows, parts in self._read(X, Weighed.distribution, n_jobs):
            yield rows, LabelDistribution.join(parts)

    def take(self, code_bits: npt.NDArray[np.intp], bits: BitLearner) -> CodePosterior:
        """Return the posterior of a code of some of the bits, read in the same way.

        Parameters
        ----------
        code_bits : ndarray of intp
            Which bits of the code stay.
        bits : BitLearner
            These bits, then those of single labels.
        """
        return replace(self, bits=bits, anchors=self.anchors.take(code_bits))

    def get_parts(self) -> dict[str, Any]:
        """Return all of it that a model does not have besides: anchors of code words are made anew."""
        parts: dict[str, Any] = {"reading": self.reading, "line": self.line, "rows": None}
        if self.reading.anchors == "rows":
            parts["rows"] = {"plus": self.anchors.plus, "vector": self.anchors.vector}
        return parts

    @classmethod
    def from_parts(
        cls,
        parts: Any,
        bits: BitLearner,
        vectors: npt.NDArray[np.uint8],
        n_bits: int,
        of_words: Callable[[], Anchors],
    ) -> CodePosterior:
        """Return the posterior of parts, if they are right.

        Parameters
        ----------
        parts : dict
            What :meth:`get_parts` returned, or a file says it did.
        bits : BitLearner
        vectors : ndarray of uint8, shape (n_vectors, n_labels)
        n_bits : int
            The length of the code.
        of_words : callable
            Returns the anchors of the code words of the vectors.
        """
        right = isinstance(parts, dict) and parts.keys() == {"reading", "line", "rows"}
        require(right, "the posterior lacks some of its parts")
        reading, line, rows = parts["reading"], parts["line"], parts["rows"]
        require(
            isinstance(reading, Reading) and isinstance(line, LogOddsLine), "the posterior has no reading"
        )
        has_votes = len(bits) >= n_bits + vectors.shape[1]
        require(
            reading.label_share == 0 or has_votes, "label_share is not 0, but no bit is for a single label"
        )
        require((rows is not None) == (reading.anchors == "rows"), "the anchors are missing")
        anchors = of_words() if rows is None else _row_anchors(rows, n_bits, len(vectors))
        return cls(bits, anchors, vectors, reading, line)

    def _read(
        self, X: Matrix, read: Callable[..., Result], n_jobs: int | None
    ) -> Iterator[tuple[slice, list[Result]]]:
        """Yield blocks of rows and what their codes read as, in parts."""
        for rows in chunks_of(X.shape[0], _ROWS):
            signs, labels = self._ask(X[rows])
            yield (
                rows,
                run_chunks(
                    partial(self._read_part, read, signs, labels),
                    chunks_of(len(signs), _ROWS_A_CALL),
                    n_jobs=n_jobs,
                    verbose=0,
                    title="reading codes",
                    in_place=True,
                ),
            )

    def _read_part(
        self, read: Callable[..., Result], signs: npt.NDArray[np.int8], labels: Floats | None, rows: slice
    ) -> Result:
        agreement = self.anchors.agreement(signs[rows])
        weighed = self._reader.weigh(self.anchors, agreement, self.reading.temperature)
        return read(weighed, None if labels is None else labels[rows], self.reading.label_share)

    def _ask(self, X: Matrix) -> tuple[npt.NDArray[np.int8], Floats | None]:
        """Return the codes of rows, and what the bits of single labels say, where they count."""
        n_bits = self.anchors.n_bits
        if self.reading.label_share == 0:
            return self.bits.predict(X, slice(0, n_bits)), None
        signs, values = self.bits.predict_and_values(X, n_bits)
        return signs, label_probabilities(values, self.vectors.shape[1])

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.vectors)


def _row_anchors(rows: Any, n_bits: int, n_vectors: int) -> Anchors:
    """Return the anchors of training rows that a file tells of, if they are right."""
    require(isinstance(rows, dict) and rows.keys() == {"plus", "vector"}, "the anchors are missing")
    plus, vector = rows["plus"], rows["vector"]
    arrays = isinstance(plus, np.ndarray) and isinstance(vector, np.ndarray) and vector.ndim == 1
    require(arrays and plus.dtype == np.uint64 and vector.dtype == np.int32, "the anchors are not numbers")
    n, mask = len(vector), pack_bits(np.ones((1, n_bits), bool))
    require(0 < n <= _MOST_ANCHORS and plus.shape == (n, mask.shape[1]), "the anchors have a wrong shape")
    require(vector.min() >= 0 and vector.max() < n_vectors, "an anchor has no vector")
    known = np.full(n, n_bits, np.int64)
    return Anchors(plus & mask, np.repeat(mask, n, axis=0), known, vector, np.ones(n), n_bits, n_vectors)


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
    votes = values.reshape(len(values), values.shape[1] // n_labels, n_labels)
    if known is None:
        sums = np.empty((len(values), n_labels))
        sum_votes(votes, sums)
        return np.asarray((1.0 + sums / votes.shape[1]) / 2.0)
    counted = known.reshape(votes.shape)
    n = counted.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray((1.0 + (votes * counted).sum(axis=1, dtype=np.float64) / n) / 2.0)
