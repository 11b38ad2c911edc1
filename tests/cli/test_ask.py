"""``refpair predict --ask``: answers, and a table of questions to a person."""

from __future__ import annotations

import io
import shlex

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import refpair
from refpair import AtMost, Cost, CSRPEClassifier
from refpair.tables import read_table
from tests.cli.running import FEATURES, FIT, LABELS, refpair_, refuses, works

ASK = ("--questions", "ask.csv", "-o", "answers.csv")


def in_python(songs, ask, **how):
    """Return what the model in the file says, and the answers as 0 and 1."""
    model = refpair.load("model")
    found = model[-1].predict_or_ask(model[:-1].transform(songs[FEATURES]), ask, **how)
    return found, np.asarray(found.answers)


def joined(rows):
    return ["|".join(np.array(LABELS)[row == 1]) for row in rows]


def read(name):
    return pd.read_csv(name, dtype={"id": str}, keep_default_na=False)


def test_rows_for_a_person_come_in_the_order_to_ask_them(model, songs):
    found, labels = in_python(songs, 0.15)
    assert 5 < found.asked.sum() < 75
    result = refpair_("predict", model.name, "songs.csv", "--ask", 0.15, *ASK)
    answers, asked = read("answers.csv"), read("ask.csv")
    assert answers.columns.tolist() == [*LABELS, "ask"]
    assert (answers[LABELS].to_numpy() == labels).all()  # also of rows for a person
    assert answers["ask"].tolist() == np.where(found.asked, "yes", "no").tolist()
    assert asked.columns.tolist() == [*songs.columns, "price", "gain", "guess"]
    rows = found.questions["row"].to_numpy()
    assert asked["id"].tolist() == songs["id"].to_numpy()[rows].tolist()
    assert (asked["price"] == 0.15).all()
    np.testing.assert_allclose(asked["gain"], found.questions["gain"], atol=1e-6)
    assert asked["guess"].tolist() == joined(labels[rows])
    first, second, last, _ = result.stderr.splitlines()
    assert first == f"{len(rows)} of 80 rows are asked about; ask.csv"
    assert second == (
        f"answers and {len(rows)} questions are expected to cost {found.expected_total:.2f} in all; "
        f"answers alone {found.expected_costs.sum():.2f}, 80 questions {80 * 0.15:.2f}"
    )
    assert last == (
        "to ask a person: refpair label ask.csv --labels joy,anger,calm --drop price,gain,guess --in-order"
    )


def test_label_takes_the_questions_and_their_labels_are_not_known(model, songs):
    songs[["id", *FEATURES]].to_csv("new.csv", index=False)
    said = refpair_("predict", model.name, "new.csv", "--ask", 0.15, "--id", "id", *ASK).stderr.splitlines()
    command = shlex.split(said[2].removeprefix("to ask a person: refpair "))
    assert command[-3:] == ["--in-order", "--id", "id"]
    result = refpair_(*command, "--save-model", "m")
    assert "rows, labels joy, anger, calm" in result.stderr
    assert "answered already" not in result.stderr


def test_the_price_of_each_row_is_in_a_column(model, songs):
    table = songs.assign(effort=np.arange(80) % 3 / 10)
    table.to_csv("new.csv", index=False)
    found, _ = in_python(table, table["effort"].to_numpy())
    result = refpair_("predict", model.name, "new.csv", "--ask", "effort", *ASK)
    asked = read("ask.csv")
    assert asked["id"].tolist() == table["id"].to_numpy()[found.questions["row"]].tolist()
    assert (asked["price"] == asked["effort"]).all()
    assert f"80 questions {table['effort'].sum():.2f}" in result.stderr


@pytest.mark.parametrize(
    "given", [("--ask", "calm=0.02,joy=0.05"), ("--ask", "calm=0.02", "--ask", "joy=.05")]
)
def test_questions_about_labels(model, songs, given):
    found, labels = in_python(songs, {"joy": 0.05, "calm": 0.02})
    by_row = found.questions.groupby("row", sort=False)
    assert (by_row.size() > 1).any()
    result = refpair_("predict", model.name, "songs.csv", *given, *ASK)
    answers, asked = read("answers.csv"), read("ask.csv")
    told = ["|".join(some) for _, some in by_row["label"]]
    assert asked["ask"].tolist() == told
    assert asked["guess"].tolist() == joined(labels[list(by_row.groups)])
    first = by_row.first()
    np.testing.assert_allclose(asked[["price", "gain"]], first[["price", "gain"]], atol=1e-6)
    own = answers["ask"].to_numpy()
    assert own[list(by_row.groups)].tolist() == told
    assert (own == "").sum() == 80 - len(told)
    said = result.stderr.splitlines()
    assert said[0] == f"{len(found.questions)} labels of {len(told)} of 80 rows are asked about; ask.csv"
    assert f"answers and about {found.expected_questions:.1f} questions are expected" in said[1]
    assert "--labels calm,joy --drop price,gain,ask,guess --in-order" in said[2]


