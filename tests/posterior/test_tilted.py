"""Distributions tilted to other marginals: iterative proportional fitting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from refpair._kernels.posterior import tilt_to_marginals
from refpair.posterior import LabelDistribution


def some(seed, n=4, n_labels=4, n_vectors=9):
    rng = np.random.default_rng(seed)
    vectors = np.unique(rng.integers(0, 2, (n_vectors, n_labels)), axis=0).astype(np.uint8)
    weights = rng.random((n, len(vectors))) * (rng.random((n, len(vectors))) < 0.8)
    weights[:, 0] += 0.01
    p = LabelDistribution.from_dense(vectors, weights)
    reachable = (p.weights().toarray() > 0) * rng.random(weights.shape)
    reachable /= reachable.sum(axis=1, keepdims=True)
    return p, np.clip(reachable @ vectors, 1e-3, 1 - 1e-3)


def fitted(p, targets, n_sweeps):
    weight = p.weight.copy()
    tilt_to_marginals(p.start, p.index, weight, *p._label_lists, targets, n_sweeps, 1e-12)
    return LabelDistribution(p.vectors, p.start, p.index, weight)


@given(st.integers(0, 10_000))
def test_labels_get_their_probabilities_where_the_vectors_allow_it(seed):
    p, targets = some(seed)
    q = fitted(p, targets, 3000)
    there = (p.marginals() > 0) & (p.marginals() < 1)
    off = np.abs(q.marginals() - targets)[there]
    assert off.max(initial=0) < 0.02
    np.testing.assert_array_equal(q.index, p.index)


@given(st.integers(0, 10_000))
def test_weights_change_by_factors_of_labels_alone(seed):
    """That is what makes it the nearest one: log q/p is a sum of one number a label and a constant."""
    p, targets = some(seed, n=1)
    q = p.tilted(targets)
    kept = q.weight > 1e-200
    ratio = np.log(q.weight[kept] / p.weight[kept])
    design = np.column_stack([p.vectors[p.index[kept]], np.ones(kept.sum())])
    left = ratio - design @ np.linalg.lstsq(design, ratio, rcond=None)[0]
    assert np.abs(left).max() < 1e-6


def test_it_has_the_least_relative_entropy():
    p, targets = some(3, n=1, n_labels=3)
    q = fitted(p, targets, 2000)
    design = p.vectors[p.index].astype(float)

    def dual(theta):
        return np.log((p.weight * np.exp(design @ theta)).sum()) - q.marginals()[0] @ theta

    theta = minimize(dual, np.zeros(3), tol=1e-12).x
    best = p.weight * np.exp(design @ theta)
    np.testing.assert_allclose(q.weight, best / best.sum(), atol=1e-4)


def test_what_is_so_already_stays():
    p, _ = some(5)
    marginals = np.clip(p.marginals(), 1e-9, 1 - 1e-9)
    np.testing.assert_allclose(p.tilted(marginals).weight, p.weight, atol=1e-6)


def test_a_label_of_all_vectors_or_of_none_stays():
    p = LabelDistribution.from_dense([[1, 0, 0], [1, 0, 1]], [[1, 3]])
    q = p.tilted(np.array([[0.2, 0.9, 0.5]]))
    np.testing.assert_allclose(q.marginals(), [[1, 0, 0.5]])


def test_rows_do_not_depend_on_each_other():
    p, targets = some(7, n=6)
    whole = p.tilted(targets)
    for i in range(6):
        one = p[i : i + 1].tilted(targets[i : i + 1])
        np.testing.assert_array_equal(one.weight, whole[i : i + 1].weight)


@pytest.mark.parametrize(
    "targets", [np.ones((4, 4)), np.zeros((4, 4)), np.full((3, 4), 0.5), np.full((4, 4), np.nan)]
)
def test_bad_targets_are_refused(targets):
    p, _ = some(0)
    with pytest.raises(ValueError, match="targets must be probabilities"):
        p.tilted(targets)
