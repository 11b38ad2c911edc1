"""What all strategies have in common: what they take, what they answer, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from refpair.active._strategy import QueryStrategy
from tests.active.strategies import STRATEGIES

N_START = 12


@pytest.fixture(params=STRATEGIES)
def strategy(request):
    return clone(STRATEGIES[request.param])


def make_data(n=60, n_features=5, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    truth = (
        X @ rng.standard_normal((n_features, n_labels)) + rng.standard_normal((n, n_labels)) > 0.3
    ).astype(float)
    Y = np.full(truth.shape, np.nan)
    Y[:N_START] = truth[:N_START]
    return X, Y, truth


def test_every_strategy_is_tested():
    def all_below(cls):
        return {cls} | {below for child in cls.__subclasses__() for below in all_below(child)}

    public = {
        cls
        for cls in all_below(QueryStrategy)
        if not cls.__abstractmethods__ and cls.__module__.startswith("refpair")
    }
    assert public == {type(strategy) for strategy in STRATEGIES.values()}


@pytest.mark.parametrize("batch_size", [1, 5])
def test_rows_without_labels_are_asked_for(strategy, batch_size):
    X, Y, _ = make_data()
    before = X.copy(), Y.copy()
    rows, utilities = strategy.query(X, Y, batch_size=batch_size, return_utilities=True)
    assert rows.shape == (batch_size,)
    assert np.issubdtype(rows.dtype, np.integer)
    assert len(set(rows)) == batch_size
    assert np.isnan(Y[rows]).all()
    assert utilities.shape == (60,)
    assert np.isnan(utilities[:N_START]).all()
    assert utilities[rows[0]] == np.nanmax(utilities)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])


def test_the_same_question_has_the_same_answer(strategy):
    X, Y, _ = make_data()
    first = strategy.query(X, Y, batch_size=4)
    np.testing.assert_array_equal(strategy.query(X, Y, batch_size=4), first)
    np.testing.assert_array_equal(clone(strategy).query(X, Y, batch_size=4), first)


def test_a_loop_asks_for_each_row_once(strategy):
    X, Y, truth = make_data(n=25)
    while np.isnan(Y).any():
        rows = strategy.query(X, Y, batch_size=4)
        assert np.isnan(Y[rows]).all()
        Y[rows] = truth[rows]
    with pytest.raises(ValueError, match="there is nothing to ask: no row of Y is NaN"):
        strategy.query(X, Y)


def test_other_forms_of_the_same_data(strategy):
    X, Y, _ = make_data()
    X[np.abs(X) < 0.5] = 0.0
    expected = strategy.query(X, Y, batch_size=3)
    frame = pd.DataFrame(X, columns=list("abcde")), pd.DataFrame(Y, columns=list("wxyz"), dtype="Int64")
    for given in ((sp.csr_array(X), Y), (sp.csr_matrix(X), Y.tolist()), (X.tolist(), Y), frame):
        np.testing.assert_array_equal(clone(strategy).query(*given, batch_size=3), expected)


def test_only_candidates_are_asked_for(strategy):
    X, Y, _ = make_data()
    allowed = np.array([33, 15, 59])
    mask = np.zeros(60, bool)
    mask[allowed] = True
    for candidates in (allowed, allowed.tolist(), mask):
        rows, utilities = strategy.query(X, Y, 2, candidates, return_utilities=True)
        assert set(rows) <= set(allowed)
        assert np.isnan(np.delete(utilities, allowed)).all()


@pytest.mark.parametrize("cost", ["macro_f1", "recall@2"])
def test_a_cost_is_one_of_label_vectors(strategy, cost):
    X, Y, _ = make_data()
    if "cost" in strategy.get_params():
        strategy.set_params(cost=cost)
        with pytest.raises(ValueError, match=f"needs a cost of label vectors, such as \"f1\", not '{cost}'"):
            strategy.query(X, Y)


# ---- the first questions, and the last ones ----


def test_no_labels_at_all(strategy):
    X, Y, truth = make_data()
    Y[:] = np.nan
    rows = strategy.query(X, Y, batch_size=6)
    assert len(set(rows)) == 6
    Y[rows[:1]] = truth[rows[:1]]
    assert rows[0] not in strategy.query(X, Y)


@pytest.mark.parametrize("answer", [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1]])
def test_all_labels_alike(strategy, answer):
    X, Y, _ = make_data()
    Y[:N_START] = answer
    rows = strategy.query(X, Y, batch_size=3)
    assert len(set(rows)) == 3
    assert np.isnan(Y[rows]).all()


def test_a_label_never_seen_and_one_always(strategy):
    X, Y, _ = make_data()
    Y[:N_START, 1], Y[:N_START, 2] = 0.0, 1.0
    rows, utilities = strategy.query(X, Y, return_utilities=True)
    assert np.isnan(Y[rows]).all()
    assert np.isfinite(utilities[rows]).all()


def test_a_pool_of_one_and_a_batch_larger_than_the_pool(strategy):
    X, Y, truth = make_data()
    assert sorted(strategy.query(X, Y, batch_size=1000)) == list(range(N_START, 60))
    Y[:-1] = truth[:-1]
    np.testing.assert_array_equal(strategy.query(X, Y), [59])
    np.testing.assert_array_equal(strategy.query(X, Y, batch_size=7), [59])


def test_a_single_label_and_a_single_feature(strategy):
    X, Y, _ = make_data(n_features=1, n_labels=1)
    assert len(strategy.query(X, Y, batch_size=2)) == 2


def test_rows_that_are_all_the_same(strategy):
    X, Y, _ = make_data()
    X[:] = 1.0
    rows = strategy.query(X, Y, batch_size=4)
    assert len(set(rows)) == 4


# ---- rows that are partly known ----


@pytest.mark.parametrize("batch_size", [1, 5])
def test_partly_known_rows_are_labeled(strategy, batch_size):
    X, Y, _ = make_data()
    Y[np.random.default_rng(0).random(Y.shape) < 0.3] = np.nan
    Y[:4, 3], Y[1, 0] = np.nan, 1.0
    unlabeled = np.isnan(Y).all(axis=1)
    rows = strategy.query(X, Y, batch_size=batch_size)
    assert unlabeled[rows].all()
    assert len(set(rows)) == batch_size
    np.testing.assert_array_equal(clone(strategy).query(X, Y, batch_size=batch_size), rows)
    assert strategy.query(X, Y, candidates=[1]) == [1]  # the rest of a row


def test_a_label_of_which_nothing_is_known(strategy):
    X, Y, _ = make_data()
    Y[:, 2] = np.nan
    assert np.isnan(Y[strategy.query(X, Y)]).all()


# ---- mistakes ----


def test_mistakes_are_told(strategy):
    X, Y, _ = make_data()
    with pytest.raises(ValueError, match="batch_size must be an integer of at least 1, not 0"):
        strategy.query(X, Y, batch_size=0)
    with pytest.raises(
        ValueError, match="X has 59 rows and Y 60: Y needs a row of NaN for each without labels"
    ):
        strategy.query(X[:-1], Y)
    with pytest.raises(ValueError, match="Y must be 0, 1 or NaN, and has 2"):
        strategy.query(X, np.where(Y == 1, 2, Y))
    with pytest.raises(ValueError, match=r"Y must have shape \(n, n_labels\), not \(60,\)"):
        strategy.query(X, Y[:, 0])
    with pytest.raises(ValueError, match="Y must be 0, 1 or NaN: could not convert"):
        strategy.query(X, np.full(Y.shape, "yes"))
    with pytest.raises(ValueError, match=r"Y must be dense.*Y.toarray\(\)"):
        strategy.query(X, sp.csr_array(np.nan_to_num(Y)))
    with pytest.raises(ValueError, match="random_state must be a seed"):
        clone(strategy).set_params(random_state="x").query(X, Y)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "candidates must be row numbers, at least one, or a boolean for each row"),
        ([0.5], "candidates must be row numbers"),
        ([True, False], "candidates must be row numbers"),
        ([60], "candidates must be row numbers from 0 to 59"),
        ([-1], "candidates must be row numbers from 0 to 59"),
        ([3, 20], "candidates must be rows with unknown labels: row 3 has none"),
    ],
)
def test_wrong_candidates(candidates, message):
    X, Y, _ = make_data()
    with pytest.raises(ValueError, match=message):
        STRATEGIES["random"].query(X, Y, candidates=candidates)
