from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from refpair import CSRPEClassifier, get_cost
from refpair.experiments.algorithms import ALGORITHMS, Algorithm, fit_and_cut, fit_each
from refpair.experiments.protocols import choose_parameters
from refpair.experiments.settings import Settings, half_split

COSTS = {name: get_cost(name) for name in ("hamming", "f1")}


class Share(BaseEstimator):
    """Predicts all labels of the rows whose first feature is below a share."""

    def __init__(self, share=0.0, n_labels=3):
        self.share = share
        self.n_labels = n_labels

    def fit(self, X, Y):
        return self

    def predict(self, X):
        return np.repeat((X[:, :1] < self.share).astype(int), self.n_labels, axis=1)


GRID = [{"share": share} for share in (0.0, 0.3, 1.0)]
GUESS = Algorithm(lambda cost, settings, n_labels: Share(), lambda X: GRID, one_fit=True)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((60, 4))
    return X, np.repeat((X[:, :1] < 0.3).astype(np.uint8), 3, axis=1)


def test_the_cheapest_is_chosen_for_each_cost(data):
    X, Y = data
    assert choose_parameters(GUESS, COSTS, X, Y, Settings(), 0) == {name: {"share": 0.3} for name in COSTS}
    # Each row has one label of three: for the Hamming loss none is the best constant, for F1 all.
    Y = np.eye(3, dtype=np.uint8)[np.arange(60) % 3]
    chosen = choose_parameters(GUESS, COSTS, X, Y, Settings(), 0)
    assert chosen == {"hamming": {"share": 0.0}, "f1": {"share": 1.0}}


def test_without_a_search_it_is_the_default(data):
    X, Y = data
    assert choose_parameters(GUESS, COSTS, X, Y, Settings(search=False), 0) == dict.fromkeys(COSTS, GRID[0])


def test_only_the_training_half_is_seen(data):
    X, Y = data
    seen = []

    class Watching(Share):
        def fit(self, X, Y):
            seen.append(len(X))
            return self

    choose_parameters(
        Algorithm(lambda cost, settings, n_labels: Watching(), lambda X: GRID),
        COSTS,
        X[:31],
        Y[:31],
        Settings(),
        0,
    )
    assert sorted(set(seen)) == [20, 21]
    assert len(seen) == 3 * len(GRID)


def test_cutting_gives_what_growing_to_each_depth_gives(data):
    X, Y = data
    grid = [{"max_depth": depth, "max_features": None} for depth in (None, 3, 1)]
    model = CSRPEClassifier("hamming", n_bits=20, decoder="nearest", random_state=0)
    pairs = zip(fit_each(model, grid, X, Y), fit_and_cut(model, grid, X, Y), strict=True)
    for grown, cut in pairs:
        np.testing.assert_array_equal(grown.predict(X), cut.predict(X))
        np.testing.assert_array_equal(grown.predict_code(X), cut.predict_code(X))


def test_sparse_data_are_not_searched_for_fewer_features(data):
    grid = ALGORITHMS["CSRPE-nearest"].grid
    assert {setting["max_features"] for setting in grid(data[0])} == {None, "sqrt"}
    assert {setting["max_features"] for setting in grid(sp.csr_array(data[0]))} == {None}


def test_halves_are_disjoint_and_those_of_a_seed():
    train, test = half_split(11, 3)
    assert sorted([*train, *test]) == list(range(11))
    assert (len(train), len(test)) == (5, 6)
    assert not np.array_equal(train, half_split(11, 4)[0])
    some, others = half_split(11, 3, max_rows=4)
    np.testing.assert_array_equal([*some, *others], [*train, *test][:4])


@pytest.mark.slow
def test_stratified_halves_have_equally_many_samples_of_each_label():
    Y = np.repeat(np.eye(3, dtype=int), [4, 6, 10], axis=0)
    train, test = Settings(stratified=True).halves(Y, 3)
    assert sorted([*train, *test]) == list(range(20))
    assert Y[train].sum(axis=0).tolist() == Y[test].sum(axis=0).tolist() == [2, 3, 5]
    assert set(train) != set(Settings(stratified=True).halves(Y, 4)[0])
    some, others = Settings(stratified=True, max_rows=10).halves(Y, 3)
    assert Y[some].sum(axis=0).tolist() == [1, 2, 2] or Y[some].sum(axis=0).tolist() == [1, 1, 3]
    assert len({*some, *others}) == 10


def test_halves_are_those_of_the_paper_by_default():
    Y = np.repeat(np.eye(3, dtype=int), [4, 6, 10], axis=0)
    np.testing.assert_array_equal(Settings().halves(Y, 3)[0], half_split(20, 3)[0])
    np.testing.assert_array_equal(Settings(max_rows=7).halves(Y, 3)[1], half_split(20, 3, 7)[1])
