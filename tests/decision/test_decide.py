from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.costs import Cost, get_cost
from refpair.decision import decide, expected, expected_cost
from refpair.decision.expected import needs_only_marginals
from refpair.posterior import IndependentLabels, LabelDistribution
from tests import naive
from tests.decision.cases import ALL, cases, random_distribution

PRICES = st.lists(st.integers(0, 3), min_size=5, max_size=5)


def assert_least(case, cost, slow_cost):
    labels = decide(case.distribution(), cost)
    assert labels.dtype == np.uint8
    for z, weights in zip(labels.tolist(), case.weights, strict=True):
        expected = naive.expected_cost(case.vectors, weights, z, slow_cost)
        assert expected == naive.least_expected_cost(case.vectors, weights, slow_cost)


@pytest.mark.parametrize("name", ALL)
@settings(deadline=None, max_examples=40)
@given(case=cases())
def test_no_label_vector_costs_less(name, case):
    assert_least(case, *ALL[name])


@settings(deadline=None, max_examples=40)
@given(case=cases(), false_positive=PRICES, false_negative=PRICES)
def test_no_label_vector_costs_less_per_label(case, false_positive, false_negative):
    n_labels = len(case.vectors[0])
    fp, fn = false_positive[:n_labels], false_negative[:n_labels]
    cost = Cost.per_label(false_positive=fp, false_negative=fn)
    assert_least(case, cost, lambda y, z: naive.per_label(y, z, fp, fn))


@pytest.mark.parametrize("name", ["hamming", "rank", "f1", "f0.5", "f2", "accuracy", "function"])
@settings(deadline=None, max_examples=25)
@given(case=cases(max_labels=4, max_rows=1))
def test_ties_go_to_fewer_labels(name, case):
    cost, slow_cost = ALL[name]
    z = decide(case.distribution(), cost)[0].tolist()
    weights = case.weights[0]
    least = naive.least_expected_cost(case.vectors, weights, slow_cost)
    best = [
        v
        for v in naive.all_vectors(len(z))
        if naive.expected_cost(case.vectors, weights, v, slow_cost) == least
    ]
    assert sum(z) == min(map(sum, best))


def test_rounding_breaks_no_tie():
    # Ten times 0.1 is not 1 in floats, and the mean of equal numbers need not be the number.
    vectors = np.eye(10, dtype=np.uint8)
    same = LabelDistribution.from_dense(vectors, np.full((1, 10), 0.1))
    assert not decide(same, get_cost("rank")).any()
    for n_labels in range(1, 400, 7):
        marginals = np.full((1, n_labels), 0.1) + np.linspace(-1, 1, n_labels) * 1e-14
        assert not decide(IndependentLabels(marginals), get_cost("rank")).any()
    assert not decide(IndependentLabels([[0.1 + 0.2 + 0.2 + 1e-15]]), get_cost("hamming")).any()
    thirds = Cost.per_label(false_positive=1, false_negative=2)
    assert not decide(IndependentLabels([[1 - 2 / 3]]), thirds).any()


def test_a_sure_label_is_predicted_whatever_a_false_one_would_cost():
    cost = Cost.per_label(false_positive=1e15, false_negative=1e-3)
    assert decide(IndependentLabels([[1.0, 0.999]]), cost).tolist() == [[1, 0]]


def test_the_mode_of_lowest_index():
    p = LabelDistribution.from_dense([[1, 1], [0, 1], [0, 0]], [[1, 2, 2], [1, 1, 1]])
    assert decide(p, get_cost("zero_one")).tolist() == [[0, 1], [1, 1]]


def test_which_costs_need_only_marginals():
    needs = {name: needs_only_marginals(cost) for name, (cost, _) in ALL.items()}
    assert [name for name in needs if needs[name]] == ["hamming", "rank"]
    assert needs_only_marginals(Cost.per_label())


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n_labels", [3, 12])
def test_jobs_and_neighbouring_rows_do_not_matter(name, n_labels):
    cost, _ = ALL[name]
    rng = np.random.default_rng(3)
    distribution = random_distribution(rng, 70, n_labels, 5)
    labels = decide(distribution, cost)
    np.testing.assert_array_equal(decide(distribution, cost, n_jobs=2), labels)
    np.testing.assert_array_equal(decide(distribution[65:68], cost), labels[65:68])
    assert decide(distribution[:0], cost).shape == (0, n_labels)


