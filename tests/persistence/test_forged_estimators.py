"""Files of the other estimators that are made to do harm, with a right checksum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from refpair import (
    MLECC,
    ChainClassifier,
    CondensedFilterTree,
    CSRPEClassifier,
    Forest,
    LabelPowerset,
    Logistic,
    ProbabilisticChain,
    RAkEL,
    save,
)
from refpair.persistence import ModelFileError, load
from tests.persistence.forging import at, changed, forge, in_header

FEW = Forest(n_trees=2, max_depth=4)
MODELS = {
    "powerset": LabelPowerset(FEW, random_state=0),
    "chain": ChainClassifier(FEW, random_state=0),
    "logistic chain": ChainClassifier("logistic", random_state=0),
    "filter tree": CondensedFilterTree(FEW, n_rounds=1, random_state=0),
    "probabilistic": ProbabilisticChain(FEW, random_state=0),
    "beam": ProbabilisticChain(FEW, cost="zero_one", inference="beam", random_state=0),
    "rakel": RAkEL(FEW, labelset_size=2, random_state=0),
    "hamr": MLECC("tree", code="hamr", code_length=14, powerset=3, random_state=0),
    "rep": MLECC("tree", code="rep", code_length=15, random_state=0),
    "bank": CSRPEClassifier(n_bits=5, estimator="logistic", random_state=0),
    "own rows": CSRPEClassifier(n_bits=5, estimator="logistic", random_state=0),
    "powerset logistic": LabelPowerset("logistic", random_state=0),
    "logistic": Logistic(),
}
CLASS_TREES = "learners_.learnt_.trees_."
LINK_TREES = "links_.bank.trees_."


def model(*keys, value):
    return in_header("model", *keys, value=value)


def last_link_asks_for_its_own_label(header, arrays):
    """The first link knows no labels: features are 0 to 4."""
    feature, start = arrays[LINK_TREES + "feature"], arrays[LINK_TREES + "start"]
    first = np.flatnonzero(feature[start[0] : start[2]] >= 0)[0]
    feature[first] = 5


FORGED = [
    ("powerset", changed(CLASS_TREES + "classes", at(0, 8)), "class that does not exist"),
    ("powerset", changed(CLASS_TREES + "classes", at(-1, -1)), "class that does not exist"),
    ("powerset", changed(CLASS_TREES + "counts", at(0, 0)), "has no rows"),
    ("powerset", changed(CLASS_TREES + "counts", at(0, -3)), "has no rows"),
    ("powerset", changed(CLASS_TREES + "counts", lambda a: a[1:]), "wrong shape"),
    (
        "powerset",
        changed(CLASS_TREES + "count_start", lambda a: np.r_[a[:-2], a[-1], a[-1]]),
        "has no classes",
    ),
    ("powerset", changed(CLASS_TREES + "count_start", at(-1, 10**6)), "has no classes"),
    ("powerset", changed(CLASS_TREES + "count_start", lambda a: a[:-1]), "wrong shape"),
    ("powerset", changed(CLASS_TREES + "feature", at(0, 5)), "asks for no feature"),
    ("powerset", changed(CLASS_TREES + "feature", lambda a: np.full_like(a, -1)), "has no classes"),
    (
        "powerset",
        changed("learners_.learnt_.n_classes_", at(0, 7)),
        "class that does not exist|other problems",
    ),
    ("powerset", changed("learners_.n_classes_", at(0, 10**9)), "other problems"),
    ("powerset", model("learners_", "learnt_", "n_trees_", value=1), "too few or too many trees"),
    ("powerset", changed("vectors_", lambda a: a[1:]), "class for each label vector"),
    ("powerset", model("learners_", "learnt_", value=[1]), "class that does not exist"),
    ("powerset", model("learners_", "learnt_", value=[]), "learner for each problem"),
    ("powerset", model("learners_", "learnt_", value=["tree"]), "no learner"),
    ("chain", last_link_asks_for_its_own_label, "label that comes after"),
    ("chain", changed(LINK_TREES + "left_child", np.zeros_like), "before its parent"),
    ("chain", model("links_", "n_trees", value=3), "as many trees"),
    ("chain", model("links_", "n_links", value=6), "as many trees|fewer features"),
    ("chain", changed("order_", at(0, 1)), "order of the chain"),
    ("chain", changed("order_", at(0, -1)), "order of the chain"),
    ("chain", changed("order_", lambda a: a[1:]), "order of the chain"),
    ("chain", model("n_features_in_", value=6), "not those of the features"),
    ("filter tree", last_link_asks_for_its_own_label, "label that comes after"),
    ("filter tree", model("n_rounds", value=0), "n_rounds must be"),
    ("logistic chain", model("links_", "estimators", value=[0, 1]), "arrays|does not belong|link for each"),
    ("logistic chain", model("links_", "estimators", 0, value=-1), "neither a classifier, 0 nor 1"),
    ("logistic chain", model("links_", "estimators", 0, value="tree"), "neither a classifier"),
    ("logistic chain", model("links_", "estimators", 0, "n_features_in_", value=9), "wrong shape"),
    ("logistic chain", model("n_features_in_", value=6), "other features than there are"),
    ("powerset logistic", model("n_features_in_", value=6), "other features than there are"),
    ("logistic chain", changed("links_.estimators.0.coef_", at((0, 0), np.nan)), "not a number"),
    ("logistic chain", changed("links_.estimators.0.coef_", at((0, 0), 1e200)), "too large"),
    ("probabilistic", model("_n_drawn", value=2**40), "too many for a model in a file"),
    ("probabilistic", model("_n_drawn", value=2**24), "too long: the model draws"),
    ("probabilistic", model("_n_drawn", value=2), "more label vectors"),
    ("probabilistic", model("_is_exact", value=1), "_is_exact"),
    ("probabilistic", changed("_uniforms", at(0, 1.5)), "draws of the chain"),
    ("probabilistic", changed("_uniforms", at(0, np.nan)), "draws of the chain"),
    ("probabilistic", changed("_uniforms", lambda a: a[1:]), "draws of the chain"),
    ("beam", model("beam_width", value=2**40), "too many for a model in a file"),
    ("rakel", changed("labelsets_", at((0, 0), 3)), "labelsets must hold"),
    ("rakel", changed("labelsets_", at((0, 0), -1)), "labelsets must hold"),
    ("rakel", changed("labelsets_", lambda a: np.repeat(a[:1], len(a), axis=0)), "in no set"),
    ("rakel", changed("labelsets_", lambda a: a[:1]), "in no set"),
    ("rakel", changed("learners_.problem_of_block_", at(0, 9)), "problem that does not exist"),
    ("rakel", changed("learners_.problem_of_block_", at(0, -1)), "problem that does not exist"),
    ("rakel", changed("learners_.problem_of_block_", lambda a: a[1:]), "problem for each block"),
    ("rakel", model("learners_", "size", value=1), "problem for each block"),
    ("rakel", model("learners_", "n_bits_", value=10**5), "problem for each block"),
    ("rakel", model("learners_", "n_bits_", value=10**9), "more than a file may hold"),
    ("rakel", changed("learners_.patterns_.0", lambda a: a[:1]), "learner for each problem"),
    ("rakel", model("learners_", "patterns_", 0, "n", value=3), "too many or too few bits"),
    ("hamr", model("code_", "code_length", value=2**30 - 1), "code_length"),
    ("hamr", model("code_", "code_length", value=28), "too many bits"),
    ("hamr", model("code_", "n_labels", value=2), "other labels"),
    ("rep", model("code_", "code_length", value=10**9), "code_length"),
    ("rep", model("code_", "code_length", value=10**6), "too many bits"),
    ("rep", changed("learners_.patterns_.0", lambda a: a[::-1]), "bits of a class"),
    ("bank", changed("bits_.weights_", at((0, 0), np.inf)), "not a number"),
    ("bank", changed("bits_.weights_", lambda a: a[:, 1:]), "not those of the features"),
    ("bank", changed("bits_.weights_", lambda a: a[1:]), "wrong shape"),
    ("bank", changed("bits_.intercept_", at(0, np.nan)), "intercept is not a number"),
    ("own rows", changed("bits_.basis_.indices", at(0, 40)), "cell outside"),
    ("own rows", changed("bits_.basis_.indices", at(0, -1)), "cell outside"),
    ("own rows", changed("bits_.basis_.indptr", at(1, 10**4)), "follow one another"),
    ("own rows", changed("bits_.basis_.indptr", at(-1, 1)), "follow one another"),
    ("own rows", changed("bits_.basis_.data", at(0, np.nan)), "not a number"),
    ("own rows", model("bits_", "basis_", "n_columns", value=2**40), "sparse matrix is none"),
    (
        "own rows",
        model("bits_", "basis_", value={"array": "bits_.basis_.data", "dtype": "<f8"}),
        "matrix of floats",
    ),
    (
        "powerset logistic",
        model("learners_", "learnt_", 0, "estimators_", value=[]),
        "learner for each class",
    ),
    ("powerset logistic", model("learners_", "learnt_", 0, "n_features_in_", value=7), "other features"),
    (
        "powerset logistic",
        model("learners_", "learnt_", 0, "label_binarizer_", "classes_", "cells", 2, value=99),
        "class that does not exist",
    ),
    ("logistic chain", changed("links_.estimators.0.classes_", at(1, 7)), "neither a classifier"),
    ("logistic", changed("coef_", lambda a: a[:, 1:]), "wrong shape"),
    ("logistic", changed("classes_", lambda a: a[1:]), "wrong shape"),
    ("logistic", model("C", value=-1.0), "C must be"),
]


@pytest.fixture(scope="module")
def contents(data, tmp_path_factory):
    folder, (X, Y) = tmp_path_factory.mktemp("models"), data
    for name, estimator in MODELS.items():
        if name == "logistic":
            estimator.fit(X, Y[:, 0])
        elif name == "own rows":
            estimator.fit(sp.csr_array(np.hstack([np.where(X > 0.5, X, 0)[:30]] * 8)), Y[:30])
        else:
            estimator.fit(X, Y)
        save(estimator, folder / name)
    return {name: (folder / name).read_bytes() for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_a_file_written_by_the_forger_without_changes_is_accepted(name, contents, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(contents[name])
    forge(path, lambda header, arrays: None)
    load(path)


NAMES = [f"{name}: {says}" for name, _, says in FORGED]


@pytest.mark.parametrize(("name", "change", "says"), FORGED, ids=NAMES)
def test_a_forged_file_is_refused(name, change, says, contents, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(contents[name])
    forge(path, change)
    with pytest.raises(ModelFileError, match=rf"m: the file is damaged \(.*({says})"):
        load(path)
