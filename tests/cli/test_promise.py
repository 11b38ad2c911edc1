"""``--promise`` of ``refpair evaluate`` and ``fit``, and the ``--ask`` that keeps it."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import refpair
from refpair import AtMost, Cost, CostGuarantee, CSRPEClassifier
from tests.cli.running import FEATURES, LABELS, refpair_, works

FIT = ("--labels", "joy,anger,calm", "--drop", "id", "--n-bits", "28", "--jobs", "1", "--cost", "hamming")


def make_songs(n, seed):
    """Return songs of which some are much harder than others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    Y = (X[:, :3] + rng.normal(size=(n, 3)) * np.where(X[:, 3:] > 0.3, 2, 0.05) > 0).astype(int)
    frame = pd.DataFrame(X, columns=FEATURES).assign(id=[f"{i:04d}" for i in range(n)])
    return frame.assign(**dict(zip(LABELS, Y.T, strict=True)))


@pytest.fixture(scope="module")
def tables():
    return make_songs(600, 0), make_songs(600, 1)


@pytest.fixture
def fitted(tables, tmp_path, monkeypatch):
    """A folder with a model, and rows that it has not seen."""
    monkeypatch.chdir(tmp_path)
    for name, table in zip(("train.csv", "test.csv"), tables, strict=True):
        table.to_csv(name, index=False)
    works("fit", "train.csv", *FIT, "-o", "model")
    return refpair.load("model")


def in_python(model, table, promise, confidence=0.95, **how):
    X = model[:-1].transform(table[FEATURES])
    guarantee = CostGuarantee(model[-1], promise, confidence=confidence, **how)
    return guarantee.calibrate(X, table[LABELS]), X


@pytest.mark.filterwarnings("ignore:.* break a rule:UserWarning")
@pytest.mark.parametrize("cost", ["hamming", "f1", "rank", "prices"])
@pytest.mark.parametrize("rules", [None, [AtMost(1)]])
def test_rows_are_asked_about_where_a_guarantee_does_not_answer(tables, cost, rules):
    train, test = tables
    cost = Cost.per_label(false_negative=[5, 1, 2]) if cost == "prices" else cost
    model = CSRPEClassifier(cost, n_bits=20, rules=rules, random_state=0, n_jobs=1)
    model.fit(train[FEATURES].to_numpy(), train[LABELS].to_numpy())
    X = test[FEATURES].to_numpy()[:60]
    guarantee = CostGuarantee(model, 9e6, largest_cost=1e7).calibrate(X, test[LABELS].to_numpy()[:60])
    expected = model.expected_cost(X)
    for threshold in np.unique([*expected, *(expected + 1e-12), 0.0]):  # also those that rows reach exactly
        guarantee.threshold_["cost"] = threshold
        assert (model.predict_or_ask(X, threshold).asked == guarantee.predict_or_ask(X)[1]).all()


def test_evaluate_says_what_can_be_promised_and_predict_does_it(fitted, tables):
    guarantee, X = in_python(fitted, tables[1], 0.15, cost="hamming")
    assert 0.1 < guarantee.coverage_ < 0.95
    printed = works("evaluate", "model", "test.csv", "--promise", 0.15).splitlines()
    threshold = guarantee.threshold_["cost"]
    assert printed[-3] == (
        f"promise, with confidence 0.95: hamming is at most 0.15 on average if the model answers the "
        f"{guarantee.coverage_:.1%} of rows that are expected to cost at most {threshold:.4g}"
    )
    assert printed[-2] == "found on 600 rows of test.csv; for new rows like these:"
    command = [one.replace("NEW", "test.csv") for one in shlex.split(printed[-1])[1:]]
    works(*command, "-o", "answers.csv")
    asks = guarantee.predict_or_ask(X)[1]
    assert (pd.read_csv("answers.csv")["ask"] == "yes").tolist() == asks.tolist()
    assert len(pd.read_csv("ask.csv")) == asks.sum()


