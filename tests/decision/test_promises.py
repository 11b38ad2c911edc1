"""Thresholds of rows to answer, by one fixed sequence of tests."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.decision.mean_bounds import mean_p_value, mean_upper_bound
from refpair.decision.promises import Promise, find_thresholds, limit_of_share


def random_promises(rng, n, n_promises, *, ties=False):
    """Return promises of random rows, whose losses grow with scores, and their limits."""
    promises = []
    for _ in range(n_promises):
        scores = rng.random(n)
        scores = scores.round(1) if ties else scores
        chance = rng.random(n)
        counts = rng.random(n) < chance
        losses = (rng.random(n) < scores) * rng.choice([0.5, 1.0], n)
        promises.append(Promise(rng.uniform(0.05, 0.8), losses, scores * chance * 5, counts, chance, 5.0))
    return promises


def obvious_thresholds(promises, delta, order):
    """Look at each level and each row, one by one."""
    n_small = round(len(order) / 10)
    small, tested = order[:n_small], order[n_small:]
    levels = [tuple(np.quantile(one.scores[small], q) for one in promises) for q in np.linspace(0, 1, 200)]
    levels = [*sorted(set(levels)), (np.inf,) * len(promises)]

    def answered(rows, level):
        return [i for i in rows if all(one.scores[i] <= at for one, at in zip(promises, level, strict=True))]

    def power(level):
        found = []
        for one in promises:
            rows = answered(small, level)
            n = sum(one.counts[i] + one.chance[i] for i in rows) / 2
            lost = [one.losses[i] * one.counts[i] for i in range(len(order))]
            more = 20 * one.limit
            ratio = (sum(lost[i] for i in small) + more) / (sum(one.scores[small]) / one.unit + more)
            total = sum(lost[i] + ratio * one.scores[i] / one.unit for i in rows) / 2
            found.append((one.limit - total / max(n, 1e-12)) * np.sqrt(n / one.limit))
        return min(found)

    best = None
    powers = [power(level) for level in levels]
    start = next(i for i, one in enumerate(powers) if one > max(powers) - 1e-9)
    for level in levels[start:]:
        rows = answered(tested, level)
        losses = [np.array([one.losses[i] for i in rows if one.counts[i]]) for one in promises]
        if any(
            mean_p_value(some, one.limit, delta) > delta * (1 + 1e-9)
            for some, one in zip(losses, promises, strict=True)
        ):
            break
        best = level
    return best


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([30, 120, 300]), st.booleans())
def test_thresholds_are_those_of_the_obvious_loop(seed, n_promises, n, ties):
    rng = np.random.default_rng(seed)
    promises, order = random_promises(rng, n, n_promises, ties=ties), rng.permutation(n)
    found, expected = find_thresholds(promises, 0.1, order), obvious_thresholds(promises, 0.1, order)
    if expected is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, expected)


def tables(n_draws, n=600):
    """Yield tables whose lowest scores are wrong more often than the ones above them."""
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        scores = rng.random(n)  # from too high an expectation
        chance = np.where(scores < 0.2, 0.25, np.where(scores < 0.6, 0.02, 0.3))
        losses = (rng.random(n) < chance).astype(float)
        yield losses, scores, rng.permutation(n)


def mean_loss(threshold):
    """Return the mean loss below a threshold, of all rows that there may be."""
    t = min(threshold, 1.0)
    return (0.25 * min(t, 0.2) + 0.02 * np.clip(t - 0.2, 0, 0.4) + 0.3 * max(t - 0.6, 0)) / t


def promise_of(losses, scores, limit):
    everywhere = np.ones(len(losses))
    return Promise(limit, losses, scores, everywhere > 0, everywhere)


@pytest.mark.parametrize("limit", [0.13, 0.15, 0.17])
def test_promises_hold_where_losses_do_not_grow_with_scores(limit):
    delta, n_draws = 0.1, 400
    found = [
        find_thresholds([promise_of(losses, scores, limit)], delta, order)
        for losses, scores, order in tables(n_draws)
    ]
    made = [one[0] for one in found if one is not None]
    assert len(made) > n_draws / 20
    broken = sum(mean_loss(one) > limit for one in made)
    assert broken / n_draws <= delta + 2 * np.sqrt(delta * (1 - delta) / n_draws)


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_limits_hold(share):
    delta, n_draws = 0.1, 400
    broken = 0
    for losses, scores, order in tables(n_draws):
        promise = promise_of(losses, scores, 0.1)
        threshold, limit = limit_of_share(promise, share, delta, order)
        assert (scores <= threshold).sum() == round(share * 600)
        broken += mean_loss(threshold) > limit
    assert broken / n_draws <= delta + 2 * np.sqrt(delta * (1 - delta) / n_draws)


def test_the_limit_of_all_rows_is_the_bound_of_their_mean():
    rng = np.random.default_rng(0)
    (promise,) = random_promises(rng, 200, 1)
    order = rng.permutation(200)
    threshold, limit = limit_of_share(promise, 1.0, 0.1, order)
    assert threshold == np.inf
    assert limit == mean_upper_bound(promise.losses[order[promise.counts[order]]], 0.1)


def test_of_rows_of_equal_scores_all_are_answered_or_none():
    losses, scores = np.zeros(100), np.repeat([0.1, 0.5], 50)
    for share, n_answered in ((0.49, 0), (0.5, 50), (0.9, 50), (1.0, 100)):
        threshold, _ = limit_of_share(promise_of(losses, scores, 0.5), share, 0.1, np.arange(100))
        assert (scores <= threshold).sum() == n_answered


def test_no_promise_can_be_made_of_rows_that_are_all_wrong():
    losses, scores = np.ones(100), np.linspace(0, 1, 100)
    assert find_thresholds([promise_of(losses, scores, 0.5)], 0.1, np.arange(100)) is None
