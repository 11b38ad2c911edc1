"""Estimators of scikit-learn in a file that are made to do harm, with a right checksum."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from refpair import BayesDecisionClassifier, BinaryRelevance, save
from refpair.persistence import ModelFileError, load
from refpair.persistence._stand_ins import _TREE, Replacing
from tests.persistence.forging import entries_of, forge, write_entries


@pytest.fixture(scope="module")
def content(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    save(BayesDecisionClassifier(RandomForestClassifier(3, random_state=0)).fit(*data), path)
    return path.read_bytes()


@pytest.fixture
def path(content, tmp_path):
    (tmp_path / "m").write_bytes(content)
    return tmp_path / "m"


def estimators_in(path):
    return skops.io.loads(entries_of(path)["foreign.skops"])


def put_estimators(path, estimators):
    """What an attacker would do: write by skops whatever skops can write."""
    write_entries(path, {**entries_of(path), "foreign.skops": skops.io.dumps(estimators)})


def tree_of(forest, i=0):
    return forest.estimators_[i].tree_[_TREE]


def put_in_tree(row, where, value):
    def change(forest):
        tree_of(forest)["whole"][row, where] = value

    return change


def in_tree(**forged):
    return lambda forest: tree_of(forest).update(forged)


def setting(where, **forged):
    return lambda forest: vars(where(forest)).update(forged)


def itself(forest):
    return forest


def first_tree(forest):
    return forest.estimators_[0]


LEFT, RIGHT, FEATURE, _, MISSING = range(5)
FORGED = {
    "loop": (put_in_tree(LEFT, 0, 0), "before its parent"),
    "left child outside": (put_in_tree(LEFT, 0, 10**6), "outside its tree"),
    "right child outside": (put_in_tree(RIGHT, 0, 10**6), "outside its tree"),
    "negative child": (put_in_tree(RIGHT, 0, -7), "before its parent"),
    "single child": (put_in_tree(RIGHT, 0, -1), "single child"),
    "feature outside": (put_in_tree(FEATURE, 0, 5), "asks for no feature"),
    "negative feature": (put_in_tree(FEATURE, 0, -1), "asks for no feature"),
    "missing values nowhere": (put_in_tree(MISSING, 0, 200), "nowhere"),
    "other number of features": (in_tree(n_features=50), "other features"),
    "huge number of classes": (in_tree(n_classes=np.array([2, 2, 2**40])), "no classes"),
    "negative number of classes": (in_tree(n_classes=np.array([2, 2, -1])), "no classes"),
    "no outputs": (in_tree(n_classes=np.array([], np.int64)), "no classes"),
    "other outputs": (in_tree(n_classes=np.array([2, 2])), "wrong shape"),
    "no nodes": (
        in_tree(whole=np.zeros((5, 0), np.int64), real=np.zeros((3, 0)), values=np.zeros((0, 3, 2))),
        "no nodes",
    ),
    "fewer values": (in_tree(values=np.zeros((1, 3, 2))), "values of a tree"),
    "NaN value": (lambda forest: tree_of(forest)["values"].__setitem__(0, np.nan), "not a number"),
    "other type": (in_tree(whole=np.zeros((5, 3))), "arrays of numbers"),
    "list for an array": (in_tree(values=[1, 2]), "arrays of numbers"),
    "huge depth": (in_tree(max_depth=2**40), "no depth"),
    "more parts": (in_tree(more=1), "some of its parts"),
    "no tree": (setting(first_tree, tree_=None), "not one"),
    "tree elsewhere": (lambda forest: setattr(forest, "more", forest.estimators_[0].tree_), "none belongs"),
    "fewer trees": (lambda forest: forest.estimators_.pop(), "other trees"),
    "other features of a tree": (setting(first_tree, n_features_in_=6), "other features"),
    "own method": (setting(itself, predict_proba=np.exp), "predict_proba of a Random"),
    "own method of a tree": (setting(first_tree, apply=np.exp), "apply of a Decision"),
    "dtype of objects": (setting(itself, more={"dtype of numpy": "V8"}), "no type of numbers"),
    "unknown estimator inside": (setting(itself, more=SVC()), "SVC cannot be checked"),
    "unknown estimator deep inside": (
        setting(itself, more=[{"a": (np.array([SVC()], object),)}]), "SVC cannot be checked"
    ),
    "masked unknown estimator": (
        setting(itself, more=np.ma.MaskedArray(np.array([SVC()], object), [False])), "SVC"
    ),
    "bytes": (setting(itself, more=b"abc"), "does not belong to estimators|cannot be checked"),
    "unknown part": (setting(itself, more={"part of scikit-learn": "Popen", "has": {}}), "not known"),
    "part of nothing": (setting(itself, more={"part of scikit-learn": "_SigmoidCalibration"}), "not known"),
    "own method of a part": (
        setting(itself, more={"part of scikit-learn": "_SigmoidCalibration", "has": {"predict": np.exp}}),
        "predict of a _SigmoidCalibration",
    ),
    "own object that is not there": (setting(itself, more={"object of refpair": 3}), "is missing"),
    "own object of no number": (setting(itself, more={"object of refpair": "x"}), "is missing"),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGED)
def test_forged_estimators_are_refused(what, path):
    estimators = estimators_in(path)
    change, says = FORGED[what]
    change(estimators[-1])
    put_estimators(path, estimators)
    with pytest.raises(ModelFileError, match=rf"m: the file is damaged \(.*({says})"):
        load(path)


def test_the_forger_may_change_nothing(path, data):
    before = load(path).predict_proba(data[0])
    put_estimators(path, estimators_in(path))
    np.testing.assert_array_equal(load(path).predict_proba(data[0]), before)


def test_trees_of_scikit_learn_itself_are_refused(path, data):
    """skops can write them, and nobody checks what is in them."""
    fitted = RandomForestClassifier(3, random_state=0).fit(*data)
    put_estimators(path, [RandomForestClassifier(), fitted])
    with pytest.raises(ModelFileError, match=r"TreeNode|plain numbers"):
        load(path)


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


def rewritten(path, change):
    """Change the entries of what skops wrote."""
    outer = entries_of(path)
    with zipfile.ZipFile(io.BytesIO(outer["foreign.skops"])) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(entries["schema.json"])
    schema = change(schema, entries) or schema
    entries["schema.json"] = json.dumps(schema).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    write_entries(path, {**outer, "foreign.skops": stream.getvalue()})


def node(loader, cls, module, **more):
    return {"__loader__": loader, "__class__": cls, "__module__": module, **more}


RUN = "__import__('os').mkdir('evil')"
HOSTILE = {
    "function": node("FunctionNode", "system", "os"),
    "type": node("TypeNode", "Popen", "subprocess"),
    "object": node("ObjectNode", "Popen", "subprocess", content=None),
    "constructor": node("ConstructorFromReduceNode", "eval", "builtins", content=RUN),
    "method": node("MethodNode", "x", "y", content={}),
    "operator": node("OperatorFuncNode", "methodcaller", "operator", attrs={}),
    "partial": node("PartialNode", "partial", "functools", content={}),
    "unknown loader": node("EvilNode", "x", "y"),
    "no loader": {"__class__": "x", "__module__": "y"},
    "bytes": node("BytesNode", "bytes", "builtins", file="schema.json"),
    "sparse": node("SparseMatrixNode", "csr_matrix", "scipy.sparse._csr", type="scipy", file="schema.json"),
    "number": 3,
    "text": "x",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_schemas_run_nothing(what, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rewritten(path, lambda schema, entries: schema["content"].__setitem__(-1, HOSTILE[what]))
    with pytest.raises(ModelFileError):
        load(path)
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


def test_the_same_entry_again_and_again_is_a_bomb(path):
    def many(schema, entries):
        stream = io.BytesIO()
        np.save(stream, np.zeros(1 << 19))
        entries["1.npy"] = stream.getvalue()
        array = node("NdArrayNode", "ndarray", "numpy", type="numpy", file="1.npy")
        schema["content"] = [node("ListNode", "list", "builtins", content=[array] * 1000)]

    rewritten(path, many)
    with pytest.raises(ModelFileError, match="bomb"):
        load(path)


@pytest.mark.parametrize("name", ["../x.npy", "/etc/x.npy", "x.npz", "1.bin", "schema.json/x"])
def test_other_entries_of_skops_are_refused(name, path):
    rewritten(path, lambda schema, entries: entries.update({name: b"x"}))
    with pytest.raises(ModelFileError, match="does not belong to estimators"):
        load(path)


def test_objects_in_arrays_of_skops_are_refused(path):
    stream = io.BytesIO()
    np.save(stream, np.array([{}], object), allow_pickle=True)
    rewritten(path, lambda schema, entries: entries.update({"1.npy": stream.getvalue()}))
    with pytest.raises(ModelFileError, match="plain numbers or strings"):
        load(path)


def test_arrays_of_skops_that_claim_to_be_larger_are_refused(path):
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<i8", "fortran_order": False, "shape": (10**13,)})
    rewritten(path, lambda schema, entries: entries.update({"1.npy": claim.getvalue()}))
    with pytest.raises(ModelFileError, match="size of an array"):
        load(path)


def test_deep_and_circular_schemas_are_refused(path):
    def deep(schema, entries):
        inner = schema["content"][0]
        for _ in range(3000):
            inner = node("ListNode", "list", "builtins", content=[inner])
        schema["content"] = [inner]

    def circular(schema, entries):
        schema["__id__"] = 77
        schema["content"] = [node("ListNode", "list", "builtins", content=[], __id__=77)]

    original = path.read_bytes()
    for change in (deep, circular):
        path.write_bytes(original)
        try:
            rewritten(path, change)
        except RecursionError:  # of the forger
            continue
        with pytest.raises(ModelFileError):
            load(path)


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
        (OneHotEncoder(drop="first").fit([[1], [2]]), {"_drop_idx_after_grouping": [-1]}, "does not exist"),
        (OneHotEncoder(drop="first").fit([[1], [2]]), {"_drop_idx_after_grouping": [2]}, "does not exist"),
        (OneHotEncoder(drop="first").fit([[1], [2]]), {"_drop_idx_after_grouping": []}, "wrong shape"),
        (OrdinalEncoder().fit([["a"], ["b"]]), {"categories_": [np.array(["b", "a"])]}, "not in order"),
        (LogisticRegression().fit([[0.0], [1.0]], [0, 1]), {"n_jobs": 10**6}, "n_jobs"),
        (LogisticRegression().fit([[0.0], [1.0]], [0, 1]), {"coef_": np.zeros((1, 9))}, "wrong shape"),
        (LogisticRegression().fit([[0.0], [1.0]], [0, 1]), {"coef_": np.array([[np.nan]])}, "not a number"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_indices_of_other_estimators_are_checked(estimator, forged, says, path):
    vars(estimator).update(forged)
    put_estimators(path, [estimator])
    forge(path, lambda header, arrays: header["model"].update(estimator={"foreign": 0}))
    with pytest.raises(ModelFileError, match=says):
        load(path)


def test_a_tree_of_more_features_than_its_forest_has(data, path):
    """A forest gives its trees rows without a look."""
    estimators = estimators_in(path)
    tree = estimators[-1].estimators_[1]
    tree.n_features_in_ = tree_of(estimators[-1], 1)["n_features"] = 50
    tree_of(estimators[-1], 1)["whole"][FEATURE, 0] = 49
    put_estimators(path, estimators)
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
    estimators = estimators_in(tmp_path / "m")
    assert [type(found).__name__ for found in estimators[-2:]] == ["StandardScaler", "RandomForestClassifier"]
    estimators[-2] = PCA(2).fit(data[0])
    put_estimators(tmp_path / "m", estimators)
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
    assert Replacing(lambda value: None)(tree).tree_.keys() == {_TREE}
