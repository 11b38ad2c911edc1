from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels.expected import sum_costs
from refpair.costs import Cost, get_cost
from refpair.decision import expected, expected_cost
from refpair.posterior import IndependentLabels, LabelDistribution
from tests import naive
from tests.decision.cases import ALL, cases, random_distribution

COSTS = {
    **ALL,
    "per_label": (
        Cost.per_label(false_positive=0.5, false_negative=3),
        lambda y, z: naive.per_label(y, z, [Fraction(1, 2)] * len(y), [3] * len(y)),
    ),
}


@pytest.mark.parametrize("name", COSTS)
@settings(deadline=None, max_examples=25)
@given(case=cases(), data=st.data())
def test_the_mean_over_the_truths(name, case, data):
    cost, slow_cost = COSTS[name]
    z = data.draw(st.sampled_from(naive.all_vectors(len(case.vectors[0]))))
    got = expected_cost(case.distribution(), [z] * len(case.weights), cost)
    slow = [float(naive.expected_cost(case.vectors, weights, z, slow_cost)) for weights in case.weights]
    np.testing.assert_allclose(got, slow, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", COSTS)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_the_mean_over_independent_labels(name, data):
    cost, slow_cost = COSTS[name]
    p = data.draw(st.lists(st.integers(0, 8).map(lambda i: Fraction(i, 8)), min_size=1, max_size=4))
    vectors, weights = naive.all_vectors(len(p)), naive.independent_weights(p)
    labels = IndependentLabels(np.float64([p] * len(vectors)))
    slow = [float(naive.expected_cost(vectors, weights, z, slow_cost)) for z in vectors]
    np.testing.assert_allclose(expected_cost(labels, vectors, cost), slow, rtol=0, atol=1e-12)


def test_a_function_of_independent_labels_is_sampled():
    cost, _ = ALL["function"]
    p = np.random.default_rng(1).random((3, 11))
    z = [[0, 1, 1, 0] + [1] * 7] * 3
    vectors = naive.all_vectors(11)
    exact = LabelDistribution.from_dense(vectors, [naive.independent_weights(row) for row in p.tolist()])
    got = expected_cost(IndependentLabels(p), z, cost)
    np.testing.assert_allclose(got, expected_cost(exact, z, cost), rtol=0.1)


def test_without_room_for_a_table(monkeypatch):
    rng = np.random.default_rng(2)
    distribution = random_distribution(rng, 9, 5, 6)
    z = rng.integers(0, 2, (9, 5))
    by_table = expected_cost(distribution, z, get_cost("accuracy"))
    monkeypatch.setattr(expected, "_LARGE_TABLE", 0)
    np.testing.assert_allclose(expected_cost(distribution, z, get_cost("accuracy")), by_table, rtol=1e-12)


def test_labels_in_other_forms():
    distribution = LabelDistribution.from_dense([[0, 1, 1], [1, 1, 0]], [[1, 3], [1, 1]])
    labels = np.array([[1, 1, 0], [0, 0, 0]])
    for form in (labels.tolist(), sp.csr_array(labels), np.asfortranarray(labels, dtype=np.uint8)):
        np.testing.assert_allclose(expected_cost(distribution, form, get_cost("f1")), [0.125, 1])
    for wrong in ([[1, 1, 0]], [[1, 1]] * 2):
        with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
            expected_cost(distribution, wrong, get_cost("f1"))


def test_a_cost_that_is_no_number_is_reported_with_its_counts():
    broken = Cost.from_counts(lambda tp, fp, fn, tn: tp / fp, name="broken")
    distribution = LabelDistribution.from_dense([[0, 1]], [[1]])
    with pytest.raises(ValueError, match="'broken' is inf for tp=1, fp=0"):
        expected_cost(distribution, [[0, 1]], broken)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_sums_of_costs(seed):
    rng = np.random.default_rng(seed)
    costs, weight = rng.random((3, 5)), rng.random(4)
    rows, cells = rng.integers(3, size=6), rng.integers(5, size=(6, 4))
    slow = naive.sum_costs(cells.tolist(), rows.tolist(), weight.tolist(), costs.tolist())
    np.testing.assert_allclose(sum_costs(cells, rows, weight, costs), slow)
