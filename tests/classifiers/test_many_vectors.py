"""Of very many label vectors, a posterior weighs the most frequent ones."""

import numpy as np
import pytest

from refpair import CSRPEClassifier
from refpair.posterior.distinct_labels import distinct_labels

MOST = 12


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.random((400, 6))
    return X, (X[:, :5] > rng.choice([0.3, 0.6, 0.9], 5)).astype(np.uint8)


def fit(X, Y, **how):
    return CSRPEClassifier(**{"n_bits": 40, "random_state": 0} | how).fit(X, Y)


def test_the_most_frequent_are_weighed(data, monkeypatch):
    X, Y = data
    all_of_them = fit(X, Y)
    n_distinct = len(distinct_labels(Y).vectors)
    assert len(all_of_them.relevant_set_) == n_distinct > MOST
    monkeypatch.setattr("refpair.classifiers.csrpe.MOST_VECTORS", MOST)
    model = fit(X, Y)
    np.testing.assert_array_equal(model.relevant_set_, all_of_them.relevant_set_[:MOST])
    np.testing.assert_array_equal(model.relevant_counts_, all_of_them.relevant_counts_[:MOST])
    assert model.relevant_counts_.min() >= all_of_them.relevant_counts_[MOST:].max()
    for field, array in vars(all_of_them.bits_.trees_.cut(2)).items():  # all rows teach the bits, as ever
        np.testing.assert_array_equal(getattr(model.bits_.trees_.cut(2), field), array)
    assert np.isfinite(model.expected_cost(X)).all()
    assert model.score(X, Y) > 0.8


def test_all_are_there_where_they_must_be(data, monkeypatch):
    X, Y = data
    monkeypatch.setattr("refpair.classifiers.csrpe.MOST_VECTORS", MOST)
    vectors = distinct_labels(Y).vectors
    assert len(fit(X, Y, decoder="nearest").relevant_set_) == len(vectors)
    assert len(fit(X, Y, relevant_set=vectors).relevant_set_) == len(vectors)
