"""What a session learns from the answers: models, rounds, predictions and reasons."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier

from refpair import CSRPEClassifier, load
from refpair.active import MMC, Budget, LowGain, StablePredictions
from refpair.active._strategy import QueryStrategy
from refpair.classifiers import BinaryRelevance
from refpair.labeling import Session
from tests.labeling.sessions import LABELS, N_ROWS, Costly, make_rows, open_quick

X, Y = make_rows()
NAMES = [f"row {number}" for number in range(N_ROWS)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def session(path):
    """One that learns as it does by default."""
    with Session.open(path, X, LABELS, ids=NAMES) as session:
        yield session


def teach(session, *places):
    session.tell([session.ids[place] for place in places], Y[list(places)])


# ---- models ----


def test_the_default_learns(session):
    while session.n_answered < 20:
        rows = session.ask(4)
        teach(session, *(NAMES.index(row) for row in rows))
    predicted = session.predictions()
    assert isinstance(session.model[-1], CSRPEClassifier)
    told = session.model.predict(X)
    assert list(told.columns) == LABELS
    np.testing.assert_array_equal(told, predicted[[f"{label}_predicted" for label in LABELS]])
    right = predicted[[f"{label}_predicted" for label in LABELS]].to_numpy() == Y
    assert right.mean() > 0.85
    probability = predicted[[f"{label}_probability" for label in LABELS]].to_numpy()
    assert ((probability > 0.5) == Y).mean() > 0.85
    assert predicted["expected_cost"].between(0, 1).all()


def test_the_same_answers_are_asked_for_in_the_same_order(tmp_path):
    orders = []
    for name in ("one", "other"):
        with Session.open(tmp_path / name, X, LABELS) as session:
            teach(session, *range(5))
            orders.append(session.ranking())
    assert orders[0] == orders[1]
    with Session.open(tmp_path / "one", X, LABELS) as again:
        assert again.ranking() == orders[0]


def test_there_is_no_model_before_two_answers_differ(session):
    assert session.predictions() is None
    session.tell(NAMES[:3], [["joy"]] * 3)
    assert session.predictions() is None
    assert session.rounds == []
    session.tell(NAMES[3:4], [[]])
    assert session.predictions().index.tolist() == NAMES
    assert [one.n_labeled for one in session.rounds] == [4]


class FirstRows(QueryStrategy):
    """A strategy of a user's own."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def choose(self, pool, n, rng):
        return np.arange(n), -pool.candidates.astype(float)


def test_a_strategy_of_ones_own(path):
    with open_quick(path, strategy=FirstRows()) as session:
        session.skip([0, 2])
        assert session.ranking() == [1, *range(3, N_ROWS)]
        assert session.ask(2) == [1, 3]


@pytest.mark.parametrize("estimator", [BinaryRelevance("logistic"), MMC(random_state=0)])
def test_other_models_and_strategies_of_the_package(path, estimator):
    option = "strategy" if isinstance(estimator, QueryStrategy) else "estimator"
    with Session.open(path, X, LABELS, **{option: estimator}) as session:
        teach(session, *range(8))
        assert len(session.ask(3)) == 3
        assert list(session.predictions().columns[:2]) == ["joy_predicted", "joy_probability"]


FOREIGN = [
    KNeighborsClassifier(3),
    RandomForestClassifier(5, random_state=0),
    MultiOutputClassifier(LogisticRegression()),
]


@pytest.mark.parametrize("estimator", FOREIGN, ids=lambda one: type(one).__name__)
def test_classifiers_of_other_libraries(path, estimator):
    """Some of them give a list of probabilities, and fail on a label that no row has."""
    with open_quick(path, estimator=estimator) as session:
        teach(session, *range(20))
        session.add_labels(["awe"])
        session.tell(range(20), [{"awe": False}] * 20)
        predicted = session.predictions()
        assert list(predicted.columns) == [
            f"{label}_{what}" for label in [*LABELS, "awe"] for what in ("predicted", "probability")
        ]
        assert (predicted[["awe_predicted", "awe_probability"]] == 0).all(axis=None)
        for place, label in enumerate(LABELS):
            likely = predicted[f"{label}_probability"] > 0.5
            assert (likely == Y[:, place]).mean() > 0.7
            assert (likely == predicted[f"{label}_predicted"]).mean() > 0.9
        reason = session.why(25)
        assert reason.probabilities["joy"] == pytest.approx(predicted.loc[25, "joy_probability"], abs=1e-4)
        assert reason.expected_cost is None
        assert repr(session.model[-1].estimator_) == repr(estimator)
        assert list(session.model.predict(X[:2]).columns) == [*LABELS, "awe"]
        assert session.rounds[-1].expected_cost is None
        assert session.rounds[-1].predictions.shape == (N_ROWS, 4)


