"""Estimators of scikit-learn in a file that are made to do harm, with a right checksum."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from refpair import BayesDecisionClassifier, BinaryRelevance, save
from refpair.persistence import ModelFileError, load
from refpair.persistence._values import ValueWriter
from tests.persistence.forging import at, changed, forge, in_header


@pytest.fixture(scope="module")
def content(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    save(BayesDecisionClassifier(RandomForestClassifier(3, random_state=0)).fit(*data), path)
    return path.read_bytes()


@pytest.fixture
def path(content, tmp_path):
    (tmp_path / "m").write_bytes(content)
    return tmp_path / "m"


FOREST = ("model", "_label_model", "model")
TREE = "_label_model.model.estimators_.0.tree_."
LEFT, RIGHT, FEATURE, _, MISSING = range(5)
EMPTY = {"cells": [], "shape": [0], "dtype": "<i8"}


def cells(*values, dtype="<i8"):
    return {"cells": list(values), "shape": [len(values)], "dtype": dtype}


def in_nodes(row, value):
    return changed(TREE + "whole", at((row, 0), value))


def in_tree(name, value):
    return in_header(*FOREST, "estimators_", 0, "tree_", "dict", name, value=value)


def in_forest(*keys, value):
    return in_header(*FOREST, *keys, value=value)


def more(value):
    return in_forest("more", value=value)


def nowhere(name):
    """Return a forger that has no array of a tree."""

    def forger(header, arrays):
        del arrays[TREE + name]
        in_tree(name, [1, 2])(header, arrays)

    return forger


FORGED = {
    "loop": (in_nodes(LEFT, 0), "before its parent"),
    "left child outside": (in_nodes(LEFT, 10**6), "outside its tree"),
    "right child outside": (in_nodes(RIGHT, 10**6), "outside its tree"),
    "negative child": (in_nodes(RIGHT, -7), "before its parent"),
    "single child": (in_nodes(RIGHT, -1), "single child"),
    "feature outside": (in_nodes(FEATURE, 5), "asks for no feature"),
    "negative feature": (in_nodes(FEATURE, -1), "asks for no feature"),
    "missing values nowhere": (in_nodes(MISSING, 200), "nowhere"),
    "other number of features": (in_tree("n_features", 50), "other features"),
    "huge number of classes": (in_tree("n_classes", cells(2, 2, 2**40)), "no classes"),
    "negative number of classes": (in_tree("n_classes", cells(2, 2, -1)), "no classes"),
    "shared child": (lambda header, arrays: _share(arrays), "two parents"),
    "less depth than there is": (in_tree("max_depth", 1), "another depth"),
    "other classes than the trees": (in_forest("n_classes_", value=[2, 2, 10**8]), "other classes"),
    "no outputs": (in_tree("n_classes", EMPTY), "no classes"),
    "other outputs": (in_tree("n_classes", cells(2, 2)), "wrong shape"),
    "no nodes": (changed(TREE + "whole", lambda a: a[:, :0]), "nodes of a tree"),
    "fewer values": (changed(TREE + "values", lambda a: a[:1]), "values of a tree"),
    "NaN value": (changed(TREE + "values", at(0, np.nan)), "not a number"),
    "other type": (changed(TREE + "whole", lambda a: a.astype(np.float64)), "holds float64"),
    "list for an array": (nowhere("values"), "arrays of numbers"),
    "huge depth": (in_tree("max_depth", 2**40), "another depth"),
    "more parts": (in_tree("more", 1), "some of its parts"),
    "no tree": (in_forest("estimators_", 0, "tree_", value=None), "some of its parts"),
    "tree elsewhere": (in_forest("tree_", value={"dict": {}}), "none belongs"),
    "fewer trees": (lambda header, arrays: _forest(header)["estimators_"].pop(), "other trees"),
    "other features of a tree": (in_forest("estimators_", 0, "n_features_in_", value=6), "other features"),
    "own method": (in_forest("predict_proba", value={"ufunc": "exp"}), "predict_proba of a Random"),
    "own method of a tree": (in_forest("estimators_", 0, "apply", value=1), "apply of a Decision"),
    "own class": (in_forest("__class__", value="x"), "__class__ of a Random"),
    "dtype of anything": (more({"dtype": "V8"}), "not known"),
    "unknown class inside": (more({"class": "SVC"}), "class 'SVC'"),
    "class of the library": (more({"class": "Popen"}), "class 'Popen'"),
    "no name of a class": (more({"class": ["PCA"]}), "name of a class"),
    "unknown class deep inside": (
        more([{"dict": {"a": {"tuple": [{**cells({"class": "SVC"}), "dtype": "|O"}]}}}]), "class 'SVC'"
    ),
    "function": (more({"ufunc": "system"}), "not known"),
    "function of a module": (more({"ufunc": "os.system"}), "not known"),
    "no ufunc": (more({"ufunc": "load"}), "not known"),
    "type": (more({"type": "object"}), "not known"),
    "own method of a part": (
        more({"class": "_SigmoidCalibration", "predict": {"ufunc": "exp"}}), "predict of a _Sigmoid"
    ),
    "keys that no dict has": (more({"items": [[[1], 2]]}), "unhashable"),
    "items that are no pairs": (more({"items": [[1, 2, 3]]}), "a dict is none"),
    "members that no set has": (more({"set": [[]]}), "unhashable"),
    "slice of too much": (more({"slice": [1]}), "no slice"),
    "number that is none": (more({"number": "1", "dtype": "<f8"}), "a number is none"),
    "number of another type": (more({"number": 300, "dtype": "|i1"}), "out of bounds"),
    "cells of another shape": (more({**cells(1, 2), "shape": [3]}), "wrong shape"),
    "a negative shape": (more({**cells(1, 2), "shape": [-1, -2]}), "wrong shape"),
    "many dimensions": (more({**cells(1), "shape": [1] * 60}), "wrong shape"),
    "cells of anything": (more({**cells(1), "dtype": "V8"}), "wrong shape or type"),
    "mask of another shape": (more({"masked": cells(1, 2), "mask": cells(True, dtype="|b1")}), "mask"),
    "mask of numbers": (more({"masked": cells(1), "mask": cells(1)}), "mask"),
    "transposed nothing": (more({"transposed": 1}), "an array is none"),
}  # fmt: skip


def _share(arrays):
    """Let two nodes have the same child: there would be more ways down than nodes."""
    nodes = arrays[TREE + "whole"]
    last, before = np.flatnonzero(nodes[LEFT] >= 0)[[-1, -2]]
    nodes[LEFT, before] = nodes[LEFT, last]


def _forest(header):
    return header["model"]["_label_model"]["model"]


@pytest.mark.parametrize("what", FORGED)
def test_forged_estimators_are_refused(what, path):
    change, says = FORGED[what]
    forge(path, change)
    with pytest.raises(ModelFileError, match=rf"m: the file is damaged \(.*({says})"):
        load(path)


def test_the_forger_may_change_nothing(path, data):
    before = load(path).predict_proba(data[0])
    forge(path, lambda header, arrays: None)
    np.testing.assert_array_equal(load(path).predict_proba(data[0]), before)


POOL = "_label_model.pool.coefficients"
OF_LABELS = "_label_model.pool.of_labels"
BAD_POOLS = {
    "NaN": (changed(POOL, at(0, np.nan)), "must be finite"),
    "steep": (changed(POOL, at(0, 1e300)), "none of them large"),
    "integers": (changed(POOL, lambda a: a.astype(np.int64)), "and not float64"),
    "none": (changed(POOL, lambda a: a[:0]), "one for each of its sources"),
    "two sources": (changed(POOL, lambda a: np.concatenate([a, a])), "one for each of its sources"),
    "NaN of a label": (changed(OF_LABELS, at((0, 1), np.nan)), "of_labels must be finite"),
    "steep label": (changed(OF_LABELS, at((0, 0), 1e300)), "none of them large"),
    "fewer labels": (changed(OF_LABELS, lambda a: a[1:]), "what other models say"),
    "flat": (changed(POOL, lambda a: a.ravel()), "two numbers for each source"),
    "cube": (changed(POOL, lambda a: a[None]), "two numbers for each source"),
    "far": (in_header("model", "_label_model", "pool", "shift", value=1e9), "none of them large"),
    "no number": (
        in_header("model", "_label_model", "pool", "shift", value="1"),
        "the shift of a LogOddsPool",
    ),
    "sure": (in_header("model", "_label_model", "pool", "least", value=0.0), "least is 0"),
    "unsure": (in_header("model", "_label_model", "pool", "least", value=0.5), "least is 0.5"),
    "no pool": (in_header("model", "_label_model", "pool", value=[1.0, 0.0]), "the pool of a LabelModel"),
}


@pytest.mark.parametrize("what", BAD_POOLS)
def test_forged_calibration_is_refused(what, path):
    change, says = BAD_POOLS[what]
    assert load(path)._label_model.pool is not None
    forge(path, change)
    with pytest.raises(ModelFileError, match=says):
        load(path)


def test_the_steepest_calibration_that_is_read_can_be_used(path, data):
    forge(path, changed(POOL, at(0, 50.0)))
    assert np.isfinite(load(path).expected_cost(data[0])).all()


@pytest.mark.parametrize(
    "change",
    [
        {"tree_start": 3},
        {"start": 3},
        {"index": 100},
        {"index": -1},
        {"weight": -1.0},
        {"weight": np.nan},
    ],
    ids=str,
)
def test_forged_leaves_are_refused(change, path):
    ((name, value),) = change.items()
    forge(path, lambda header, arrays: arrays[f"_label_model.reading.{name}"].__setitem__(1, value))
    with pytest.raises(ModelFileError, match="lea"):
        load(path)


def test_a_leaf_without_label_vectors_is_refused(path):
    def empty(header, arrays):
        start = arrays["_label_model.reading.start"]
        arrays["_label_model.reading.start"] = np.where(np.arange(len(start)) < len(start) - 1, 0, start)

    forge(path, empty)
    with pytest.raises(ModelFileError, match="a leaf has no label vector"):
        load(path)


def objects(*values):
    made = np.empty(len(values), object)
    made[:] = values
    return made


TWO_COLUMNS = OneHotEncoder().fit([[1, 1], [2, 1], [3, 1]])
DROPPED = OneHotEncoder(drop="first").fit([[1], [2], [3]])
DROPS = ("drop_idx_", "_drop_idx_after_grouping")
STEPS = [(str(i), FunctionTransformer()) for i in range(90)]


@pytest.mark.parametrize(
    ("estimator", "forged", "says"),
    [
        (CountVectorizer().fit(["a b", "bb cc"]), {"vocabulary_": {"bb": 0, "cc": 10**9}}, "columns"),
        (CountVectorizer().fit(["a b", "bb cc"]), {"vocabulary_": {"bb": 0, "cc": -1}}, "columns"),
        (OneHotEncoder().fit([["a"], ["b"]]), {"_n_features_outs": [10**9]}, "other columns"),
        (OneHotEncoder().fit([["a"], ["b"]]), {"_infrequent_enabled": True}, "cannot be checked"),
        (OneHotEncoder().fit([[1], [2]]), {"categories_": [np.array([2, 1])]}, "not in order"),
        (OneHotEncoder().fit([[1], [2]]), {"categories_": [np.array([1, 1])]}, "not in order"),
        (OneHotEncoder().fit([[1.5], [2]]), {"categories_": [np.array([np.nan, 2.0])]}, "not in order"),
        (OneHotEncoder().fit([[1], [2]]), {"categories_": [np.array([[1, 2]])]}, "wrong shape"),
        (OneHotEncoder().fit([[1], [2]]), {"categories_": [objects(2, 1)]}, "not in order"),
        (OneHotEncoder().fit([[1], [2]]), {"categories_": [objects(1, "a")]}, "not in order"),
        (OneHotEncoder().fit([[1], [2]]), {"categories_": [objects("a", "a")]}, "not in order"),
        (OneHotEncoder().fit([[1], [2]]), {"categories_": [np.ma.masked_array([1, 2])]}, "wrong shape"),
        (OneHotEncoder().fit([[1], [2]]), {"categories_": [np.empty(0)]}, "wrong shape"),
        (OneHotEncoder().fit([[1], [2]]), {"dtype": np.dtype("O")}, "become no numbers"),
        (OneHotEncoder().fit([[1], [2]]), {"n_features_in_": "1"}, "does not tell its features"),
        (TWO_COLUMNS, {"_n_features_outs": np.array([3, 1])}, "other columns"),
        (TWO_COLUMNS, {"_n_features_outs": [3.9, 1.0]}, "other columns"),
        (TWO_COLUMNS, {"drop_idx_": objects(0, 0), "_n_features_outs": [2, 0]}, "dropped categories"),
        (DROPPED, {"_drop_idx_after_grouping": None, "_n_features_outs": [2]}, "dropped categories"),
        (DROPPED, {"_drop_idx_after_grouping": None, "drop_idx_": None}, "other columns"),
        (DROPPED, dict.fromkeys(DROPS, objects(-1)), "does not exist"),
        (DROPPED, dict.fromkeys(DROPS, objects(3)), "does not exist"),
        (DROPPED, dict.fromkeys(DROPS, objects(0.0)), "does not exist"),
        (DROPPED, dict.fromkeys(DROPS, objects()), "dropped categories"),
        (OrdinalEncoder().fit([["a"], ["b"]]), {"categories_": [objects("a", "a")]}, "not in order"),
        (CountVectorizer().fit(["bb"]), {"token_pattern": r"(\w+\s?)*$"}, "take for ever"),
        (CountVectorizer().fit(["bb"]), {"token_pattern": r"(ab|a)+x"}, "take for ever"),
        (CountVectorizer().fit(["bb"]), {"token_pattern": r"\w*\w*\w*\w*x"}, "take for ever"),
        (CountVectorizer().fit(["bb"]), {"token_pattern": "("}, "cannot be checked"),
        (CountVectorizer().fit(["bb"]), {"ngram_range": (1, 10**6)}, "too long"),
        (CountVectorizer().fit(["bb"]), {"input": "filename"}, "read from files"),
        (DummyClassifier().fit([[0], [1]], [0, 1]), {"n_classes_": 10**8}, "counted"),
        (MLPClassifier(), {"coefs_": [np.zeros((5, 0)), np.zeros((0, 1 << 22))]}, "has no weights"),
        (FunctionTransformer(np.exp), {"kw_args": {"out": np.zeros((9, 1))}}, "plain values"),
        (make_pipeline(*[FunctionTransformer()] * 90), {"steps": [*STEPS, *STEPS[:20]]}, "too many"),
        (LogisticRegression().fit([[0.0], [1.0]], [0, 1]), {"coef_": np.zeros((1, 9))}, "wrong shape"),
        (LogisticRegression().fit([[0.0], [1.0]], [0, 1]), {"coef_": np.array([[np.nan]])}, "not a number"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_indices_of_other_estimators_are_checked(estimator, forged, says, path):
    writer = ValueWriter()
    stored = writer.write(estimator, "estimator")
    writer._in_sklearn = True
    stored |= {name: writer.write(value, f"estimator.{name}") for name, value in forged.items()}

    def put(header, arrays):
        header["model"]["estimator"] = stored
        arrays.update(writer.arrays)

    forge(path, put)
    with pytest.raises(ModelFileError, match=says):
        load(path)


@pytest.mark.parametrize(
    ("categories", "widths"), [([2.0, 3.0, 1.0], None), ([1.0, 2.0, 3.0], "drop")], ids=str
)
def test_a_forged_encoder_does_not_write_elsewhere(categories, widths, tmp_path):
    """What is not refused would write beyond the end of a matrix: into the memory of others."""
    column = np.array([[1.0, 2.0, 3.0] * 4]).T
    encoder = OneHotEncoder(sparse_output=False)
    model = make_pipeline(encoder, BinaryRelevance("tree")).fit(column, np.eye(3, dtype=int)[[0, 1, 2] * 4])
    encoder.categories_ = [objects(*categories)]
    if widths:
        encoder.drop_idx_, encoder._n_features_outs = objects(0), [2]
    with pytest.raises(ValueError, match=r"not in order|dropped categories"):
        save(model, tmp_path / "m")


def test_pipelines_that_take_for_ever(path, data, tmp_path):
    """Each step doubles the features; each pipeline asks its only step three times what it is."""

    def model_of(*steps):
        forest = RandomForestClassifier(2, max_depth=1)
        return BayesDecisionClassifier(make_pipeline(*steps, forest)).fit(*data)

    two = FeatureUnion([("first", "passthrough"), ("again", "passthrough")])
    save(model_of(*[two] * 3), tmp_path / "m")
    with pytest.raises(ValueError, match="repeats its features far too often"):
        save(model_of(*[two] * 13), tmp_path / "m")

    def put(header, arrays):
        steps = header["model"]["estimator"]["steps"]
        header["model"]["estimator"]["steps"] = [*steps[:1] * 13, *steps[-1:]]

    forge(tmp_path / "m", put)
    with pytest.raises(ModelFileError, match="repeats its features far too often"):
        load(tmp_path / "m")

    scaler = StandardScaler()
    for _ in range(7):
        scaler = make_pipeline(scaler)
    with pytest.raises(ValueError, match="models in models"):
        save(model_of(scaler), tmp_path / "m")

    def nest(header, arrays):
        for _ in range(20):
            header["model"]["estimator"] = {
                **header["model"]["estimator"], "class": "Pipeline", "memory": None, "verbose": False,
                "steps": [{"tuple": ["in", header["model"]["estimator"]]}],
            }  # fmt: skip

    forge(path, nest)
    with pytest.raises(ModelFileError, match="models in models"):
        load(path)


def test_n_jobs_is_no_more_than_the_processors(path):
    forge(path, in_forest("n_jobs", value=10**6))
    forge(path, in_header("model", "n_jobs", value=10**6))
    model = load(path)
    assert model.n_jobs == model.estimator_.n_jobs == os.cpu_count()
    forge(path, in_forest("n_jobs", value=-1))
    assert load(path).estimator_.n_jobs == -1
    forge(path, in_forest("n_jobs", value=0))
    with pytest.raises(ModelFileError, match="n_jobs cannot be 0"):
        load(path)


def test_a_tree_of_more_features_than_its_forest_has(path):
    """A forest gives its trees rows without a look."""

    def widen(header, arrays):
        tree = _forest(header)["estimators_"][0]
        tree["n_features_in_"] = tree["tree_"]["dict"]["n_features"] = 50
        arrays[TREE + "whole"][FEATURE, 0] = 49

    forge(path, widen)
    with pytest.raises(ModelFileError, match="other features than its forest"):
        load(path)


@pytest.mark.parametrize("values", [[1, 2], [1.5, np.nan], ["a", "b"]], ids=str)
@pytest.mark.parametrize("how", [{}, {"drop": "first"}, {"handle_unknown": "ignore"}], ids=str)
def test_encoders_come_back(values, how, data, tmp_path):
    column = np.array([values * 60], dtype=object if isinstance(values[0], str) else float).T
    model = make_pipeline(OneHotEncoder(**how), BinaryRelevance("tree", random_state=0)).fit(column, data[1])
    save(model, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").predict(column), model.predict(column))


def test_a_pipeline_that_leaves_features_out_is_noticed(data, tmp_path):
    """Trees are asked directly, and would read beyond the end of a row."""
    forest = RandomForestClassifier(3, random_state=0)
    model = BayesDecisionClassifier(make_pipeline(StandardScaler(), forest)).fit(*data)
    save(model, tmp_path / "m")

    def leave_out(header, arrays):
        steps = header["model"]["_label_model"]["model"]["steps"]
        assert [step["tuple"][1]["class"] for step in steps] == ["StandardScaler", "RandomForestClassifier"]
        scaler = PCA(2).fit(data[0])
        writer = ValueWriter()
        steps[0]["tuple"][1] = writer.write(scaler, "pca")
        arrays.update(writer.arrays)

    forge(tmp_path / "m", leave_out)
    with pytest.raises(ValueError, match="a step of a pipeline has other features"):
        load(tmp_path / "m")


def test_a_single_tree(data, tmp_path):
    """The stand-in of a tree holds all of it."""
    tree = DecisionTreeClassifier(random_state=0).fit(np.where(data[0] > 1, np.nan, data[0]), data[1][:, 0])
    model = BinaryRelevance(tree).fit(np.where(data[0] > 1, np.nan, data[0]), data[1])
    save(model, tmp_path / "m")
    before, after = model.learners_.bank_.estimators_[0], load(tmp_path / "m").learners_.bank_.estimators_[0]
    for name, value in before.tree_.__getstate__().items():
        np.testing.assert_array_equal(after.tree_.__getstate__()[name], value)


def test_a_model_in_a_model_has_its_features(data, tmp_path):
    X, Y = data
    save(BayesDecisionClassifier(BinaryRelevance("tree"), random_state=0).fit(X, Y), tmp_path / "m")
    forge(tmp_path / "m", in_header("model", "n_features_in_", value=4))
    with pytest.raises(ModelFileError, match="one of other features"):
        load(tmp_path / "m")
