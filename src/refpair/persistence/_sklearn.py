"""Which classes of scikit-learn may be in a file, and what must hold of what they have learnt.

An estimator of scikit-learn believes what is in its attributes, and its compiled parts follow indices in them
without a check. Here are those that predict by NumPy alone, which checks every index, and those whose indices
are checked after loading. Others are refused by name: support vector machines (other than linear ones),
nearest neighbours, gradient boosting, and all whose way of predicting nobody has looked at.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree._tree import Tree

from refpair._saved import MOST_THREADS, check_weights, require

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
_NOT_KEPT = {"scorer_", "_checked_cv_orig"}  # of searches: how they chose, which nothing asks for any more
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
    n_jobs = getattr(estimator, "n_jobs", None)
    few = n_jobs is None or (isinstance(n_jobs, int) and abs(n_jobs) <= MOST_THREADS)
    require(few, f"n_jobs of a {cls.__name__} is {n_jobs}, which is too large; set fewer")
    check = _CHECKS.get(cls.__name__)
    if check is not None:
        check(estimator)


def _check_pipeline(model: Any) -> None:
    steps = model.steps
    fine = (
        isinstance(steps, list)
        and steps
        and all(type(step) is tuple and len(step) == 2 and isinstance(step[0], str) for step in steps)
    )
    require(fine, "a pipeline has no steps")
    model._validate_steps()
    require(not isinstance(steps[-1][1], str), "a pipeline has no last step")
    for (_, before), (_, after) in pairwise(steps):
        n_out, n_in = getattr(before, "_n_features_out", None), getattr(after, "n_features_in_", None)
        require(None in (n_out, n_in) or n_out == n_in, "a step of a pipeline has other features")


def _check_one_against_rest(model: Any) -> None:
    require(hasattr(model.estimator, "fit"), "the classes have no learner")
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


_CHECKS: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys((*_LINEAR, "LinearSVC", "LinearDiscriminantAnalysis"), _check_linear),
    **dict.fromkeys(("RandomForestClassifier", "ExtraTreesClassifier"), _check_forest),
    **dict.fromkeys(("CountVectorizer", "TfidfVectorizer"), _check_vocabulary),
    **dict.fromkeys(("OneHotEncoder", "OrdinalEncoder"), _check_categories),
    "LabelBinarizer": _check_binarizer,
    "OneVsRestClassifier": _check_one_against_rest,
    "Pipeline": _check_pipeline,
}


# The compiled tree follows the indices of its nodes without a check, and even while it is put together it
# believes in the sizes it is told. Hence it is put together here, of arrays that were checked before.
_MOST_FEATURES, _MOST_CLASSES = 1 << 31, 1 << 20
_NO_CHILD = -1
_WHOLE = ("left_child", "right_child", "feature", "n_node_samples", "missing_go_to_left")
_REAL = ("threshold", "impurity", "weighted_n_node_samples")


def take_tree(tree: Tree) -> dict[str, Any]:
    """Return a tree as numbers and arrays."""
    state = tree.__getstate__()
    count = int(tree.node_count)
    nodes = state["nodes"][:count]
    if set(nodes.dtype.names) != {*_WHOLE, *_REAL}:
        raise ValueError(f"the trees of this scikit-learn have {nodes.dtype.names}, which cannot be saved")
    return {
        "n_features": int(tree.n_features),
        "n_classes": np.asarray(tree.n_classes, np.int64),
        "max_depth": int(tree.max_depth),
        "values": np.asarray(state["values"][:count]),
        "whole": np.array([nodes[name] for name in _WHOLE], np.int64),
        "real": np.array([nodes[name] for name in _REAL], np.float64),
    }


def make_tree(stored: Any, n_features: Any) -> Tree:
    """Return the tree of an estimator of so many features, or raise a ValueError that says what is wrong."""
    names = {"n_features", "n_classes", "max_depth", "values", "whole", "real"}
    require(isinstance(stored, dict) and stored.keys() == names, "a tree lacks some of its parts")
    require(type(n_features) is int and 0 < n_features < _MOST_FEATURES, "a tree does not tell its features")
    require(stored["n_features"] == n_features, "a tree has other features than its estimator")
    depth = stored["max_depth"]
    require(type(depth) is int and 0 <= depth < 2**31, "a tree has no depth")
    n_classes = _array(stored["n_classes"], np.int64, 1)
    fine = 0 < len(n_classes) <= _MOST_CLASSES and n_classes.min() >= 1 and n_classes.max() <= _MOST_CLASSES
    require(fine, "a tree has no classes")
    whole, real = _array(stored["whole"], np.int64, 2), _array(stored["real"], np.float64, 2)
    count = whole.shape[1]
    fits = whole.shape == (len(_WHOLE), count) and real.shape == (len(_REAL), count)
    require(fits, "the nodes of a tree have a wrong shape")
    values = _array(stored["values"], np.float64, 3)
    expected = (count, len(n_classes), int(n_classes.max()))
    require(values.shape == expected, "the values of a tree have a wrong shape")
    require(np.isfinite(values).all(), "the value of a node is not a number")
    columns = dict(zip((*_WHOLE, *_REAL), (*whole, *real), strict=True))
    _check_nodes(columns, n_features)
    tree = Tree(n_features, n_classes.astype(np.intp), len(n_classes))
    nodes = np.zeros(count, tree.__getstate__()["nodes"].dtype)
    for name, column in columns.items():
        nodes[name] = column
    tree.__setstate__({"max_depth": depth, "node_count": count, "nodes": nodes, "values": values})
    return tree


def _array(stored: Any, dtype: type, ndim: int) -> npt.NDArray[Any]:
    is_array = type(stored) is np.ndarray and stored.dtype == dtype and stored.ndim == ndim
    require(is_array, "a tree is not made of arrays of numbers")
    return np.ascontiguousarray(stored)


def _check_nodes(nodes: dict[str, npt.NDArray[Any]], n_features: int) -> None:
    """Check that every way down ends, and asks only for features that exist."""
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    require(len(left) > 0, "a tree has no nodes")
    is_leaf = left == _NO_CHILD
    require((is_leaf == (right == _NO_CHILD)).all(), "a node has a single child")
    inner = np.flatnonzero(~is_leaf)
    for child in (left[inner], right[inner]):
        require((child > inner).all(), "a child comes before its parent")
        require((child < len(left)).all(), "a child lies outside its tree")
    asked = feature[inner]
    require(((asked >= 0) & (asked < n_features)).all(), "a node asks for no feature")
    missing = nodes["missing_go_to_left"]
    require(((missing >= 0) & (missing <= 1)).all(), "a node sends missing values nowhere")
