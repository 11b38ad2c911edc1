"""Measures of a whole table on the command line."""

from __future__ import annotations

import io

import pandas as pd
import pytest

import refpair
from refpair import get_cost
from tests.cli.running import FEATURES, FIT, LABELS, refuses, works

SONGS = ("--data", "songs.csv", "--labels", "joy,anger,calm", "--drop", "id")


def test_fit_predict_and_evaluate(folder, songs):
    assert "out of bag, on the 80 training rows: macro_f1 0." in works(
        "fit", "songs.csv", *FIT, "--cost", "macro_f1"
    )
    model = refpair.load("model")
    predicted = model.predict(songs[FEATURES])
    told = pd.read_csv(io.StringIO(works("predict", "model", "songs.csv")))
    assert (told[LABELS].to_numpy() == predicted.to_numpy()).all()
    told = " ".join(works("evaluate", "model", "songs.csv").split())
    for name, mark in (("macro_f1", " *"), ("micro_f1", ""), ("balanced_accuracy", "")):
        assert f"{name}{mark} │ {get_cost(name).mean(songs[LABELS], predicted):.4f} │ higher │" in told
    other = pd.read_csv(io.StringIO(works("predict", "model", "songs.csv", "--cost", "micro_f1")))
    decided = model[-1].decide(model[:-1].transform(songs[FEATURES]), "micro_f1")
    assert (other[LABELS].to_numpy() == decided.to_numpy()).all()
    for how in (("--expected-cost",), ("--cost", "micro_f1", "--expected-cost")):
        assert "is a measure of a whole table" in refuses("predict", "model", "songs.csv", *how)


def test_rows_that_are_held_out(folder):
    printed = works("fit", "songs.csv", *FIT, "--cost", "micro_f1", "--holdout", "0.2")
    assert "measured on 16 other rows: micro_f1 0." in printed


@pytest.mark.slow
def test_compare_all_algorithms(folder):
    how = ("--cost", "macro_f1", "--cost", "f1", "--splits", 1, "--quick", "--out", "there", "--jobs", 1)
    said = works("compare", *SONGS, *how)
    assert said.endswith("16 of 16 results; there/report.html\n")
    table = pd.read_csv(folder / "there" / "comparison-macro_f1.csv")
    assert len(table) == 8
