"""Calibrated log odds of several sources: the pool of largest likelihood."""

import numpy as np
import pytest
from scipy.optimize import minimize

from refpair.posterior.calibrate import LEAST, LogOddsPool, log_loss


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def simulated(slopes, shift, n=4000, seed=0):
    """Return what sources say of labels whose true log odds are a sum of theirs."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1.5, (len(slopes), n, 3))
    p = sigmoid(np.tensordot(slopes, x, axes=1) + shift)
    return [sigmoid(one) for one in x], (rng.random(p.shape) < p).astype(np.uint8)


@pytest.mark.parametrize(
    ("slopes", "shift"), [((1.5,), -0.3), ((0.5,), 1.0), ((0.8, 0.4), -1.0), ((0.7, 0.0, 1.2), 0)]
)
def test_it_finds_what_labels_were_drawn_from(slopes, shift):
    pool = LogOddsPool.fit(*simulated(slopes, shift))
    np.testing.assert_allclose(pool.coefficients.mean(axis=1), slopes, atol=0.1)
    assert pool.shift == pytest.approx(shift, abs=0.3)


def test_it_is_the_best_of_all_pools():
    sources, truths = simulated((0.6, 0.9), 0.5, n=300)
    pool = LogOddsPool.fit(sources, truths)

    def penalised(at):
        kept = [np.clip(p, LEAST, 1 - LEAST) for p in sources]
        logs = [x for p in kept for x in (np.log(p), -np.log(1 - p))]
        x = sum(a * one for a, one in zip(at[:-1], logs, strict=True)) + at[-1]
        likelihood = np.where(truths, np.log(sigmoid(x)), np.log(sigmoid(-x))).sum()
        return -likelihood + 2.5 * ((at[:-1] - 0.5) ** 2).sum() + 0.5 * at[-1] ** 2

    found = np.append(pool.coefficients.ravel(), pool.shift)
    assert found.min() > 0.1, "no bound is in the way"
    best = minimize(penalised, found + 0.1, tol=1e-12).x
    np.testing.assert_allclose(found, best, atol=2e-3)


def test_a_source_that_says_the_opposite_does_not_count():
    (p,), truths = simulated((1.0,), 0.0)
    pool = LogOddsPool.fit([p, 1 - p], truths)
    assert (pool.coefficients[0] > 0.5).all()
    assert pool.coefficients[1] == pytest.approx(0, abs=0.05)
    alone = LogOddsPool.fit([1 - p], truths)
    np.testing.assert_allclose(alone([1 - p]), truths.mean(), atol=0.02)


def test_cells_that_are_low_by_all_sources_count_as_many():
    rng = np.random.default_rng(1)
    p = np.where(rng.random((500, 4)) < 0.7, 0.0, rng.random((500, 4)))
    truths = (rng.random(p.shape) < np.maximum(p, 0.03)).astype(np.uint8)
    low = p == 0
    pool = LogOddsPool.fit([p], truths)
    apart = LogOddsPool.fit([np.where(low, LEAST * (1 + 1e-9), p)], truths)  # none is as low as can be
    np.testing.assert_allclose(pool.coefficients, apart.coefficients, rtol=1e-2)
    assert pool([p])[low].mean() == pytest.approx(truths[low].mean(), abs=0.02)


def test_probabilities_stay_between_0_and_1_and_in_order():
    sources, truths = simulated((1.3,), 0.0, n=500)
    pool = LogOddsPool.fit(sources, truths)
    asked = np.linspace(0, 1, 101)[:, None]
    told = pool([asked])
    assert (told > 0).all()
    assert (told < 1).all()
    assert (np.diff(told[:, 0]) >= 0).all()


def test_few_samples_leave_it_near_the_mean_of_the_sources():
    pool = LogOddsPool.fit([np.array([[0.9]]), np.array([[0.7]])], np.uint8([[0]]))
    np.testing.assert_allclose(pool.coefficients, 0.5, atol=0.35)


def test_calibrating_lowers_the_log_loss_of_sources_that_are_too_sure():
    (p,), truths = simulated((0.4,), 0.0)
    assert log_loss(LogOddsPool.fit([p], truths)([p]), truths).mean() < 0.95 * log_loss(p, truths).mean()


@pytest.mark.parametrize(
    ("coefficients", "shift", "least"),
    [
        (np.full((1, 2), np.nan), 0.0, 0.01), (np.ones((1, 2)), np.inf, 0.01),
        (np.full((1, 2), 99.0), 0.0, 0.01), (np.ones((1, 2)), 0.0, 0.0), (np.ones((1, 2)), 0.0, 0.5),
    ],
)  # fmt: skip
def test_impossible_numbers_are_refused(coefficients, shift, least):
    with pytest.raises(ValueError, match=r"coefficients and shift|least"):
        LogOddsPool(coefficients, shift, least)


# ---- what each label has of its own ----


def simulated_apart(shifts, slopes, n=3000, seed=3):
    """Return what two sources say of labels, each with a shift and with slopes of its own."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1.5, (2, n, len(shifts)))
    p = sigmoid((x * np.transpose(slopes)[:, None]).sum(axis=0) + np.array(shifts))
    return [sigmoid(one) for one in x], (rng.random(p.shape) < p).astype(np.uint8)