def test_a_single_label_for_classifiers_of_other_libraries(path):
    with open_quick(path, labels=["joy"], estimator=MultiOutputClassifier(LogisticRegression())) as session:
        session.tell(range(20), Y[:20, :1])
        predicted = session.predictions()
        likely = predicted["joy_probability"] > 0.5
        assert (likely == Y[:, 0]).mean() > 0.8
        assert (likely == predicted["joy_predicted"]).all()


def test_a_classifier_that_tells_no_probabilities(path, tmp_path):
    with open_quick(path) as session:
        teach(session, *range(6))
        assert list(session.predictions().columns) == [f"{label}_predicted" for label in LABELS]
        assert session.rounds[-1].expected_cost is None
        reason = session.why(9)
        assert (reason.probabilities, reason.in_doubt, reason.expected_cost) == ({}, [], None)
        assert reason.text == "No single label is in doubt. It also stands for rows like it."
        assert session.should_stop() is None
    with open_quick(tmp_path / "costly.sqlite", estimator=Costly()) as session:
        teach(session, *range(6))
        assert session.predictions()["expected_cost"].tolist() == [0.25] * N_ROWS
        assert session.rounds[-1].expected_cost == 0.25
        assert session.why(9).text.startswith("A guess would cost 0.25, where 0.25 is usual; no single label")


class Broken(BaseEstimator):
    def fit(self, X, Y):
        raise RuntimeError("no licence")

    def predict(self, X):
        raise NotImplementedError


def test_a_classifier_that_fails_loses_no_answers(path):
    with open_quick(path, estimator=Broken()) as session:
        teach(session, 0, 1, 2)
        with pytest.raises(RuntimeError, match="no licence"):
            session.ask()
        assert session.n_answered == 3
    with open_quick(path) as session:
        assert session.ask(wait=True)
        assert session.model[-1].estimator_.n_rows_ == 3


# ---- rounds ----


def test_rounds_survive_reopening_and_are_not_noted_twice(session, path):
    """Not even if C is chosen anew, which makes another model of the same answers."""
    for places in (range(10), range(10, 12)):
        teach(session, *places)
        session.learn()
    before = session.rounds
    assert [one.n_labeled for one in before] == [10, 12]
    session.close()
    for _ in range(2):
        with Session.open(path, X, LABELS, ids=NAMES) as again:
            assert again.learn()
            after = again.rounds
    assert [one.n_labeled for one in after] == [10, 12]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one.predictions, other.predictions)
        assert one.expected_cost == other.expected_cost


def test_two_who_learn_the_same_note_one_round(path):
    with open_quick(path) as session, open_quick(path) as other:
        teach(session, *range(5))
        session.learn()
        other.learn()
        assert len(session.rounds) == len(other.rounds) == 1
        teach(other, 5)
        session.learn()
        assert [one.n_labeled for one in other.rounds] == [5, 6]


def test_a_correction_is_a_round_of_its_own(path):
    with open_quick(path) as session:
        session.tell([0, 1], [["joy"], []])
        session.learn()
        session.tell([1], [["calm"]])
        session.learn()
        assert [one.n_labeled for one in session.rounds] == [2, 2]


def test_predictions_of_other_rows_or_labels_are_not_compared(path):
    with open_quick(path) as session:
        teach(session, *range(5))
        session.learn()
        assert session.rounds[0].predictions.shape == (N_ROWS, 3)
        np.testing.assert_array_equal(session.rounds[0].predictions, session.model.predict(X))
        session.add_labels(["awe"])
        session.tell([1], [{"awe": True}])
        session.tell([2], [{"awe": False}])
        session.learn()
        assert [one.predictions is None for one in session.rounds] == [True, False]
    with open_quick(path, X[:20], None) as session:
        assert [one.predictions for one in session.rounds] == [None, None]
        assert [one.n_labeled for one in session.rounds] == [5, 5]
    with Session.open(path) as session:
        assert [one.predictions for one in session.rounds] == [None, None]


