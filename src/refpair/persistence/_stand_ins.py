"""Estimators of scikit-learn without what skops does not trust, and whole again after they were checked.

skops trusts a type or not; it cannot look into what an object of the type holds. Hence trees, which believe
in their indices, are replaced by plain arrays, and put together again after a check of these. Some harmless
types that skops does not know are replaced by what they hold, and the package's own objects by their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from sklearn import calibration
from sklearn.base import BaseEstimator
from sklearn.tree._tree import Tree

from refpair._saved import require
from refpair.persistence._sklearn_trees import make_tree, take_tree
from refpair.persistence._sklearn_types import check_attributes, is_known_class

__all__ = ["HOW_ELSE", "Replacing", "Restoring"]

HOW_ELSE = "save such a model by joblib.dump(model, path), and load such a file only if you trust its source"

_TREE, _OWN, _DTYPE, _PART = (
    "tree of scikit-learn",
    "object of refpair",
    "dtype of numpy",
    "part of scikit-learn",
)
_PARTS = {name: getattr(calibration, name) for name in ("_CalibratedClassifier", "_SigmoidCalibration")}
_DTYPES = re.compile(r"[<|][biufUS]\d{1,4}|\|O")
_NOT_KEPT = {"scorer_", "_checked_cv_orig"}  # of searches: how they chose, which nothing asks for any more
_PLAIN = (bool, int, float, str, type(None), np.generic, np.random.RandomState, np.ufunc, slice)
_LOSSES = ("sklearn._loss.", "sklearn.linear_model._sgd_fast")  # which only fitting asks for


class Replacing:
    """Makes copies of estimators for skops.

    Parameters
    ----------
    number_of_own : callable
        Writes an object of the package and returns its number, or None if it is not one.
    """

    def __init__(self, number_of_own: Callable[[Any], int | None]) -> None:
        self._number_of_own = number_of_own
        self._seen: dict[int, tuple[Any, Any]] = {}  # what is shared stays shared

    def __call__(self, value: Any) -> Any:
        """Return a value as skops can write it."""
        if id(value) not in self._seen:
            self._seen[id(value)] = self._replaced(value), value  # with the value: else others get its id
        return self._seen[id(value)][0]

    def _replaced(self, value: Any) -> Any:
        cls = type(value)
        if isinstance(value, Tree):
            return {_TREE: take_tree(value)}
        if isinstance(value, np.dtype):
            return {_DTYPE: value.str}
        if cls is _PARTS.get(cls.__name__):
            return {_PART: cls.__name__, "has": self(dict(vars(value)))}
        number = self._number_of_own(value)
        if number is not None:
            return {_OWN: number}
        if isinstance(value, BaseEstimator):
            return self._estimator(value)
        return _mapped(self, value)

    def _estimator(self, value: Any) -> Any:
        cls = type(value)
        if not is_known_class(cls):
            name = f"{cls.__module__}.{cls.__qualname__}"
            raise ValueError(f"the model holds a {name}, which cannot be checked on loading; {HOW_ELSE}")
        check_attributes(value)
        made = copy(value)
        kept = vars(value).keys() - _NOT_KEPT
        made.__dict__ = {name: self(part) for name, part in vars(value).items() if name in kept}
        return made


class Restoring:
    """Makes estimators whole again, if they hold known types alone, and checks them.

    Parameters
    ----------
    own : callable
        Returns the object of the package that has a number.
    """

    def __init__(self, own: Callable[[int], Any]) -> None:
        self._own = own
        self._seen: dict[int, tuple[Any, Any]] = {}

    def __call__(self, value: Any) -> Any:
        """Return what a value stood for, or raise a ValueError that says what is wrong."""
        if id(value) not in self._seen:
            self._seen[id(value)] = self._restored(value), value
        return self._seen[id(value)][0]

    def _restored(self, value: Any) -> Any:
        if type(value) is dict and value.keys() <= {_OWN, _DTYPE, _PART, "has"} and value:
            return self._stood_for(value)
        if isinstance(value, BaseEstimator) and is_known_class(type(value)):
            self._restore_attributes(value)
            return value
        if isinstance(value, np.ma.MaskedArray):
            for part in value.data.ravel() if value.dtype == object else ():
                self(part)
            return value
        if isinstance(value, type):
            require(issubclass(value, np.generic | int | float | str), f"{value} does not belong here")
            return value
        made = _mapped(self, value)
        if made is value and type(value) is not tuple:
            allowed = isinstance(value, (*_PLAIN, np.ndarray)) or type(value).__module__.startswith(_LOSSES)
            require(allowed, f"a {type(value).__module__}.{type(value).__qualname__} cannot be checked")
        return made

    def _stood_for(self, value: dict[str, Any]) -> Any:
        if value.keys() == {_OWN}:
            number = value[_OWN]
            require(type(number) is int and number >= 0, "an object of the package is missing")
            return self._own(number)
        if value.keys() == {_DTYPE}:
            require(_DTYPES.fullmatch(str(value[_DTYPE])), f"{value[_DTYPE]!r} is no type of numbers")
            return np.dtype(value[_DTYPE])
        cls = _PARTS.get(str(value.get(_PART)))
        has = self(value.get("has"))
        if cls is None or type(has) is not dict:
            raise ValueError("a part of an estimator is not known")
        made = cls.__new__(cls)
        made.__dict__.update(has)
        check_attributes(made)
        return made

    def _restore_attributes(self, estimator: Any) -> None:
        has = vars(estimator)
        for name, part in list(has.items()):
            is_tree = type(part) is dict and part.keys() == {_TREE}
            if name == "tree_":
                require(is_tree, "a tree is not one")
                made = make_tree(part[_TREE], has.get("n_features_in_"))
                require(
                    has.get("n_outputs_") == made.n_outputs, "a tree has other outputs than its estimator"
                )
            else:
                require(not is_tree, "a tree is where none belongs")
                made = self(part)
            has[name] = made
        check_attributes(estimator)


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Return a container of changed values, or the value itself if it is no container."""
    if type(value) in (list, tuple, set):
        return type(value)(change(part) for part in value)
    if type(value) is dict:
        return {key: change(part) for key, part in value.items()}
    if type(value) is np.ndarray and value.dtype == object:
        made = np.empty(value.shape, object)
        made.ravel()[:] = [change(part) for part in value.ravel()]
        return made
    return value
