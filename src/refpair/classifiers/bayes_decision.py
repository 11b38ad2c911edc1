"""Any multi-label model of scikit-learn, made to answer with what costs least."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from refpair._saved import require
from refpair.classifiers._base import MultiLabelClassifier, check_count, check_running
from refpair.classifiers._label_models import Distribution, LabelModel, fit_label_model, is_pipeline
from refpair.costs import Cost

__all__ = ["BayesDecisionClassifier"]


# scikit-learn carries no types, so mypy sees a class of type Any among the bases.
class BayesDecisionClassifier(MetaEstimatorMixin, MultiLabelClassifier):  # type: ignore[misc]
    """Makes a multi-label classifier of scikit-learn answer with the label vector of least expected cost.

    The classifier is fitted as it is, whatever the cost. What it then knows of a row is read as a
    distribution over label vectors, and the answer is the vector that costs least on average under it. See
    :mod:`refpair.decision` for how it is found, and for which costs it is exact.

    Parameters
    ----------
    estimator : classifier
        A multi-label classifier with ``predict_proba``, also as the last step of a pipeline or within
        ``GridSearchCV``. Of what kind it is decides what is known of the dependence of labels:

        - forests and trees (``RandomForestClassifier``, ``ExtraTreesClassifier``, ``DecisionTreeClassifier``,
          ``ExtraTreeClassifier``): a row has the label vectors of the training rows in its leaf, with the
          mean frequency over the trees. Label vectors are seen as a whole.
        - chains (``ClassifierChain``): label vectors are drawn from the product of the conditional
          probabilities of the links. Dependence is as the chain learnt it.
        - all others: the labels are taken to be **independent**, with the probabilities that
          ``predict_proba`` tells.
    cost : str, Cost or callable, default="f1"
        What a prediction costs: "f1", "accuracy" (or "jaccard"), "hamming", "zero_one", "rank", "f2" and so
        on, or a cost of your own; see :class:`refpair.Cost`.
    n_samples : int, default=100
        How many label vectors to draw for a row from a chain. If K labels have no more than that
        (2^K ≤ n_samples), the distribution is computed exactly instead. Other estimators do not use it.
    n_jobs : int, optional
        Threads that read leaves and decide; −1 uses all processors. The estimator has its own ``n_jobs``.
    random_state : int, RandomState or None, default=None
        Decides what is drawn from a chain. If it is given, the estimator gets random states from it wherever
        it has none of its own.
    verbose : int, default=0
        1 shows a progress bar while the leaves of a forest are read.

    Attributes
    ----------
    estimator_ : classifier
        The fitted clone of the estimator. Unless it is a tree or forest, it knows only the labels that vary
        in the training set, since others make most classifiers fail; it is None if there are none.
    cost_ : Cost
        The cost as an object.
    classes_ : ndarray of shape (n_labels,)
        The names of the labels: the columns of a DataFrame, else 0, 1, 2, …
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X was a DataFrame.

    Notes
    -----
    A training row counts in its leaf as often as the bootstrap of the tree drew it. ``class_weight`` shapes
    the trees of a forest, but is no part of these frequencies otherwise: what mistakes cost is for the cost
    to say.

    The draws from a chain are systematic: paths through the chain get as many of them as expected, rounded up
    or down at random. All rows use the same random numbers, so that a prediction does not depend on the other
    rows.

    The features that a pipeline starts with are passed on to it as they are, for instance texts.

    Examples
    --------
    >>> from refpair import BayesDecisionClassifier
    >>> from refpair.datasets import load_dataset
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> digits = load_dataset("digits")  # pictures with up to three digits on top of each other
    >>> X, Y, X_test, Y_test = digits.X[:1500], digits.Y[:1500], digits.X[1500:], digits.Y[1500:]
    >>> forest = RandomForestClassifier(50, random_state=0)
    >>> model = BayesDecisionClassifier(forest, cost="f1").fit(X, Y)
    >>> round(model.score(X_test, Y_test), 2)
    0.84
    >>> round(model.cost_.mean(Y_test, forest.fit(X, Y).predict(X_test)), 2)  # the forest on its own
    0.66
    >>> model.decide(X_test[:1], "zero_one")  # another cost, without fitting again
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0]], dtype=uint8)
    """

    _label_model: LabelModel
    _needs_n_features: ClassVar[bool] = False  # a pipeline may start with texts

    def __init__(
        self,
        estimator: Any,
        *,
        cost: Any = "f1",
        n_samples: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.n_samples = n_samples
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Sparse, or with missing values (NaN), if the estimator takes such.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            The labels, 0/1, boolean or yes/no. A one-dimensional y of two classes is taken as a single label.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, labels = self._read(X, y)
        self.cost_ = self._check_cost(self.cost)
        state = check_random_state(self.random_state)
        estimator = clone(self.estimator)
        if self.random_state is not None:
            _seed(estimator, state)
        self._label_model = fit_label_model(
            estimator,
            X,
            labels,
            n_samples=self.n_samples,
            rng=np.random.default_rng(state.randint(2**31, size=4, dtype=np.int64)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        self.estimator_ = self._label_model.model
        return self

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        same = len(self._label_model.constant) == n_labels
        require(same, "the fitted model is one of other labels")

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        model = super()._from_saved(saved)
        if hasattr(model, "_label_model"):
            model.estimator_ = model._label_model.model
        return model

    def _distributions(self, X: Any, cost: Cost | None) -> Iterator[tuple[slice, Distribution]]:
        return self._label_model.distributions(X, self.n_jobs)

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        if is_pipeline(self.estimator):  # it may start with texts, or with columns by their names
            return validate_data(self, X, reset=reset, skip_check_array=True)
        return super()._read_features(X, reset=reset)

    def _check_parameters(self) -> None:
        """Refuse bad parameters, naming them and what they may be; the cost is checked with the labels."""
        estimator = self.estimator
        if isinstance(estimator, type) or not (
            hasattr(estimator, "fit") and hasattr(estimator, "get_params")
        ):
            raise ValueError(f"estimator must be a multi-label classifier of scikit-learn, not {estimator!r}")
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"estimator must have predict_proba, which {estimator!r} has not: make it of a classifier "
                "that tells probabilities, such as CalibratedClassifierCV(LinearSVC()) instead of LinearSVC()"
            )
        check_count("n_samples", self.n_samples)
        check_running(n_jobs=self.n_jobs, random_state=self.random_state, verbose=self.verbose)


def _seed(estimator: Any, state: np.random.RandomState) -> None:
    """Give a random state to whatever part of an estimator has none."""
    for name, value in sorted(estimator.get_params(deep=True).items(), key=lambda item: item[0]):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            estimator.set_params(**{name: int(state.randint(2**31))})
