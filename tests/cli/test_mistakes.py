"""Mistakes of users end in one sentence."""

from __future__ import annotations

import contextlib
import gzip

import pandas as pd
import pytest

import refpair
from refpair import CSRPEClassifier
from refpair.datasets import load_dataset
from tests.cli.running import FEATURES, FIT, LABELS, refpair_, refuses, works

FIT_SONGS = ("fit", "songs.csv", *FIT)
MISTAKES = {
    "no file": (("fit", "nosuch.csv", *FIT), "nosuch.csv: there is no such file"),
    "no data set": (
        ("fit", "digit", "-o", "m"),
        "there is no such file; unknown data set 'digit'; did you mean",
    ),
    "folder": (("fit", "folder", *FIT), "folder: there is no such file; unknown data set 'folder'"),
    "no labels": (("fit", "songs.csv", "-o", "m"), "songs.csv: which columns are the labels? For example"),
    "labels of a data set": (("fit", "digits", "--labels", "1", "-o", "m"), "'digits' has its own labels"),
    "unknown label": ((*FIT_SONGS, "--labels", "joi"), "unknown column 'joi'; did you mean 'joy'?"),
    "label twice": ((*FIT_SONGS, "--labels", "joy,joy"), "the label 'joy' is named twice"),
    "unknown drop": ((*FIT_SONGS, "--drop", "idd"), "unknown column 'idd'; did you mean 'id'?"),
    "unknown drop of several": ((*FIT_SONGS, "--drop", "tempo, idd"), "unknown column 'idd'; did you mean"),
    "unknown pixel": (("fit", "digits", "--drop", "pixel", "-o", "m"), "digits: unknown column 'pixel'"),
    "ids only": (
        ("fit", "text.csv", "--labels", "joy", "-o", "m"),
        "text.csv: nothing to learn from in 1 column and 2 rows (a: ids",
    ),
    "bad label": (
        ("fit", "bad.csv", "--labels", "joy", "-o", "m"),
        "bad.csv: the labels must be 0/1, boolean or yes/no: column joy has 3 in row 1",
    ),
    "label neither yes nor no": (
        ("fit", "maybe.csv", "--labels", "joy,sad", "-o", "m"),
        "maybe.csv: the labels must be 0/1, boolean or yes/no: column joy has maybe in row 3",
    ),
    "no label at all": (
        ("fit", "unlabeled.csv", "--labels", "joy,sad", "-o", "m"),
        "unlabeled.csv: no row has labels in joy, sad",
    ),
    "separator missed": (
        ("fit", "odd.csv", "--labels", "joy", "-o", "m"),
        "one column, but '#' parts all its rows",
    ),
    "separator of no names": ((*FIT_SONGS, "--label-sep", ""), "--label-sep: give what stands between names"),
    "not UTF-8": (("fit", "latin.csv", "--labels", "joy", "-o", "m"), "not UTF-8 (byte 0xe4 in line 2)"),
    "no kind": ((*FIT_SONGS, "--kind", "tempo"), "--kind: 'tempo' is not column=kind, as in size=number"),
    "unknown kind": ((*FIT_SONGS, "--kind", "tempo=numbr"), "unknown kind 'numbr'; did you mean 'number'?"),
    "kind of no column": ((*FIT_SONGS, "--kind", "nosuch=number"), "kinds: unknown column 'nosuch'"),
    "kind that cannot be": (
        ("fit", "said.csv", "--labels", "joy", "--kind", "a=number", "-o", "m"),
        "said.csv: column 'a' must hold numbers, and row 1 is 'so good'",
    ),
    "measured twice": (
        (*FIT_SONGS, "--holdout", "0.2", "--test", "songs.csv"),
        "--test and --holdout are two ways to score the model; choose one",
    ),
    "nothing held out": ((*FIT_SONGS, "--holdout", "0.001"), "--holdout 0.001 of 80 rows leaves nothing"),
    "no rows": (("fit", "norows.csv", "--labels", "joy", "-o", "m"), "no rows below the header"),
    "unknown format": (("fit", "broken", "--labels", "joy", "-o", "m"), "cannot tell the format by the name"),
    "unknown cost": ((*FIT_SONGS, "--cost", "haming"), "did you mean 'hamming'?"),
    "own cost": (
        (*FIT_SONGS, "--cost", "my:cost"),
        "--cost my:cost: only built-in costs go here, and prices with --false-positive and --false-negative; "
        "for a cost of your own, fit CSRPEClassifier(cost) in Python",
    ),
    "own cost to report": (("evaluate", "model", "songs.csv", "--cost", "my:cost"), "only built-in costs"),
    "cost before table": (("fit", "nosuch.csv", *FIT, "--cost", "haming"), "did you mean 'hamming'?"),
    "two costs": ((*FIT_SONGS, "--cost", "f1", "--false-positive", "2"), "--cost goes without"),
    "price of no label": ((*FIT_SONGS, "--false-negative", "angr=2"), "did you mean 'anger'?"),
    "no price": ((*FIT_SONGS, "--false-negative", "anger=much"), "neither a number nor a column"),
    "empty price": ((*FIT_SONGS, "--false-negative", ""), "neither a number nor label=number"),
    "negative price": ((*FIT_SONGS, "--false-positive=-2"), "a price is a number from 0 up, not -2"),
    "NaN price": ((*FIT_SONGS, "--false-positive", "nan"), "a price is a number from 0 up, not nan"),
    "no bits": ((*FIT_SONGS, "--n-bits", "0"), "n_bits must be an integer of at least 1"),
    "bad word": ((*FIT_SONGS, "--max-features", "some"), "max_features must be"),
    "no folder": ((*FIT_SONGS, "-o", "nowhere/m"), "nowhere: there is no such folder"),
    "folder for a model": ((*FIT_SONGS, "-o", "folder"), "folder: this is a folder"),
    "no model": (("predict", "nosuch", "songs.csv"), "nosuch: no such file or directory"),
    "broken model": (("predict", "broken", "songs.csv"), "broken: this is no refpair model"),
    "table for model": (
        ("predict", "songs.csv", "new.csv"),
        "songs.csv: this is a table, and a model belongs here; refpair fit makes one of a table with labels",
    ),
    "packed table for model": (("evaluate", "songs.CSV.gz", "songs.csv"), "songs.CSV.gz: this is a table"),
    "columns missing": (
        ("predict", "model", "text.csv"),
        "text.csv: the table lacks the column 'tempo' and 3 more that the model needs; there are 'a', 'joy'",
    ),
    "pixels missing": (("predict", "model", "digits"), "digits: the table lacks the column 'tempo' and 3"),
    "text for a number": (
        ("predict", "model", "slow.csv"),
        "slow.csv: column 'tempo' must hold numbers, and row 2100 is 'slow'; make it a number or an empty",
    ),
    "text for a number, labeled": (("evaluate", "model", "slow.csv"), "slow.csv: column 'tempo' must hold"),
    "unknown id": (("predict", "model", "songs.csv", "--id", "idd"), "did you mean 'id'?"),
    "id of a data set": (("predict", "on_digits", "digits", "--id", "x"), "digits: unknown column 'x'"),
    "unknown output": (("predict", "model", "songs.csv", "-o", "out.xlsx"), "ends in .csv, .tsv, .csv.gz"),
    "no output folder": (("predict", "model", "songs.csv", "-o", "no/o.csv"), "no: there is no such folder"),
    "labels missing": (
        ("evaluate", "model", "new.csv"),
        "lacks labels of the model, which",
    ),
    "other labels": (("evaluate", "one_label", "digits"), "lacks labels of the model"),
    "unknown cost to report": (("evaluate", "model", "songs.csv", "--cost", "f0"), "unknown cost 'f0'"),
    "one class a row": (("predict", "one_class", "new.csv"), "predicts one class a row"),
    "function as cost": (("predict", "function", "new.csv"), "is a Python function, which a file cannot"),
}


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory, songs):
    """Return a folder with tables and models, which no mistake changes."""
    path = tmp_path_factory.mktemp("mistakes")
    with contextlib.chdir(path):
        _make_mistakes(path, songs)
    return path


