import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.posterior.calibrate import LogOddsPool
from refpair.posterior.code import LogOddsLine


def log_odds(p):
    return np.log(p / (1 - p))


def chance(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def simulated(slope, shift, n=4000, n_labels=5, seed=0):
    """Probabilities, and labels that follow a line through their log odds."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 2, (n, n_labels))
    return chance(x), (rng.random(x.shape) < chance(slope * x + shift)).astype(np.uint8)


@pytest.mark.parametrize(
    ("slope", "shift"),
    [(1.0, 0.0), (0.5, 0.0), (2.0, -1.0), (0.3, 1.5), (1.5, 2.0)],
)
def test_the_line_of_simulated_labels_is_found(slope, shift):
    line = LogOddsLine.fit(*simulated(slope, shift))
    assert line.slope == pytest.approx(slope, abs=0.08)
    assert line.shift == pytest.approx(shift, abs=0.12)


def test_the_line_has_the_largest_likelihood():
    p, y = simulated(0.7, 0.4, n=2000, seed=1)
    line = LogOddsLine.fit(p, y)

    def likelihood(slope, shift):
        found = chance(slope * log_odds(p) + shift)
        fit = np.where(y, np.log(found), np.log1p(-found)).sum()
        return fit - 2.5 * ((slope - 1) ** 2 + shift**2)  # the pull

    best = likelihood(line.slope, line.shift)
    for slope, shift in [(0.03, 0), (-0.03, 0), (0, 0.05), (0, -0.05), (0.03, 0.05), (-0.03, -0.05)]:
        assert best > likelihood(line.slope + slope, line.shift + shift)


def test_calibrated_probabilities_mean_what_they_say():
    p, y = simulated(0.4, -0.8)
    q = LogOddsLine.fit(p, y)(p)
    assert abs(p.mean() - y.mean()) > 0.05, "nothing to calibrate"
    for low in np.arange(0, 1, 0.1):
        inside = (q >= low) & (q < low + 0.1)
        if inside.sum() > 500:
            assert q[inside].mean() == pytest.approx(y[inside].mean(), abs=0.04)


def test_little_data_changes_little():
    line = LogOddsLine.fit(np.array([[0.8]]), np.uint8([[0]]))
    assert 0.5 < line.slope < 1
    assert -0.3 < line.shift < 0


@pytest.mark.parametrize("slope", [-0.2, -1.0, -3.0])
def test_the_line_never_falls(slope):
    line = LogOddsLine.fit(*simulated(slope, 0.5))
    assert line.slope == 0.0


def test_a_level_line_is_the_mean_of_the_labels():
    p = np.array([0.9] * 900 + [0.5] * 100)[:, None]
    y = np.zeros((1000, 1), np.uint8)
    y[:45] = y[900:950] = 1  # one in twenty, and one in two
    assert LogOddsLine.fit(p, y)(p).mean() == pytest.approx(y.mean(), abs=0.03)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 200))
def test_probabilities_keep_their_order(seed, n):
    rng = np.random.default_rng(seed)
    p, y = rng.random((n, 2)), rng.integers(0, 2, (n, 2), dtype=np.uint8)
    line = LogOddsLine.fit(p, y)
    assert line.slope >= 0
    grid = np.linspace(0, 1, 501)[:, None]
    assert (np.diff(line(grid), axis=0) >= 0).all()


@pytest.mark.parametrize("truth", [0, 1])
@pytest.mark.parametrize("said", [0.0, 1e-9, 0.5, 1.0 - 1e-9, 1.0])
def test_what_is_sure_stays_strictly_between_0_and_1(said, truth):
    p, y = np.full((1000, 3), said), np.full((1000, 3), truth, np.uint8)
    line = LogOddsLine.fit(p, y)
    assert np.isfinite([line.slope, line.shift]).all()
    q = line(np.array([[0.0, said, 1.0]]))
    assert ((q > 0) & (q < 1)).all()


@pytest.mark.parametrize("wrong", [0.05, 0.2, 0.4])
def test_what_is_sure_and_sometimes_wrong_becomes_less_sure(wrong):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (3000, 1), dtype=np.uint8)
    p = np.where(rng.random(y.shape) < wrong, 1 - y, y).astype(np.float64)
    q = LogOddsLine.fit(p, y)(p)
    assert q[p == 1].mean() == pytest.approx(y[p == 1].mean(), abs=0.02)
    assert q[p == 0].mean() == pytest.approx(y[p == 0].mean(), abs=0.02)


def test_a_steep_line_stays_strictly_between_0_and_1():
    p, y = np.tile([[0.4], [0.6]], (100, 1)), np.tile(np.uint8([[0], [1]]), (100, 1))
    q = LogOddsLine.fit(p, y)(np.array([[0.0, 1.0]]))
    assert ((q > 0) & (q < 1)).all()


def test_what_is_calibrated_already_is_left_alone():
    line = LogOddsLine.fit(np.array([[0.5], [0.5]]), np.uint8([[0], [1]]))
    assert (line.slope, line.shift) == (1.0, 0.0)


def test_all_labels_share_one_line():
    p, y = simulated(0.6, 0.3, n=500, n_labels=4)
    whole = LogOddsLine.fit(p, y)
    assert LogOddsLine.fit(p.reshape(-1, 1), y.reshape(-1, 1)) == whole
    assert whole(p).shape == p.shape
    np.testing.assert_allclose(whole(p), chance(whole.slope * log_odds(p) + whole.shift), rtol=1e-6)


@pytest.mark.parametrize("coefficient", [-50.0, 0.0, 50.0])
@pytest.mark.parametrize("shift", [-50.0, 50.0])
def test_a_steep_pool_stays_strictly_between_0_and_1(coefficient, shift):
    q = LogOddsPool(np.array([coefficient]), shift)([np.array([[0.0, 0.5, 1.0]])])
    assert ((q > 0) & (q < 1)).all()
