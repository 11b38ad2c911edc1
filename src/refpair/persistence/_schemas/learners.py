"""What a file holds of base learners and of those that learn many problems by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair.bits import ClassTreeBank
from refpair.classifiers import Forest
from refpair.classifiers._base_learners import BinaryLearners
from refpair.classifiers._class_learners import ClassLearners
from refpair.classifiers._code_learners import CodeLearners
from refpair.classifiers._links import EstimatorLinks, TreeLinks
from refpair.persistence._array_fields import Array, Vectors
from refpair.persistence._codec import Field, Schema, require
from refpair.persistence._fields import Known, Learner, ListOf, Parameter, Threads, Verbosity, Whole
from refpair.persistence._schemas.bits import BANKS
from refpair.persistence._schemas.logistic import LOGISTIC_SCHEMAS

__all__ = ["LEARNER_SCHEMAS", "LINKS"]

LINKS = ("TreeLinks", "EstimatorLinks")

_RUNNING: dict[str, Field] = {"n_jobs": Threads(), "verbose": Verbosity()}


class _ClassModels:
    """The trees of all problems, or for each a classifier or the number of its only class."""

    trees = Known("ClassTreeBank")
    others = ListOf(Learner(says=True))

    def write(self, value: Any, writer: Any, place: str) -> Any:
        return (self.trees if isinstance(value, ClassTreeBank) else self.others).write(value, writer, place)

    def read(self, stored: Any, reader: Any, place: str) -> Any:
        return (self.others if isinstance(stored, list) else self.trees).read(stored, reader, place)


def _check_binary(learners: BinaryLearners) -> None:
    n_bits = learners.n_problems_ * learners.n_trees_
    require(len(learners.bank_) == n_bits, "there is not a learner for each problem")


def _check_classes(learners: ClassLearners) -> None:
    learnt, n_classes = learners.learnt_, learners.n_classes_
    require(n_classes.min(initial=1) >= 1, "a problem has no classes")
    if isinstance(learnt, ClassTreeBank):
        require(np.array_equal(learnt.n_classes_, n_classes), "the trees are those of other problems")
        return
    require(len(learnt) == len(n_classes), "there is not a learner for each problem")
    for own, n in zip(learnt, n_classes, strict=True):
        require(not isinstance(own, int) or own == 0 == n - 1, "a problem has a class that does not exist")


def _check_code(learners: CodeLearners) -> None:
    n_blocks = -(-learners.n_bits_ // learners.size)
    blocks, patterns, inner = learners.problem_of_block_, learners.patterns_, learners.learners_
    require(blocks.shape == (n_blocks,), "there is not a problem for each block of bits")
    fits = blocks.min(initial=0) >= 0 and blocks.max(initial=-1) < len(patterns)
    require(fits, "a block of bits is of a problem that does not exist")
    width = np.full(n_blocks, learners.size)
    width[-1:] = learners.n_bits_ - (n_blocks - 1) * learners.size
    own_width = np.array([own.shape[1] for own in patterns], np.int64)[blocks]
    require((own_width == width).all(), "a problem has too many or too few bits")
    require(isinstance(inner, BinaryLearners) == (learners.size == 1), "bits are learnt as blocks of others")
    if isinstance(inner, BinaryLearners):
        require(inner.n_problems_ == len(patterns), "there is not a learner for each problem")
        require(all(own.tolist() == [[0], [1]] for own in patterns), "the bits of a class are wrong")
    else:
        n_classes = [len(own) for own in patterns]
        require(inner.n_classes_.tolist() == n_classes, "there is not a learner for each problem")


def _check_tree_links(links: TreeLinks) -> None:
    bank, n_links, n_trees = links.bank, links.n_links, links.n_trees
    require(len(bank) == n_links * n_trees, "there are not as many trees as the links have")
    n_features = bank.bins_.n_features - n_links
    require(n_features >= 1, "there are fewer features than links")
    # A link knows only the labels before it, which come after the features.
    first = bank.trees_.start[:-1]
    largest = np.maximum.reduceat(bank.trees_.feature, first) if len(first) else np.zeros(0, np.int32)
    allowed = n_features + np.repeat(np.arange(n_links), n_trees)
    require((largest < allowed).all(), "a link asks for a label that comes after it")


def _check_estimator_links(links: EstimatorLinks) -> None:
    fine = all(not isinstance(link, int) or link in (-1, 1) for link in links.estimators)
    require(fine, "a link is neither -1 nor 1")


LEARNER_SCHEMAS = (
    *LOGISTIC_SCHEMAS,
    Schema(
        Forest,
        dict.fromkeys(
            ("n_trees", "max_depth", "min_samples_leaf", "max_features", "max_samples", "max_bins"),
            Parameter(),
        ),
        Forest.check,
    ),
    Schema(
        BinaryLearners,
        {
            "estimator": Learner(),
            **_RUNNING,
            "n_problems_": Whole(1),
            "n_trees_": Whole(1),
            "bank_": Known(*BANKS),
        },
        _check_binary,
    ),
    Schema(
        ClassLearners,
        {"estimator": Learner(), **_RUNNING, "learnt_": _ClassModels(), "n_classes_": Array("<i8")},
        _check_classes,
    ),
    Schema(
        CodeLearners,
        {
            "estimator": Learner(),
            "size": Whole(1),
            **_RUNNING,
            "n_bits_": Whole(1),
            "learners_": Known("BinaryLearners", "ClassLearners"),
            "problem_of_block_": Array("<i8"),
            "patterns_": ListOf(Vectors()),
        },
        _check_code,
    ),
    Schema(
        TreeLinks,
        {"bank": Known("TreeBank"), "n_trees": Whole(1), "n_links": Whole(1), "n_jobs": Threads()},
        _check_tree_links,
    ),
    Schema(EstimatorLinks, {"estimators": ListOf(Learner(says=True))}, _check_estimator_links),
)
