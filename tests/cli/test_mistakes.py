"""Mistakes of users end in one sentence."""

from __future__ import annotations

import pytest

import refpair
from refpair import CSRPEClassifier
from refpair.datasets import load_dataset
from tests.cli.running import FEATURES, FIT, LABELS, refpair_, refuses

FIT_SONGS = ("fit", "songs.csv", *FIT)
MISTAKES = {
    "no file": (("fit", "nosuch.csv", *FIT), "nosuch.csv: there is no such file"),
    "no data set": (
        ("fit", "digit", "-o", "m"),
        "there is no such file; unknown data set 'digit'; did you mean",
    ),
    "folder": (("fit", "folder", *FIT), "folder: there is no such file; unknown data set 'folder'"),
    "no labels": (("fit", "songs.csv", "-o", "m"), "which columns are the labels? Name them, for example"),
    "labels of a data set": (("fit", "digits", "--labels", "1", "-o", "m"), "'digits' has its own labels"),
    "unknown label": ((*FIT_SONGS, "--labels", "joi"), "unknown column 'joi'; did you mean 'joy'?"),
    "label twice": ((*FIT_SONGS, "--labels", "joy,joy"), "the label 'joy' is named twice"),
    "unknown drop": ((*FIT_SONGS, "--drop", "idd"), "unknown column 'idd'; did you mean 'id'?"),
    "unknown pixel": (("fit", "digits", "--drop", "pixel", "-o", "m"), "digits: unknown column 'pixel'"),
    "text": (("fit", "text.csv", "--labels", "joy", "-o", "m"), "column 'a' does not hold numbers"),
    "bad label": (("fit", "bad.csv", "--labels", "joy", "-o", "m"), "expected 0, 1, true or false"),
    "no rows": (("fit", "norows.csv", "--labels", "joy", "-o", "m"), "no rows below the header"),
    "unknown format": (("fit", "broken", "--labels", "joy", "-o", "m"), "cannot tell the format by the name"),
    "unknown cost": ((*FIT_SONGS, "--cost", "haming"), "did you mean 'hamming'?"),
    "cost before table": (("fit", "nosuch.csv", *FIT, "--cost", "haming"), "did you mean 'hamming'?"),
    "two costs": ((*FIT_SONGS, "--cost", "f1", "--false-positive", "2"), "--cost goes without"),
    "price of no label": ((*FIT_SONGS, "--false-negative", "angr=2"), "did you mean 'anger'?"),
    "no price": ((*FIT_SONGS, "--false-negative", "anger=much"), "neither a number nor label=number"),
    "empty price": ((*FIT_SONGS, "--false-negative", ""), "neither a number nor label=number"),
    "negative price": ((*FIT_SONGS, "--false-positive=-2"), "a price is a number from 0 up, not -2"),
    "NaN price": ((*FIT_SONGS, "--false-positive", "nan"), "a price is a number from 0 up, not nan"),
    "no bits": ((*FIT_SONGS, "--n-bits", "0"), "n_bits must be an integer of at least 1"),
    "bad word": ((*FIT_SONGS, "--max-features", "some"), "max_features must be"),
    "no folder": ((*FIT_SONGS, "-o", "nowhere/m"), "nowhere: there is no such folder"),
    "folder for a model": ((*FIT_SONGS, "-o", "folder"), "folder: this is a folder"),
    "no model": (("predict", "nosuch", "songs.csv"), "nosuch: no such file or directory"),
    "broken model": (("predict", "broken", "songs.csv"), "broken: this is no refpair model"),
    "table for model": (("evaluate", "songs.csv", "songs.csv"), "songs.csv: this is no refpair model"),
    "columns missing": (("predict", "model", "text.csv"), "4 of 4 feature columns are missing: 'tempo'"),
    "pixels missing": (("predict", "model", "digits"), "4 of 4 feature columns are missing: 'tempo'"),
    "unknown id": (("predict", "model", "songs.csv", "--id", "idd"), "did you mean 'id'?"),
    "id is a label": (("predict", "model", "songs.csv", "--id", "joy"), "the id column 'joy' is a label"),
    "id of a data set": (("predict", "on_digits", "digits", "--id", "x"), "leave out --id"),
    "unknown output": (("predict", "model", "songs.csv", "-o", "out.xlsx"), "ends in .csv or .parquet"),
    "no output folder": (("predict", "model", "songs.csv", "-o", "no/o.csv"), "no: there is no such folder"),
    "labels missing": (
        ("evaluate", "model", "new.csv"),
        "not all labels of the model to compare with, which",
    ),
    "other labels": (("evaluate", "two_labels", "digits"), "not all labels of the model to compare with"),
    "unknown cost to report": (("evaluate", "model", "songs.csv", "--cost", "f0"), "unknown cost 'f0'"),
    "one class a row": (("predict", "one_class", "new.csv"), "predicts one class a row"),
    "function as cost": (("predict", "function", "new.csv"), "is a Python function, which a file cannot"),
}


@pytest.fixture
def mistakes(model, songs):
    X, Y = songs[FEATURES], songs[LABELS]
    model.with_name("folder").mkdir()
    model.with_name("broken").write_bytes(model.read_bytes()[:999])
    model.with_name("text.csv").write_text("a,joy\nx,1\ny,0\n")
    model.with_name("bad.csv").write_text("a,joy\n1,3\n2,0\n")
    model.with_name("norows.csv").write_text("a,joy\n")
    X.to_csv("new.csv", index=False)
    digits = load_dataset("digits")
    refpair.save(CSRPEClassifier(n_bits=2).fit(digits.X, digits.Y), "on_digits")
    refpair.save(CSRPEClassifier(n_bits=2).fit(digits.X, digits.Y[:, :2]), "two_labels")
    refpair.save(CSRPEClassifier(n_bits=2).fit(X, Y["joy"]), "one_class")
    refpair.save(CSRPEClassifier(n_bits=2, cost=lambda Y, Z: (Y != Z).sum(axis=1)).fit(X, Y), "function")


@pytest.mark.usefixtures("mistakes")
@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_ends_in_one_sentence(what, folder):
    args, sentence = MISTAKES[what]
    before = sorted(folder.iterdir())
    assert sentence in refuses(*args)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "args", [("fit",), ("fit", "songs.csv"), ("nosuch",), ("fit", "a", "-o", "b", "--n-bits", "x")]
)
def test_a_mistyped_command_ends_with_code_2(args):
    result = refpair_(*args)
    assert result.exit_code == 2
    assert "Usage: refpair" in result.stderr
