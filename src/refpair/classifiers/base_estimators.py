"""The base estimators that reductions learn in banks, thousands at once, and their parameters."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from refpair._doc_link import DocLinked
from refpair._fitting import all_or_nothing, warn_caller
from refpair._saved import IfThere, Savable, check_weights, require
from refpair._sparse import check_sparse
from refpair.bits.logistic import LogisticBank, find_axes, minimise_logistic
from refpair.bits.problem import MaxFeatures
from refpair.classifiers._checks import check_amount, check_count, check_positive, is_integer

_EXACT = 1e-8
_STEPS = 100  # of Newton's method, at most

Floats = npt.NDArray[np.float64]


class Forest(DocLinked, BaseEstimator, Savable):  # type: ignore[misc]  # scikit-learn has no types
    """A forest as base learner, with parameters.

    It only holds parameters: a classifier grows the trees of all its problems together, so that they share
    bins of the features and threads.

    Parameters
    ----------
    n_trees : int, default=100
        Number of trees for each problem.
    max_depth : int, optional
        The depth of the trees; None lets them grow until their leaves are pure.
    min_samples_leaf : int, default=1
        Minimum number of rows in a leaf.
    max_features : int, float, "auto", "sqrt", "log2" or None, default="auto"
        Number of features that a split considers: a number, a share, or None for all. "auto" is "sqrt" if
        most features have more than two values, else a third of them.
    max_samples : int, float or None, default=0.632
        Number of rows, drawn without replacement, for each tree: a number, a share, or None for all. The
        default is the share of distinct rows in a bootstrap sample.
    max_bins : int, default=64
        Maximum number of bins of a numeric feature, from 2 to 255; a feature with fewer values is kept
        exactly.

    Notes
    -----
    ``estimator="forest"`` is ``Forest()``, and ``estimator="tree"`` is
    ``Forest(n_trees=1, max_features=None, max_samples=None)``.

    Examples
    --------
    >>> from refpair import BinaryRelevance, Forest
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> model = BinaryRelevance(Forest(n_trees=20, max_depth=8), random_state=0)
    >>> model.fit(digits.X[:1500], digits.Y[:1500]).predict(digits.X[1500:1501])
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0]], dtype=uint8)
    """

    _doc_page = "other-classifiers"

    def __init__(
        self,
        n_trees: int = 100,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures | Literal["auto"] = "auto",
        max_samples: int | float | None = 0.632,
        max_bins: int = 64,
    ) -> None:
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
        self.max_bins = max_bins

    def check(self) -> None:
        """Refuse bad parameters, naming them and what they may be; reductions ask for it in ``fit``."""
        check_count("n_trees", self.n_trees)
        if self.max_depth is not None:
            check_count("max_depth", self.max_depth)
        check_count("min_samples_leaf", self.min_samples_leaf)
        if not isinstance(self.max_features, str) or self.max_features not in ("auto", "sqrt", "log2"):
            allowed = 'a number, a share in (0, 1], "auto", "sqrt", "log2" or None'
            check_amount("max_features", self.max_features, allowed)
        check_amount("max_samples", self.max_samples, "a number, a share in (0, 1] or None")
        check_count("max_bins", self.max_bins, low=2, high=255)

    def _check_saved(self) -> None:
        self.check()

    def bank_parameters(self) -> dict[str, Any]:
        """Return the parameters of a tree bank."""
        given = self.get_params(deep=False)
        del given["n_trees"]  # a bank gets it from its problems
        if given["max_features"] == "auto":
            given["max_features"] = "forest"
        # For numpy's integers of other sizes the kernels would be compiled anew.
        return {name: int(value) if is_integer(value) else value for name, value in given.items()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class Logistic(DocLinked, ClassifierMixin, BaseEstimator, Savable):  # type: ignore[misc]  # scikit-learn has no types
    """Logistic regression with an L2 penalty, for two classes.

    By itself it has the solution of scikit-learn's ``LogisticRegression``. As a base learner, all problems
    are solved together, by matrix products.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty. Features should have similar scales.
    tol : float, optional
        Stop when the norm of the gradient of ½|w|² + C Σ loss, for centered features, is at most `tol` or
        `tol` times C Σ weight, whichever is less. By default 1e-2 for the bits of CSRPE, of which only the
        signs are used, else 1e-8.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn's ``LogisticRegression``.

    Examples
    --------
    >>> from refpair import BinaryRelevance, Logistic
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> model = BinaryRelevance(Logistic(C=0.01)).fit(digits.X[:1500], digits.Y[:1500])
    >>> model.predict(digits.X[1500:1501])
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0]], dtype=uint8)
    """

    _doc_page = "other-classifiers"
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": True}  # also within one-vs-rest
    classes_: npt.NDArray[Any]
    coef_: Floats
    intercept_: Floats
    n_features_in_: int
    feature_names_in_: IfThere[npt.NDArray[Any]]

    def __init__(self, C: float = 1.0, *, tol: float | None = None) -> None:
        self.C = C
        self.tol = tol

    def check(self) -> None:
        """Refuse bad parameters, naming them and what they may be."""
        check_positive("C", self.C)
        if self.tol is not None:
            check_positive("tol", self.tol)

    def _check_saved(self) -> None:
        self.check()
        if hasattr(self, "coef_"):
            fits = self.coef_.shape == (1, self.n_features_in_) and self.intercept_.shape == (1,)
            require(fits and self.classes_.shape == (2,), "a logistic regression has a wrong shape")
            check_weights(np.append(self.coef_, self.intercept_))

    def bank_parameters(self, default_tol: float = _EXACT) -> dict[str, Any]:
        """Return the parameters of a logistic bank."""
        return {"C": float(self.C), "tol": default_tol if self.tol is None else float(self.tol)}

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the regression.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        y : array of shape (n,)
            Two classes.
        sample_weight : array of shape (n,), optional
            The weight of each row.

        Returns
        -------
        self
        """
        self.check()
        check_sparse(X, "X")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self.classes_, which = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            found = "1 class" if len(self.classes_) == 1 else f"{len(self.classes_)} classes"
            raise ValueError(
                f"Only binary classification is supported: y must have two classes, not {found}; "
                "OneVsRestClassifier(Logistic()) learns several"
            )
        axes = find_axes(X)
        targets = (self.C * weight * np.where(which > 0, 1.0, -1.0))[None]
        start = np.zeros((1, axes.coordinates.shape[1] + 1))
        tol = _EXACT if self.tol is None else self.tol
        weights, done = minimise_logistic(axes.coordinates, targets, start, tol=tol, max_iter=_STEPS)
        if not done.all():
            warn_caller(
                f"the gradient is still longer than tol={tol} after {_STEPS} steps: scale the features",
                ConvergenceWarning,
            )
        self.intercept_ = weights[:, -1]
        self.coef_ = weights[:, :-1] if axes.back is None else weights[:, :-1] @ axes.back.T
        if axes.basis is not None:
            self.coef_ = np.asarray(self.coef_ @ axes.basis)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of the second class."""
        check_is_fitted(self)
        check_sparse(X, "X")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the more probable class of each row."""
        which = (self.decision_function(X) > 0.0).astype(np.intp)
        return np.asarray(self.classes_[which])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the two classes."""
        half = 0.5 * np.tanh(0.5 * self.decision_function(X))
        return np.column_stack([0.5 - half, 0.5 + half])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def classifiers_of(bank: LogisticBank, learner: Logistic, n_features: npt.NDArray[np.int32]) -> list[Any]:
    """Return the bits of a bank as single classifiers of 0 and 1; 0 or 1 where all rows agree.

    The bank had the parameters of the learner, and each bit its own number of first features.
    """
    learnt: list[Any] = []
    for weights, intercept, limit in zip(bank.coef_, bank.intercept_, n_features, strict=True):
        if np.isinf(intercept):
            learnt.append(int(intercept > 0))
            continue
        single = Logistic(**learner.get_params())
        single.classes_ = np.array([0, 1])
        single.coef_, single.intercept_ = weights[None, :limit], np.array([intercept])
        single.n_features_in_ = int(limit)
        learnt.append(single)
    return learnt
