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

from refpair.persistence._checks import check_weights
from refpair.persistence._codec import require

__all__ = ["check_attributes", "is_known_class"]

_CLASSES = {
    "LogisticRegression", "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier",
    "Perceptron", "PassiveAggressiveClassifier", "LinearSVC", "MLPClassifier", "DummyClassifier",
    "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis",
    "GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB",
    "DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor",
    "RandomForestClassifier", "ExtraTreesClassifier", "AdaBoostClassifier", "BaggingClassifier",
    "CalibratedClassifierCV", "ClassifierChain", "MultiOutputClassifier", "OneVsRestClassifier",
    "OneVsOneClassifier", "OutputCodeClassifier", "GridSearchCV", "RandomizedSearchCV",
    "Pipeline", "FeatureUnion", "ColumnTransformer", "FunctionTransformer",
    "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer", "Binarizer",
    "PowerTransformer", "QuantileTransformer", "SimpleImputer", "MissingIndicator", "VarianceThreshold",
    "PCA", "TruncatedSVD", "LabelBinarizer", "LabelEncoder", "OneHotEncoder", "OrdinalEncoder",
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
    require(all(np.ndim(own) == 1 for own in categories), "the categories have a wrong shape")
    infrequent = getattr(model, "_infrequent_enabled", False)
    require(not infrequent, "rare categories were put together, which cannot be checked")
    widths = getattr(model, "_n_features_outs", None)
    if widths is not None:
        dropped = getattr(model, "_drop_idx_after_grouping", None)
        left_out = [0] * len(categories) if dropped is None else [int(own is not None) for own in dropped]
        expected = [len(own) - out for own, out in zip(categories, left_out, strict=True)]
        require([int(width) for width in widths] == expected, "the categories have other columns")


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
    "CountVectorizer": _check_vocabulary,
    "TfidfVectorizer": _check_vocabulary,
    "OneHotEncoder": _check_categories,
    "OrdinalEncoder": _check_categories,
}
