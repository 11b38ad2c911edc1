"""Classifier chains: each label is learned from the features and the labels before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refpair.classifiers._base_learners import Floats
from refpair.classifiers._chain_search import chances_along, follow
from refpair.classifiers._links import Links, check_chain, fit_links, read_order
from refpair.classifiers._reduction import ReductionClassifier
from refpair.posterior.distinct_labels import distinct_labels
from refpair.tables.labels import LabelMatrix


class ChainClassifier(ReductionClassifier):
    """Predict one label after the other, each from the features and the labels before it.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"forest", "tree", "logistic"}, default="forest"
        The base learner of a label, a link of the chain: a classifier, which is cloned, or trees or logistic
        regressions that are learned together; see :class:`Forest`.
    order : array-like of int or "random", optional
        Column numbers of the labels in the order of the chain; by default the order of the columns of y.
    n_jobs : int, optional
        Number of threads or processes, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    order_ : ndarray of int64, shape (n_labels,)
        The label of each link.
    links_ : TreeLinks or EstimatorLinks
    classes_, n_features_in_, feature_names_in_
        The names of the labels, and of the features as in scikit-learn.

    See Also
    --------
    ProbabilisticChain : The same chain, with decisions of lowest expected cost.

    Notes
    -----
    With a base learner of scikit-learn, predictions are those of its ``ClassifierChain``. Unlike there, a
    label may be constant in training; it is then predicted as this constant. There are no probabilities if
    the base learner has no ``predict_proba``.

    References
    ----------
    Read, Pfahringer, Holmes and Frank, "Classifier chains for multi-label classification", 2009.

    Examples
    --------
    >>> from refpair import ChainClassifier
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> model = ChainClassifier("forest", random_state=0).fit(digits.X[:1500], digits.Y[:1500])
    >>> model.predict(digits.X[1500:1501])
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0]], dtype=uint8)
    """

    order_: npt.NDArray[np.int64]
    links_: Links

    def __init__(
        self,
        estimator: Any = "forest",
        *,
        order: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs=n_jobs, random_state=random_state, verbose=verbose)
        self.order = order

    def _learn(
        self, X: Any, labels: LabelMatrix, row_weight: Floats | None, rng: np.random.Generator
    ) -> None:
        self.order_ = read_order(self.order, labels.shape[1], rng)
        distinct = distinct_labels(labels)
        self.links_ = fit_links(self.estimator, X, distinct, self.order_, rng, row_weight, **self._running())

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        check_chain(self.order_, self.links_, n_features, n_labels)

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        return follow(self.links_, X)[:, np.argsort(self.order_)]

    def _marginals(self, X: Any) -> npt.NDArray[np.float64]:
        # Given the labels that are predicted before: only of the first one that is how probable it is at all.
        chances = chances_along(self.links_, X, follow(self.links_, X))
        return chances[:, np.argsort(self.order_)]