def test_the_confidence_and_the_prices_of_the_options(fitted, tables):
    cost = Cost.per_label(false_negative=[2, 2, 3])
    guarantee, _ = in_python(fitted, tables[1], 0.25, 0.6, cost=cost)
    assert np.isfinite(guarantee.threshold_["cost"])
    prices = ("--false-negative", "2,calm=3")
    printed = works("evaluate", "model", "test.csv", *prices, "--promise", 0.25, "--confidence", 0.6)
    *_, first, _, last = printed.splitlines()
    assert first.startswith("promise, with confidence 0.6: per_label is at most 0.25 on average")
    threshold = guarantee.threshold_["cost"]
    assert f"predict model NEW --false-negative 2,calm=3 --ask {threshold!r} --questions" in last


def test_a_score_is_named_as_what_is_paid_and_all_rows_may_be_answered(fitted):
    works("fit", "train.csv", *FIT[:-1], "f1", "-o", "model")
    *_, first, _, last = works("evaluate", "model", "test.csv", "--promise", 0.9).splitlines()
    assert first.endswith("1 - f1 is at most 0.9 on average if the model answers all rows")
    assert last == "refpair predict model NEW"


def test_what_cannot_be_promised_is_an_error_that_says_what_can_be(fitted):
    result = refpair_("evaluate", "model", "test.csv", "--promise", 0.0001)
    assert result.exit_code == 2
    assert "│ hamming *" in result.stdout
    assert "promise" not in result.stdout
    assert "test.csv: no share of rows can be promised to cost at most 0.0001" in result.stderr
    assert "What can be promised: 0." in result.stderr


def test_fit_keeps_a_quarter_of_the_rows_to_promise_by(fitted, tables):
    printed = works("fit", "train.csv", *FIT, "--promise", 0.15, "--seed", 3, "-o", "m").splitlines()
    kept, rest = np.split(np.random.default_rng(3).permutation(600), [150])
    train = tables[0].iloc[np.sort(rest)]
    train.to_csv("rest.csv", index=False)
    out = tables[0].iloc[np.sort(kept)]
    works("fit", "rest.csv", *FIT, "--seed", 3, "-o", "same")
    model, same = refpair.load("m"), refpair.load("same")
    np.testing.assert_array_equal(model.predict_proba(out[FEATURES]), same.predict_proba(out[FEATURES]))
    guarantee, _ = in_python(model, out, 0.15, random_state=3)
    loss = -model.score(out[FEATURES], out[LABELS])
    assert f"measured on 150 other rows: hamming {loss:.4f} (lower is better)" in printed
    assert printed[-3].startswith("promise, with confidence 0.95: hamming is at most 0.15 on average")
    assert f"answers the {guarantee.coverage_:.1%} of rows" in printed[-3]
    assert printed[-2] == "found on 150 rows of train.csv; for new rows like these:"
    threshold = guarantee.threshold_["cost"]
    assert printed[-1] == f"refpair predict m NEW --ask {threshold!r} --questions ask.csv"


def test_a_table_to_score_on_goes_with_a_promise(fitted):
    printed = works("fit", "train.csv", *FIT, "--promise", 0.15, "--test", "test.csv", "-o", "m")
    assert "measured on 600 other rows" in printed
    assert "found on 150 rows of train.csv" in printed


def test_a_model_of_which_nothing_can_be_promised_is_kept(fitted):
    result = refpair_("fit", "train.csv", *FIT, "--promise", 0.0001, "-o", "m")
    assert result.exit_code == 2
    assert "no share of rows can be promised" in result.stderr
    assert "450 rows, 4 features, 3 labels" in result.stdout
    assert len(refpair.load("m").predict(make_songs(5, 2)[FEATURES])) == 5