def test_labels_that_differ_are_told_apart():
    shifts, slopes = [-1.0, 0.0, 1.0], [(1.2, 0.3), (0.6, 0.6), (0.2, 1.0)]
    sources, truths = simulated_apart(shifts, slopes)
    shared = LogOddsPool.fit(sources, truths)
    pool = shared.fit_labels(sources, truths)
    assert pool.of_labels.shape == (3, 3)
    np.testing.assert_array_equal(pool.coefficients, shared.coefficients)
    found = pool.coefficients.mean(axis=1) + pool.of_labels[:, 1:]
    np.testing.assert_allclose(found, slopes, atol=0.25)
    np.testing.assert_allclose(pool(sources).mean(axis=0), truths.mean(axis=0), atol=0.01)
    assert log_loss(pool(sources), truths).mean() < 0.95 * log_loss(shared(sources), truths).mean()


def test_what_a_label_adds_is_a_ridge_regression():
    sources, truths = simulated_apart([-1.0, 0.5], [(1.0, 0.4), (0.5, 0.9)], n=200)
    shared = LogOddsPool.fit(sources, truths)
    pool = shared.fit_labels(sources, truths)
    kept = [np.clip(p, LEAST, 1 - LEAST) for p in sources]
    odds = [np.log(p) - np.log(1 - p) for p in kept]
    for k in range(2):
        base = np.log(shared(sources)[:, k]) - np.log(1 - shared(sources)[:, k])

        def penalised(at, k=k, base=base):
            z = base + at[0] + sum(d * one[:, k] for d, one in zip(at[1:], odds, strict=True))
            likelihood = np.where(truths[:, k], np.log(sigmoid(z)), np.log(sigmoid(-z))).sum()
            return -likelihood + 0.5 * (2.0 * at[0] ** 2 + 100.0 * (at[1:] ** 2).sum())

        best = minimize(penalised, np.zeros(3), tol=1e-12).x
        np.testing.assert_allclose(pool.of_labels[k], best, atol=1e-3)


def test_few_samples_leave_labels_as_all_are():
    sources, truths = simulated_apart([-1.0, 1.0], [(1.0, 0.5)] * 2, n=3)
    pool = LogOddsPool.fit(sources, truths)
    assert np.abs(pool.fit_labels(sources, truths)(sources) - pool(sources)).max() < 0.2


def test_many_labels_are_taken_in_parts(monkeypatch):
    sources, truths = simulated_apart(np.linspace(-1, 1, 7), [(0.5, 0.5)] * 7, n=50)
    pool = LogOddsPool.fit(sources, truths)
    whole = pool.fit_labels(sources, truths).of_labels
    monkeypatch.setattr("refpair.posterior.calibrate._CELLS", 2 * 50 * 3)
    np.testing.assert_allclose(pool.fit_labels(sources, truths).of_labels, whole, atol=1e-9)


def test_cells_of_nan_do_not_count():
    sources, truths = simulated_apart([-1.0, 1.0], [(1.0, 0.5)] * 2, n=300)
    blank = np.zeros(truths.shape, bool)
    blank[:120, 0] = True
    some = [np.where(blank, np.nan, p) for p in sources]
    pool = LogOddsPool.fit(some, truths).fit_labels(some, truths)
    other = LogOddsPool.fit(some, np.where(blank, 1 - truths, truths)).fit_labels(some, truths)
    np.testing.assert_array_equal(pool.coefficients, other.coefficients)
    first = [p[120:, :1] for p in sources]
    alone = LogOddsPool(pool.coefficients, pool.shift).fit_labels(first, truths[120:, :1])
    np.testing.assert_allclose(pool.of_labels[0], alone.of_labels[0], atol=1e-6)


def test_a_cell_of_weight_2_counts_as_two_and_one_of_0_does_not():
    sources, truths = simulated_apart([-1.0, 1.0], [(1.0, 0.5), (0.3, 0.9)], n=300)
    weight = np.random.default_rng(0).integers(0, 3, truths.shape)
    pool = LogOddsPool.fit(sources, truths, row_weight=weight.astype(float))
    pool = pool.fit_labels(sources, truths, weight.astype(float))
    rows = np.tile(np.arange(300), 2)
    left_out = np.concatenate([weight < 1, weight < 2])
    copies = [np.where(left_out, np.nan, p[rows]) for p in sources]
    apart = LogOddsPool.fit(copies, truths[rows]).fit_labels(copies, truths[rows])
    np.testing.assert_allclose(pool.coefficients, apart.coefficients, atol=1e-3)
    np.testing.assert_allclose(pool.of_labels, apart.of_labels, atol=1e-3)


def test_low_cells_may_all_have_weight_0():
    (p,), truths = simulated((1.0,), 0.0, n=200)
    low = np.arange(200) < 50
    p[low] = 0.0
    pool = LogOddsPool.fit([p], truths, row_weight=np.where(low, 0.0, 1.0))
    others = LogOddsPool.fit([p[~low]], truths[~low])
    np.testing.assert_allclose(pool.coefficients, others.coefficients)


@pytest.mark.parametrize(
    "own", [np.zeros((2, 2)), np.zeros(3), np.full((2, 3), np.nan), np.full((2, 3), 99.0)]
)
def test_impossible_numbers_of_labels_are_refused(own):
    with pytest.raises(ValueError, match="of_labels must be"):
        LogOddsPool(np.ones((2, 2)), 0.0, of_labels=own)


@pytest.mark.parametrize("shape", [(), (2,), (2, 1), (2, 3), (1, 1, 2)], ids=str)
def test_coefficients_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match="two numbers for each source"):
        LogOddsPool(np.ones(shape), 0.0)
