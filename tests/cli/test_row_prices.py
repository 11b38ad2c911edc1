"""Prices in a column of the table, on the command line."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

import refpair
from refpair import Cost
from tests.cli.running import FEATURES, LABELS, refpair_, refuses, works

OPTIONS = ("--false-negative", "joy=loss", "--false-negative", "calm=2", "--false-positive", "0.5")
FIT = ("--labels", "joy,anger,calm", "--drop", "id", "--n-bits", "28", "--jobs", "1", "-o", "model")


@pytest.fixture
def priced(folder, songs):
    """The songs with a column of prices, and what these are to Python."""
    table = songs.assign(loss=np.arange(80) % 7 * 3.0)
    table.to_csv("priced.csv", index=False)
    return table, Cost.per_label(false_negative={"joy": table["loss"], "calm": 2}, false_positive=0.5)


def test_fit_predict_and_evaluate_with_a_column_of_prices(priced):
    table, cost = priced
    printed = works("fit", "priced.csv", *FIT, *OPTIONS)
    again = (
        "refpair predict model DATA --false-positive 0.5 --false-negative joy=loss --false-negative calm=2"
    )
    assert printed.splitlines()[-1].endswith(again)
    model = refpair.load("model")
    assert model[-1].cost_ == Cost.per_label(
        false_negative=[table["loss"].mean(), 1, 2], false_positive=[0.5, 0.5, 0.5]
    )
    rows = model[:-1].transform(table[[*FEATURES, "loss"]])
    answers = pd.read_csv(io.StringIO(works("predict", "model", "priced.csv", *OPTIONS, "--expected-cost")))
    named = pd.DataFrame(model[-1].decide(rows, cost), columns=LABELS)
    assert (answers[LABELS].to_numpy() == named.to_numpy()).all()
    expected = model[-1].expected_cost(rows, cost=cost)
    np.testing.assert_allclose(answers["expected_cost"], expected, atol=1e-6)
    told = " ".join(works("evaluate", "model", "priced.csv", *OPTIONS).split())
    paid = cost.rows(table[LABELS], named)
    assert f"│ per_label * │ {paid.mean():.4f} │ lower │" in told
    assert f"paid {paid.sum():,.2f} in all, {paid.mean():.4f} a row" in told
    assert f"expected {expected.sum():,.2f} in all, {expected.mean():.4f} a row" in told


def test_rows_that_are_held_out_have_their_own_prices(priced):
    table, _ = priced
    table.assign(loss=0).to_csv("free.csv", index=False)
    options = ("--false-negative", "loss", "--false-positive", "loss")
    printed = works("fit", "priced.csv", *FIT, *options, "--test", "free.csv")
    assert "measured on 80 other rows: per_label 0.0000" in printed
    assert "measured on 16 other rows" in works("fit", "priced.csv", *FIT, *options, "--holdout", "0.2")


def test_predict_for_another_cost(model, songs):
    for_f1 = works("predict", model, "songs.csv")
    assert works("predict", model, "songs.csv", "--cost", "f1") == for_f1
    for_recall = pd.read_csv(io.StringIO(works("predict", model, "songs.csv", "--false-negative", "9")))
    assert for_recall[LABELS].sum().sum() > pd.read_csv(io.StringIO(for_f1))[LABELS].sum().sum()


def test_paid_is_told_of_rows_whose_labels_are_known(priced):
    table, _ = priced
    works("fit", "priced.csv", *FIT, *OPTIONS)
    table[LABELS] = table[LABELS].astype("Int64")
    table.loc[5:, "anger"] = pd.NA
    table.to_csv("some.csv", index=False)
    told = " ".join(works("evaluate", "model", "some.csv", *OPTIONS).split())
    assert "by these prices, of the 5 rows of which all labels are known: paid" in told


MISTAKES = {
    "a column that is mistyped": ("joy=los", "'los' is neither a number nor a column of priced.csv"),
    "a label instead of a column": ("joy=calm", "'calm' is a label; a price is a number or another column"),
    "both mixed up": ("loss=joy", "'loss' is a column and 'joy' a label; did you mean joy=loss?"),
    "a label that is mistyped": ("jy=loss", "unknown label 'jy'; did you mean 'joy'?"),
    "no price": ("joy=", "'joy=' is neither a number nor label=number"),
}


@pytest.mark.parametrize(("price", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(priced, price, message):
    assert message in refuses("fit", "priced.csv", *FIT, "--false-negative", price)


@pytest.mark.parametrize(
    ("cell", "message"),
    [("", "is empty"), ("-2", "is '-2.0'"), ("2 EUR", "is '2 EUR'"), ("inf", "is 'inf'")],
)
def test_cells_that_are_no_prices_are_named(priced, cell, message):
    table, _ = priced
    works("fit", "priced.csv", *FIT, *OPTIONS)
    broken = table.assign(loss=[*table["loss"][:9], cell, *table["loss"][10:]])
    broken.to_csv("broken.csv", index=False)
    for command in (("fit", "broken.csv", *FIT), ("predict", "model", "broken.csv")):
        told = refuses(*command, *OPTIONS)
        assert f"broken.csv, row 10: column 'loss' {message}" in told
        assert "--false-negative needs a number from 0 up" in told


def test_a_table_without_the_column_is_refused(priced, songs):
    works("fit", "priced.csv", *FIT, *OPTIONS)
    told = refuses("predict", "model", "songs.csv", *OPTIONS)
    assert "'loss' is neither a number nor a column of songs.csv" in told
    assert refpair_("check", "priced.csv", "--labels", "joy,anger,calm", *OPTIONS).exit_code == 2
