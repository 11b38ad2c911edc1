"""The best lists, against all lists that there are."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels.ranked import mean_values_of_independent
from refpair.costs import RankedCost, get_cost
from refpair.decision import decide, expected_cost, top_labels
from refpair.posterior import IndependentLabels, LabelDistribution
from tests import naive
from tests.decision.cases import cases

GAINS = ("precision", "recall", "ndcg")
CHANCES = st.integers(0, 8).map(lambda i: Fraction(i, 8))

each_gain = pytest.mark.parametrize("gain", GAINS)


def expected_gains(vectors, weights, gain, k):
    """Return the expected gain of every list."""
    total = float(sum(weights))
    return {
        z: sum(
            float(w) * float(naive.gain_of_list(y, z, gain)) for y, w in zip(vectors, weights, strict=True)
        )
        / total
        for z in naive.all_lists(len(vectors[0]), k)
    }


def assert_best(distribution, vectors, weights_of_rows, gain, k):
    cost = RankedCost(gain, k)
    lists, labels = top_labels(distribution, cost), decide(distribution, cost)
    told = expected_cost(distribution, labels, cost)
    for row, weights in enumerate(weights_of_rows):
        gains = expected_gains(vectors, weights, gain, k)
        best = max(gains.values())
        assert gains[tuple(lists[row].tolist())] == pytest.approx(best, abs=1e-9)
        assert told[row] == pytest.approx(1 - best, abs=1e-9)
        assert np.flatnonzero(labels[row]).tolist() == sorted(lists[row].tolist())


@each_gain
@settings(deadline=None, max_examples=40)
@given(case=cases(max_labels=6), k=st.integers(1, 7))
def test_no_list_is_better(gain, case, k):
    assert_best(case.distribution(), case.vectors, case.weights, gain, k)


@each_gain
@settings(deadline=None, max_examples=25)
@given(p=st.lists(CHANCES, min_size=1, max_size=6), k=st.integers(1, 7))
def test_no_list_is_better_for_independent_labels(gain, p, k):
    weights = naive.independent_weights(p)
    assert_best(IndependentLabels([p]), naive.all_vectors(len(p)), [weights], gain, k)


@each_gain
@settings(deadline=None, max_examples=25)
@given(case=cases(max_labels=5, max_rows=1), k=st.integers(1, 5), data=st.data())
def test_the_expected_cost_of_any_set_is_that_of_its_best_list(gain, case, k, data):
    n_labels = len(case.vectors[0])
    gains = expected_gains(case.vectors, case.weights[0], gain, k)
    chosen = data.draw(st.sampled_from(sorted(gains)))
    best = max(value for z, value in gains.items() if set(z) == set(chosen))
    labels = [[int(label in chosen) for label in range(n_labels)]]
    told = expected_cost(case.distribution(), labels, RankedCost(gain, k))
    assert told == pytest.approx([1 - best], abs=1e-9)


def test_a_set_of_another_size_is_refused():
    p = IndependentLabels([[0.5, 0.2, 0.1]])
    with pytest.raises(ValueError, match="'recall@2' is of lists of 2 labels"):
        expected_cost(p, [[1, 0, 0]], get_cost("recall@2"))


@settings(deadline=None, max_examples=60)
@given(
    p=st.lists(CHANCES, min_size=1, max_size=6),
    values=st.lists(st.floats(0, 1), min_size=7, max_size=7),
)
def test_the_kernel_is_the_mean_over_all_vectors(p, values):
    values = values[: len(p) + 1]
    found = mean_values_of_independent(np.array([p], float), np.array(values))
    np.testing.assert_allclose(found[0], naive.mean_values(p, values), rtol=0, atol=1e-12)


def test_many_independent_labels_with_sizes_left_out():
    rng = np.random.default_rng(0)
    marginals = rng.beta(0.05, 2.0, (3, 600))
    draws = rng.random((4000, 3, 600)) < marginals
    for gain in ("recall", "ndcg"):
        cost = RankedCost(gain, 5)
        values = cost.value_of_size(draws.sum(axis=2).ravel(), 5).reshape(draws.shape[:2])
        means = (draws * values[:, :, None]).mean(axis=0)
        lists = top_labels(IndependentLabels(marginals), cost)
        errors = (draws * values[:, :, None]).std(axis=0).max() / 4000**0.5
        listed = np.take_along_axis(means, lists, axis=1).sum(axis=1)
        assert (listed >= -np.sort(-means, axis=1)[:, :5].sum(axis=1) - 10 * errors).all()


def test_ties_go_to_the_more_probable_label_and_then_to_the_first():
    vectors = [[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 1, 0]]
    p = LabelDistribution.from_dense(vectors, [[2, 1, 0], [0, 1, 1]])
    assert top_labels(p, get_cost("recall@5")).tolist() == [[0, 1, 2, 3, 4], [2, 0, 3, 1, 4]]
    same = IndependentLabels(np.full((1, 9), 0.1))
    assert top_labels(same, get_cost("ndcg@9")).tolist() == [list(range(9))]


def test_the_length_of_lists():
    p = IndependentLabels(np.tile([0.1, 0.7, 0.5], (4, 1)))
    assert top_labels(p, get_cost("recall@2")).tolist() == [[1, 2]] * 4
    assert top_labels(p, get_cost("recall@2"), 9).tolist() == [[1, 2, 0]] * 4
    assert top_labels(p[:0], get_cost("recall@2")).shape == (0, 2)
    assert decide(p[:0], get_cost("ndcg@2")).shape == (0, 3)
