"""Files of a CSRPEClassifier that are made to do harm, with a right checksum."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest

from refpair import CSRPEClassifier
from refpair.classifiers.csrpe import SOURCES
from refpair.persistence import ModelFileError, load, save
from refpair.posterior.code import _Learning
from tests.persistence.forging import at, changed, entries_of, forge, in_header, write_entries

TREES, BINS = "bits_.trees_.", "bits_.bins_."
LEAVES, LINEAR = "posterior_.others.1.trees.", "posterior_.others.2."
POOL = "posterior_.mixture.pool.coefficients"
OF_LABELS = "posterior_.mixture.pool.of_labels"
SHARES = "posterior_.code.rows.shares."


def first_inner(arrays):
    return int(np.flatnonzero(arrays[TREES + "feature"] >= 0)[0])


def loop(header, arrays):
    arrays[TREES + "left_child"][first_inner(arrays)] = 0


def child_outside(header, arrays):
    start = arrays[TREES + "start"]
    arrays[TREES + "left_child"][first_inner(arrays)] = (
        start[1] - start[0] - 1
    )  # then the right child is outside


def starts_that_wrap_around(header, arrays):
    arrays[TREES + "start"][1:4] = 2**62, -(2**63), -(2**62)


def too_many_edges(header, arrays):
    arrays.update({BINS + "edges": np.arange(1275.0), BINS + "edge_start": np.arange(6) * 255})


def no_posterior(header, arrays):
    header["model"]["posterior_"] = None
    for name in [name for name in arrays if name.startswith("posterior_.code.rows")]:
        del arrays[name]


def fewer_shares(header, arrays):
    for part in ("data", "indices", "indptr"):
        arrays[SHARES + part] = arrays[SHARES + part][:-1]


def no_codes(header, arrays):
    arrays["posterior_.code.rows.plus"] = arrays["posterior_.code.rows.plus"][:0]
    for part in ("data", "indices"):
        arrays[SHARES + part] = arrays[SHARES + part][:0]
    arrays[SHARES + "indptr"] = arrays[SHARES + "indptr"][:1]


def model(*keys, value):
    return in_header("model", *keys, value=value)


def settings(name, value):
    return model("posterior_", "dict", "code", "dict", "settings", name, value=value)


def mixture(*names, value):
    return model("posterior_", "dict", "mixture", *names, value=value)


def classes(names, kind):
    return model("_label_format", "classes", value={"names": names, "kind": kind})


def same_pair(header, arrays):
    arrays["code_.beta"] = arrays["code_.alpha"]


CODE = {"class": "RepetitionCode", "n_labels": 1, "code_length": 1}
PRICES = {"name": "x", "false_positive": [1, 2], "false_negative": 1}
FORGED = {
    "loop": (loop, "comes before its parent"),
    "child outside": (child_outside, "outside its tree"),
    "negative child": (changed(TREES + "left_child", lambda a: np.full_like(a, -5)), "before its parent"),
    "huge child": (changed(TREES + "left_child", lambda a: np.full_like(a, 30_000)), "outside its tree"),
    "feature outside": (changed(TREES + "feature", at(0, 5)), "asks for no feature"),
    "negative feature": (changed(TREES + "feature", at(0, -2)), "asks for no feature"),
    "NaN value": (changed(TREES + "value", at(0, np.nan)), "not from -1 to 1"),
    "large value": (changed(TREES + "value", at(0, 2.0)), "not from -1 to 1"),
    "fewer nodes": (changed(TREES + "threshold", lambda a: a[:-1]), "wrong shape"),
    "trees start late": (changed(TREES + "start", at(0, 1)), "follow one another"),
    "trees end early": (changed(TREES + "start", at(-1, 3)), "follow one another"),
    "trees go back": (changed(TREES + "start", at(2, 0)), "follow one another"),
    "trees wrap around": (starts_that_wrap_around, "follow one another"),
    "fewer trees": (changed(TREES + "start", lambda a: np.delete(a, 1)), "its parent|bag for each bit"),
    "edges outside": (changed(BINS + "edge_start", at(-1, 10**6)), "too few edges"),
    "edges go back": (changed(BINS + "edge_start", at(1, -1)), "too few edges"),
    "NaN edge": (changed(BINS + "edges", at(0, np.nan)), "edge of a bin"),
    "more features in bins": (changed(BINS + "has_missing", lambda a: np.append(a, True)), "wrong shape"),
    "too many edges": (too_many_edges, "too many or too few edges"),
    "other type": (changed(TREES + "feature", lambda a: a.astype(np.float64)), "holds float64"),
    "too large a type": (changed(TREES + "feature", at(0, 2**40)), "holds uint64|holds int64"),
    "missing array": (lambda header, arrays: arrays.pop("code_.beta"), "beta is missing"),
    "unknown array": (lambda header, arrays: arrays.update(gamma=np.zeros(3)), "'gamma' does not belong"),
    "array that is used twice": (model("code_", "beta", "bits", value="code_.alpha"), "alpha is missing"),
    "same pair": (same_pair, "two distinct vectors"),
    "wide labels": (changed("code_.alpha", lambda a: np.hstack([a, a])), "wrong shape"),
    "flat labels": (changed("relevant_set_", lambda a: a.ravel()), "wrong shape"),
    "no vectors": (changed("relevant_set_", lambda a: a[:0]), "wrong shape"),
    "fewer counts": (changed("relevant_counts_", lambda a: a[1:]), "wrong shape"),
    "fewer bags": (changed("bits_.bags_.seeds", lambda a: a[1:]), "bag for each bit"),
    "large bags": (model("bits_", "bags_", "n_sampled", value=10**6), "empty or too large"),
    "text for threads": (model("n_jobs", value="all"), "n_jobs of a CSRPEClassifier cannot be 'all'"),
    "no threads": (model("n_jobs", value=0), "n_jobs cannot be 0"),
    "fraction of features": (model("n_features_in_", value=5.0), "cannot be 5.0"),
    "other number of features": (model("n_features_in_", value=4), "not those of the features"),
    "unknown kind": (model("_label_format", "kind", value="tensor"), "cannot be 'tensor'"),
    "unknown dtype": (model("_label_format", "dtype", value={"dtype": "O"}), "type of numbers"),
    "huge strings": (classes(["a"], "U1000000000"), "broken"),
    "many names that are rather long": (classes(["a" * 4000, *[""] * 9000], "U"), "far more memory"),
    "too few names": (changed("_label_format.classes", lambda a: a[1:]), "wrong shape"),
    "names in names": (classes([[1], [2], [3]], "O"), "broken"),
    "too few names of features": (
        model("feature_names_in_", value={"names": ["a"], "kind": "O"}), "features lack names"
    ),
    "unknown cost": (model("cost_", value={"cost": {"name": "free"}}), "unknown cost"),
    "unknown name of a cost": (model("cost", value="free"), "unknown cost"),
    "name for a fitted cost": (model("cost_", value="f1"), "cost_ of a CSRPEClassifier cannot be"),
    "prices of other labels": (model("cost_", value={"cost": PRICES}), "2 prices"),
    "no cost": (model("cost_", value=None), "cannot be None"),
    "unknown field": (model("colour", value="red"), "other fields"),
    "bad parameter": (model("n_bits", value=-1), "n_bits must be"),
    "bad learner": (model("estimator", value="svm"), "estimator must be"),
    "estimator that cannot be checked": (model("estimator", value={"class": "SVC"}), "class 'SVC'"),
    "unknown class": (model("bits_", "class", value="Popen"), "class 'Popen'"),
    "known class in a wrong place": (model("bits_", value=CODE), "bits_ of a CSRPE"),
    "list for an object": (model("bits_", value=[]), "cannot be a list"),
    "list for the model": (in_header("model", value=[]), "holds no model"),
    "no model": (lambda header, arrays: header.pop("model"), "model"),
    "model that is not fitted": (
        in_header("model", value={"class": "Logistic", "C": 1.0, "tol": None}), "not fitted"
    ),
    **{f"new_share of {value}": (mixture("new_share", value=value), "new_share")
       for value in (2, -0.1, None, "1", True)},
    **{f"temperature of {value}": (settings("temperature", value), "temperature")
       for value in (-1, 0, 2**63, "hot", {"float": "inf"}, {"float": "nan"}, None)},
    **{f"{name} of {value}": (mixture("pool", name, value=value), name)
       for name in ("least", "shift") for value in ({"float": "inf"}, None, "1")},
    **{f"oob_cost_ of {value}": (model("oob_cost_", value=value), "oob_cost_")
       for value in ("inf", None)},
    **{f"compared_with of {value}": (settings("compared_with", value), "compared_with")
       for value in ("tables", None, ["rows"])},
    **{f"max_depth of {value}": (settings("max_depth", value), "max_depth")
       for value in (1.5, "6", [6])},
    "other sources": (model("posterior_", "dict", "others", value=[]), "mixture is one of other sources"),
    "no sources": (model("posterior_", "dict", "others", value=None), "lacks some of its parts"),
    "no mixture": (model("posterior_", "dict", "mixture", value=None), "lacks some of its parts"),
    "leaf of no vector": (changed(LEAVES + "trees_.classes", at(3, 8)), "a leaf has a class that does not"),
    "leaves of more vectors": (changed(LEAVES + "n_classes_", at(0, 9)), "leaves are those of other label"),
    "weights of fewer features": (changed(LINEAR + "weights", lambda a: a[:, 1:]), "those of the features"),
    "weight of no number": (changed(LINEAR + "weights", at((0, 0), np.nan)), "a weight is not a number"),
    "intercepts of fewer labels": (changed(LINEAR + "intercept", lambda a: a[1:]), "those of the features"),
    "negative share": (changed("posterior_.mixture.weights", at(0, -0.5)), "weights must not be negative"),
    "shares of one source": (changed("posterior_.mixture.weights", lambda a: a[:1] / a[0]), "other sources"),
    "coefficient of no number": (changed(POOL, at(0, np.nan)), "must be finite"),
    "fewer coefficients": (changed(POOL, lambda a: a[1:]), "one for each of its sources"),
    "shift of no number": (changed(OF_LABELS, at((0, 0), np.nan)), "of_labels must be finite"),
    "calibration of fewer labels": (changed(OF_LABELS, lambda a: a[1:]), "mixture is one of other sources"),
    "no posterior": (no_posterior, "posterior is missing"),
    "other decoder": (model("decoder", value="nearest"), "not one learner for each bit|no use for it"),
    "vector outside": (changed(SHARES + "indices", at(3, 8)), "a sparse matrix has a cell outside"),
    "negative vector": (changed(SHARES + "indices", at(3, -1)), "a sparse matrix has a cell outside"),
    "fewer vectors": (fewer_shares, "rows have a wrong shape"),
    "counts below 0": (changed("relevant_counts_", at(0, -1)), "a label vector counts less than nothing"),
    "code of no vector": (changed(SHARES + "indptr", at(1, 0)), "a code has no label vector"),
    "code of no weight": (changed(SHARES + "data", at(3, 0.0)), "a code counts for nothing"),
    "code of no number": (changed(SHARES + "data", lambda a: np.full(len(a), np.nan)), "counts for nothing"),
    "no codes at all": (no_codes, "codes of rows have a wrong shape"),
    "flat codes": (changed("posterior_.code.rows.plus", lambda a: a.ravel()), "wrong shape"),
    "wide codes": (changed("posterior_.code.rows.plus", lambda a: np.hstack([a, a])), "wrong shape"),
    "shorter search": (model("oob_search_", "dict", "cost", value=[1.0]), "search has a wrong shape"),
}  # fmt: skip


@pytest.fixture(scope="module")
def content(data, tmp_path_factory):
    """A file whose known codes are those of rows."""
    path = tmp_path_factory.mktemp("model") / "m"
    seen = _Learning._out_of_bag
    with pytest.MonkeyPatch.context() as patch:
        of_rows = lambda learning: (codes for codes in seen(learning) if codes.kind == "rows")  # noqa: E731
        patch.setattr(_Learning, "_out_of_bag", of_rows)
        found = CSRPEClassifier(n_bits=40, sources=SOURCES, random_state=0).fit(*data)  # none is left out
    assert found.posterior_.sources[0].settings.compared_with == "rows"
    assert tuple(source.name for source in found.posterior_.sources) == SOURCES
    assert len(found.relevant_set_) == 8
    save(found, path)
    return path.read_bytes()


@pytest.fixture
def forgeable(content, tmp_path):
    path = tmp_path / "model.refpair"
    path.write_bytes(content)
    return path


def test_a_file_written_by_the_forger_without_changes_is_accepted(forgeable, data):
    before = load(forgeable).predict_proba(data[0])
    forge(forgeable, lambda header, arrays: None)
    np.testing.assert_array_equal(load(forgeable).predict_proba(data[0]), before)


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_file_is_refused(what, forgeable):
    change, says = FORGED[what]
    forge(forgeable, change)
    with pytest.raises(
        ModelFileError, match=rf"model\.refpair: the file is damaged \(.*({says}).*save the model anew"
    ):
        load(forgeable)


def test_an_array_that_claims_to_be_larger_than_it_is_is_refused(forgeable):
    entries = entries_of(forgeable)
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<i8", "fortran_order": False, "shape": (10**13,)})
    entries[TREES + "start.npy"] = claim.getvalue() + bytes(80)
    write_entries(forgeable, entries)
    with pytest.raises(ModelFileError, match="the size of an array is not what it says"):
        load(forgeable)


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1), }",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999999999999999,), }",
        b"{'descr': __import__('os').getpid(), 'fortran_order': False, 'shape': (1,), }",
        b"(" * 5000,
        b"",
    ],
)
def test_headers_of_arrays_are_not_evaluated(header, forgeable):
    entries = entries_of(forgeable)
    padded = header + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + bytes(16)
    write_entries(forgeable, {**entries, "code_.alpha.npy": content})
    with pytest.raises(ModelFileError, match=r"plain numbers|not what it says"):
        load(forgeable)


def test_more_than_true_and_false(forgeable):
    entries = entries_of(forgeable)
    content = bytearray(entries[TREES + "missing_left.npy"])
    content[-1] = 2
    write_entries(forgeable, {**entries, TREES + "missing_left.npy": bytes(content)})
    with pytest.raises(ModelFileError, match="more than true and false"):
        load(forgeable)


class Evil:
    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def test_a_pickle_in_the_file_is_not_run(forgeable, tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.array([Evil(tmp_path / "evil")], dtype=object), allow_pickle=True)
    write_entries(forgeable, {**entries_of(forgeable), "relevant_counts_.npy": stream.getvalue()})
    with pytest.raises(ModelFileError, match="plain numbers"):
        load(forgeable)
    assert not (tmp_path / "evil").exists()


def test_the_code_of_a_forged_tree_is_the_one_it_says(forgeable, data):
    """The checks refuse no tree that is in order: here all trees become single leaves."""

    def leaves(header, arrays):
        n = len(arrays[TREES + "start"]) - 1
        nodes = {
            "start": np.arange(n + 1),
            "feature": np.full(n, -1),
            "threshold": np.zeros(n, np.uint8),
            "missing_left": np.zeros(n, bool),
            "left_child": np.zeros(n, np.int32),
            "value": np.linspace(-1, 1, n, dtype=np.float32),
        }
        arrays.update({TREES + name: array for name, array in nodes.items()})

    forge(forgeable, leaves)
    model = load(forgeable)
    n = len(model.bits_)
    expected = np.where(np.linspace(-1, 1, n, dtype=np.float32) > 0, 1, -1)[: len(model.code_)]
    np.testing.assert_array_equal(model.predict_code(data[0][:2]), [expected, expected])


def test_bits_of_an_anchor_beyond_the_code_change_nothing(forgeable, data):
    before = load(forgeable)
    n_bits = len(before.code_)
    assert n_bits < 64

    def add_bits(header, arrays):
        arrays["posterior_.code.rows.plus"] |= np.uint64(((1 << 64) - 1) ^ ((1 << n_bits) - 1))

    forge(forgeable, add_bits)
    np.testing.assert_array_equal(load(forgeable).predict_proba(data[0]), before.predict_proba(data[0]))