def test_labels_to_ask_about_are_joined_as_labels_are(folder, songs):
    tags = [";".join(np.array(LABELS)[row == 1]) for row in songs[LABELS].to_numpy()]
    songs[FEATURES].assign(tags=tags).to_csv("songs.csv", index=False)
    works("fit", "songs.csv", "--labels", "tags", "--n-bits", 28, "-o", "model")
    works("predict", "model", "songs.csv", "--ask", "joy=0,anger=0,calm=0", *ASK)
    answers, asked = read("answers.csv"), read("ask.csv")
    assert answers.columns.tolist() == ["tags", "ask"]
    assert asked["ask"].str.contains(";").any()
    assert asked["guess"].isin(answers["tags"]).all()


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_models_made_in_python_without_names(ending, folder, songs):
    X, Y = songs[FEATURES].to_numpy(), sp.csr_array(songs[LABELS].to_numpy())
    model = CSRPEClassifier(n_bits=28, random_state=0).fit(X, Y)
    refpair.save(model, "model")
    songs[FEATURES].to_csv("new.csv", index=False)
    given = ("--questions", f"ask{ending}", "-o", f"answers{ending}")
    works("predict", "model", "new.csv", "--ask", "0=0.02,2=0.02", *given)
    found = model.predict_or_ask(X, {0: 0.02, 2: 0.02})
    answers, asked = (read_table(f"{name}{ending}").X for name in ("answers", "ask"))
    assert (answers[["0", "1", "2"]].to_numpy() == found.answers.toarray()).all()
    told = ["|".join(map(str, some)) for _, some in found.questions.groupby("row", sort=False)["label"]]
    assert "2|0" in told
    assert asked["ask"].astype(str).tolist() == told


