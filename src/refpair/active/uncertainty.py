"""Cost-sensitive uncertainty, the paper's strategy (its section 4)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from refpair._parallel import chunks_of, one_blas_thread
from refpair.active._classifier import WrappedClassifier, check_classifier
from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import LearningStrategy
from refpair.bits.binning import Matrix
from refpair.bits.code_problems import bit_problems
from refpair.bits.logistic import LogisticBank, check_finite
from refpair.bits.problem import BitLearner, BitProblems
from refpair.classifiers import BinaryRelevance, Logistic
from refpair.classifiers._base_learners import as_base_learner
from refpair.classifiers._checks import check_count
from refpair.classifiers._code_bits import check_bit_learner, make_bank
from refpair.coding import ReferencePairCode, draw_code
from refpair.coding.nearest import CodeBook
from refpair.costs import get_cost, vector_cost
from refpair.posterior.distinct_labels import distinct_labels

_ROWS_A_CALL = 512


class CostSensitiveUncertainty(LearningStrategy):
    """Ask for the row on whose cost the code and the classifier disagree.

    Label vectors are encoded as by :class:`refpair.CSRPEClassifier`, and the bits are learned. The predicted
    code b̂ of a row says which label vectors are cheap for it. Two distances measure the uncertainty:

    * *cost estimation uncertainty*: from b̂ to the nearest code word of a known label vector. It is large if
      the bits contradict each other.
    * *cost utility uncertainty*: from b̂ to the code word of the prediction of the classifier f_t, which is
      to be improved. It is large if the classifier ignores the costs.

    Both are shares of the bits; the utility is their sum.

    Parameters
    ----------
    cost : str, Cost or callable, default="f1"
        The cost of a prediction; see :class:`refpair.Cost`.
    estimator : multi-label classifier, optional
        f_t, the classifier to improve; ``BinaryRelevance("logistic")`` if it is None. If it consists of
        logistic regressions like those of the bits, they are learned together.
    n_bits : int, default=1000
        The length of the code.
    bit_estimator : "logistic", "tree" or classifier, default="logistic"
        Learns the bits, as in :class:`refpair.CSRPEClassifier`.
    part : {"both", "estimation", "utility"}, default="both"
        Which of the two uncertainties counts.
    n_jobs : int, optional
        Number of threads, as in joblib. The rows do not depend on it.
    random_state : int, RandomState or None, default=None
        Seeds the code, and breaks ties. With an integer, the code is the same in all rounds, and the bits
        start from those of the last round.

    References
    ----------
    Y.-Y. Yang, K.-H. Huang, C.-W. Chang, H.-T. Lin: Cost-Sensitive Reference Pair Encoding for Multi-Label
    Learning. PAKDD 2018.

    Examples
    --------
    >>> from refpair.active import CostSensitiveUncertainty
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> Y = np.full(digits.Y.shape, np.nan)
    >>> Y[:30] = digits.Y[:30]
    >>> strategy = CostSensitiveUncertainty("f1", n_bits=200, random_state=0)
    >>> len(strategy.query(digits.X, Y, batch_size=5))
    5
    """

    def __init__(
        self,
        cost: Any = "f1",
        *,
        estimator: Any = None,
        n_bits: int = 1000,
        bit_estimator: Any = "logistic",
        part: Literal["both", "estimation", "utility"] = "both",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.cost = cost
        self.estimator = estimator
        self.n_bits = n_bits
        self.bit_estimator = bit_estimator
        self.part = part
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        vector_cost(self.cost, type(self).__name__)
        check_count("n_bits", self.n_bits)
        check_bit_learner(self.bit_estimator)
        if self.part not in ("both", "estimation", "utility"):
            raise ValueError(f'part must be "both", "estimation" or "utility", not {self.part!r}')
        check_classifier(self.estimator)

    def utilities(self, pool: Pool, rng: np.random.Generator) -> Floats:
        """Return the utility of each candidate."""
        along = self.part != "estimation" and _are_of_a_kind(self.estimator, self.bit_estimator)
        along &= not pool.has_gaps  # the classifier learns from what is known
        with one_blas_thread() if along else nullcontext():  # other learners have threads of their own
            return self._uncertainties(pool, rng, along)

    def _uncertainties(self, pool: Pool, rng: np.random.Generator, along: bool) -> Floats:
        """Return what each candidate is worth, with the classifier learned along with the bits or apart."""
        distinct = distinct_labels(pool.labels)
        uses_classifier = self.part != "estimation"
        cost = get_cost(self.cost).for_labels(pool.label_names)
        code = draw_code(cost, distinct.vectors, self.n_bits, "uniform", rng)
        seeds = rng.integers(2**64, size=len(code), dtype=np.uint64)
        seeds = np.append(seeds, np.zeros(along * distinct.vectors.shape[1], np.uint64))  # unused
        problems = bit_problems(code, distinct.vectors, distinct.of_row, seeds, int(along)).at_hand()
        bits = self._learn(pool.features, pool.labeled, code, problems)
        classifier = None
        if uses_classifier and not along:
            improved = BinaryRelevance("logistic") if self.estimator is None else self.estimator
            labels = pool.labels_for(improved)
            classifier = WrappedClassifier(improved).fit(pool.rows(pool.labeled), labels)
        words = np.sign(problems.differences(slice(0, len(code)))).astype(np.int8)
        book = CodeBook(words)

        def worth(rows: Indices) -> Floats:
            features = pool.features[rows]
            if isinstance(bits, LogisticBank):
                check_finite(features)
            answers = bits.predict(features)
            signs = answers[:, : len(code)]
            total = np.zeros(len(rows))
            if self.part != "utility":
                total += _distances(signs, words, book.decode(signs))
            if uses_classifier:
                predicted = distinct_labels(
                    (answers[:, len(code) :] > 0).view(np.uint8)
                    if classifier is None
                    else np.asarray(classifier.predict(pool.rows(rows)), np.uint8)
                )
                total += _distances(signs, code.encode(predicted.vectors), predicted.of_row)
            return total

        return pool.by_chunks(worth)

    def _learn(
        self, X: Matrix, labeled: Indices, code: ReferencePairCode, problems: BitProblems
    ) -> BitLearner:
        """Learn the bits; logistic regressions begin with what they were in the last round."""
        bank = make_bank(self.bit_estimator, n_jobs=self.n_jobs)
        known = X[labeled]
        if not isinstance(bank, LogisticBank):
            return bank.fit(known, problems)
        last: tuple[ReferencePairCode, LogisticBank] | None = self.__dict__.get("_last")
        start = None
        if last is not None and last[1].n_features == X.shape[1] and len(last[0]):
            n_labels = problems.n_bits - len(code)
            labels = np.full(n_labels, -1)
            if len(last[1]) - len(last[0]) == n_labels:
                labels = np.arange(len(last[0]), len(last[1]))
            start = last[1].renumbered(np.concatenate([code.places_in(last[0]), labels]))
        self._last = code, bank.fit(known, problems, start)
        return bank


def _are_of_a_kind(estimator: Any, bits: Any) -> bool:
    """Whether the classifier's labels are learned just as the bits are: then they are further bits."""
    if estimator is not None and type(estimator) is not BinaryRelevance:
        return False
    of_labels = as_base_learner("logistic" if estimator is None else estimator.estimator)
    of_bits = as_base_learner(bits)
    if not (isinstance(of_labels, Logistic) and isinstance(of_bits, Logistic)):
        return False
    return of_labels.C == of_bits.C and of_labels.tol in (None, of_bits.tol)


def _distances(
    signs: npt.NDArray[np.int8], words: npt.NDArray[np.int8], which: npt.NDArray[np.integer]
) -> Floats:
    """Return the share of bits in which each row's code is not that of its word; of a tie, half a bit."""
    products = np.empty(len(signs))
    for part in chunks_of(len(signs), _ROWS_A_CALL):
        products[part] = np.einsum("ij,ij->i", signs[part], words[which[part]], dtype=np.int32)
    return np.asarray(0.5 - 0.5 * products / max(1, words.shape[1]))