FITS = ("fit", "train.csv", *FIT, "-o", "m")
EVALUATES = ("evaluate", "model", "test.csv")
MISTAKES = {
    "no promise": ((*EVALUATES, "--confidence", "0.9"), "--confidence goes with --promise"),
    "no promise in fit": ((*FITS, "--confidence", "0.9"), "--confidence goes with --promise"),
    "no confidence": ((*EVALUATES, "--promise", "0.1", "--confidence", "1"), "confidence must be a number"),
    "negative": ((*EVALUATES, "--promise", "-1"), "--promise must be a number above 0, not -1.0"),
    "negative in fit": ((*FITS, "--promise", "-1"), "--promise must be a number above 0, not -1.0"),
    "holdout": ((*FITS, "--promise", "0.1", "--holdout", "0.2"), "scores it on them; leave --holdout out"),
    "few rows": (
        ("fit", "few.csv", *FIT, "-o", "m", "--promise", "0.1"),
        "needs 40 rows at least, and there",
    ),
    "measure": (
        (*FITS, "--promise", "0.1", "--cost", "macro_f1"),
        "--promise needs a cost of label vectors, such as \"f1\", not 'macro_f1'",
    ),
    "lists": ((*FITS, "--promise", "0.1", "--cost", "recall@2"), "such as \"f1\", not 'recall@2'"),
    "measure of a model": (("evaluate", "macro", "test.csv", "--promise", "0.1"), "not 'macro_f1'"),
    "no expected costs": (("evaluate", "relevance", "test.csv", "--promise", "0.1"), "expected_cost"),
    "prices of rows": (
        (*EVALUATES, "--promise", "1", "--false-negative", "price"),
        "--promise is about new rows, whose prices nobody knows: give prices as numbers",
    ),
    "gaps": (
        ("fit", "gaps.csv", *FIT, "-o", "m", "--promise", "0.1"),
        "needs rows whose labels are all known",
    ),
    "a rare label": (
        ("fit", "rare.csv", "--labels", "tags", "--promise", "0.1", "-o", "m"),
        "only rows that --promise keeps from the model have the label 'odd': choose another --seed",
    ),
}


@pytest.mark.parametrize(("command", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(fitted, tables, command, message):
    train, test = tables
    train[:39].to_csv("few.csv", index=False)
    train.assign(joy=train["joy"].where(train.index % 2 == 0)).to_csv("gaps.csv", index=False)
    test.assign(price=2).to_csv("test.csv", index=False)
    kept = np.random.default_rng(0).permutation(600)[0]
    tags = np.where(train.index == kept, "odd", "joy")
    train[FEATURES].assign(tags=tags).to_csv("rare.csv", index=False)
    if "macro" in command:
        works("fit", "train.csv", *FIT[:-1], "macro_f1", "-o", "macro")
    if "relevance" in command:
        given = train[FEATURES], train[LABELS]
        refpair.save(refpair.BinaryRelevance().fit(*given), "relevance")
    result = refpair_(*command)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert not Path("m").exists()


def test_rows_of_calibration_have_known_labels_of_the_model(fitted, tables):
    tables[1].assign(joy=tables[1]["joy"].where(tables[1].index > 5)).to_csv("test.csv", index=False)
    result = refpair_("evaluate", "model", "test.csv", "--promise", "0.1")
    assert result.exit_code == 2
    assert "test.csv: y has empty cells, and what an answer costs is not known there" in result.stderr


def test_labels_in_one_column_and_some_that_the_model_does_not_know(fitted, tables):
    for name, table in zip(("train.csv", "test.csv"), tables, strict=True):
        tags = [";".join(np.array(LABELS)[row == 1]) for row in table[LABELS].to_numpy()]
        table[FEATURES].assign(tags=tags).to_csv(name, index=False)
    works("fit", "train.csv", "--labels", "tags", *FIT[4:], "-o", "model")
    assert "found on 600 rows" in works("evaluate", "model", "test.csv", "--promise", 0.2)
    new = pd.read_csv("test.csv", keep_default_na=False)
    new.assign(tags=["odd", *new["tags"][1:]]).to_csv("test.csv", index=False)
    result = refpair_("evaluate", "model", "test.csv", "--promise", 0.2)
    assert result.exit_code == 2
    assert "The model does not know the labels odd" in result.stdout
    assert "odd" in result.stderr.splitlines()[-1]
