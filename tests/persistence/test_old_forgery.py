"""Forged files of the formats before the present one: they are checked as all others are."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from refpair import Cost, load
from refpair.persistence import ModelFileError
from tests.persistence.forging import at, changed, forge, in_header
from tests.persistence.make_files import FOLDER


def posterior(**forged):
    return lambda header, arrays: header["posterior"].update(forged)


def without(name):
    return lambda header, arrays: arrays.pop(name)


FORGED = {
    "loop": changed("trees_left_child", lambda left: left * 0),
    "child outside": changed("trees_left_child", lambda left: np.full_like(left, 2**31 - 1)),
    "feature outside": changed("trees_feature", at(0, 4)),
    "NaN value": changed("trees_value", at(0, np.nan)),
    "trees go back": changed("trees_start", at(2, 0)),
    "fewer trees": changed("trees_start", lambda a: a[:-1]),
    "edges outside": changed("bins_edge_start", at(-1, 10**6)),
    "wrong dtype": changed("trees_feature", lambda a: a.astype(np.int64)),
    "missing array": without("beta"),
    "missing search": without("search_independent"),
    "missing anchors": without("anchor_plus"),
    "unknown array": lambda header, arrays: arrays.update(gamma=np.zeros(3)),
    "same pair": lambda header, arrays: arrays.update(beta=arrays["alpha"]),
    "wide labels": changed("alpha", lambda a: np.hstack([a, a])),
    "no vectors": changed("relevant_set", lambda a: a[:0]),
    "vector outside": changed("anchor_vector", at(3, 99)),
    "other number of labels": in_header("labels", "n", value=2),
    "text for a number": in_header("labels", "n", value="3"),
    "huge number of labels": in_header("labels", "n", value=2**40),
    "fraction of features": in_header("features", "n", value=4.0),
    "no names": in_header("labels", "names", value=None),
    "unknown cost": in_header("cost", value={"name": "free"}),
    "no cost": in_header("cost", value=None),
    "no parameters": in_header("parameters", value=None),
    "unknown parameter": in_header("parameters", "colour", value="red"),
    "missing parameter": lambda header, arrays: header["parameters"].pop("n_bits"),
    "bad parameter": in_header("parameters", "n_bits", value=-1),
    "other learner": in_header("parameters", "learner", value="logistic"),
    "a million threads": in_header("parameters", "n_jobs", value=10**6),
    "no posterior": lambda header, arrays: header.update(posterior=None),
    "number for a posterior": lambda header, arrays: header.update(posterior=3),
    "empty posterior": lambda header, arrays: header.update(posterior={}),
    "other anchors": posterior(anchors="tables"),
    "large share": posterior(label_share=2),
    "hot": posterior(temperature="hot"),
    "independent of nothing": posterior(independent=None),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_file_of_format_3_is_refused(what, tmp_path):
    path = tmp_path / "m"
    path.write_bytes((FOLDER / "format-3-f1.refpair").read_bytes())
    forge(path, FORGED[what])
    with pytest.raises(ModelFileError, match=r"m: the file is damaged \(.*save the model anew"):
        load(path)


def test_what_the_forger_leaves_alone_is_accepted(tmp_path):
    path = tmp_path / "m"
    path.write_bytes((FOLDER / "format-3-f1.refpair").read_bytes())
    forge(path, lambda header, arrays: None)
    assert load(path).n_bits == 8


def test_a_function_of_an_old_file_is_known_by_its_code_words(tmp_path):
    """Such files have a digest of the code words."""
    path = tmp_path / "m"
    path.write_bytes((FOLDER / "format-3-f1.refpair").read_bytes())
    model = load(path)
    words = model.code_.encode(model.relevant_set_)
    digest = hashlib.sha256(words.tobytes()).hexdigest()

    def function(header, arrays):
        del header["parameters"]["cost"]
        header["cost"] = {"function": "mine", "code_words": digest}

    forge(path, function)
    same = Cost.from_counts(model.cost_.counts, name="mine")
    other = Cost.from_counts(lambda tp, fp, fn, tn: fp, name="mine")
    assert load(path, cost=same).cost is same
    with pytest.raises(ValueError, match="not fitted with the cost 'mine'"):
        load(path, cost=other)
    with pytest.raises(ValueError, match="'mine' is a Python function"):
        load(path)
