"""Costs of lists: precision@k, recall@k and nDCG@k."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from refpair.costs import Cost, RankedCost, get_cost, vector_cost
from tests import naive

GAINS = ("precision", "recall", "ndcg")
NAN = np.nan

each_gain = pytest.mark.parametrize("gain", GAINS)


@st.composite
def truths_and_lists(draw):
    n_labels = draw(st.integers(1, 6))
    k = draw(st.integers(1, 8))
    vector = st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)
    n = draw(st.integers(1, 4))
    Y = draw(st.lists(vector, min_size=n, max_size=n))
    lists = draw(st.lists(st.permutations(range(n_labels)), min_size=n, max_size=n))
    return k, Y, lists


@each_gain
@settings(deadline=None, max_examples=60)
@given(case=truths_and_lists())
def test_they_are_their_definitions(gain, case):
    k, Y, lists = case
    slow = [1 - float(naive.gain_of_list(y, z[:k], gain)) for y, z in zip(Y, lists, strict=True)]
    cost = RankedCost(gain, k)
    np.testing.assert_allclose(cost.rows(Y, lists), slow, rtol=0, atol=1e-12)
    np.testing.assert_allclose(cost.rows(sp.csr_array(Y), lists), slow, rtol=0, atol=1e-12)
    assert cost.mean(Y, lists) == pytest.approx(1 - np.mean(slow))


@pytest.mark.parametrize("k", [1, 3, 7, 20])
def test_ndcg_is_that_of_scikit_learn(k):
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 7)) < 0.4).astype(int)
    Y = Y[Y.any(axis=1)]
    scores = rng.random(Y.shape)
    lists = np.argsort(-scores, axis=1)[:, :k]
    assert get_cost(f"ndcg@{k}").mean(Y, lists) == pytest.approx(ndcg_score(Y, scores, k=k), abs=1e-12)


@each_gain
@settings(deadline=None, max_examples=60)
@given(case=truths_and_lists(), data=st.data())
def test_unknown_labels_are_taken_out_of_truths_and_lists(gain, case, data):
    k, Y, lists = case
    n_labels = len(Y[0])
    known = data.draw(st.lists(st.booleans(), min_size=n_labels, max_size=n_labels))
    number = {old: new for new, old in enumerate(np.flatnonzero(known))}
    given_labels = np.where(known, np.array(Y, float), NAN)
    found = RankedCost(gain, k).rows(given_labels, lists)
    if not any(known):
        assert np.isnan(found).all()
        return
    fewer = [[number[label] for label in z if label in number] for z in lists]
    slow = RankedCost(gain, k).rows(np.array(Y)[:, known], fewer)
    np.testing.assert_allclose(found, slow, rtol=0, atol=1e-12)


def test_a_list_without_any_known_label():
    Y, Z = [[1, 0, NAN, NAN], [1, 0, 0, 1]], [[2, 3], [0, 1]]
    np.testing.assert_array_equal(get_cost("precision@2").rows(Y, Z), [NAN, 0.5])
    np.testing.assert_array_equal(get_cost("recall@2").rows(Y, Z), [1.0, 0.5])
    assert get_cost("precision@2").mean(Y, Z) == 0.5


def test_longer_lists_are_cut_and_names_are_those_of_columns():
    Y = pd.DataFrame({"a": [1, 0], "b": [0, 1], 7: [1, 0]})
    cost = get_cost("recall@2")
    names = np.array([["b", 7, "a"], ["b", "a", 7]], object)
    np.testing.assert_array_equal(cost.rows(Y, names), [0.5, 0.0])
    np.testing.assert_array_equal(cost.rows(Y.to_numpy(), [[1, 2, 0], [1, 0, 2]]), [0.5, 0.0])
    assert cost.mean(Y, names, sample_weight=[3, 1]) == 0.625
    with pytest.raises(ValueError, match="Z lists the label 'c', and Y has no such column"):
        cost.rows(Y, [["a", "c"], ["a", "b"]])


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        ([[0, 1, 1, 0]], "row 0 of Z has a label twice: is Z a matrix of 0 and 1?"),
        (np.array([[True, False, True, False]]), "not of column numbers of Y, from 0 to 3"),
        ([[0.0, 1.0]], "not of column numbers"),
        ([[0, 4]], "not of column numbers"),
        ([[0, -1]], "not of column numbers"),
        ([[2]], "have 1 labels, not 2"),
        ([0, 1], "shape"),
        ([[0, 1], [1, 2]], "shape"),
        ([[0, 1], [1]], "not of one length"),
        (sp.csr_array([[0, 1]]), "sparse"),
    ],
)
def test_what_is_no_list_is_refused(Z, message):
    with pytest.raises(ValueError, match="the cost 'recall@2' is of lists of labels") as error:
        get_cost("recall@2").rows([[0, 1, 1, 0]], Z)
    assert message in str(error.value)


def test_names_and_files():
    cost = get_cost("ndcg@10")
    assert cost == RankedCost("ndcg", 10)
    assert (cost.name, cost.greater_is_better, cost.compares_vectors) == ("ndcg@10", True, False)
    assert repr(cost) == "get_cost('ndcg@10')"
    assert Cost.from_dict(cost.to_dict()) == pickle.loads(pickle.dumps(cost)) == cost
    with pytest.raises(ValueError, match='BayesRisk needs a cost of label vectors, such as "f1"'):
        vector_cost(cost, "BayesRisk")
    with pytest.raises(ValueError, match="rows"):
        cost.matrix([[0, 1]], [[0, 1]])


@pytest.mark.parametrize(
    "name", ["precision@0", "recall@-1", "ndcg@1.5", "ndcg@", "ndcg", "recall@1e3", "f1@2"]
)
def test_other_names_are_unknown(name):
    with pytest.raises(ValueError, match=r"unknown cost .*precision@<k>, recall@<k>, ndcg@<k>"):
        get_cost(name)


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="gain must be"):
        RankedCost("map", 3)
    for k in (0, 2.0, True):
        with pytest.raises(ValueError, match="k must be a whole number"):
            RankedCost("ndcg", k)
