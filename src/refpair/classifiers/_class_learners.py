"""Base learners of reductions: one classifier for each of many problems of several classes.

``estimator`` is what it is for binary problems (see :mod:`refpair.classifiers._base_learners`).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.multiclass import OneVsRestClassifier

from refpair._saved import Savable, require
from refpair.bits import ClassProblems, ClassTreeBank
from refpair.bits.binning import Matrix
from refpair.bits.estimator import check_features, fit_clones
from refpair.classifiers._base_learners import as_base_learner, check_base_learner
from refpair.classifiers.forest import Forest
from refpair.classifiers.logistic import Logistic

__all__ = ["ClassLearners"]


class ClassLearners(Savable):
    """Learn problems of several classes, each by one base learner.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"tree", "forest", "logistic"}
        Logistic regression learns each class against all others.
    n_jobs : int, optional
    verbose : int, default=0

    Attributes
    ----------
    learnt_ : ClassTreeBank or list
        The trees of all problems; else a fitted clone for each problem, or the number of its only class.
    n_classes_ : ndarray of int64, shape (n_problems,)

    Examples
    --------
    >>> X = np.array([[0.0], [4.0], [8.0]])
    >>> classes = np.int32([[0, 0], [1, 0], [2, 0]])  # the second problem has a single class
    >>> learners = ClassLearners("tree").fit(X, classes, np.random.default_rng(0))
    >>> learners.labels(np.array([[7.0], [1.0]]))
    array([[2, 0],
           [0, 0]], dtype=int32)
    >>> learners.probabilities(np.array([[7.0], [1.0]]), 0)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """

    learnt_: ClassTreeBank | list[Any]
    n_classes_: npt.NDArray[np.int64]

    def __init__(self, estimator: Any, *, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Matrix, classes: npt.NDArray[np.int32], rng: np.random.Generator) -> Self:
        """Learn all problems.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
        classes : ndarray of int32, shape (n, n_problems)
            In each problem from 0 on, none left out.
        rng : numpy.random.Generator
        """
        self.n_classes_ = classes.max(axis=0).astype(np.int64) + 1
        learner = as_base_learner(self.estimator)
        n_trees = learner.n_trees if isinstance(learner, Forest) else 1
        seeds = rng.integers(2**64, size=classes.shape[1] * n_trees, dtype=np.uint64)
        how: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        if isinstance(learner, Forest):
            problems = ClassProblems(classes, self.n_classes_, n_trees, seeds)
            self.learnt_ = ClassTreeBank(**learner.bank_parameters(), **how).fit(X, problems)
        else:
            of_classes = OneVsRestClassifier(learner) if isinstance(learner, Logistic) else learner
            self.learnt_ = fit_clones(of_classes, X, classes, seeds, **how)
        return self

    def _check_saved(self) -> None:
        check_base_learner(self.estimator)
        learnt, n_classes = self.learnt_, self.n_classes_
        if isinstance(learnt, ClassTreeBank):
            same = np.array_equal(learnt.n_classes_, n_classes)
            require(same, "the trees are those of other problems")
            return
        require(n_classes.shape == (len(learnt),), "there is not a learner for each problem")
        for own, n in zip(learnt, n_classes, strict=True):
            classes = [own] if isinstance(own, int) else getattr(own, "classes_", range(n))
            is_learner = isinstance(own, int) or hasattr(own, "predict")
            is_learner &= not getattr(own, "multilabel_", False)
            require(
                n > 0 and is_learner and np.array_equal(classes, np.arange(n)),
                "a problem has no learner, or a class that does not exist",
            )

    def check_n_features(self, n_features: int) -> None:
        """Refuse learners of other features, as far as they tell."""
        if isinstance(self.learnt_, ClassTreeBank):
            self.learnt_.check_n_features(n_features)
        else:
            check_features(self.learnt_, [n_features] * len(self.learnt_))

    def labels(self, X: Matrix) -> npt.NDArray[np.int32]:
        """Return the most probable class, one column a problem."""
        if isinstance(self.learnt_, ClassTreeBank):
            return self.learnt_.predict(X)
        answers = np.empty((X.shape[0], len(self.learnt_)), np.int32)
        for problem, learnt in enumerate(self.learnt_):
            answers[:, problem] = learnt if isinstance(learnt, int) else learnt.predict(X)
        return answers

    def probabilities(self, X: Matrix, problem: int) -> npt.NDArray[np.float64]:
        """Return the probability of each class of a problem, of shape (n, n_classes)."""
        if isinstance(self.learnt_, ClassTreeBank):
            return self.learnt_.predict_proba(X, problem)
        learnt = self.learnt_[problem]
        if isinstance(learnt, int):
            return np.ones((X.shape[0], 1))
        return np.asarray(learnt.predict_proba(X), np.float64)