OPTIONS = {
    "cost": ("--cost", "hamming"),
    "prices": ("--false-negative", "5,joy=2"),
    "rule": ("--rule", "at most 1"),
    "join": ("--join",),
    "id": ("--id", "id"),
    "more": ("--proba", "--top", "2", "--expected-cost", "--sets", "2"),
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_nothing_is_asked_if_it_is_too_expensive(model, options):
    alone = works("predict", model, "songs.csv", *options)
    result = refpair_("predict", model, "songs.csv", *options, "--ask", 1000, "--questions", "ask.csv")
    asked = pd.read_csv(io.StringIO(result.stdout))
    pd.testing.assert_frame_equal(asked.drop(columns="ask"), pd.read_csv(io.StringIO(alone)))
    assert (asked["ask"] == "no").all()
    assert len(read("ask.csv")) == 0
    assert result.stderr.splitlines()[0] == "0 of 80 rows are asked about; ask.csv"
    assert "refpair label" not in result.stderr


def test_questions_are_for_the_cost_and_the_rules_of_the_options(model, songs):
    prices = ("--false-negative", "5", "--rule", "at most 1")
    works("predict", model, "songs.csv", *prices, "--ask", 0.3, *ASK)
    cost = Cost.per_label(false_negative=5)
    found, labels = in_python(songs, 0.3, cost=cost, rules=[AtMost(1)])
    assert read("ask.csv")["id"].tolist() == songs["id"].to_numpy()[found.questions["row"]].tolist()
    assert (read("answers.csv")[LABELS].to_numpy() == labels).all()


def test_known_labels_spare_questions(model, songs):
    prices = {"joy": 0.02, "anger": 0.02, "calm": 0.02}
    given = ("--ask", "joy=0.02,anger=0.02,calm=0.02")
    new = songs[["id", *FEATURES]]
    new.to_csv("new.csv", index=False)
    works("predict", model, "new.csv", *given, *ASK)
    asked = read("ask.csv")
    rows = asked["id"].astype(int).to_numpy()
    # Of each row the first label is answered.
    known = np.full((len(asked), 3), np.nan)
    for row, told in enumerate(asked["ask"]):
        place = LABELS.index(told.split("|")[0])
        known[row, place] = songs[LABELS].iloc[rows[row], place]
    assert not np.isnan(known).all(axis=0).any()
    asked.assign(**dict(zip(LABELS, known.T, strict=True))).to_csv("again.csv", index=False)
    works("predict", model, "again.csv", *given, "--known", "--questions", "next.csv", "-o", "then.csv")
    found, labels = in_python(new.iloc[rows], prices, known=known)
    assert (read("then.csv")[LABELS].to_numpy() == labels).all()
    assert (labels[known == 1] == 1).all()
    after = read("next.csv")
    assert 0 < len(after) < len(asked)
    assert after.columns.tolist() == ["id", *FEATURES, *LABELS, "price", "gain", "ask", "guess"]
    expected = ["|".join(some) for _, some in found.questions.groupby("row", sort=False)["label"]]
    assert after["ask"].tolist() == expected


def test_labels_that_have_no_column_are_unknown(model, songs):
    songs[["id", *FEATURES]].assign(calm="yes").to_csv("new.csv", index=False)
    works("predict", model, "new.csv", "--ask", "joy=0", "--known", *ASK)
    known = np.column_stack([np.full((80, 2), np.nan), np.ones(80)])
    found, labels = in_python(songs, {"joy": 0.0}, known=known)
    assert (read("answers.csv")[LABELS].to_numpy() == labels).all()
    assert (read("answers.csv")["ask"] == "joy").tolist() == found.asked[:, 0].tolist()


def test_columns_of_the_table_stay_as_they_are(model, songs):
    songs.assign(price=7, ask="x").to_csv("new.csv", index=False)
    result = refpair_("predict", model.name, "new.csv", "--ask", 0.15, "--join", *ASK)
    asked, answers = read("ask.csv"), read("answers.csv")
    assert asked.columns.tolist() == [*songs.columns, "price", "ask", "price_predicted", "gain", "guess"]
    assert (asked["price"] == 7).all()
    assert (answers["ask"] == "x").all()
    assert set(answers["ask_predicted"]) == {"yes", "no"}
    assert "--drop price_predicted,gain,guess" in result.stderr
    songs.assign(price=7, price_predicted=8).to_csv("new.csv", index=False)
    told = refuses("predict", model, "new.csv", "--ask", 0.15, *ASK)
    assert "the table has a column 'price_predicted', which the answers need: rename that column" in told


ONE = ("predict", "model", "songs.csv")
MISTAKES = {
    "no file": (
        (*ONE, "--ask", "0.2"),
        "--ask needs a file for the rows to ask a person about, as in --ques",
    ),
    "no price": ((*ONE, "--questions", "a.csv"), "--questions goes with --ask, the price of a question"),
    "known of nothing": ((*ONE, "--known"), "--known goes with --ask, the price of a question"),
    "one file": ((*ONE, "--ask", "1", "--questions", "./a.csv", "-o", "a.csv"), "need a file each"),
    "no table": ((*ONE, "--ask", "1", "--questions", "a.txt"), "a.txt: the name of a table ends in .csv"),
    "negative": ((*ONE, "--ask=-1", *ASK), "--ask: a price is a number from 0 up, not -1"),
    "negative for a label": ((*ONE, "--ask", "joy=-1", *ASK), "--ask: a price is a number from 0 up, not -1"),
    "infinite": ((*ONE, "--ask", "inf", *ASK), "--ask: a price is a number from 0 up, not inf"),
    "no number": (
        (*ONE, "--ask", "joy=much", *ASK),
        "--ask: 'joy=much' is neither a number nor label=number",
    ),
    "no column": ((*ONE, "--ask", "tempi", *ASK), "--ask: 'tempi' is neither a number nor a column of songs"),
    "a label as a column": ((*ONE, "--ask", "joy", *ASK), "--ask: 'joy' is a label; a price is a number or"),
    "no prices in the column": ((*ONE, "--ask", "tempo", *ASK), "and --ask needs a number from 0 up there"),
    "unknown label": ((*ONE, "--ask", "jy=1", *ASK), "--ask: unknown label 'jy'; did you mean 'joy'?"),
    "both": ((*ONE, "--ask", "joy=1,2", *ASK), "'2' is a price of rows among prices of labels; give either"),
    "two prices": ((*ONE, "--ask", "1", "--ask", "2", *ASK), "1, 2 are several prices of a row; give one"),
    "measure": (
        (*ONE, "--ask", "1", "--cost", "macro_f1", *ASK),
        "a question to a person needs a cost of label vectors, such as \"f1\", not 'macro_f1'",
    ),
    "lists": ((*ONE, "--ask", "1", "--cost", "ndcg@2", *ASK), "such as \"f1\", not 'ndcg@2'"),
    "probabilities": ((*ONE, "--ask", "1", "--known", "--proba", *ASK), "tell nothing of --known labels"),
    "nothing known": (
        ("predict", "model", "new.csv", "--ask", "1", "--known", *ASK),
        "none of joy, anger, calm",
    ),
    "no label": (
        ("predict", "model", "odd.csv", "--ask", "1", "--known", *ASK),
        "odd.csv: the known labels must be 0/1, boolean or yes/no: column joy has 3 in row 1",
    ),
    "no expected costs": (
        ("predict", "relevance", "new.csv", "--ask", "1", *ASK),
        "relevance: --ask needs expected costs, which a BinaryRelevance does not know",
    ),
}


@pytest.mark.parametrize(("command", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(model, songs, command, message):
    songs[["id", *FEATURES]].to_csv("new.csv", index=False)
    songs.assign(joy=3).to_csv("odd.csv", index=False)
    if "relevance" in command:
        X, Y = songs[["tempo", "volume"]].to_numpy(), songs[LABELS].to_numpy()
        refpair.save(refpair.BinaryRelevance().fit(X, Y), "relevance")
    assert message in refuses(*command)
    assert not list(model.parent.glob("a*.csv"))


def test_a_model_for_a_measure_is_asked_with_a_cost(folder):
    works("fit", "songs.csv", *FIT, "--cost", "macro_f1")
    assert "not 'macro_f1'" in refuses("predict", "model", "songs.csv", "--ask", "1", *ASK)
    works("predict", "model", "songs.csv", "--ask", "0.1", "--cost", "hamming", *ASK)
