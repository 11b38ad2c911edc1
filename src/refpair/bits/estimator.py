"""Any scikit-learn classifier as the learner of the bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.multiclass import OneVsRestClassifier

from refpair._kernels.rng import draw_rows
from refpair._parallel import chunks_of, run_chunks
from refpair._saved import require
from refpair.bits.binning import Matrix
from refpair.bits.problem import ALL, Bags, BitLearner, BitProblems, resolve_share

_BITS_A_CALL = 4

Number = TypeVar("Number", np.int8, np.float32)


class EstimatorBank(BitLearner):
    """Learn every bit by a clone of one scikit-learn classifier.

    Its ``fit`` must take ``sample_weight``, unless all weights are 1. Where it or a part of it has a
    ``random_state`` that is None, each bit sets its own.
    """

    estimators_: list[Any]  # a fitted classifier a bit, or 0 (−1) or 1 (+1) where all rows agree
    n_features_: npt.NDArray[np.int32] | None  # how many of the first features each bit uses; None: all

    def __init__(
        self,
        estimator: Any,
        *,
        max_samples: int | float | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Matrix, problems: BitProblems) -> Self:
        """Fit a clone of the estimator for each bit."""
        n_sampled = resolve_share(self.max_samples, X.shape[0])
        learn = partial(_fit_bits, self.estimator, X, problems, n_sampled)
        chunks = chunks_of(problems.n_bits, _BITS_A_CALL)
        parts = run_chunks(learn, chunks, n_jobs=self.n_jobs, verbose=self.verbose, title="learning bits")
        self.estimators_ = [estimator for part in parts for estimator in part]
        self.n_features_ = problems.n_features
        self.bags_ = Bags.of(problems.seeds, X.shape[0], n_sampled)
        return self

    def predict(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.int8]:
        """Return the predicted code of each row, or some bits of it: −1 and +1, one column a bit."""
        return self._ask(X, bits, _sign, np.int8)

    def values(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.float32]:
        """Return how sure each bit is: 2p − 1 by ``predict_proba``, or −1 and +1 where there is none."""
        return self._ask(X, bits, _value, np.float32)

    def take(self, bits: npt.NDArray[np.intp]) -> Self:
        """Return the bank of some of the bits, as they were learned."""
        bank = super().take(bits)
        bank.estimators_ = [self.estimators_[bit] for bit in bits]
        bank.n_features_ = None if self.n_features_ is None else self.n_features_[bits]
        return bank

    def with_more(self, other: Self) -> Self:
        """Return a bank of its bits and then those of another, learned from the same rows."""
        bank = super().with_more(other)
        bank.estimators_ = [*self.estimators_, *other.estimators_]
        return bank

    def __len__(self) -> int:
        return len(self.estimators_)

    def _check_saved(self) -> None:
        super()._check_saved()
        require(hasattr(self.estimator, "fit"), "the bits have no estimator")
        require(all(map(is_answer, self.estimators_)), "a bit is neither a classifier, 0 nor 1")
        if self.n_features_ is not None:
            right = self.n_features_.shape == (len(self),) and self.n_features_.min(initial=1) >= 1
            require(right, "there is not a number of features for each bit")

    def check_n_features(self, n_features: int) -> None:
        """Refuse a bank that was learned from other features, as far as its classifiers tell."""
        own = np.full(len(self), n_features) if self.n_features_ is None else self.n_features_
        require(own.max(initial=1) <= n_features, "a bit has more features than there are")
        check_features(self.estimators_, own.tolist())

    def _ask(
        self, X: Matrix, bits: slice, question: Callable[[Any, Matrix], Any], dtype: type[Number]
    ) -> npt.NDArray[Number]:
        asked, first = self.estimators_[bits], bits.indices(len(self.estimators_))[0]
        answers = np.empty((X.shape[0], len(asked)), dtype)

        def ask(some: slice) -> None:
            for bit in range(some.start, some.stop):
                answers[:, bit] = question(asked[bit], _first_features(X, self.n_features_, first + bit))

        run_chunks(
            ask, chunks_of(len(asked), _BITS_A_CALL), n_jobs=self.n_jobs, verbose=self.verbose,
            title="predicting bits", in_place=True,
        )  # fmt: skip
        return answers


def is_answer(learnt: Any) -> bool:
    """Whether something stands for a fitted classifier of a bit: one, or 0 or 1 where all rows agree."""
    if isinstance(learnt, int):
        return learnt in (0, 1)
    return hasattr(learnt, "predict") and np.array_equal(getattr(learnt, "classes_", (0, 1)), (0, 1))


def check_features(learnt: Sequence[Any], n_features: Sequence[int]) -> None:
    """Check that classifiers were learned from so many features each, as far as they tell."""
    for own, n in zip(learnt, n_features, strict=True):
        require(getattr(own, "n_features_in_", n) == n, "a learner has other features than there are")


def _first_features(X: Matrix, n_features: npt.NDArray[np.int32] | None, bit: int) -> Matrix:
    """Return the part of X that a bit may use."""
    return X if n_features is None or n_features[bit] == X.shape[1] else X[:, : n_features[bit]]


def _sign(learnt: Any, X: Matrix) -> Any:
    return 2 * (learnt if isinstance(learnt, int) else learnt.predict(X)) - 1


def _value(learnt: Any, X: Matrix) -> Any:
    if isinstance(learnt, int) or not hasattr(learnt, "predict_proba"):
        return _sign(learnt, X)
    return 2 * learnt.predict_proba(X)[:, 1] - 1


def _fit_bits(
    estimator: BaseEstimator, X: Matrix, problems: BitProblems, n_sampled: int, bits: slice
) -> list[Any]:
    """Fit the clones of some bits."""
    differences = problems.differences(bits)[problems.vector_of_row]
    if problems.row_weight is not None:
        differences = differences * problems.row_weight[:, None]
    learnt = []
    for bit, difference in zip(range(bits.start, bits.stop), differences.T, strict=True):
        drawn = np.sort(draw_rows(len(difference), n_sampled, problems.seeds[bit]))
        rows = drawn[difference[drawn] != 0.0]
        own, weight = _first_features(X, problems.n_features, bit)[rows], np.abs(difference[rows])
        target = (difference[rows] > 0).astype(np.int8)  # 0 and 1: some classifiers know no other classes
        learnt.append(_fit_clone(estimator, own, target, problems.seeds[bit], weight))
    return learnt


def fit_clones(
    estimator: BaseEstimator,
    X: Matrix,
    classes: npt.NDArray[np.integer[Any]],
    seeds: npt.NDArray[np.uint64],
    row_weight: npt.NDArray[np.float64] | None = None,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Any]:
    """Fit a clone for each column of classes, by rows as they weigh; where they agree, it is their class."""
    fit = partial(_fit_classes, estimator, X, classes, seeds, row_weight)
    chunks = chunks_of(classes.shape[1], 1)
    parts = run_chunks(fit, chunks, n_jobs=n_jobs, verbose=verbose, title="learning")
    return [learnt for part in parts for learnt in part]


def _fit_classes(
    estimator: BaseEstimator,
    X: Matrix,
    classes: npt.NDArray[np.integer[Any]],
    seeds: npt.NDArray[np.uint64],
    row_weight: npt.NDArray[np.float64] | None,
    problems: slice,
) -> list[Any]:
    """Fit the clones of some problems. Not a closure: other processes are given it."""
    own = zip(classes[:, problems].T, seeds[problems], strict=True)
    return [_fit_clone(estimator, X, target, seed, row_weight) for target, seed in own]


def _fit_clone(
    estimator: BaseEstimator,
    X: Matrix,
    target: npt.NDArray[np.integer[Any]],
    seed: np.uint64,
    weight: npt.NDArray[np.float64] | None = None,
) -> Any:
    """Fit a clone, whose ``random_state`` and those of its parts come from the seed where they are None.

    Where all rows have the same class, which many classifiers refuse to learn, return this class; 0 of none.
    """
    if len(target) == 0 or (target == target[0]).all():
        return int(target[0]) if len(target) else 0
    learner = clone(estimator)
    states = {
        name: int(seed % np.uint64(2**31))
        for name, value in learner.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    # Pipelines, nearest neighbors and others do not take weights, which often are all the same.
    how = {} if weight is None or (weight == 1.0).all() else {"sample_weight": weight}
    # One-vs-rest passes weights on only in this way, to what asks for them, as `Logistic` does.
    routing = {"enable_metadata_routing": True} if how and isinstance(learner, OneVsRestClassifier) else {}
    with config_context(**routing):
        return learner.set_params(**states).fit(X, target, **how)
