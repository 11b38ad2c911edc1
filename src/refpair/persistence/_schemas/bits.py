"""What a file holds of the learners of bits."""

from __future__ import annotations

from refpair.bits import EstimatorBank, LogisticBank, TreeBank
from refpair.bits.bags import Bags
from refpair.bits.binning import Bins
from refpair.bits.class_trees import ClassTreeBank, ClassTrees
from refpair.bits.trees import Trees
from refpair.persistence._array_fields import Array, Matrix
from refpair.persistence._checks import (
    check_bins,
    check_class_tree_bank,
    check_estimator_bank,
    check_logistic_bank,
    check_tree_bank,
    check_trees,
)
from refpair.persistence._codec import Field, Schema
from refpair.persistence._fields import Known, Learner, ListOf, Maybe, Parameter, Threads, Verbosity, Whole

__all__ = ["BANKS", "BIT_SCHEMAS"]

BANKS = ("TreeBank", "LogisticBank", "EstimatorBank")

_NODES: dict[str, Field] = {
    "start": Array("<i8"),
    "feature": Array("<i4"),
    "threshold": Array("|u1"),
    "missing_left": Array("|b1"),
    "left_child": Array("<i4"),
}
_GROWING: dict[str, Field] = {
    "max_depth": Parameter(),
    "min_samples_leaf": Parameter(),
    "max_features": Parameter(),
    "max_samples": Parameter(),
    "max_bins": Parameter(),
    "n_jobs": Threads(),
    "verbose": Verbosity(),
    "bins_": Known("Bins"),
}
_BAGS = Maybe(Known("Bags"))

BIT_SCHEMAS = (
    Schema(
        Bins,
        {"edges": Array("<f8"), "edge_start": Array("<i8"), "has_missing": Array("|b1")},
        check_bins,
    ),
    Schema(Trees, {**_NODES, "value": Array("<f4")}, check_trees),
    Schema(
        ClassTrees,
        {**_NODES, "leaf_start": Array("<i8"), "leaf_class": Array("<i4"), "leaf_count": Array("<i4")},
        check_trees,
    ),
    Schema(Bags, {"seeds": Array("<u8"), "n_rows": Whole(1), "n_sampled": Whole(1)}),
    Schema(TreeBank, {**_GROWING, "trees_": Known("Trees"), "bags_": _BAGS}, check_tree_bank),
    Schema(
        ClassTreeBank,
        {**_GROWING, "trees_": Known("ClassTrees"), "n_classes_": Array("<i8"), "n_trees_": Whole(1)},
        check_class_tree_bank,
    ),
    Schema(
        LogisticBank,
        {
            "C": Parameter(),
            "max_samples": Parameter(),
            "tol": Parameter(),
            "max_iter": Parameter(),
            "n_jobs": Threads(),
            "verbose": Verbosity(),
            "weights_": Array("<f8", 2),
            "basis_": Maybe(Matrix()),
            "intercept_": Array("<f8"),
            "bags_": _BAGS,
        },
        check_logistic_bank,
    ),
    Schema(
        EstimatorBank,
        {
            "estimator": Learner(),
            "max_samples": Parameter(),
            "n_jobs": Threads(),
            "verbose": Verbosity(),
            "estimators_": ListOf(Learner(says=True)),
            "n_features_": Maybe(Array("<i4")),
            "bags_": _BAGS,
        },
        check_estimator_bank,
    ),
)