def _make_mistakes(path, songs):
    songs.to_csv("songs.csv", index=False)
    works("fit", "songs.csv", *FIT)
    X, Y = songs[FEATURES], songs[LABELS]
    (path / "folder").mkdir()
    (path / "broken").write_bytes((path / "model").read_bytes()[:999])
    (path / "text.csv").write_text("a,joy\nx,1\ny,0\n")
    (path / "bad.csv").write_text("a,joy\n1,3\n2,0\n")
    (path / "norows.csv").write_text("a,joy\n")
    (path / "maybe.csv").write_text("a,joy,sad\n1,yes,no\n2,no,yes\n5,maybe,no\n")
    (path / "gap.csv").write_text("a,joy,sad\n1,yes,\n2,no,\n5,no,\n")
    (path / "unlabeled.csv").write_text("a,joy,sad\n1,,\n2,,\n")
    (path / "odd.csv").write_text("a#joy\n1#1\n2#0\n")
    (path / "said.csv").write_text("a,joy\nso good,1\nso bad,0\n")
    (path / "songs.CSV.gz").write_bytes(gzip.compress((path / "songs.csv").read_bytes()))
    (path / "latin.csv").write_bytes(b"a,joy\n\xe4h,1\noh,0\n")
    slow = pd.concat([songs] * 30, ignore_index=True).astype({"tempo": object})
    slow.loc[2099, "tempo"] = "slow"
    slow.to_csv("slow.csv", index=False)
    X.to_csv("new.csv", index=False)
    digits = load_dataset("digits")
    refpair.save(CSRPEClassifier(n_bits=2).fit(digits.X, digits.Y), "on_digits")
    refpair.save(CSRPEClassifier(n_bits=2).fit(X, Y[["joy"]]), "one_label")
    refpair.save(CSRPEClassifier(n_bits=2).fit(X, Y["joy"]), "one_class")
    refpair.save(CSRPEClassifier(n_bits=2, cost=lambda Y, Z: (Y != Z).sum(axis=1)).fit(X, Y), "function")


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_ends_in_one_sentence(what, mistakes, monkeypatch):
    monkeypatch.chdir(mistakes)
    args, sentence = MISTAKES[what]
    before = sorted(mistakes.iterdir())
    assert sentence in refuses(*args)
    assert sorted(mistakes.iterdir()) == before


@pytest.mark.parametrize(
    "args", [("fit",), ("fit", "songs.csv"), ("nosuch",), ("fit", "a", "-o", "b", "--n-bits", "x")]
)
def test_a_mistyped_command_ends_with_code_2(args):
    result = refpair_(*args)
    assert result.exit_code == 2
    assert "Usage: refpair" in result.stderr


def test_a_label_of_which_nothing_is_known(mistakes, monkeypatch):
    monkeypatch.chdir(mistakes)
    result = refpair_("fit", "gap.csv", "--labels", "joy,sad", "-o", "m")
    assert result.exit_code == 2
    assert "3 of 6 cells in the label columns are empty" in result.stderr
    assert (
        "gap.csv: the labels: column sad has empty cells only, so there is nothing to learn" in result.stderr
    )
