"""Base learners of reductions: one classifier for each of many problems, binary or not, on the same rows.

Forests and logistic regressions are learned in banks: a forest for each of K problems is K × T trees, and the
features are binned only once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from refpair._saved import Savable, require
from refpair.bits.binning import Matrix
from refpair.bits.estimator import EstimatorBank, check_features, fit_clones
from refpair.bits.logistic import LogisticBank
from refpair.bits.problem import BitProblems, ClassProblems
from refpair.bits.trees import ClassTreeBank, TreeBank
from refpair.classifiers.base_estimators import Forest, Logistic
from refpair.tables.labels import UNKNOWN

_NAMED: dict[str, Callable[[], Any]] = {
    "tree": partial(Forest, n_trees=1, max_features=None, max_samples=None),
    "forest": Forest,
    "logistic": Logistic,
}
_ANSWERS = 10_000_000  # of trees, kept at a time: 40 MB

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]
Number = TypeVar("Number", np.uint8, np.float64)


def as_base_learner(estimator: Any) -> Any:
    """Return the :class:`Forest` or :class:`Logistic` that a name stands for; all else as it is."""
    is_named = isinstance(estimator, str) and estimator in _NAMED
    return _NAMED[estimator]() if is_named else estimator


def check_base_learner(estimator: Any) -> None:
    """Refuse what is neither one of the names, a forest of good parameters, nor a classifier."""
    learner = as_base_learner(estimator)
    if isinstance(learner, Forest | Logistic):
        learner.check()
    elif isinstance(learner, type) or not hasattr(learner, "fit") or not is_classifier(learner):
        names = ", ".join(f'"{name}"' for name in _NAMED)
        hint = f": give an instance, {estimator.__name__}()" if isinstance(estimator, type) else ""
        raise ValueError(
            f"estimator must be a classifier of scikit-learn or one of {names}, not {estimator!r}{hint}"
        )


def check_takes_weights(learner: Any) -> None:
    """Refuse a classifier that cannot learn from rows that count differently."""
    if not has_fit_parameter(learner, "sample_weight"):
        raise ValueError(f"estimator must take sample_weight in fit, which {learner!r} does not")


def allowed_input(estimator: Any) -> tuple[bool, bool]:
    """Return whether a base learner takes sparse features, and whether it takes missing values."""
    learner = as_base_learner(estimator)
    if isinstance(learner, type) or not hasattr(learner, "__sklearn_tags__"):
        return False, False
    allowed = get_tags(learner).input_tags
    return bool(allowed.sparse), bool(allowed.allow_nan)


@dataclass(frozen=True, eq=False)
class Targets:
    """What binary problems have to learn, by distinct label vector."""

    vector_of_row: Ints
    differences: Floats  # (n_vectors, n_problems): positive for a 1; the size is the weight, 0 leaves out
    n_features: Ints | None = None  # how many of the first features each problem may use

    @classmethod
    def of_bits(cls, vector_of_row: Ints, bits: Bytes, n_features: Ints | None = None) -> Self:
        """Make targets of 0, 1 and UNKNOWN, given by distinct label vector, that all weigh the same."""
        differences = np.where(bits > 0, 1.0, -1.0)
        differences[bits == UNKNOWN] = 0.0
        return cls(vector_of_row, differences, n_features)


class _Learners(Savable):
    def __init__(self, estimator: Any, *, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose


class BinaryLearners(_Learners):
    """Learn binary problems, each by one base learner; `n_trees_` bits of the bank are one problem."""

    bank_: TreeBank | LogisticBank | EstimatorBank
    n_problems_: int
    n_trees_: int

    def fit(
        self, X: Matrix, targets: Targets, rng: np.random.Generator, row_weight: Floats | None = None
    ) -> Self:
        """Learn all problems."""
        self.n_problems_ = targets.differences.shape[1]
        learner = as_base_learner(self.estimator)
        self.n_trees_ = learner.n_trees if isinstance(learner, Forest) else 1
        n_bits = self.n_problems_ * self.n_trees_
        seeds = rng.integers(2**64, size=n_bits, dtype=np.uint64)
        limits = targets.n_features
        problems = BitProblems(
            targets.vector_of_row,
            n_bits,
            partial(_repeated, targets.differences, self.n_trees_),
            seeds,
            n_features=None if limits is None else np.repeat(limits, self.n_trees_),
            row_weight=row_weight,
        )
        how: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        if isinstance(learner, Forest):
            self.bank_ = TreeBank(**learner.bank_parameters(), **how)
        elif isinstance(learner, Logistic):
            self.bank_ = LogisticBank(**learner.bank_parameters(), **how)
        else:
            weighted = not np.isin(np.abs(targets.differences), (0.0, 1.0)).all()
            if row_weight is not None or weighted:
                check_takes_weights(learner)
            self.bank_ = EstimatorBank(learner, **how)
        self.bank_.fit(X, problems)
        return self

    def _check_saved(self) -> None:
        check_base_learner(self.estimator)
        fits = self.n_trees_ > 0 and len(self.bank_) == self.n_problems_ * self.n_trees_
        require(fits, "there is not a learner for each problem")

    def check_n_features(self, n_features: int) -> None:
        """Refuse learners of other features."""
        self.bank_.check_n_features(n_features)

    def probabilities(self, X: Matrix, problems: slice = slice(None)) -> Floats:
        """Return the probability of a 1, one column a problem."""
        return self._ask(X, problems, lambda bits: (1.0 + self._means(X, bits)) / 2.0, np.float64)

    def labels(self, X: Matrix, problems: slice = slice(None)) -> Bytes:
        """Return 0 or 1, one column a problem: what base learners say, for a forest what is more probable."""
        answer = self.bank_.predict if self.n_trees_ == 1 else self._means
        return self._ask(X, problems, lambda bits: answer(X, bits) > 0, np.uint8)

    def _means(self, X: Matrix, bits: slice) -> Floats:
        values = self.bank_.values(X, bits).reshape(X.shape[0], -1, self.n_trees_)
        return np.asarray(values.mean(axis=2, dtype=np.float64))

    def _ask(
        self, X: Matrix, problems: slice, question: Callable[[slice], npt.NDArray[Any]], dtype: type[Number]
    ) -> npt.NDArray[Number]:
        """Ask for some problems at a time: the trees of all would say too much to be kept at once."""
        first, last, _ = problems.indices(self.n_problems_)
        out = np.empty((X.shape[0], last - first), dtype)
        step = max(1, _ANSWERS // (max(1, X.shape[0]) * self.n_trees_))
        for begin in range(first, last, step):
            end = min(begin + step, last)
            out[:, begin - first : end - first] = question(slice(begin * self.n_trees_, end * self.n_trees_))
        return out


def _repeated(differences: Floats, times: int, bits: slice) -> Floats:
    """Return what bits have to learn. Not a closure: other processes are given it."""
    return differences[:, np.arange(bits.start, bits.stop) // times]


class ClassLearners(_Learners):
    """Learn problems of several classes, each by one base learner; logistic regression one class a time."""

    learnt_: ClassTreeBank | list[Any]  # of clones: one for each problem, or the number of its only class
    n_classes_: npt.NDArray[np.int64]

    def fit(
        self, X: Matrix, classes: Ints, rng: np.random.Generator, row_weight: Floats | None = None
    ) -> Self:
        """Learn all problems; `classes` (n, n_problems) are numbered from 0 in each, none left out."""
        self.n_classes_ = classes.max(axis=0).astype(np.int64) + 1
        learner = as_base_learner(self.estimator)
        n_trees = learner.n_trees if isinstance(learner, Forest) else 1
        seeds = rng.integers(2**64, size=classes.shape[1] * n_trees, dtype=np.uint64)
        how: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        if isinstance(learner, Forest):
            problems = ClassProblems(classes, self.n_classes_, n_trees, seeds, row_weight)
            self.learnt_ = ClassTreeBank(**learner.bank_parameters(), **how).fit(X, problems)
        else:
            if row_weight is not None:
                check_takes_weights(learner)
            of_classes = OneVsRestClassifier(learner) if isinstance(learner, Logistic) else learner
            self.learnt_ = fit_clones(of_classes, X, classes, seeds, row_weight, **how)
        return self

    def _check_saved(self) -> None:
        check_base_learner(self.estimator)
        learnt, n_classes = self.learnt_, self.n_classes_
        if isinstance(learnt, ClassTreeBank):
            require(np.array_equal(learnt.n_classes_, n_classes), "the trees are those of other problems")
            return
        require(n_classes.shape == (len(learnt),), "there is not a learner for each problem")
        for own, n in zip(learnt, n_classes, strict=True):
            classes = [own] if isinstance(own, int) else getattr(own, "classes_", None)
            is_learner = isinstance(own, int) or hasattr(own, "predict")
            is_learner &= not getattr(own, "multilabel_", False)
            # The length first: there may be anything in n.
            exist = classes is None or (len(classes) == n and np.array_equal(classes, np.arange(n)))
            require(
                n > 0 and is_learner and exist, "a problem has no learner, or a class that does not exist"
            )

    def check_n_features(self, n_features: int) -> None:
        """Refuse learners of other features, as far as they tell."""
        if isinstance(self.learnt_, ClassTreeBank):
            self.learnt_.check_n_features(n_features)
        else:
            check_features(self.learnt_, [n_features] * len(self.learnt_))

    def labels(self, X: Matrix) -> Ints:
        """Return the most probable class, one column a problem."""
        if isinstance(self.learnt_, ClassTreeBank):
            return self.learnt_.predict(X)
        answers = np.empty((X.shape[0], len(self.learnt_)), np.int32)
        for problem, learnt in enumerate(self.learnt_):
            answers[:, problem] = learnt if isinstance(learnt, int) else learnt.predict(X)
        return answers

    def probabilities(self, X: Matrix, problem: int) -> Floats:
        """Return the probability of each class of a problem, of shape (n, n_classes)."""
        if isinstance(self.learnt_, ClassTreeBank):
            return self.learnt_.predict_proba(X, problem)
        learnt = self.learnt_[problem]
        if isinstance(learnt, int):
            return np.ones((X.shape[0], 1))
        return np.asarray(learnt.predict_proba(X), np.float64)