MARGINALS = st.lists(st.integers(0, 8).map(lambda i: Fraction(i, 8)), min_size=1, max_size=5)


@pytest.mark.parametrize("name", ALL)
@settings(deadline=None, max_examples=40)
@given(marginals=MARGINALS)
def test_independent_labels(name, marginals):
    cost, slow_cost = ALL[name]
    z = decide(IndependentLabels([[float(p) for p in marginals]]), cost)[0].tolist()
    vectors, weights = naive.all_vectors(len(marginals)), naive.independent_weights(marginals)
    assert naive.expected_cost(vectors, weights, z, slow_cost) == naive.least_expected_cost(
        vectors, weights, slow_cost
    )


@pytest.mark.parametrize("beta", [0.5, 1, 2])
def test_f_beta_of_many_independent_labels(beta):
    # As P(k, |y| = s) without shortcuts: one recursion over the other labels for each label.
    rng = np.random.default_rng(0)
    n_labels = 60
    marginals = np.stack([rng.random(n_labels) ** power for power in (0.1, 1, 3, 10, 40)])
    marginals[:, :8] = [0, 1, 0.5, 0.5, 1e-9, 1 - 1e-9, 1e-300, 1]
    cost = get_cost(f"f{beta}")
    for p, z in zip(marginals, decide(IndependentLabels(marginals), cost), strict=True):
        values = {0: float(np.prod(1 - p))}
        joint = np.stack([p[k] * counts(np.delete(p, k)) for k in range(n_labels)])
        sizes = np.arange(1, n_labels + 1)
        for m in sizes:
            scores = joint @ ((1 + beta**2) / (beta**2 * sizes + m))
            values[m] = np.sort(scores)[::-1][:m].sum()
        got = 1 - expected_cost(IndependentLabels(p[None]), z[None], cost)[0]
        assert got == pytest.approx(max(values.values()), abs=1e-12)


def counts(chances):
    out = np.ones(1)
    for p in chances:
        out = np.convolve(out, [1 - p, p])
    return out


def more_labels_than_two(tp, fp, fn, tn):
    """A cost that rises with tp: right labels past the second are a nuisance."""
    return fp + 2 * fn + 3 * np.maximum(tp - 2, 0)


@pytest.mark.parametrize("cost", [ALL["function"][0], Cost.from_counts(more_labels_than_two)])
def test_a_sample_stands_for_many_independent_labels(cost):
    labels = IndependentLabels(np.random.default_rng(5).random((6, 12)) ** 2)
    z = decide(labels, cost)
    np.testing.assert_array_equal(decide(labels[2:4], cost), z[2:4])
    own = expected_cost(labels, z, cost)
    everything = np.array(naive.all_vectors(12), np.uint8)
    drawn = (np.random.default_rng(1).random((4000, labels.n_labels)) < labels.marginals()[1]).view(np.uint8)
    drawn = LabelDistribution.from_samples(drawn[None])
    costs = drawn.weights() @ cost.matrix(drawn.vectors, everything)
    assert own[1] <= costs.min() * 1.05


def test_accuracy_of_many_independent_labels():
    labels = IndependentLabels(np.random.default_rng(5).random((6, 14)) ** 2)
    cost = get_cost("accuracy")
    own = expected_cost(labels, decide(labels, cost), cost)
    everything = np.array(naive.all_vectors(14), np.uint8)
    for row in range(6):
        one = IndependentLabels(np.repeat(labels[row : row + 1].marginals(), len(everything), axis=0))
        assert own[row] == pytest.approx(expected_cost(one, everything, cost).min(), abs=1e-12)


def test_without_room_for_a_table_independent_labels_are_sampled(monkeypatch):
    labels = IndependentLabels(np.random.default_rng(6).random((4, 12)) ** 2)
    cost = get_cost("accuracy")
    exact = decide(labels, cost)
    monkeypatch.setattr(expected, "_TABLE", 0)
    sampled = decide(labels, cost)
    gap = expected_cost(labels, sampled, cost) - expected_cost(labels, exact, cost)
    assert (gap >= -1e-12).all()
    assert gap.max() < 0.02