def test_reasons_to_stop_are_sentences(path):
    rules = [LowGain(0.01, n_rounds=2), StablePredictions("hamming", tolerance=0.0, n_rounds=3), Budget(25)]
    reasons = []
    for rule in rules:
        with open_quick(path, estimator=Costly(), rules=[rule]) as session:
            while not reasons or len(reasons) <= rules.index(rule):
                teach(session, session.n_answered)
                session.learn()
                if reason := session.should_stop():
                    reasons.append(reason)
    assert reasons[0].startswith(
        "There is little to gain: in the last 2 rounds the expected cost fell by 0 %"
    )
    assert reasons[1].startswith("Predictions are stable: in the last 3 rounds they changed by 0 (hamming)")
    assert reasons[2] == "The budget is used up: 25 of 25 rows have labels."


def test_by_default_it_is_said_when_predictions_are_stable(path):
    with open_quick(path) as session:
        session.tell([0, 1, 2], [["joy"], ["joy"], []])
        for place in range(3, 15):
            assert session.should_stop() is None
            session.tell([place], [["joy"]])
            session.learn()
            if len(session.rounds) == 11:
                break
        assert session.should_stop().startswith("Predictions are stable: in the last 10 rounds")


# ---- reasons ----


def test_why_before_there_is_a_model(session):
    reason = session.why("row 3")
    assert reason.text.startswith("It is like many other rows. There is nothing else to go by until two rows")
    assert (reason.guess, reason.probabilities, reason.in_doubt, reason.expected_cost) == ([], {}, [], None)


def test_why_with_a_model(session, path):
    teach(session, *range(12))
    session.learn()
    predicted = session.predictions()
    reasons = {row: session.why(row) for row in session.ranking()}
    for row, reason in reasons.items():
        assert reason.guess == [label for label in LABELS if predicted.loc[row, f"{label}_predicted"]]
        assert list(reason.probabilities) == LABELS
        assert reason.in_doubt == sorted(
            (label for label in LABELS if 0.25 <= reason.probabilities[label] <= 0.75),
            key=lambda label: abs(reason.probabilities[label] - 0.5),
        )
        assert reason.expected_cost == pytest.approx(predicted.loc[row, "expected_cost"], abs=1e-6)
        assert all(label in reason.text for label in reason.in_doubt)
        assert reason.text.endswith("It also stands for rows like it.")
    assert any(reason.in_doubt for reason in reasons.values())
    session.close()
    with Session.open(path, X, ids=NAMES) as again:  # it need not be asked first
        assert again.why("row 20").probabilities


def test_why_knows_of_no_label_that_was_added_since(session):
    teach(session, *range(6))
    session.learn()
    session.add_labels(["awe"])
    session.tell(["row 1"], [{"awe": True}])
    assert list(session.why("row 9").probabilities) == LABELS
    assert list(session.predictions().columns)[-3:-1] == ["awe_predicted", "awe_probability"]
    assert list(session.why("row 9").probabilities) == [*LABELS, "awe"]


def test_models_of_other_libraries_are_saved_too(path, tmp_path):
    with open_quick(path, estimator=MultiOutputClassifier(LogisticRegression())) as session:
        teach(session, *range(20))
        session.add_labels(["awe"])
        session.tell(range(20), [{"awe": False}] * 20)
        session.save_model(tmp_path / "m.refpair")
        loaded = load(tmp_path / "m.refpair")
        np.testing.assert_array_equal(loaded.predict(X), session.model.predict(X))
        np.testing.assert_array_equal(loaded.predict_proba(X), session.model.predict_proba(X))
        assert list(loaded.predict(X).columns) == [*LABELS, "awe"]


def test_many_answers_are_learnt_from_with_fewer_bits_and_the_usual_penalty(path):
    X, Y = make_rows(1200)
    with Session.open(path, X, LABELS) as session:
        session.tell(range(1100), Y[:1100])
        session.learn()
        assert session.model[-1].n_bits == 300_000 // 1100
        assert session.model[-1].estimator.C == 30.0
        assert (session.model.predict(X[1100:]).to_numpy() == Y[1100:]).mean() > 0.85


def test_a_saved_model_is_loaded_where_nothing_of_sessions_was_imported(session, tmp_path):
    teach(session, *range(20))
    session.save_model(tmp_path / "m.refpair")
    program = """
import json, sys, refpair
print(refpair.load(sys.argv[1]).predict(json.loads(sys.argv[2])).to_csv())
"""
    command = [sys.executable, "-c", program, str(tmp_path / "m.refpair"), str(X[:1].tolist())]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert found.strip() == session.model.predict(X[:1]).to_csv().strip()
