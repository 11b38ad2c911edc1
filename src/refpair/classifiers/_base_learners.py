"""Base learners of reductions: one classifier for each of many binary problems on the same rows.

``estimator`` is a classifier of scikit-learn, of which each problem gets a clone, or a :class:`Forest`, which
is grown by the tree bank, or a :class:`Logistic`, which is fitted by the logistic bank; or the name of one. A
forest for each of K problems is then just K × T trees, and the features are binned only once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from refpair._saved import Savable, require
from refpair.bits import BitProblems, EstimatorBank, LogisticBank, TreeBank
from refpair.bits.binning import Matrix
from refpair.classifiers.forest import Forest
from refpair.classifiers.logistic import Logistic

__all__ = ["BinaryLearners", "Targets", "allowed_input", "as_base_learner", "check_base_learner"]

_NAMED: dict[str, Callable[[], Any]] = {
    "tree": partial(Forest, n_trees=1, max_features=None, max_samples=None),
    "forest": Forest,
    "logistic": Logistic,
}
_ANSWERS = 10_000_000  # of trees, kept at a time: 40 MB

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Number = TypeVar("Number", np.uint8, np.float64)


def as_base_learner(estimator: Any) -> Any:
    """Return what a name stands for, a :class:`Forest` or a :class:`Logistic`; what is no such name as it is.

    Examples
    --------
    >>> as_base_learner("tree")
    Forest(max_features=None, max_samples=None, n_trees=1)
    """
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


def allowed_input(estimator: Any) -> tuple[bool, bool]:
    """Return whether a base learner takes sparse features, and whether it takes missing values."""
    learner = as_base_learner(estimator)
    if isinstance(learner, type) or not hasattr(learner, "__sklearn_tags__"):
        return False, False
    allowed = get_tags(learner).input_tags
    return bool(allowed.sparse), bool(allowed.allow_nan)


@dataclass(frozen=True, eq=False)
class Targets:
    """What binary problems have to learn, by distinct label vector.

    Attributes
    ----------
    vector_of_row : ndarray of int32, shape (n,)
        Which of the distinct vectors each row has.
    differences : ndarray of shape (n_vectors, n_problems)
        Positive for a 1, negative for a 0; the size is the weight. 0 leaves the rows out.
    n_features : ndarray of int32, shape (n_problems,), optional
        How many of the first features a problem may use.
    """

    vector_of_row: npt.NDArray[np.int32]
    differences: Floats
    n_features: npt.NDArray[np.int32] | None = None

    @classmethod
    def of_bits(
        cls,
        vector_of_row: npt.NDArray[np.int32],
        bits: Bytes,
        n_features: npt.NDArray[np.int32] | None = None,
    ) -> Self:
        """Make targets of 0 and 1, given by distinct label vector, that all weigh the same."""
        return cls(vector_of_row, np.where(bits > 0, 1.0, -1.0), n_features)


class BinaryLearners(Savable):
    """Learn binary problems, each by one base learner.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"tree", "forest", "logistic"}
    n_jobs : int, optional
    verbose : int, default=0

    Attributes
    ----------
    bank_ : TreeBank, LogisticBank or EstimatorBank
        Its bits are the base learners, or the trees of each forest one after the other.
    n_problems_ : int
    n_trees_ : int
        How many bits a problem has.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> targets = Targets(np.int32([0, 0, 1, 1]), np.array([[-1.0], [1.0]]))
    >>> learners = BinaryLearners("tree").fit(X, targets, np.random.default_rng(0))
    >>> learners.labels(X).ravel(), learners.probabilities(X).ravel()
    (array([0, 0, 1, 1], dtype=uint8), array([0., 0., 1., 1.]))
    """

    bank_: TreeBank | LogisticBank | EstimatorBank
    n_problems_: int
    n_trees_: int

    def __init__(self, estimator: Any, *, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Matrix, targets: Targets, rng: np.random.Generator) -> Self:
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
        )
        how: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        if isinstance(learner, Forest):
            self.bank_ = TreeBank(**learner.bank_parameters(), **how)
            self.bank_.fit(X, problems)
            return self
        if isinstance(learner, Logistic):
            self.bank_ = LogisticBank(**learner.bank_parameters(), **how).fit(X, problems)
            return self
        self.bank_ = EstimatorBank(learner, **how)
        weighted = not (np.abs(targets.differences) == 1.0).all()
        if weighted and not has_fit_parameter(learner, "sample_weight"):
            raise ValueError(f"estimator must take sample_weight in fit, which {learner!r} does not")
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
        if self.n_trees_ == 1:
            return self._ask(X, problems, lambda bits: self.bank_.predict(X, bits) > 0, np.uint8)
        return self._ask(X, problems, lambda bits: self._means(X, bits) > 0, np.uint8)

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
