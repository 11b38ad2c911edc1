"""Learners of the bits of a label code: each bit on its own, or a few at a time as a label powerset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from refpair._saved import Savable, require
from refpair.bits.binning import Matrix
from refpair.bits.problem import chunks_of
from refpair.classifiers._base_learners import BinaryLearners, Targets
from refpair.classifiers._class_learners import ClassLearners
from refpair.classifiers._distinct_labels import DistinctLabels
from refpair.coding.repetition import LabelCode

__all__ = ["CodeLearners"]

_CELLS = 20_000_000  # of predicted words, written at a time: 20 MB

Bytes = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.intp]


class CodeLearners(Savable):
    """Learn the bits of a code, in blocks of neighbours.

    Blocks of the same bits are learnt once, however often they are in the code.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"tree", "forest", "logistic"}
    size : int
        How many bits a block has; the last one may have fewer. A block of several bits is one problem whose
        classes are the patterns that they have in the training set.
    n_jobs : int, optional
    verbose : int, default=0

    Attributes
    ----------
    learners_ : BinaryLearners or ClassLearners
        One problem for each block that is not as one before it.
    problem_of_block_ : ndarray of int, shape (n_blocks,)
        Which problem each block of the code is.
    patterns_ : list of ndarray of uint8, shape (n_classes, n_bits of the block)
        What bits the classes of each problem stand for.

    Examples
    --------
    >>> from refpair.classifiers._distinct_labels import distinct_labels
    >>> from refpair.coding import RepetitionCode
    >>> X, labels = np.array([[0.0], [4.0], [8.0]]), distinct_labels(np.uint8([[0, 0], [0, 1], [1, 1]]))
    >>> learners = CodeLearners("tree", 2).fit(X, labels, RepetitionCode(2, 5), np.random.default_rng(0))
    >>> learners.problem_of_block_  # the last one has only one bit
    array([0, 0, 1])
    >>> [words for _, words in learners.words(np.array([[3.0], [9.0]]))]
    [array([[0, 1, 0, 1, 0],
            [1, 1, 1, 1, 1]], dtype=uint8)]
    """

    learners_: BinaryLearners | ClassLearners
    n_bits_: int
    problem_of_block_: Indices
    patterns_: list[Bytes]

    def __init__(self, estimator: Any, size: int, *, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.estimator = estimator
        self.size = size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Matrix, labels: DistinctLabels, code: LabelCode, rng: np.random.Generator) -> Self:
        """Learn all blocks of the code."""
        self.n_bits_ = code.n_bits
        # The codes are linear: bits that are the same for each single label are the same for all vectors.
        _, bit = _number_rows(code.encode(np.eye(code.n_labels, dtype=np.uint8)).T)
        blocks = np.full(-(-code.n_bits // self.size) * self.size, -1)
        blocks[: code.n_bits] = bit
        first, self.problem_of_block_ = _number_rows(blocks.reshape(-1, self.size))
        words = code.encode(labels.vectors)
        how: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        if self.size == 1:
            self.patterns_ = [np.array([[0], [1]], np.uint8)] * len(first)
            targets = Targets.of_bits(labels.of_row, words[:, first])
            self.learners_ = BinaryLearners(self.estimator, **how).fit(X, targets, rng)
            return self
        self.patterns_ = []
        classes = np.empty((X.shape[0], len(first)), np.int32)
        for problem, block in enumerate(first):
            patterns, found = np.unique(words[:, self._bits(block)], axis=0, return_inverse=True)
            self.patterns_.append(patterns)
            classes[:, problem] = found.ravel()[labels.of_row]
        self.learners_ = ClassLearners(self.estimator, **how).fit(X, classes, rng)
        return self

    def _check_saved(self) -> None:
        blocks, patterns, inner, size = self.problem_of_block_, self.patterns_, self.learners_, self.size
        require(size > 0 and self.n_bits_ > 0, "the code has no bits")
        n_blocks = -(-self.n_bits_ // size)
        require(blocks.shape == (n_blocks,), "there is not a problem for each block of bits")
        fits = blocks.min() >= 0 and blocks.max() < len(patterns)
        require(fits, "a block of bits is of a problem that does not exist")
        require(all(own.ndim == 2 and len(own) for own in patterns), "a problem has no bits")
        width = np.array([self._bits(block).stop - block * size for block in range(n_blocks)])
        own_width = np.array([own.shape[1] for own in patterns])[blocks]
        require((own_width == width).all(), "a problem has too many or too few bits")
        if isinstance(inner, BinaryLearners):
            fits = size == 1 and inner.n_problems_ == len(patterns)
            require(fits, "there is not a learner for each problem")
            require(all(own.tolist() == [[0], [1]] for own in patterns), "the bits of a class are wrong")
        else:
            fits = size > 1 and inner.n_classes_.tolist() == [len(own) for own in patterns]
            require(fits, "there is not a learner for each problem")

    def words(self, X: Matrix) -> Iterator[tuple[slice, Bytes]]:
        """Yield the rows of X by blocks and the words predicted for them, of shape (n_rows, n_bits)."""
        answers = self.learners_.labels(X)
        for rows in chunks_of(X.shape[0], max(1, _CELLS // self.n_bits_)):
            words = np.empty((rows.stop - rows.start, self.n_bits_), np.uint8)
            for block, problem in enumerate(self.problem_of_block_):
                words[:, self._bits(block)] = self.patterns_[problem][answers[rows, problem]]
            yield rows, words

    def _bits(self, block: int) -> slice:
        return slice(block * self.size, min((block + 1) * self.size, self.n_bits_))


def _number_rows(rows: npt.NDArray[Any]) -> tuple[Indices, Indices]:
    """Return where each distinct row comes first, and of each row which of these it is."""
    _, first, of_row = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[of_row.ravel()]
