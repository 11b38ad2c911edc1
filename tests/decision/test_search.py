"""The local searches, on few enough labels that all label vectors can be tried."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels import local_search
from refpair.costs import CountCost, get_cost
from refpair.decision import decide, expected_cost
from refpair.decision import expected as expectation
from refpair.decision.decide import (
    N_LIKELY,
    exhaustive_rule,
    function_search_rule,
    likeliest_labels_rule,
    local_search_rule,
)
from refpair.posterior import LabelDistribution
from tests import naive
from tests.decision.cases import ALL, OWN, random_distribution
from tests.kernels.calling import from_python

best_swap = from_python(local_search.best_swap)
COUNTS = {name: cost for name, (cost, _) in ALL.items() if isinstance(cost, CountCost)}


def rule_for(kind, distribution, cost):
    return local_search_rule(distribution.vectors, cost) if kind == "kernel" else function_search_rule(cost)


def costs_of_all(distribution, cost):
    """The expected costs (n, 2^K) of all label vectors, in the order of naive.all_vectors."""
    everything = np.array(naive.all_vectors(distribution.n_labels), np.uint8)
    return distribution.weights().toarray() @ cost.matrix(distribution.vectors, everything)


def places(labels):
    return labels @ (1 << np.arange(labels.shape[1])[::-1])


@pytest.mark.parametrize("kind", ["kernel", "function"])
@pytest.mark.parametrize("name", COUNTS)
def test_nothing_near_costs_less_nor_does_any_start(name, kind):
    cost = COUNTS[name]
    rng = np.random.default_rng(1)
    for n_labels in (1, 2, 3, 5, 6):
        distribution = random_distribution(rng, 60, n_labels, 2**n_labels)
        labels = rule_for(kind, distribution, cost)(distribution)
        expected = costs_of_all(distribution, cost)
        slack = 1e-9 * np.abs(expected).max()
        for row, costs in zip(labels.tolist(), expected, strict=True):
            near = naive.neighbours(row)[: n_labels if kind == "function" else None]
            assert costs[places(np.array([row]))] <= costs[places(np.array(near))].min() + slack
        own = expected_cost(distribution, labels, cost)
        likely, weight = distribution.most_likely(N_LIKELY)
        starts = [distribution.best_f_beta(1.0), distribution.marginals() > 0.5]
        starts += [np.where(weight[:, [j]] > 0, likely[:, j], labels) for j in range(N_LIKELY)]
        for start in starts:
            assert (own <= expected_cost(distribution, start, cost) + slack).all()


@pytest.mark.parametrize("kind", ["kernel", "function"])
@pytest.mark.parametrize("name", ["accuracy", "counts"])
@pytest.mark.parametrize("n_vectors", [8, 64])
def test_nearly_always_the_best_of_all(name, kind, n_vectors):
    cost = COUNTS[name]
    distribution = random_distribution(np.random.default_rng(7), 500, 6, n_vectors)
    found = expected_cost(distribution, rule_for(kind, distribution, cost)(distribution), cost)
    least = costs_of_all(distribution, cost).min(axis=1)
    assert (found >= least - 1e-9).all()
    assert (found <= least + 1e-9).mean() >= 0.98


@pytest.mark.parametrize("name", OWN)
def test_eleven_labels_against_all_vectors(name):
    cost, _ = OWN[name]
    distribution = sparse_distribution(np.random.default_rng(11), 40, 11)
    found = expected_cost(distribution, decide(distribution, cost), cost)
    least = expected_cost(distribution, exhaustive_rule(distribution.vectors, cost)(distribution), cost)
    assert (found <= least + 1e-9).mean() >= 0.9


def sparse_distribution(rng, n, n_labels):
    vectors = np.unique((rng.random((60, n_labels)) < 0.3).astype(np.uint8), axis=0)
    weights = rng.random((n, len(vectors))) * (rng.random((n, len(vectors))) < 0.2)
    weights[:, 0] += 0.01
    return LabelDistribution.from_dense(vectors, weights)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(sorted(COUNTS)), st.integers(1, 7), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_the_best_prefix(name, n_labels, n_vectors, seed):
    rng = np.random.default_rng(seed)
    distribution = random_distribution(rng, 9, n_labels, min(n_vectors, 2**n_labels))
    found = likeliest_labels_rule(distribution.vectors, COUNTS[name])(distribution)
    marginals, expected = distribution.marginals(), costs_of_all(distribution, COUNTS[name])
    for z, p, costs in zip(found, marginals, expected, strict=True):
        order = np.argsort(-p)
        prefixes = np.array(
            [[k in order[:m] for k in range(n_labels)] for m in range((p > 0).sum() + 1)], int
        )
        assert costs[places(z[None])] == pytest.approx(costs[places(prefixes)].min(), abs=1e-9)


def expected_at(weights, vectors, z, costs):
    """The expected cost of z by a table of costs by |z|, |y| and tp."""
    return sum(w * costs[sum(z), sum(y), sum(map(min, y, z))] for w, y in zip(weights, vectors, strict=True))


@settings(deadline=None, max_examples=150)
@given(st.integers(2, 6), st.integers(1, 8), st.sampled_from([-1, 0, 1]), st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_the_best_swap_is_that_of_all_pairs(n_labels, n_vectors, bend, seed):
    # Costs without any order, and some that bend all one way: what pairs take back is of either sign.
    rng = np.random.default_rng(seed)
    costs = rng.random((n_labels + 1,) * 3) + bend * np.arange(n_labels + 1) ** 2
    everything = np.array(naive.all_vectors(n_labels), np.uint8)
    vectors = everything[rng.permutation(len(everything))[:n_vectors]]
    weights, z = rng.dirichlet(np.ones(len(vectors))), everything[rng.integers(len(everything))]
    sizes, size = vectors.sum(axis=1), int(z.sum())
    first_cell = sizes * (n_labels + 1)
    row, label = np.nonzero(vectors)
    label_start = np.searchsorted(row, np.arange(len(vectors) + 1))
    lists = (
        np.arange(len(vectors), dtype=np.int32),
        weights,
        label_start,
        label.astype(np.int32),
        first_cell,
    )
    now = expected_at(weights, vectors.tolist(), z.tolist(), costs)
    out, into, found = best_swap(
        lists, costs[size].ravel(), first_cell + vectors @ z, z, now, 1e-12, np.empty(n_labels)
    )
    swaps = {}
    for j, k in product(np.flatnonzero(z), np.flatnonzero(z == 0)):
        after = z.tolist()
        after[j], after[k] = 0, 1
        swaps[j, k] = expected_at(weights, vectors.tolist(), after, costs)
    assert found == pytest.approx(min([now, *swaps.values()]), abs=1e-9)
    assert (out, into) == (-1, -1) or swaps[out, into] == pytest.approx(found, abs=1e-9)


def test_tables_are_bounded(monkeypatch):
    cost, _ = OWN["counts"]
    distribution = sparse_distribution(np.random.default_rng(12), 30, 12)
    largest = int(distribution.vectors.sum(axis=1).max())
    free = decide(distribution, cost)
    monkeypatch.setattr(expectation, "_TABLE", 200)
    bounded = decide(distribution, cost)
    assert bounded.sum(axis=1).max() <= largest
    monkeypatch.setattr(expectation, "_TABLE", 0)
    without = decide(distribution, cost)
    for labels in (bounded, without):
        assert (
            expected_cost(distribution, labels, cost) >= expected_cost(distribution, free, cost) - 1e-9
        ).mean() > 0.9


def test_labels_that_no_vector_has_can_be_worth_it():
    # A cost that wants as many labels as possible, whatever they are.
    cost = type(get_cost("f1"))("many", False, lambda tp, fp, fn, tn: fn + tn)
    distribution = LabelDistribution.from_dense(np.eye(2, 14), [[1, 2]])
    assert decide(distribution, cost).all()


def test_weights_of_zero_are_no_trouble():
    vectors = np.array([[0] * 12, [1] + [0] * 11, [1] * 12], np.uint8)
    rows = (np.array([0, 3, 6]), np.array([0, 1, 2] * 2, np.int32), np.array([0, 1, 0, 1.0, 0, 0]))
    distribution = LabelDistribution(vectors, *rows)
    for name in ("f1", "accuracy", "zero_one", "counts", "function"):
        assert decide(distribution, ALL[name][0]).sum(axis=1).tolist() == [1, 0]
