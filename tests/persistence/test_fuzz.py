"""Files in which anything was changed, with a right checksum: refused, or used, but never a crash."""

from __future__ import annotations

import json
import re
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.pipeline import Pipeline

from refpair.persistence import ModelFileError, load
from refpair.persistence._file import from_npy, to_npy
from refpair.persistence._values import OWN
from tests.persistence.forging import entries_of, write_entries
from tests.persistence.models import METHODS, MODELS, rows_for

ROWS = np.array([[0.1, -0.5, 1.0, 0.3], [1.5, 0.0, -2.0, 0.7]])
WHOLE = st.sampled_from(
    [0, 1, -1, 2, 3, 7, 8, 255, 256, 2**15, 2**31 - 1, -(2**31), 2**31, 2**62, -(2**63), 2**70]
)
REAL = st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 1e-300, 1e300, -1e300, 1e999])
TEXT = st.sampled_from(
    ["", "tree", "rows", "words", "posterior", "nearest", "inf", "../x", "f1", "<f8", "O", "x" * 99]
)
LEAF = st.one_of(
    WHOLE, REAL, TEXT, st.none(), st.booleans(), st.just([]), st.just({}), st.lists(WHOLE, max_size=4)
)
FUZZING = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def answer(model, rows=ROWS):
    for method in METHODS:
        if hasattr(model, method):
            getattr(model, method)(rows)


def try_to_use(path):
    """Load a file and use the model; return how far that went."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = load(path)
        except ModelFileError:
            return "refused"
        try:
            answer(model, rows_for(model) if isinstance(model, Pipeline) else ROWS)
        except Exception as error:
            if not _is_of_scikit_learn(path):
                raise
            return type(error).__name__  # of an estimator of scikit-learn, which makes nothing of what it has
    return "used"


def _is_of_scikit_learn(path):
    classes = set(re.findall(r'"class": "(\w+)"', entries_of(path)["header.json"].decode()))
    return bool(classes - OWN.keys() - {"Pipeline", "OneVsRestClassifier", "LabelBinarizer"})


def leaves(tree, path=()):
    """Yield the ways to all values in JSON, inner ones too."""
    if path:
        yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from leaves(value, (*path, key))


def put(tree, path, value):
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


def mutated_json(draw, content):
    tree = json.loads(content)
    for _ in range(draw(st.integers(1, 2))):
        ways = [way for way in leaves(tree) if way not in (("format",), ("version",))]
        way = draw(st.sampled_from(ways))
        put(tree, way, draw(LEAF))
    return json.dumps(tree).encode()


def mutated_array(draw, array):
    how = draw(st.sampled_from(["cell", "cell", "cell", "fewer", "more", "type", "flat", "all"]))
    if array.ndim == 0:
        how = "all"
    if how == "fewer":
        return array[: draw(st.integers(0, max(0, len(array) - 1)))]
    if how == "more":
        return np.concatenate([array, array[:1]])
    if how == "type":
        return array.astype(draw(st.sampled_from(["<f8", "<i8", "|u1", "|b1", "<i2", "<u8"])))
    if how == "flat":
        return array.ravel() if array.ndim > 1 else array[:, None]
    array = array.copy()
    where = slice(None) if how == "all" else draw(st.integers(0, max(0, array.size - 1)))
    if array.size:
        kind = array.dtype.kind
        if kind == "f":
            values = st.sampled_from([0.0, 1.0, -1.0, 1e30, -1e30, np.nan, np.inf, -np.inf, 0.5])
        elif kind == "b":
            values = st.booleans()
        else:
            limits = np.iinfo(array.dtype)
            values = st.one_of(
                st.integers(max(limits.min, -3), min(limits.max, 60)),
                st.sampled_from([limits.min, limits.max]),
            )
        array.reshape(-1)[where] = draw(values)
    return array


def mutated_entry(draw, name, content):
    if name.endswith(".json"):
        return mutated_json(draw, content)
    with np.errstate(all="ignore"):
        return to_npy(mutated_array(draw, from_npy(bytearray(content))))


@pytest.mark.slow
@FUZZING
@given(st.data())
def test_any_value_may_be_changed(files, tmp_path, data):
    draw = data.draw
    path = tmp_path / "m.refpair"
    entries = entries_of(files[draw(st.sampled_from(list(MODELS)))])
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(entries)))
        entries[name] = mutated_entry(draw, name, entries[name])
    write_entries(path, entries)
    try_to_use(path)


@pytest.mark.parametrize("name", MODELS)
def test_any_entry_may_be_missing_or_be_another_one(name, files, tmp_path):
    entries = entries_of(files[name])
    path = tmp_path / "m.refpair"
    for entry in entries.keys() - {"header.json"}:
        write_entries(path, {key: content for key, content in entries.items() if key != entry})
        assert try_to_use(path) == "refused"
    arrays = [name for name in entries if name.endswith(".npy")]
    for first, second in pairwise(arrays):
        write_entries(path, {**entries, first: entries[second], second: entries[first]})
        try_to_use(path)


@pytest.mark.parametrize("name", MODELS)
def test_a_file_that_is_not_changed_is_used(name, files, tmp_path):
    write_entries(tmp_path / "m", entries_of(files[name]))
    assert try_to_use(tmp_path / "m") == "used"
