"""What a file holds of each estimator of the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair.bits import ClassTreeBank
from refpair.classifiers import (
    MLECC,
    BayesDecisionClassifier,
    BinaryRelevance,
    ChainClassifier,
    CondensedFilterTree,
    LabelPowerset,
    ProbabilisticChain,
    RAkEL,
)
from refpair.classifiers._base_learners import BinaryLearners
from refpair.classifiers._chain_samples import ChainSamples
from refpair.classifiers._class_learners import ClassLearners
from refpair.classifiers._links import EstimatorLinks, TreeLinks
from refpair.coding import LabelsetRepetition
from refpair.costs import get_cost
from refpair.persistence._array_fields import Array, Numbers, Vectors
from refpair.persistence._checks import check_learners, check_n_features
from refpair.persistence._codec import Field, require
from refpair.persistence._fields import Flag, Known, Maybe, Parameter, Whole
from refpair.persistence._schemas.codes import CODES
from refpair.persistence._schemas.estimators import (
    COST,
    REDUCTION,
    Order,
    check_links,
    check_names,
    estimator_schema,
    make_estimator,
    take_estimator,
)
from refpair.persistence._schemas.label_models import MOST_SAMPLES, check_uniforms
from refpair.persistence._schemas.learners import LINKS

__all__ = ["MODEL_SCHEMAS"]

_ORDERED: dict[str, Field] = {"order": Order(), "order_": Array("<i8"), "links_": Known(*LINKS)}


def _check_features(learners: BinaryLearners | ClassLearners, n_features: int) -> None:
    if isinstance(learners, BinaryLearners):
        check_n_features(learners.bank_, n_features)
    elif isinstance(learners.learnt_, ClassTreeBank):
        check_n_features(learners.learnt_, n_features)
    else:
        check_learners(learners.learnt_, [n_features] * len(learners.learnt_))


def _check_binary_relevance(model: BinaryRelevance) -> None:
    n_features, n_labels = check_names(model)
    require(model.learners_.n_problems_ == n_labels, "there is not a problem for each label")
    _check_features(model.learners_, n_features)


def _make_powerset(cls: type, values: dict[str, Any]) -> LabelPowerset:
    model: LabelPowerset = make_estimator(cls, values)
    if hasattr(model, "classes_"):
        model.cost_ = get_cost("zero_one")
    return model


def _check_powerset(model: LabelPowerset) -> None:
    n_features, n_labels = check_names(model)
    require(model.vectors_.shape[1] == n_labels, "the label vectors are those of other labels")
    n_classes = model.learners_.n_classes_.tolist()
    require(n_classes == [len(model.vectors_)], "there is not a class for each label vector")
    _check_features(model.learners_, n_features)


def _check_rakel(model: RAkEL) -> None:
    n_features, n_labels = check_names(model)
    code = LabelsetRepetition(n_labels, model.labelsets_)
    require(len(np.unique(code.labelsets)) == n_labels, "a label is in no set")
    require(model.learners_.n_bits_ == code.n_bits, "there are too few or too many bits")
    _check_features(model.learners_.learners_, n_features)


def _check_mlecc(model: MLECC) -> None:
    n_features, n_labels = check_names(model)
    require(model.code_.n_labels == n_labels, "the code is one of other labels")
    require(model.learners_.n_bits_ == model.code_.n_bits, "there are too few or too many bits")
    _check_features(model.learners_.learners_, n_features)


def _take_chain(model: ProbabilisticChain, names: list[str]) -> dict[str, Any]:
    values = take_estimator(model, names)
    if "drawn" not in names:
        return values
    _check_beam(model)
    samples = model._samples
    return values | {"drawn": samples.n_samples, "uniforms": samples.uniforms, "exact": samples.exact}


def _make_chain(cls: type, values: dict[str, Any]) -> ProbabilisticChain:
    n_samples, uniforms, exact = (values.pop(name, None) for name in ("drawn", "uniforms", "exact"))
    model: ProbabilisticChain = make_estimator(cls, values)
    if n_samples is None or uniforms is None or exact is None:  # not fitted
        return model
    model._samples = ChainSamples(model.links_, model.order_, n_samples, uniforms, exact)
    return model


def _check_probabilistic_chain(model: ProbabilisticChain) -> None:
    check_links(model)
    samples = model._samples
    check_uniforms(model.order_, samples.uniforms, len(model.links_))
    # Else all label vectors there are would be looked at.
    fits = not samples.exact or 2 ** _n_open(model.links_) <= samples.n_samples
    require(fits, "there are more label vectors than the chain is said to have")
    _check_beam(model)


def _check_beam(model: ProbabilisticChain) -> None:
    require(model.beam_width <= MOST_SAMPLES, f"beam_width is {model.beam_width}, which is too wide")


def _n_open(links: Any) -> int:
    """Return how many links do not always say the same."""
    if isinstance(links, EstimatorLinks):
        return sum(not isinstance(link, int) for link in links.estimators)
    assert isinstance(links, TreeLinks)
    trees = links.bank.trees_
    first = trees.start[:-1][:: links.n_trees]
    is_inner = trees.feature >= 0
    low = np.minimum.reduceat(np.where(is_inner, np.float32(1), trees.value), first)
    high = np.maximum.reduceat(np.where(is_inner, np.float32(-1), trees.value), first)
    return int(((low != 1) & (high != -1)).sum())


def _make_bayes(cls: type, values: dict[str, Any]) -> BayesDecisionClassifier:
    model: BayesDecisionClassifier = make_estimator(cls, values)
    if hasattr(model, "classes_"):
        model.estimator_ = model._label_model.model
    return model


def _check_bayes(model: BayesDecisionClassifier) -> None:
    _, n_labels = check_names(model, needs_features=False)
    label_model = model._label_model
    require(len(label_model.constant) == n_labels, "the fitted model is one of other labels")


MODEL_SCHEMAS = (
    estimator_schema(
        BinaryRelevance, {**REDUCTION, "learners_": Known("BinaryLearners")}, _check_binary_relevance
    ),
    estimator_schema(ChainClassifier, {**REDUCTION, **_ORDERED}, check_links),
    estimator_schema(
        CondensedFilterTree,
        {**REDUCTION, **COST, **_ORDERED, "n_rounds": Parameter(), "n_rounds_": Whole(1)},
        check_links,
    ),
    estimator_schema(
        ProbabilisticChain,
        {
            **REDUCTION,
            **COST,
            **_ORDERED,
            "n_samples": Parameter(),
            "inference": Parameter(),
            "beam_width": Parameter(),
            "drawn": Whole(1, MOST_SAMPLES),
            "uniforms": Array("<f8"),
            "exact": Flag(),
        },
        _check_probabilistic_chain,
        _take_chain,
        _make_chain,
    ),
    estimator_schema(
        LabelPowerset,
        {**REDUCTION, "vectors_": Vectors(), "learners_": Known("ClassLearners")},
        _check_powerset,
        make=_make_powerset,
    ),
    estimator_schema(
        RAkEL,
        {
            **REDUCTION,
            "labelset_size": Parameter(),
            "n_labelsets": Parameter(),
            "labelsets": Maybe(Numbers()),
            "labelsets_": Array("<i8", 2),
            "learners_": Known("CodeLearners"),
        },
        _check_rakel,
    ),
    estimator_schema(
        MLECC,
        {
            **REDUCTION,
            "code": Parameter(),
            "powerset": Parameter(),
            "code_length": Parameter(),
            "code_": Known(*CODES),
            "learners_": Known("CodeLearners"),
        },
        _check_mlecc,
    ),
    estimator_schema(
        BayesDecisionClassifier,
        {**REDUCTION, **COST, "n_samples": Parameter(), "_label_model": Known("LabelModel")},
        _check_bayes,
        make=_make_bayes,
    ),
)
