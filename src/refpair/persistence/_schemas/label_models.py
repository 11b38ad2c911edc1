"""What a file holds of fitted models of scikit-learn that are read as distributions over label vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.tree import DecisionTreeClassifier

from refpair.classifiers._chain_samples import ChainSamples
from refpair.classifiers._label_models import LabelModel, last_step
from refpair.classifiers._leaf_vectors import LeafVectors
from refpair.classifiers._links import EstimatorLinks
from refpair.persistence._array_fields import Array, Vectors
from refpair.persistence._checks import starts_in_order
from refpair.persistence._codec import Schema, require
from refpair.persistence._fields import Known, Learner, Maybe, Whole

__all__ = ["LABEL_MODEL_SCHEMAS", "MOST_SAMPLES", "check_uniforms"]

MOST_SAMPLES = 1 << 20  # label vectors that are drawn for a row: more would be a way to fill the memory
_MOST_ROWS = 8192  # of which distributions are made at once


@dataclass(frozen=True)
class CheckedTree:
    """A tree that looks at how many features rows have: a pipeline from a file may give it too few."""

    tree: Any

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the leaves that rows reach."""
        expected = int(self.tree.n_features)
        if X.shape[1] != expected:
            raise ValueError(f"X has {X.shape[1]} features, but the trees were grown on {expected}")
        return np.asarray(self.tree.apply(X))


@dataclass(frozen=True, eq=False)
class LeafParts:
    """All of :class:`LeafVectors` but the trees, which are in the fitted model."""

    vectors: npt.NDArray[np.uint8]
    tree_start: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    index: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float64]
    rows_at_once: int

    def for_model(self, model: Any) -> LeafVectors:
        """Return the leaves of a fitted tree or forest."""
        inner = last_step(model)
        forest = isinstance(inner, RandomForestClassifier | ExtraTreesClassifier | DecisionTreeClassifier)
        require(forest, "leaves are there, but no trees")
        trees = [tree.tree_ for tree in getattr(inner, "estimators_", [inner])]
        sizes = [int(tree.node_count) for tree in trees]
        same = self.tree_start.tolist() == np.concatenate([[0], np.cumsum(sizes)]).tolist()
        require(same, "the leaves are those of other trees")
        require(len(self.start) == sum(sizes) + 1, "there are not as many nodes as the trees have")
        require(
            starts_in_order(self.start, len(self.index), may_be_empty=True), "the leaves have a wrong shape"
        )
        is_leaf = np.concatenate([tree.children_left < 0 for tree in trees])
        require((np.diff(self.start)[is_leaf] > 0).all(), "a leaf has no label vector")
        fits = self.index.min(initial=0) >= 0 and self.index.max(initial=-1) < len(self.vectors)
        require(
            fits and self.weight.shape == self.index.shape, "a leaf has a label vector that does not exist"
        )
        require(((self.weight > 0) & (self.weight <= 1)).all(), "the weight of a label vector is not a share")
        checked = [CheckedTree(tree) for tree in trees]
        return LeafVectors(
            checked, self.vectors, self.tree_start, self.start, self.index, self.weight, self.rows_at_once
        )


@dataclass(frozen=True, eq=False)
class ChainParts:
    """All of :class:`ChainSamples` but the links, which are in the fitted model."""

    order: npt.NDArray[np.int64]
    n_samples: int
    uniforms: npt.NDArray[np.float64]

    def for_model(self, model: Any) -> ChainSamples:
        """Return the draws from a fitted chain."""
        inner = last_step(model)
        require(isinstance(inner, ClassifierChain), "draws are there, but no chain")
        links = EstimatorLinks(inner.estimators_)
        check_uniforms(self.order, self.uniforms, len(links))
        return ChainSamples(links, self.order, self.n_samples, self.uniforms)


def check_uniforms(order: npt.NDArray[Any], uniforms: npt.NDArray[np.float64], n_links: int) -> None:
    """Check that a chain names each label once and has a random number for each link."""
    require(np.array_equal(np.sort(order), np.arange(n_links)), "the order of the chain is broken")
    inside = (uniforms >= 0.0) & (uniforms < 1.0)
    require(uniforms.shape == (n_links,) and inside.all(), "the draws of the chain are broken")


def _take(model: LabelModel, names: list[str]) -> dict[str, Any]:
    reading: Any = model.reading
    if isinstance(reading, LeafVectors):
        parts = (getattr(reading, name) for name in LeafParts.__dataclass_fields__)
        reading = LeafParts(*parts)
    elif isinstance(reading, ChainSamples):
        reading = ChainParts(np.asarray(reading.order, np.int64), reading.n_samples, reading.uniforms)
    return {"model": model.model, "reading": reading, "constant": model.constant, "fitted": model.fitted}


def _make(cls: type, values: dict[str, Any]) -> LabelModel:
    parts: LeafParts | ChainParts | None = values["reading"]
    model, constant, fitted = values["model"], values["constant"], values["fitted"]
    n_labels = len(constant)
    require(n_labels > 0 and fitted.shape == (n_labels,) and constant.max() <= 1, "the labels are broken")
    require((model is not None) == fitted.any(), "the fitted model is missing")
    reading = None if parts is None else parts.for_model(model)
    if isinstance(reading, LeafVectors):
        require(fitted.all() and reading.vectors.shape[1] == n_labels, "the leaves are those of other labels")
    elif isinstance(reading, ChainSamples):
        require(len(reading.links) == fitted.sum(), "the chain is one of other labels")
    return LabelModel(model, reading, constant, fitted)


LABEL_MODEL_SCHEMAS = (
    Schema(
        LeafParts,
        {
            "vectors": Vectors(),
            "tree_start": Array("<i8"),
            "start": Array("<i8"),
            "index": Array("<i4"),
            "weight": Array("<f8"),
            "rows_at_once": Whole(1, _MOST_ROWS),
        },
    ),
    Schema(
        ChainParts, {"order": Array("<i8"), "n_samples": Whole(1, MOST_SAMPLES), "uniforms": Array("<f8")}
    ),
    Schema(
        LabelModel,
        {
            "model": Maybe(Learner()),
            "reading": Maybe(Known("LeafParts", "ChainParts")),
            "constant": Array("|u1"),
            "fitted": Array("|b1"),
        },
        take=_take,
        make=_make,
    ),
)
