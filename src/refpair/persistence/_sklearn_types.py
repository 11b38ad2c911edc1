"""Which classes of scikit-learn may be in a file, and what must hold of what they have learnt.

An estimator of scikit-learn believes what is in its attributes, and its compiled parts follow indices in them
without a check. Here are those that predict by NumPy alone, which checks every index, and those whose indices
are checked after loading. Others are refused by name: support vector machines (other than linear ones),
nearest neighbours, gradient boosting, and all whose way of predicting nobody has looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._saved import MOST_THREADS, check_weights, require

__all__ = ["check_attributes", "is_known_class"]

_CLASSES = {
    "LogisticRegression", "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier",
    "Perceptron", "PassiveAggressiveClassifier", "LinearSVC", "MLPClassifier", "DummyClassifier",
    "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis",
    "GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB",
    "DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor",
    "RandomForestClassifier", "ExtraTreesClassifier", "AdaBoostClassifier", "BaggingClassifier",
    "CalibratedClassifierCV", "ClassifierChain", "MultiOutputClassifier",
    "OneVsOneClassifier", "OutputCodeClassifier", "GridSearchCV", "RandomizedSearchCV",
    "FeatureUnion", "ColumnTransformer", "FunctionTransformer",
    "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer", "Binarizer",
    "PowerTransformer", "QuantileTransformer", "SimpleImputer", "MissingIndicator", "VarianceThreshold",
    "PCA", "TruncatedSVD", "LabelEncoder", "OneHotEncoder", "OrdinalEncoder",
    "CountVectorizer", "TfidfVectorizer", "TfidfTransformer",
}  # fmt: skip


def is_known_class(cls: type) -> bool:
    """Whether a class is one of scikit-learn whose objects may be in a file.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.svm import SVC
    >>> is_known_class(LogisticRegression), is_known_class(SVC)
    (True, False)
    """
    return cls.__module__.startswith("sklearn.") and cls.__name__ in _CLASSES


def check_attributes(estimator: Any) -> None:
    """Check an estimator that was read: it has no methods of its own, and its indices exist."""
    cls = type(estimator)
    for name in vars(estimator):
        own = getattr(cls, name, None)
        shadows = callable(own) or isinstance(own, property)
        require(not shadows, f"the {name} of a {cls.__name__} is not a value")
    n_jobs = getattr(estimator, "n_jobs", None)
    few = n_jobs is None or (isinstance(n_jobs, int) and abs(n_jobs) <= MOST_THREADS)
    require(few, f"n_jobs of a {cls.__name__} is {n_jobs}, which is too large; set fewer")
    check = _CHECKS.get(cls.__name__)
    if check is not None:
        check(estimator)


def _check_vocabulary(model: Any) -> None:
    """Check that words have the columns that exist: SciPy would count them elsewhere in memory."""
    vocabulary = getattr(model, "vocabulary_", None)
    if vocabulary is not None:
        columns = [int(column) for column in vocabulary.values()]
        require(sorted(columns) == list(range(len(columns))), "the words have columns that do not exist")


def _check_categories(model: Any) -> None:
    """Check that values are told apart as often as there are columns for them."""
    categories = getattr(model, "categories_", None)
    if categories is None:
        return
    require(len(categories) == model.n_features_in_, "there are not categories for each feature")
    right = all(isinstance(own, np.ndarray) and own.ndim == 1 for own in categories)
    require(right, "the categories have a wrong shape")
    require(all(map(_is_sorted, categories)), "the categories are not in order")
    infrequent = getattr(model, "_infrequent_enabled", False)
    require(not infrequent, "rare categories were put together, which cannot be checked")
    left_out = [0] * len(categories)
    for name in ("drop_idx_", "_drop_idx_after_grouping"):
        dropped = getattr(model, name, None)
        if dropped is not None:
            require(len(dropped) == len(categories), "the dropped categories have a wrong shape")
            left_out = [int(own is not None) for own in dropped]
            for own, all_there in zip(dropped, categories, strict=True):
                fits = own is None or (isinstance(own, int | np.integer) and 0 <= own < len(all_there))
                require(fits, "a dropped category does not exist")
    widths = getattr(model, "_n_features_outs", None)
    if widths is not None:
        expected = [len(own) - out for own, out in zip(categories, left_out, strict=True)]
        require([int(width) for width in widths] == expected, "the categories have other columns")


def _is_sorted(categories: npt.NDArray[Any]) -> bool:
    """Whether values are found by halving, where they are: each once and in order, but for NaN at the end."""
    if categories.dtype == object:
        return True  # they are found by hashing
    known = categories[
        : len(categories) - int(categories.dtype.kind == "f" and np.isnan(categories[-1:]).any())
    ]
    return bool((known[1:] > known[:-1]).all())


def _check_forest(model: Any) -> None:
    """Check that trees have the features of their forest, which gives them rows without a look."""
    for tree in getattr(model, "estimators_", []):
        same = tree.n_features_in_ == model.n_features_in_ == tree.tree_.n_features
        require(same, "a tree has other features than its forest")


def _check_linear(model: Any) -> None:
    """Check that there are as many weights as features, for as many answers as classes need."""
    if not hasattr(model, "coef_"):  # not fitted
        return
    n_classes = len(model.classes_)
    weights, shifts = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    n_answers = 1 if n_classes == 2 else n_classes
    require(n_classes >= 2, "a linear model has no classes")
    fits = weights.shape == (n_answers, model.n_features_in_) and shifts.shape in ((n_answers,), (1,))
    require(fits, "a linear model has a wrong shape")
    check_weights(np.append(weights, shifts))


_LINEAR = (
    "LogisticRegression", "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier",
    "Perceptron", "PassiveAggressiveClassifier", "LinearSVC", "LinearDiscriminantAnalysis",
)  # fmt: skip
_CHECKS: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(_LINEAR, _check_linear),
    "RandomForestClassifier": _check_forest,
    "ExtraTreesClassifier": _check_forest,
    "CountVectorizer": _check_vocabulary,
    "TfidfVectorizer": _check_vocabulary,
    "OneHotEncoder": _check_categories,
    "OrdinalEncoder": _check_categories,
}
