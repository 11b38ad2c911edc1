"""What a file holds of single logistic regressions, and of several that tell classes apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer

from refpair.classifiers import Logistic
from refpair.persistence._array_fields import Array
from refpair.persistence._checks import check_weights
from refpair.persistence._codec import Schema, require
from refpair.persistence._fields import IfThere, Known, ListOf, Parameter, Threads, Verbosity, Whole
from refpair.persistence._labels import Names

__all__ = ["LOGISTIC_SCHEMAS"]


def _check_logistic(model: Logistic) -> None:
    fits = model.coef_.shape == (1, model.n_features_in_) and model.intercept_.shape == (1,)
    require(fits and len(model.classes_) == 2, "a logistic regression has a wrong shape")
    check_weights(np.append(model.coef_, model.intercept_))


def _make_logistic(cls: type, values: dict[str, Any]) -> Logistic:
    model = Logistic(values.pop("C"), tol=values.pop("tol"))
    model.check()
    for name, value in values.items():
        if value is not None:
            setattr(model, name, value)
    return model


def _make_one_against_rest(cls: type, values: dict[str, Any]) -> OneVsRestClassifier:
    names = ("estimator", "n_jobs", "verbose")
    model = OneVsRestClassifier(**{name: values.pop(name) for name in names})
    for name, value in values.items():
        setattr(model, name, value)
    if not hasattr(model, "classes_"):  # in some versions of scikit-learn it follows from the others
        model.classes_ = model.label_binarizer_.classes_
    return model


def _is_own(model: OneVsRestClassifier) -> bool:
    """Whether it learns classes by the package's own logistic regression: then it needs no skops."""
    return all(
        type(learnt) is Logistic for learnt in (model.estimator, *getattr(model, "estimators_", [None]))
    )


def _check_one_against_rest(model: OneVsRestClassifier) -> None:
    binarizer, n = model.label_binarizer_, len(model.estimators_)
    require(isinstance(binarizer, LabelBinarizer), "the classes are not known")
    n_classes = len(binarizer.classes_)
    require(
        n_classes >= 2 and n == (1 if n_classes == 2 else n_classes), "there is not a learner for each class"
    )
    same = all(learnt.n_features_in_ == model.n_features_in_ for learnt in model.estimators_)
    require(same, "a learner has other features than the others")


LOGISTIC_SCHEMAS = (
    Schema(
        Logistic,
        {
            "C": Parameter(),
            "tol": Parameter(),
            "classes_": Names(),
            "coef_": Array("<f8", 2),
            "intercept_": Array("<f8"),
            "n_features_in_": Whole(1),
            "feature_names_in_": IfThere(Names()),
        },
        _check_logistic,
        make=_make_logistic,
        parameters=("C", "tol"),
    ),
    Schema(
        LabelBinarizer,
        {
            "neg_label": Parameter(),
            "pos_label": Parameter(),
            "sparse_output": Parameter(),
            "classes_": Names(),
            "y_type_": Parameter(),
            "sparse_input_": Parameter(),
        },
    ),
    Schema(
        OneVsRestClassifier,
        {
            "estimator": Known("Logistic"),
            "n_jobs": Threads(),
            "verbose": Verbosity(),
            "estimators_": ListOf(Known("Logistic")),
            "label_binarizer_": Known("LabelBinarizer"),
            "n_features_in_": Whole(1),
        },
        _check_one_against_rest,
        make=_make_one_against_rest,
        applies=_is_own,
    ),
)
