"""The classes that a file can hold besides plain values: nothing else can come out of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer

from refpair._saved import MOST_THREADS, require
from refpair.active._foreign import ForeignClassifier
from refpair.active._kernel import KernelFeatures
from refpair.bits import Bags, ClassTreeBank, EstimatorBank, LogisticBank, TreeBank
from refpair.bits.binning import Bins
from refpair.bits.class_trees import ClassTrees
from refpair.bits.trees import Trees
from refpair.classifiers import (
    MLECC,
    BayesDecisionClassifier,
    BinaryRelevance,
    ChainClassifier,
    CondensedFilterTree,
    CSRPEClassifier,
    Forest,
    LabelPowerset,
    Logistic,
    ProbabilisticChain,
    RAkEL,
)
from refpair.classifiers._base_learners import BinaryLearners, ClassLearners
from refpair.classifiers._links import EstimatorLinks, TreeLinks
from refpair.classifiers.bayes_decision import LabelModel
from refpair.classifiers.mlecc import CodeLearners
from refpair.coding import (
    HammingRepetition,
    LabelsetRepetition,
    ReferencePairCode,
    RepetitionCode,
)
from refpair.posterior import LogOddsLine, Reading
from refpair.tables import TableVectorizer
from refpair.tables._encoders import ENCODERS
from refpair.tables.labels import LabelFormat

__all__ = ["ADAPTERS", "CLASSES", "Adapter"]

_OWN = (
    Bags, BayesDecisionClassifier, BinaryLearners, BinaryRelevance, Bins, CSRPEClassifier,
    ChainClassifier, ClassLearners, ClassTreeBank, ClassTrees, CodeLearners, CondensedFilterTree,
    EstimatorBank, EstimatorLinks, ForeignClassifier, Forest, HammingRepetition, KernelFeatures, LabelFormat,
    LabelModel, LabelPowerset, LabelsetRepetition, LogOddsLine, Logistic, LogisticBank, MLECC,
    ProbabilisticChain, RAkEL, Reading, ReferencePairCode, RepetitionCode, TableVectorizer, TreeBank,
    TreeLinks, Trees, *ENCODERS,
)  # fmt: skip


@dataclass(frozen=True)
class Adapter:
    """What stands for a class: what is saved of an object, and the object that was saved."""

    get_saved: Callable[[Any], dict[str, Any]]
    from_saved: Callable[[dict[str, Any]], Any]


def _of_scikit_learn(cls: Any, learnt: tuple[str, ...], check: Callable[[Any], None]) -> Adapter:
    """Return the adapter of a class of scikit-learn that may hold the package's own objects."""
    names = set(cls._get_param_names()) - {"memory"}  # a folder, which a file has no business with

    def get_saved(value: Any) -> dict[str, Any]:
        saved = {name: getattr(value, name) for name in sorted(names)}
        return saved | {name: vars(value)[name] for name in learnt if name in vars(value)}

    def from_saved(saved: dict[str, Any]) -> Any:
        right = names <= saved.keys() <= names | {*learnt}
        require(right, f"a {cls.__name__} has other fields than it should")
        made = cls(**{name: saved[name] for name in names})
        vars(made).update({name: saved[name] for name in saved.keys() - names})
        check(made)
        return made

    return Adapter(get_saved, from_saved)


def _check_pipeline(model: Pipeline) -> None:
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


def _check_one_against_rest(model: OneVsRestClassifier) -> None:
    few = model.n_jobs is None or (isinstance(model.n_jobs, int) and abs(model.n_jobs) <= MOST_THREADS)
    require(few and hasattr(model.estimator, "fit"), "the classes have no learner, or too many n_jobs")
    if not hasattr(model, "estimators_"):
        return
    binarizer, learnt = model.label_binarizer_, model.estimators_
    require(isinstance(binarizer, LabelBinarizer), "the classes are not known")
    n = len(binarizer.classes_)
    expected = 1 if n == 2 and binarizer.y_type_ == "binary" else n
    require(n >= 2 and len(learnt) == expected, "there is not a learner for each class")
    same = all(getattr(own, "n_features_in_", None) == model.n_features_in_ for own in learnt)
    require(same and all(hasattr(own, "predict") for own in learnt), "a learner has other features")
    if not hasattr(model, "classes_"):  # in some versions of scikit-learn it follows from the others
        model.classes_ = binarizer.classes_


def _check_binarizer(model: LabelBinarizer) -> None:
    if hasattr(model, "classes_"):
        fine = model.y_type_ in _TARGETS and getattr(model.classes_, "ndim", 0) == 1
        require(fine, "the classes are not known")


_TARGETS = ("binary", "multiclass", "multilabel-indicator")
_NAMES = ("n_features_in_", "feature_names_in_")
ADAPTERS: dict[Any, Adapter] = {
    **{cls: Adapter(cls._get_saved, cls._from_saved) for cls in _OWN},
    Pipeline: _of_scikit_learn(Pipeline, (), _check_pipeline),
    OneVsRestClassifier: _of_scikit_learn(
        OneVsRestClassifier,
        ("estimators_", "label_binarizer_", *_NAMES),
        _check_one_against_rest,
    ),
    LabelBinarizer: _of_scikit_learn(
        LabelBinarizer, ("classes_", "y_type_", "sparse_input_"), _check_binarizer
    ),
}
CLASSES = {cls.__name__: cls for cls in ADAPTERS}
