"""Which classes of scikit-learn may be in a file, and what must hold of what they have learned.

An estimator of scikit-learn believes what is in its attributes, and its compiled parts follow indices in them
without a check. Here are those that predict by NumPy alone, which checks every index, and those whose indices
are checked after loading: trees, and what puts sparse matrices together. Others are refused by name: support
vector machines (other than linear ones), nearest neighbors, gradient boosting, and all whose way of
predicting nobody has looked at.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree._tree import Tree

from refpair._saved import check_weights, own_n_jobs, require
from refpair.persistence._sklearn_trees import make_tree, take_tree

HOW_ELSE = "save such a model by joblib.dump(model, path), and load such a file only if you trust its source"

_LINEAR = (
    "LogisticRegression", "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier",
    "Perceptron", "PassiveAggressiveClassifier",
)  # fmt: skip
_TREES = ("DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor")
_CLASSES = {
    "calibration": ("CalibratedClassifierCV", "_CalibratedClassifier", "_SigmoidCalibration"),
    "compose": ("ColumnTransformer",),
    "decomposition": ("PCA", "TruncatedSVD"),
    "discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "dummy": ("DummyClassifier",),
    "ensemble": (
        "RandomForestClassifier", "ExtraTreesClassifier", "AdaBoostClassifier", "BaggingClassifier",
    ),
    "feature_extraction.text": ("CountVectorizer", "TfidfVectorizer", "TfidfTransformer"),
    "feature_selection": ("VarianceThreshold",),
    "impute": ("SimpleImputer", "MissingIndicator"),
    "linear_model": _LINEAR,
    "model_selection": ("GridSearchCV", "RandomizedSearchCV"),
    "multiclass": ("OneVsOneClassifier", "OneVsRestClassifier", "OutputCodeClassifier"),
    "multioutput": ("ClassifierChain", "MultiOutputClassifier"),
    "naive_bayes": ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB"),
    "neural_network": ("MLPClassifier",),
    "pipeline": ("FeatureUnion", "Pipeline"),
    "preprocessing": (
        "Binarizer", "FunctionTransformer", "LabelBinarizer", "LabelEncoder", "MaxAbsScaler", "MinMaxScaler",
        "Normalizer", "OneHotEncoder", "OrdinalEncoder", "PowerTransformer", "QuantileTransformer",
        "RobustScaler", "StandardScaler",
    ),
    "svm": ("LinearSVC",),
    "tree": _TREES,
}  # fmt: skip
_HOMES = {name: f"sklearn.{home}" for home, names in _CLASSES.items() for name in names}
_REPEATS, _MOST_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"), 3
_NOT_KEPT = {"scorer_", "_checked_cv_orig"}  # of searches: how they chose, which nothing asks for any more
# What a pipeline of a file may have: with more steps, or unions of unions, a row could take for ever.
_MOST_STEPS, _MOST_GROWTH, _LONGEST_NGRAM = 100, 4096, 32
_LOSSES = ("sklearn._loss.", "sklearn.linear_model._sgd_fast")  # which only fitting asks for


def find_class(name: str) -> Any:
    """Return the class of scikit-learn that a name stands for, or None if it may not be in a file."""
    return getattr(import_module(_HOMES[name]), name, None) if name in _HOMES else None


def get_attributes(estimator: Any) -> dict[str, Any]:
    """Return what a file is to hold of an estimator, which is checked before."""
    _check_attributes(estimator)
    has = {
        name: take_tree(value) if isinstance(value, Tree) else value
        for name, value in vars(estimator).items()
        if name not in _NOT_KEPT and not type(value).__module__.startswith(_LOSSES)
    }
    if type(estimator).__name__ == "Pipeline":
        has["memory"] = None  # a folder, which a file has no business with
    return has


def from_attributes(cls: Any, has: dict[str, Any]) -> Any:
    """Return the estimator that a file holds, or raise a ValueError that says what is wrong."""
    made = cls.__new__(cls)
    has = _defaults(cls) | has  # there may be more than when the file was written
    if "tree_" in has:
        require(cls.__name__ in _TREES, "a tree is where none belongs")
        tree = has["tree_"] = make_tree(has["tree_"], has.get("n_features_in_"))
        require(has.get("n_outputs_") == tree.n_outputs, "a tree has other outputs than its estimator")
    if "n_jobs" in has:
        has["n_jobs"] = own_n_jobs(has["n_jobs"])
    vars(made).update(has)
    _check_attributes(made)
    return made


@cache
def _defaults(cls: Any) -> dict[str, Any]:
    parameters = inspect.signature(cls).parameters.values()
    return {own.name: own.default for own in parameters if own.default is not own.empty}


def _check_attributes(estimator: Any) -> None:
    """Check that an estimator has no methods of its own, and that its indices exist."""
    cls = type(estimator)
    for name in vars(estimator):
        own = getattr(cls, name, None)
        shadows = callable(own) or isinstance(own, property)
        require(not shadows, f"the {name} of a {cls.__name__} is not a value")
    n_features = vars(estimator).get("n_features_in_", 1)
    told = isinstance(n_features, int | np.integer) and n_features > 0
    require(told, f"a {cls.__name__} does not tell its features")
    check = _CHECKS.get(cls.__name__)
    if check is not None:
        check(estimator)


def _check_pipeline(model: Any) -> None:
    steps = model.steps
    fine = (
        isinstance(steps, list)
        and 0 < len(steps) <= _MOST_STEPS
        and all(type(step) is tuple and len(step) == 2 and isinstance(step[0], str) for step in steps)
    )
    require(fine, "a pipeline has no steps, or too many")
    _check_growth(model)
    model._validate_steps()
    require(not isinstance(steps[-1][1], str), "a pipeline has no last step")
    for (_, before), (_, after) in pairwise(steps):
        n_out, n_in = getattr(before, "_n_features_out", None), getattr(after, "n_features_in_", None)
        require(None in (n_out, n_in) or n_out == n_in, "a step of a pipeline has other features")


def _check_growth(model: Any) -> None:
    """Refuse unions of unions: each step could have many times the features of the one before."""
    require(_growth(model) <= _MOST_GROWTH, "a pipeline repeats its features far too often")


def _growth(model: Any) -> int:
    """Return how often a feature may be there in the end."""
    parts = vars(model) if hasattr(model, "__dict__") else {}
    if "steps" in parts:
        return math.prod(max(1, _growth(step)) for _, step in model.steps)
    listed = [parts.get(name) or [] for name in ("transformer_list", "transformers", "transformers_")]
    require(all(isinstance(own, list) for own in listed), "transformers are no list")
    return max(1, *(sum(_growth(one[1]) for one in own) for own in listed))


def _check_function(model: Any) -> None:
    """Check that a function is given plain values: by `out` it could change how many rows there are."""
    for given in (model.kw_args, model.inv_kw_args):
        plain = given is None or all(isinstance(own, bool | int | float | str) for own in given.values())
        require(plain, "a function is given more than plain values")


def _check_layers(model: Any) -> None:
    """Check that there are weights: a layer after one of no units could have millions at no cost."""
    weighty = all(type(own) is np.ndarray and own.size for own in getattr(model, "coefs_", []))
    require(weighty, "a layer has no weights")


def _check_dummy(model: Any) -> None:
    """Check that classes are counted right: their probabilities are made room for by the number."""
    if hasattr(model, "classes_"):
        single = model.n_outputs_ == 1
        classes, counts = ([own] if single else own for own in (model.classes_, model.n_classes_))
        require([len(own) for own in classes] == list(counts), "the classes are not counted right")


def _check_one_against_rest(model: Any) -> None:
    known = hasattr(model.estimator, "fit") and hasattr(model.estimator, "get_params")
    require(known, "the classes have no learner")
    if not hasattr(model, "estimators_"):
        return
    binarizer, learnt = model.label_binarizer_, model.estimators_
    known = type(binarizer) is find_class("LabelBinarizer")
    require(known and np.array_equal(model.classes_, binarizer.classes_), "a class that does not exist")
    n = len(binarizer.classes_)
    expected = 1 if n == 2 and binarizer.y_type_ == "binary" else n
    require(n >= 2 and len(learnt) == expected, "there is not a learner for each class")
    same = all(getattr(own, "n_features_in_", None) == model.n_features_in_ for own in learnt)
    require(same and all(hasattr(own, "predict") for own in learnt), "a learner has other features")


def _check_binarizer(model: Any) -> None:
    if hasattr(model, "classes_"):
        known = model.y_type_ in ("binary", "multiclass", "multilabel-indicator")
        require(known and getattr(model.classes_, "ndim", 0) == 1, "the classes are not known")


def _check_vocabulary(model: Any) -> None:
    """Check that words have the columns that exist: SciPy would count them elsewhere in memory.

    A pattern or long sequences of words could make any text take for ever.
    """
    shortest, longest = model.ngram_range
    require(
        type(longest) is int and 0 < shortest <= longest <= _LONGEST_NGRAM, "sequences of words are too long"
    )
    require(model.input == "content", "texts are to be read from files")
    known = isinstance(model.token_pattern, str | None)
    require(
        known and ends_soon(model.token_pattern or ""),
        "token_pattern may take for ever, or cannot be checked",
    )
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
    right = all(type(own) is np.ndarray and own.ndim == 1 and len(own) for own in categories)
    require(right, "the categories have a wrong shape")
    require(all(map(_are_found, categories)), "the categories are not in order")
    require(np.dtype(model.dtype).kind in "biuf", "the categories become no numbers")
    infrequent = getattr(model, "_infrequent_enabled", False)
    require(not infrequent, "rare categories were put together, which cannot be checked")
    if type(model) is not find_class("OneHotEncoder"):
        return
    dropped = model._drop_idx_after_grouping  # drop_idx_ is for reading only, and must say the same
    same: Any = getattr(model, "drop_idx_", None)
    require((dropped is None) == (same is None), "the dropped categories are others")
    left_out: list[Any] = [None] * len(categories)
    if dropped is not None:
        right = type(dropped) is type(same) is np.ndarray and dropped.shape == (len(categories),)
        require(right and dropped.tolist() == same.tolist(), "the dropped categories are others")
        left_out = dropped.tolist()
    for own, all_there in zip(left_out, categories, strict=True):
        fits = own is None or (type(own) is int and 0 <= own < len(all_there))
        require(fits, "a dropped category does not exist")
    expected = [len(own) - (out is not None) for own, out in zip(categories, left_out, strict=True)]
    widths = model._n_features_outs  # a list: to an array, 0 would not be appended but added
    whole = type(widths) is list and all(isinstance(width, int | np.integer) for width in widths)
    require(whole and widths == expected, "the categories have other columns")


def _are_found(categories: npt.NDArray[Any]) -> bool:
    """Whether values have the places at which they are looked for.

    Numbers are found by halving, also those that are objects: each once and in order, but for NaN at the end.
    Strings are found by hashing: each once.
    """
    known = categories.tolist()
    if known and isinstance(known[-1], float) and math.isnan(known[-1]):
        known.pop()
    if known and known[-1] is None:
        known.pop()
    if all(isinstance(own, str) for own in known):
        return len(set(known)) == len(known)
    numbers = all(isinstance(own, int | float) for own in known)
    return numbers and all(before < after for before, after in pairwise(known))


def ends_soon(pattern: str) -> bool:
    """Whether any text is soon searched for a pattern.

    What is repeated must not hold repetitions or choices: a text that nearly matches could be cut in ever
    more ways.
    """
    parser = import_module("re._parser")
    try:
        re.compile(pattern)
        found = [(name, inner) for name, inner in _parts_of(parser.parse(pattern))]
    except (re.error, OverflowError, RecursionError):
        return False
    repeated = [inner for name, inner in found if name in _REPEATS]
    nested = {name for one in repeated for name, _ in _parts_of(one[2])}
    return len(repeated) <= _MOST_REPEATS and not nested & {*_REPEATS, "BRANCH", "GROUPREF"}


def _parts_of(parsed: Any) -> Iterator[tuple[str, Any]]:
    """Yield all that a parsed pattern consists of."""
    if isinstance(parsed, tuple) and len(parsed) == 2 and hasattr(parsed[0], "name"):
        yield parsed[0].name, parsed[1]
    if isinstance(parsed, list | tuple) or hasattr(parsed, "data"):
        for part in parsed:
            yield from _parts_of(part)


def _check_forest(model: Any) -> None:
    """Check that trees have the classes of their forest, and its features: it gives them rows unseen."""
    for tree in getattr(model, "estimators_", []):
        same = tree.n_features_in_ == model.n_features_in_ == tree.tree_.n_features
        require(same, "a tree has other features than its forest")
        counted = np.array_equal(np.atleast_1d(model.n_classes_), tree.tree_.n_classes)
        require(
            counted and model.n_outputs_ == tree.tree_.n_outputs, "a tree has other classes than its forest"
        )


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


_CHECKS: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys((*_LINEAR, "LinearSVC", "LinearDiscriminantAnalysis"), _check_linear),
    **dict.fromkeys(("RandomForestClassifier", "ExtraTreesClassifier"), _check_forest),
    **dict.fromkeys(("CountVectorizer", "TfidfVectorizer"), _check_vocabulary),
    **dict.fromkeys(("OneHotEncoder", "OrdinalEncoder"), _check_categories),
    **dict.fromkeys(("ColumnTransformer", "FeatureUnion"), _check_growth),
    "DummyClassifier": _check_dummy,
    "FunctionTransformer": _check_function,
    "LabelBinarizer": _check_binarizer,
    "MLPClassifier": _check_layers,
    "OneVsRestClassifier": _check_one_against_rest,
    "Pipeline": _check_pipeline,
}
