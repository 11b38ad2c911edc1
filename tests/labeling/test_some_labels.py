"""Sessions whose answers are about some labels only: labels added later, half-filled tables, one label."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from refpair import BinaryRelevance, Cost
from refpair.classifiers import CSRPEClassifier
from refpair.datasets.load import read_data
from refpair.labeling import Session
from tests.labeling.sessions import LABELS, N_ROWS, make_rows, open_quick

X, Y = make_rows()
TABLE = pd.DataFrame(X, columns=list("abcd"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def session(path):
    """One that learns as it does by default."""
    with Session.open(path, X, LABELS) as session:
        yield session


def matrix(session):
    """What is known, with NaN for what is not."""
    return session.answers().reindex(session.ids).to_numpy(dtype=float, na_value=np.nan)


# -- answers -----------------------------------------------------------------------------------------------


def test_answers_about_some_labels_add_up(session):
    session.tell([3], [{"anger": True}])
    assert session.answers().loc[3].tolist() == [pd.NA, 1, pd.NA]
    session.tell([3, 4], [[0, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    assert session.answers().loc[3].tolist() == [0, 1, pd.NA]
    assert session.n_answered == 1  # nothing was said of row 4
    assert session.known(3) == {"joy": False, "anger": True}
    assert session.progress() == (1, 1, 0, 1, 0)
    session.tell([3], pd.DataFrame([[None, None, 1]], columns=LABELS))
    assert session.answers().loc[3].tolist() == [0, 1, 1]
    assert session.progress() == (1, 0, 0, 1, 0)
    assert session.history["about"].tolist() == [["anger"], ["joy"], ["calm"]]
    assert session.undo().about == ["calm"]
    assert session.answers().loc[3].tolist() == [0, 1, pd.NA]


def test_a_label_is_skipped_where_only_it_was_asked_for(session):
    session.skip([1], labels=["anger"])
    session.tell([1], [{"joy": True}])
    assert 1 not in session.ask(N_ROWS, label="anger")
    assert 1 in session.ask(N_ROWS, label="calm")
    assert (session.progress("anger").n_skipped, session.progress("joy").n_with) == (1, 1)
    session.tell([1], [{"calm": False}])
    assert (session.n_answered, session.n_skipped, session.progress().n_partly) == (1, 0, 0)
    assert 1 not in session.ranking()
    with pytest.raises(ValueError, match="unknown label 'angr'; did you mean 'anger'"):
        session.skip([1], labels=["angr"])


def test_what_is_asked_for_is_not_known(session):
    rng = np.random.default_rng(0)
    known = rng.random(Y.shape) < 0.5
    session.tell(range(N_ROWS), np.where(known, Y, np.nan))
    np.testing.assert_array_equal(np.isnan(matrix(session)), ~known)
    for place, label in enumerate(LABELS):
        rows = session.ask(N_ROWS, label=label, holder=f"one of {label}")
        assert sorted(rows) == np.flatnonzero(~known[:, place]).tolist()
        for row in rows[:2]:
            session.tell([row], [{label: bool(Y[row, place])}])
            known[row, place] = True
    cells = session.ask(N_ROWS * 3, per="cell", holder="all of them")
    assert cells == []  # they are with the others
    session._store.release("one of joy")
    cells = session.ask(N_ROWS * 3, per="cell", holder="all of them")
    assert {label for _, label in cells} == {"joy"}
    assert sorted(row for row, _ in cells) == np.flatnonzero(~known[:, 0]).tolist()


def test_answers_that_are_worth_most_are_asked_for_first(session):
    session.tell(range(15), Y[:15])
    best = session.ask(3, label="anger", holder="a window")
    p = session.predictions()["anger_probability"]
    doubt = p * (1 - p)
    assert doubt[best[0]] > doubt[15:].median()
    cells = session.ask(4, per="cell")
    assert cells == session.ask(4, per="cell")
    assert len(set(cells)) == 4
    reason = session.why(best[0], "anger")
    text = f"The model gives anger {100 * reason.probabilities['anger']:.0f} %."
    assert reason.text == f"{text} Rows come first where it is unsure, and that are like many others."


def test_before_anything_is_known_of_a_label_its_rows_are_those_that_stand_for_others(session):
    session.tell([1, 2], [{"joy": True}, {"joy": False}])
    assert session.ask(3, label="anger", holder="one") == session.ranking()[:3]
    assert session.why(7, "anger").text.startswith("There is nothing to go by yet")
    assert list(session.predictions().columns) == ["joy_predicted", "joy_probability", "expected_cost"]


def test_bad_questions_are_refused(session):
    with pytest.raises(ValueError, match="unknown label 'jy'; did you mean 'joy'"):
        session.ask(label="jy")
    with pytest.raises(ValueError, match='per must be "row" or "cell", not \'label\''):
        session.ask(per="label")
    assert session.ask(1) == session.ask(1)


def test_one_label_of_all_rows_and_then_the_others(path):
    with Session.open(path, X, LABELS, cost=Cost.per_label(false_negative={"anger": 5})) as session:
        for _ in range(N_ROWS):
            (row,) = session.ask(label="anger")
            session.tell([row], [{"anger": bool(Y[row, 1])}])
        assert session.ask(label="anger") == []
        assert session.progress("anger") == (N_ROWS, 0, 0, Y[:, 1].sum(), 0)
        assert session.progress().n_partly == N_ROWS
        assert len(session.ranking()) == N_ROWS  # for their other labels
        assert session.should_stop() != "All rows are answered or skipped."
        session.tell(range(10), Y[:10])
        session.learn()
        assert session.model.predict(X[:1]).columns.tolist() == LABELS
        assert session.should_stop() != "All rows are answered or skipped."
        assert set(session.ranking()[:5]) <= set(range(10, N_ROWS))


@pytest.mark.parametrize(
    "estimator", [BinaryRelevance("logistic"), MultiOutputClassifier(LogisticRegression())]
)
def test_models_without_gaps_learn_from_complete_rows(path, estimator):
    with open_quick(path, estimator=estimator) as session:
        session.tell(range(10), Y[:10])
        session.tell(range(10, 20), [{"joy": bool(one)} for one in Y[10:20, 0]])
        session.learn()
        n = 20 if isinstance(estimator, BinaryRelevance) else 10
        rows = X[:n]
        known = np.full((n, 3), np.nan)
        known[:10], known[10:, :1] = Y[:10], Y[10:n, :1]
        if n == 10:
            expected = MultiOutputClassifier(LogisticRegression()).fit(rows, Y[:10]).predict(X)
        else:
            expected = BinaryRelevance("logistic").fit(rows, known).predict(X)
        np.testing.assert_array_equal(session.model[-1].predict(X), expected)


def test_with_gaps_the_model_is_that_of_the_answers(session):
    known = np.where(np.random.default_rng(1).random(Y.shape) < 0.6, Y, np.nan)
    session.tell(range(N_ROWS), known)
    session.learn()
    model = session.model[-1]
    assert isinstance(model, CSRPEClassifier)
    assert model.n_features_in_ == session._model.features.shape[1]
    assert (session.predictions()[["joy_predicted"]].to_numpy()[:, 0] == Y[:, 0]).mean() > 0.6


# -- labels that are added later ---------------------------------------------------------------------------


def test_an_added_label_is_unknown_where_rows_were_answered_and_learned_once_it_is_known(session):
    session.tell(range(6), Y[:6])
    session.skip([7])
    session.add_labels(["awe"])
    assert np.isnan(matrix(session)[:6, 3]).all()
    assert {*range(6)} <= set(session.ranking())
    assert 7 not in session.ranking()
    assert "awe_predicted" not in session.predictions()
    assert set(session.ask(N_ROWS, label="awe", holder="left")) == set(range(N_ROWS)) - {7}
    session.tell([0, 1], [{"awe": True}, {"awe": False}])
    assert session.predictions()["awe_probability"].between(0, 1).all()
    assert session.known(0)["awe"] is True
    np.testing.assert_array_equal(matrix(session)[:6, :3], Y[:6])  # as they were
    assert session.progress().n_partly == 4


def test_prices_by_name_go_with_labels_that_are_not_known_yet(path):
    cost = Cost.per_label(false_negative={"anger": 5, "joy": 2})
    with Session.open(path, X, LABELS, cost=cost) as session:
        session.tell(range(8), [{"calm": bool(one)} for one in Y[:8, 2]])
        assert session.ask(2, label="calm")
        session.tell(range(8), [{"joy": bool(one)} for one in Y[:8, 0]])
        session.learn()
        assert session.model[-1].cost_.false_negative == (2.0, 1.0)
        assert session.should_stop() is None


# -- tables ------------------------------------------------------------------------------------------------


def half_filled():
    table = TABLE.copy()
    known = np.where(np.random.default_rng(2).random(Y.shape) < 0.5, Y, np.nan)
    known[:5], known[5:10] = np.nan, Y[5:10]
    table[LABELS] = known
    return table, known


def test_half_filled_columns_are_taken_over_cell_by_cell(path):
    table, known = half_filled()
    with open_quick(path, table) as session:
        np.testing.assert_array_equal(matrix(session), known)
        assert session.n_taken_over == np.isfinite(known).any(axis=1).sum()
        assert set(session.ids[:5]) <= set(session.ranking())
        assert not set(session.ids[5:10]) & set(session.ranking())
        session.tell(session.ids[:1], [{"joy": True}])
    table.loc[:2, "joy"] = 0  # somebody went on in the table
    with open_quick(path, table) as session:
        assert session.n_taken_over == 2
        assert matrix(session)[:3, 0].tolist() == [1, 0, 0]  # what was said here counts more
    with open_quick(path, table) as session:
        assert session.n_taken_over == 0


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.parquet"])
def test_an_export_is_taken_as_it_is(path, tmp_path, name):
    table, known = half_filled()
    table = table.drop(columns=LABELS)
    with open_quick(path, table) as session:
        session.tell(session.ids, known)
        session.export(tmp_path / name)
    found = read_data(str(tmp_path / name)).X
    with open_quick(tmp_path / "again.sqlite", found) as again:
        expected = known[np.isfinite(known).any(axis=1)]
        np.testing.assert_array_equal(matrix(again), expected)
        model = BinaryRelevance("logistic").fit(found[list("abcd")], found[LABELS])
        assert model.predict(found[list("abcd")]).shape == expected.shape


def test_an_added_label_does_not_become_known_when_a_joined_column_is_read_again(path, tmp_path):
    table = TABLE.assign(mood=["joy|calm", "anger", "", *[None] * (N_ROWS - 3)], id=range(N_ROWS))
    with open_quick(path, table, ["mood"]) as session:
        assert session.n_answered == 2
        session.add_labels(["awe"])
    with open_quick(path, table, None) as session:
        assert session.n_taken_over == 0
        assert session.answers()["awe"].isna().all()
        session.tell([5], [{"awe": True}])
        session.export(tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    assert list(found.columns) == [*"abcd", "id", "anger", "calm", "joy", "awe"]
    assert found["awe"].isna().tolist() == [True, True, False]
    with open_quick(tmp_path / "again.sqlite", found, ["anger", "calm", "joy", "awe"]) as again:
        assert again.answers().loc[5].tolist() == [pd.NA, pd.NA, pd.NA, 1]
        assert again.answers().loc[0].tolist() == [0, 1, 1, pd.NA]


def test_a_label_without_room_in_the_export_is_told(path):
    table = TABLE.assign(mood=["a|b", "a", *[None] * (N_ROWS - 2)])
    with open_quick(path, table, ["mood"]) as session:
        assert list(session.labeled().columns) == [*"abcd", "mood"]
        session.tell(session.ids[5:6], [{"a": True}])
        with pytest.raises(ValueError, match="the label 'a' needs a column, and the table has another one"):
            session.labeled()


def test_after_a_kill_all_is_known_that_was_said(path):
    session = Session.open(path, X, LABELS)
    session.tell([1], [{"joy": True}])
    session.skip([2], labels=["joy"])
    rows = session.ask(3, label="joy")
    # Nothing is closed, as after a kill: another process sees what is on the disk.
    with Session.open(path, X, None) as again:
        assert again.known(1) == {"joy": True}
        assert again.progress("joy") == (1, 0, 1, 1, 0)
        assert not {1, 2, *rows} & set(again.ask(N_ROWS, label="joy"))  # three are held
    session.close()
