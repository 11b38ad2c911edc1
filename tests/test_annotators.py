"""Labels by several people."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refpair import BinaryRelevance
from refpair.annotators import FromAnnotators, consensus
from refpair.tables.labels import UNKNOWN

MODEL = BinaryRelevance("logistic")


@pytest.fixture(scope="module")
def answered():
    """Return rows, the truth, and what a careful and a careless person say of some of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    truth = (X + rng.normal(size=X.shape) / 2 > [0, 0.5, 1]).astype(float)
    said = {}
    for name, wrong, seen in (("Ann", 0.02, slice(0, 350)), ("Bob", 0.2, slice(150, 480))):
        said[name] = np.full(truth.shape, np.nan)
        flips = rng.random(truth.shape) < wrong
        said[name][seen] = np.where(flips, 1 - truth, truth)[seen]
    return X, truth, said


def in_lines(said, names=(0, 1, 2), index=None):
    parts = []
    for person, labels in said.items():
        frame = pd.DataFrame(labels, columns=list(names))
        frame.insert(0, "row", np.arange(len(labels)) if index is None else index)
        frame.insert(1, "annotator", person)
        parts.append(frame[~np.isnan(labels).all(axis=1)])
    return pd.concat(parts, ignore_index=True)


def test_reliabilities_are_found_and_the_consensus_is_better_than_any_answer(answered):
    X, truth, said = answered
    found = FromAnnotators(MODEL).fit(X, said)
    table = found.reliability_
    assert table.index.tolist() == ["Ann", "Bob"]
    assert table["n"].tolist() == [3 * 350, 3 * 330]
    for name, labels in said.items():
        for value, column in ((1, "sensitivity"), (0, "specificity")):
            right = (labels == truth)[(truth == value) & ~np.isnan(labels)].mean()
            assert table.loc[name, column] == pytest.approx(right, abs=0.05)
    by_bob = slice(350, 480)
    wrong = (found.consensus_.to_numpy() > 0.5) != truth
    assert wrong[by_bob].mean() < 0.6 * (said["Bob"] != truth)[by_bob].mean()
    assert wrong[:350].mean() < 0.03
    probability = found.model_.predict_proba(X[480:])
    np.testing.assert_allclose(found.consensus_.to_numpy()[480:], probability, atol=0.25)


def test_disagreements_are_listed_the_least_certain_first(answered):
    X, _, said = answered
    found = FromAnnotators(MODEL, n_rounds=1).fit(X, said)
    table = found.disagreements_
    assert list(table.columns) == ["row", "label", "yes", "no", "consensus"]
    first, second = said["Ann"], said["Bob"]
    differ = (first != second) & ~np.isnan(first) & ~np.isnan(second)
    assert {*zip(table["row"], table["label"], strict=True)} == {*zip(*np.nonzero(differ), strict=True)}
    assert (table["consensus"] - 0.5).abs().is_monotonic_increasing
    for row, label, yes, no, p in table.head(20).itertuples(index=False):
        assert (yes, no) == (("Ann", "Bob") if first[row, label] == 1 else ("Bob", "Ann"))
        assert p == found.consensus_.loc[row, label]


def test_a_long_table_says_the_same(answered):
    X, _, said = answered
    found = FromAnnotators(MODEL, n_rounds=1).fit(X, said)
    same = FromAnnotators(MODEL, n_rounds=1).fit(X, in_lines(said))
    pd.testing.assert_frame_equal(found.reliability_, same.reliability_)
    np.testing.assert_allclose(found.consensus_, same.consensus_)
    index, names = [f"song {i}" for i in range(500)], ["joy", "calm", "rage"]
    frame = pd.DataFrame(X, index, columns=list("abc"))
    model = make_pipeline(StandardScaler(), MODEL)
    named = FromAnnotators(model, n_rounds=1).fit(
        frame, in_lines(said, names, index).sample(frac=1, random_state=0)
    )
    assert named.consensus_.columns.tolist() == names
    assert named.consensus_.index.tolist() == index
    assert set(named.disagreements_["label"]) <= set(names)
    assert named.model_.predict(frame).columns.tolist() == names
    frames = {name: pd.DataFrame(labels, index, names) for name, labels in said.items()}
    again = FromAnnotators(model, n_rounds=1).fit(frame, frames)
    pd.testing.assert_frame_equal(named.reliability_, again.reliability_)


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_the_consensus_is_the_posterior_over_all_label_vectors(n_labels, seed):
    """Sum over all 2^K true vectors of each row, with the reliabilities that were found."""
    rng = np.random.default_rng(seed)
    n, n_people = 6, 3
    p = expit(rng.normal(size=(n, n_labels)))
    row = rng.integers(n, size=10)
    who = rng.integers(n_people, size=10)
    said = rng.choice([0, 1, UNKNOWN], size=(10, n_labels)).astype(np.uint8)
    q, right = consensus(p, row, who, said, n_people)
    for one in range(n):
        sums, total = np.zeros(n_labels), 0.0
        for truth in product((0, 1), repeat=n_labels):
            chance = np.prod(np.where(truth, p[one], 1 - p[one]))
            for person, answer in zip(who[row == one], said[row == one], strict=True):
                for label in np.flatnonzero(answer != UNKNOWN):
                    is_right = right[person, truth[label]]
                    chance *= is_right if answer[label] == truth[label] else 1 - is_right
            sums += chance * np.array(truth)
            total += chance
        np.testing.assert_allclose(q[one], sums / total, atol=0.01)


def test_answers_come_in_all_forms(answered):
    polars = pytest.importorskip("polars")
    X, _, said = answered
    names = ["joy", "calm", "anger"]
    frames = {name: pd.DataFrame(labels, columns=names) for name, labels in said.items()}
    expected = FromAnnotators(MODEL).fit(X, frames).consensus_
    lines = in_lines(said, names)
    for same in (
        {"Ann": frames["Ann"], "Bob": frames["Bob"][names[::-1]]},
        {"Ann": polars.DataFrame(frames["Ann"]), "Bob": polars.DataFrame(frames["Bob"][names[::-1]])},
        lines,
        polars.DataFrame(lines),
    ):
        pd.testing.assert_frame_equal(FromAnnotators(MODEL).fit(X, same).consensus_, expected)
    found = FromAnnotators(MODEL).fit(X, {name: sp.csr_array(labels) for name, labels in said.items()})
    np.testing.assert_array_equal(found.consensus_, expected)


def test_bad_answers_are_refused(answered):
    X, _, said = answered
    learn = FromAnnotators(MODEL)
    lines = in_lines(said)
    for wrong, told in (
        (None, "answers must be a DataFrame with a line for each answer, or a dict"),
        ({}, "or a dict of labels"),
        ({"Ann": said["Ann"][1:]}, "Ann has answers to 499 rows, but X has 500"),
        (lines.drop(columns="annotator"), "answers has no column 'annotator'"),
        (lines.assign(annotator=None), "an empty cell in the column 'annotator'"),
        (lines.assign(row=lines["row"] + 100), "answers has row 5.., which X has not"),
        (pd.concat([lines, lines.tail(1)]), "two lines of annotator 'Bob' for row 479"),
        (lines.iloc[:0], "answers has no lines"),
        ({"Ann": [["joy"], ["joy", "calm"]] * 250}, "answers must have a matrix for each annotator"),
        ({"Ann": said["Ann"], "Bob": said["Bob"][:, :2]}, "all with a column for each label"),
    ):
        with pytest.raises(ValueError, match=told):
            learn.fit(X, wrong)
