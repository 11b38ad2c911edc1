"""ML-ECC: labels as a word of an error-correcting code, whose bits are learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self, get_args

import numpy as np
import numpy.typing as npt

from refpair._parallel import chunks_of
from refpair._saved import Savable, require
from refpair.bits.binning import Matrix
from refpair.classifiers._base_learners import BinaryLearners, Bytes, ClassLearners, Floats, Targets
from refpair.classifiers._checks import check_count
from refpair.classifiers._reduction import ReductionClassifier
from refpair.coding.repetition import LabelCode, LabelCodeName, make_label_code
from refpair.posterior.distinct_labels import DistinctLabels, distinct_labels
from refpair.tables.labels import LabelMatrix

_MOST_BITS, _MOST_COPIES = 1 << 17, 16  # of a code in a file: its blocks are looked at one by one
_CELLS = 20_000_000  # of predicted words, written at a time: 20 MB

Indices = npt.NDArray[np.intp]


class CodeLearners(Savable):
    """Learn the bits of a label code, in blocks of `size` neighbors.

    A block of several bits is one problem whose classes are the patterns that they have in the training set.
    Blocks of the same bits are learned once, however often they are in the code.
    """

    learners_: BinaryLearners | ClassLearners
    n_bits_: int
    problem_of_block_: Indices  # which problem each block of the code is
    patterns_: list[Bytes]  # what bits the classes of each problem stand for

    def __init__(self, estimator: Any, size: int, *, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.estimator = estimator
        self.size = size
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Matrix,
        labels: DistinctLabels,
        code: LabelCode,
        rng: np.random.Generator,
        row_weight: Floats | None = None,
    ) -> Self:
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
            self.learners_ = BinaryLearners(self.estimator, **how).fit(X, targets, rng, row_weight)
            return self
        self.patterns_ = []
        classes = np.empty((X.shape[0], len(first)), np.int32)
        for problem, block in enumerate(first):
            patterns, found = np.unique(words[:, self._bits(block)], axis=0, return_inverse=True)
            self.patterns_.append(patterns)
            classes[:, problem] = found.ravel()[labels.of_row]
        self.learners_ = ClassLearners(self.estimator, **how).fit(X, classes, rng, row_weight)
        return self

    def _check_saved(self) -> None:
        blocks, patterns, inner, size = self.problem_of_block_, self.patterns_, self.learners_, self.size
        most = max(_MOST_BITS, _MOST_COPIES * size * len(patterns))
        require(size > 0 and 0 < self.n_bits_ <= most, "the code has no bits, or more than a file may hold")
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


class MLECC(ReductionClassifier):
    """Learn the bits of an error-correcting code of the labels.

    Label vectors are encoded; a base learner learns each bit, or each block of three; the predicted word is
    decoded. Parity bits combine several labels. The method minimizes zero-one loss.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"forest", "tree", "logistic"}, default="forest"
        The base learner of a bit or block: a classifier, which is cloned, or trees or forests, which are
        grown together (see :class:`Forest`).
    code : {"rep", "rrep", "hamr"}, default="rep"
        "rep" repeats the labels, which makes it :class:`BinaryRelevance` if ``powerset=1``. "rrep" repeats
        them in random sets of three, which makes it :class:`RAkEL` if ``powerset=3``. "hamr" adds parities of
        every four repeated labels.
    powerset : int, default=1
        Number of neighboring bits that are learned together, as a label powerset; 3 in the literature. At
        most the number of labels.
    code_length : int, optional
        The number of bits, which "rrep" rounds down to a multiple of 3 and "hamr" to one of 7. By default 127
        for up to 7 labels, 255 up to 14, 511 up to 28, 1,023 up to 511, then twice as many as labels.
    n_jobs : int, optional
        Number of threads or processes, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    code_ : RepetitionCode, LabelsetRepetition or HammingRepetition
        The code: its ``encode`` and ``decode`` take arrays of 0 and 1.
    learners_ : CodeLearners
        The learned bits.
    classes_, n_features_in_, feature_names_in_
        The names of the labels, and of the features as in scikit-learn.

    Notes
    -----
    Identical bits and blocks, as in "rep", are learned only once.

    References
    ----------
    C.-S. Ferng, H.-T. Lin: Multilabel Classification Using Error-Correcting Codes of Hard or Soft Bits.
    TNNLS 2013.

    Examples
    --------
    >>> from refpair import MLECC
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> model = MLECC("tree", code="hamr", powerset=3, random_state=0).fit(digits.X[:1500], digits.Y[:1500])
    >>> model.code_.n_bits
    252
    >>> model.predict(digits.X[1500:1502])
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
           [0, 1, 0, 0, 1, 0, 0, 0, 0, 0]], dtype=uint8)
    """

    code_: LabelCode
    learners_: CodeLearners

    def __init__(
        self,
        estimator: Any = "forest",
        *,
        code: LabelCodeName = "rep",
        powerset: int = 1,
        code_length: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs=n_jobs, random_state=random_state, verbose=verbose)
        self.code = code
        self.powerset = powerset
        self.code_length = code_length

    def _learn(
        self, X: Any, labels: LabelMatrix, row_weight: Floats | None, rng: np.random.Generator
    ) -> None:
        n_labels = labels.shape[1]
        # The code draws from a generator of its own, so that its bits are seeded as those of others are.
        self.code_ = make_label_code(self.code, n_labels, self.code_length, rng=rng.spawn(1)[0])
        learners = CodeLearners(self.estimator, min(self.powerset, n_labels), **self._running())
        self.learners_ = learners.fit(X, distinct_labels(labels), self.code_, rng, row_weight)

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        require(self.code_.n_labels == n_labels, "the code is one of other labels")
        require(self.learners_.n_bits_ == self.code_.n_bits, "there are too few or too many bits")
        self.learners_.learners_.check_n_features(n_features)

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        return np.concatenate([self.code_.decode(words) for _, words in self.learners_.words(X)])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        names = get_args(LabelCodeName)
        if self.code not in names:
            listed = ", ".join(f'"{name}"' for name in names)
            raise ValueError(f"code must be one of {listed}, not {self.code!r}")
        check_count("powerset", self.powerset)
        if self.code_length is not None:
            check_count("code_length", self.code_length)


def _number_rows(rows: npt.NDArray[Any]) -> tuple[Indices, Indices]:
    """Return where each distinct row comes first, and of each row which of these it is."""
    _, first, of_row = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[of_row.ravel()]
