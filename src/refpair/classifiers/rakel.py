"""RAkEL: label powersets of random small sets of labels, which vote on each label."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._saved import require
from refpair.classifiers._base_learners import Floats
from refpair.classifiers._checks import check_count
from refpair.classifiers._reduction import ReductionClassifier
from refpair.classifiers.mlecc import CodeLearners
from refpair.coding.repetition import LabelsetRepetition, draw_labelsets
from refpair.posterior.distinct_labels import distinct_labels
from refpair.tables.labels import LabelMatrix


class RAkEL(ReductionClassifier):
    """Learn label powersets of small random sets of labels, which vote on each label.

    No problem has more than 2^``labelset_size`` classes, and label vectors that are not in the training set
    can be predicted. The sets overlap.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"forest", "tree", "logistic"}, default="forest"
        The base learner of a set: a classifier, which is cloned, or trees or forests, which are grown
        together (see :class:`Forest`). "logistic" learns each class against the others.
    labelset_size : int, default=3
        Number of labels in a set. If there are no more labels, a single set has all of them, as in
        :class:`LabelPowerset`.
    n_labelsets : int, optional
        Number of sets; by default twice the number of labels. Sets are distinct, and every label is in at
        least one.
    labelsets : array-like of int, shape (n_labelsets, labelset_size), optional
        Custom sets, as column numbers of y. The two parameters before are then ignored.
    n_jobs : int, optional
        Number of threads or processes, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    labelsets_ : ndarray of int, shape (n_labelsets, labelset_size)
        The labels of each set.
    learners_ : CodeLearners
        The powersets.
    classes_, n_features_in_, feature_names_in_
        The names of the labels, and of the features as in scikit-learn.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas: Random k-Labelsets for Multilabel Classification. TKDE 2011.

    Examples
    --------
    >>> from refpair import RAkEL
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> model = RAkEL("tree", random_state=0).fit(digits.X[:1500], digits.Y[:1500])
    >>> model.labelsets_[:3]
    array([[2, 3, 5],
           [1, 8, 9],
           [3, 7, 9]])
    >>> model.predict_proba(digits.X[1500:1501]).round(1)
    array([[0. , 0. , 0. , 0.1, 0. , 0. , 0.9, 0. , 0.1, 0. ]])
    """

    labelsets_: npt.NDArray[np.intp]
    learners_: CodeLearners

    def __init__(
        self,
        estimator: Any = "forest",
        *,
        labelset_size: int = 3,
        n_labelsets: int | None = None,
        labelsets: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs=n_jobs, random_state=random_state, verbose=verbose)
        self.labelset_size = labelset_size
        self.n_labelsets = n_labelsets
        self.labelsets = labelsets

    def _learn(
        self, X: Any, labels: LabelMatrix, row_weight: Floats | None, rng: np.random.Generator
    ) -> None:
        code = self._make_sets(labels.shape[1], rng.spawn(1)[0])
        self.labelsets_ = code.labelsets
        learners = CodeLearners(self.estimator, self.labelsets_.shape[1], **self._running())
        self.learners_ = learners.fit(X, distinct_labels(labels), code, rng, row_weight)

    def _make_sets(self, n_labels: int, rng: np.random.Generator) -> LabelsetRepetition:
        if self.labelsets is not None:
            code = LabelsetRepetition(n_labels, self.labelsets)
            left_out = np.setdiff1d(np.arange(n_labels), code.labelsets)
            if len(left_out):
                raise ValueError(f"labelsets leaves out label {left_out[0]}: put every label into a set")
            return code
        size = min(self.labelset_size, n_labels)
        n_wanted = 2 * n_labels if self.n_labelsets is None else self.n_labelsets
        n_least = -(-n_labels // size)
        if n_wanted < n_least:
            raise ValueError(
                f"n_labelsets is {n_wanted}, too few to have each of {n_labels} labels in a set of {size}: "
                f"give at least {n_least}"
            )
        n_sets = min(n_wanted, comb(n_labels, size))
        return LabelsetRepetition(n_labels, draw_labelsets(n_labels, n_sets, k=size, rng=rng))

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        code = LabelsetRepetition(n_labels, self.labelsets_)
        require(len(np.unique(code.labelsets)) == n_labels, "a label is in no set")
        require(self.learners_.n_bits_ == code.n_bits, "there are too few or too many bits")
        self.learners_.learners_.check_n_features(n_features)

    def _tells_probabilities(self) -> bool:
        return True  # they are votes

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        return (self._marginals(X) > 0.5).astype(np.uint8)

    def _marginals(self, X: Any) -> npt.NDArray[np.float64]:
        """Return which share of the sets with a label predict it."""
        labels = self.labelsets_.ravel()
        by_label = np.argsort(labels, kind="stable")
        n_sets = np.bincount(labels)
        start = np.cumsum(n_sets) - n_sets
        shares = np.empty((X.shape[0], len(n_sets)))
        for rows, words in self.learners_.words(X):
            shares[rows] = np.add.reduceat(words[:, by_label], start, axis=1, dtype=np.int64) / n_sets
        return shares

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("labelset_size", self.labelset_size)
        if self.n_labelsets is not None:
            check_count("n_labelsets", self.n_labelsets)
