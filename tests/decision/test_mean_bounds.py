"""Tests and upper bounds of the mean of losses from 0 to 1."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.decision.mean_bounds import mean_is_at_most, mean_p_value, mean_upper_bound

levels = st.sampled_from([0.01, 0.05, 0.1, 0.3])
one_loss = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)
some_losses = st.lists(one_loss, max_size=40) | st.lists(st.just(0.0), min_size=20, max_size=60)


def obvious_p_value(losses, limit, delta):
    """Bet loss by loss, by the mean and variance of all losses before, and of a first one of 1/2."""
    capital, largest = 1.0, 1.0
    for i, loss in enumerate(losses):
        if largest >= 1 / delta:
            break
        means = [(0.5 + sum(losses[:k])) / (k + 1) for k in range(i + 1)]
        squares = 0.25 + sum((losses[k - 1] - means[k]) ** 2 for k in range(1, i + 1))
        variance = squares / (i + 1)
        n_left, wanted = len(losses) - i, (1 + 1e-9) / (delta * capital)
        bet = min(math.sqrt(2 * math.log(wanted) / (variance * n_left)), 0.75 / (1 - limit))
        if limit > 0 and (1 + bet * limit) ** n_left < wanted:
            bet = min((wanted ** (1 / n_left) - 1) / limit, 0.999 / (1 - limit))
        capital *= 1 + bet * (limit - loss)
        largest = max(largest, capital)
    return 1 / largest


@settings(deadline=None)
@given(some_losses, st.floats(0, 0.99), levels)
def test_the_p_value_is_that_of_the_obvious_loop(losses, limit, delta):
    found = mean_p_value(np.array(losses), limit, delta)
    assert found == pytest.approx(obvious_p_value(losses, limit, delta), rel=1e-6)


@settings(deadline=None)
@given(some_losses, levels)
def test_the_bound_is_the_last_limit_shown_of_those_from_1_downwards(losses, delta):
    bound, limit = 1.0, 0.995
    while limit > 2e-6 and obvious_p_value(losses, limit, delta) <= delta * (1 + 1e-9):
        bound, limit = limit, limit * 0.995
    assert mean_upper_bound(np.array(losses), delta) == pytest.approx(bound, rel=1e-9)


DISTRIBUTIONS = {
    "one in ten": (0.1, lambda rng, n: rng.random(n) < 0.1),
    "one in fifty": (0.02, lambda rng, n: rng.random(n) < 0.02),
    "most": (0.8, lambda rng, n: rng.random(n) < 0.8),
    "uniform": (0.5, lambda rng, n: rng.random(n)),
    "small": (0.05, lambda rng, n: rng.beta(0.5, 9.5, n)),
    "narrow": (0.3, lambda rng, n: rng.beta(30, 70, n)),
    "mixed": (0.14, lambda rng, n: (rng.random(n) < 0.7) * rng.beta(1, 4, n)),
    "all the same": (0.2, lambda rng, n: np.full(n, 0.2)),
}
N_DRAWS = 1500


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("n", [20, 300])
def test_a_mean_that_is_not_below_the_limit_is_seldom_said_to_be(name, n):
    mean, draw = DISTRIBUTIONS[name]
    rng = np.random.default_rng(n)
    draws = [np.asarray(draw(rng, n), float) for _ in range(N_DRAWS)]
    for delta in (0.05, 0.1):
        wrong = np.mean([mean_is_at_most(losses, mean, delta) for losses in draws])
        too_low = np.mean([mean_upper_bound(losses, delta) < mean * (1 - 1e-9) for losses in draws[:500]])
        assert wrong <= delta + 2.5 * math.sqrt(delta * (1 - delta) / N_DRAWS)
        assert too_low <= delta + 2.5 * math.sqrt(delta * (1 - delta) / 500)


@pytest.mark.parametrize(("name", "least"), [("one in ten", 0.75), ("uniform", 0.75), ("mixed", 0.7)])
def test_power_is_nearly_that_of_a_test_that_knows_the_distribution(name, least):
    """With the limit 2.2 standard errors above the mean, the best one finds it in 82 % of draws."""
    mean, draw = DISTRIBUTIONS[name]
    rng, n = np.random.default_rng(0), 600
    spread = np.asarray(draw(rng, 100_000), float).std()
    limit = mean + 2.2 * spread / math.sqrt(n)
    found = [mean_is_at_most(np.asarray(draw(rng, n), float), limit, 0.1) for _ in range(500)]
    assert np.mean(found) >= least


def test_what_can_be_said_of_few_losses():
    """That 45 losses of 0 have a mean of at most 0.05 is all that 90 % confidence can mean: 0.95⁴⁵ < 0.1."""
    assert mean_is_at_most(np.zeros(46), 0.05, 0.1)
    assert not mean_is_at_most(np.zeros(44), 0.05, 0.1)
    assert mean_p_value(np.empty(0), 0.5, 0.1) == 1.0
    assert mean_upper_bound(np.empty(0), 0.1) == 1.0
    assert mean_p_value(np.zeros(100), 0.0, 0.1) == 1.0  # nothing shows that a mean is 0
    assert mean_p_value(np.ones(3), 1.0, 0.1) == 0.0  # and nothing needs to show that it is at most 1


@pytest.mark.parametrize("losses", [[-0.1], [1.1], [np.nan], [[0.5]]])
def test_what_are_no_losses_is_refused(losses):
    with pytest.raises(ValueError, match="losses must be an array of numbers from 0 to 1"):
        mean_p_value(np.array(losses), 0.5, 0.1)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, np.nan])
def test_a_level_that_is_none_is_refused(delta):
    with pytest.raises(ValueError, match="delta must be a number between 0 and 1"):
        mean_upper_bound(np.zeros(3), delta)
