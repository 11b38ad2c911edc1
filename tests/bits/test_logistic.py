from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from refpair._kernels import lanes, newton
from refpair._kernels.rng import draw_rows
from refpair.bits import logistic
from refpair.bits.logistic import LogisticBank, find_axes, minimise_logistic
from refpair.bits.problem import BitProblems
from tests.kernels.calling import from_python

logistic_terms = from_python(newton.logistic_terms)
multiply, make_lanes = from_python(lanes.multiply), from_python(lanes.make_lanes)
CONSTANT = {3: 1, 4: -1, 5: -1}  # bits of `make_problems` whose rows agree, or tie


def make_problems(n, rng, n_vectors=9, n_bits=11):
    targets = rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0], (n_vectors, n_bits))
    targets[:2] = [[-1.0], [1.0]]
    targets[:, 3] = np.abs(targets[:, 3]) + 0.1
    targets[:, 4] = -np.abs(targets[:, 4]) - 0.1
    targets[:, 5] = 0.0
    vector_of_row = np.concatenate([[0, 1], rng.integers(0, n_vectors, n - 2)]).astype(np.int32)
    seeds = rng.integers(0, 2**63, n_bits, dtype=np.uint64)
    return BitProblems(vector_of_row, n_bits, lambda bits: targets[:, bits], seeds), targets


def by_scikit_learn(X, target, C):
    rows = np.flatnonzero(target)
    weight = np.abs(target[rows])
    model = LogisticRegression(C=C, tol=1e-12, max_iter=100_000, solver="newton-cholesky")
    X = X.toarray() if sp.issparse(X) else X
    return model.fit(X[rows], target[rows] > 0, sample_weight=weight / weight.mean())


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(60, 4), (12, 30), (25, 25)], ids=["rows", "features", "square"])
@pytest.mark.parametrize("most_axes", [1500, 0], ids=["along axes", "as it is"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_each_bit_is_scikit_learns_logistic_regression(shape, sparse, most_axes, C, monkeypatch):
    monkeypatch.setattr(logistic, "_MOST_AXES", most_axes)
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) * rng.choice([0.0, 1.0, 4.0], shape)
    problems, targets = make_problems(len(X), rng)
    X_in = sp.csr_array(X) if sparse else X
    bank = LogisticBank(C, tol=1e-7).fit(X_in, problems)
    decisions, signs, values = bank.decisions(X_in), bank.predict(X_in), bank.values(X_in)
    assert signs.dtype == np.int8
    assert values.dtype == np.float32
    assert bank.bags_ is None
    for bit in range(len(bank)):
        if bit in CONSTANT:
            assert (signs[:, bit] == CONSTANT[bit]).all()
            assert (values[:, bit] == CONSTANT[bit]).all()
            continue
        model = by_scikit_learn(X, targets[problems.vector_of_row, bit], C)
        np.testing.assert_allclose(decisions[:, bit], model.decision_function(X), atol=1e-5)
        np.testing.assert_allclose(bank.coef_[bit], model.coef_[0], atol=1e-6)
        np.testing.assert_allclose(bank.intercept_[bit], model.intercept_[0], atol=1e-5)
        np.testing.assert_array_equal(signs[:, bit], np.where(model.predict(X), 1, -1))
        np.testing.assert_allclose(values[:, bit], 2 * model.predict_proba(X)[:, 1] - 1, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_gradient_is_within_the_tolerance(sparse, monkeypatch):
    monkeypatch.setattr(logistic, "_MOST_AXES", 0 if sparse else 1500)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 20)) * 3
    problems, targets = make_problems(80, rng)
    for tol in (1.0, 1e-2, 1e-5):
        bank = LogisticBank(tol=tol).fit(sp.csr_array(X) if sparse else X, problems)
        longest = 0.0
        for bit in set(range(len(bank))) - set(CONSTANT):
            t = targets[problems.vector_of_row, bit]
            t = t / np.abs(t[t != 0]).mean()
            slope = -t / (1 + np.exp(np.sign(t) * bank.decisions(X)[:, bit]))
            gradient = np.append(bank.coef_[bit] + slope @ (X - X.mean(axis=0)), slope.sum())
            longest = max(longest, np.linalg.norm(gradient))
        assert longest <= tol * (1 + 1e-6)


@pytest.mark.parametrize("shape", [(60, 4), (12, 30)])
def test_a_warm_start_ends_where_a_cold_one_does_and_sooner(shape, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.standard_normal(shape)
    problems, _ = make_problems(len(X), rng)
    fewer = replace(problems, vector_of_row=problems.vector_of_row[:-1])
    before = LogisticBank(tol=1e-7).fit(X[:-1], fewer)
    kept = before.weights_.copy()
    cold = LogisticBank(tol=1e-7).fit(X, problems)
    warm = LogisticBank(tol=1e-7).fit(X, problems, before)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-6)
    np.testing.assert_array_equal(before.weights_, kept)
    with pytest.warns(ConvergenceWarning, match=r"8 of 11 .* max_iter=2 steps"):
        LogisticBank(max_iter=2, tol=1e-7).fit(X, problems)
    again = LogisticBank(max_iter=2, tol=1e-6).fit(X, problems, cold)  # warnings are errors
    np.testing.assert_allclose(again.coef_, cold.coef_, atol=1e-6)


def test_a_start_may_come_from_rows_where_a_bit_was_constant_and_in_any_form():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 20))
    problems, _ = make_problems(30, rng)
    few = replace(problems, vector_of_row=problems.vector_of_row[:2])
    cold = LogisticBank(tol=1e-7).fit(X, problems)
    for start in (LogisticBank().fit(X[:2], few), LogisticBank().fit(sp.csr_array(X[:2]), few)):
        assert start.basis_.shape == (2, 20)
        warm = LogisticBank(tol=1e-7).fit(X, problems, start)
        np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-6)


@pytest.mark.parametrize("max_samples", [20, 0.5])
def test_a_bit_is_learnt_from_its_own_rows(max_samples):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 5))
    problems, targets = make_problems(40, rng)
    bank = LogisticBank(max_samples=max_samples, tol=1e-7).fit(X, problems)
    for bit, seed in enumerate(problems.seeds):
        rows = np.sort(draw_rows(40, 20, seed))
        np.testing.assert_array_equal(np.sort(bank.bags_.rows(bit)), rows)
        target = targets[problems.vector_of_row[rows], bit]
        if bit not in CONSTANT and len(set(np.sign(target[target != 0]))) == 2:
            model = by_scikit_learn(X[rows], target, 1.0)
            np.testing.assert_allclose(bank.coef_[bit], model.coef_[0], atol=1e-6)


@pytest.mark.parametrize("max_samples", [None, 20])
def test_a_bit_uses_its_first_features_as_if_there_were_no_others(max_samples):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 50))
    problems, _ = make_problems(40, rng)
    allowed = np.int32([1, 2, 45, 4, 1, 2, 45, 4, 50, 2, 1])
    how = {"max_samples": max_samples, "tol": 1e-7}
    bank = LogisticBank(**how).fit(X, replace(problems, n_features=allowed))
    for bit, limit in enumerate(allowed):
        alone = LogisticBank(**how).fit(X[:, :limit], problems)
        np.testing.assert_allclose(bank.coef_[bit, :limit], alone.coef_[bit], atol=1e-6)
        assert (bank.coef_[bit, limit:] == 0).all()
        expected = alone.values(X[:, :limit], slice(bit, bit + 1))
        np.testing.assert_allclose(bank.values(X, slice(bit, bit + 1)), expected, atol=1e-5)
    assert (bank.bags_ is None) == (max_samples is None)


def test_bits_can_be_taken_and_asked_for_in_parts():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((30, 40))
    problems, _ = make_problems(30, rng)
    bank = LogisticBank(max_samples=20).fit(X, problems)
    some = bank.take(np.array([7, 0, 3]))
    assert len(some) == 3
    np.testing.assert_allclose(some.values(X), bank.values(X)[:, [7, 0, 3]], atol=1e-6)
    np.testing.assert_array_equal(some.bags_.seeds, bank.bags_.seeds[[7, 0, 3]])
    signs, values = bank.predict_and_values(X, 4)
    np.testing.assert_array_equal(signs, bank.predict(X)[:, :4])
    np.testing.assert_allclose(values, bank.values(X)[:, 4:], atol=1e-6)


def test_many_bits_go_by_chunks_and_threads_change_nothing():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((15, 6))
    problems, _ = make_problems(15, rng, n_bits=600)
    one, two = (LogisticBank(n_jobs=n_jobs).fit(X, problems) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.weights_, two.weights_)
    many = rng.standard_normal((1300, 6))
    np.testing.assert_array_equal(one.predict(many), two.predict(many))
    np.testing.assert_array_equal(one.values(many), two.values(many))
    few = LogisticBank(tol=1e-7).fit(X, problems.take(np.array([599, 10, 300])))
    np.testing.assert_allclose(few.coef_, one.coef_[[599, 10, 300]], atol=2e-2)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_separable_rows_of_any_scale_end_well(scale):
    X = scale * np.arange(-5.0, 5.0)[:, None]
    targets = np.where(X > 0, 1.0, -1.0)
    problems = BitProblems(np.arange(10, dtype=np.int32), 1, lambda bits: targets[:, bits], np.uint64([0]))
    bank = LogisticBank(1e4).fit(X, problems)
    assert np.isfinite(bank.coef_).all()
    if scale >= 1:
        np.testing.assert_array_equal(bank.predict(X), targets)


@given(st.integers(0, 2**31), st.floats(0.01, 300.0))
@settings(deadline=None, max_examples=50)
def test_loss_slope_and_curvature(seed, scale):
    rng = np.random.default_rng(seed)
    decisions, targets = scale * rng.standard_normal((2, 3, 7))
    targets *= rng.integers(0, 2, targets.shape)
    loss, slope, curvature = np.empty((3, 3, 7))
    totals = [logistic_terms(*bit) for bit in zip(decisions, targets, loss, slope, curvature, strict=True)]
    np.testing.assert_allclose(totals, loss.sum(axis=1), rtol=1e-12)
    margin, weight = np.sign(targets) * decisions, np.abs(targets)
    wrong = np.exp(-np.logaddexp(0.0, margin))
    np.testing.assert_allclose(loss, weight * np.logaddexp(0.0, -margin), rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_allclose(slope, -targets * wrong, rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_allclose(curvature, weight * wrong * (1 - wrong), rtol=1e-9, atol=1e-11 * scale)


@given(st.integers(0, 2**31), st.integers(2, 12), st.integers(1, 9), st.integers(0, 7))
@settings(deadline=None, max_examples=50)
def test_no_step_lowers_the_objective_of_a_minimum(seed, n_rows, width, n_bits):
    rng = np.random.default_rng(seed)
    Z, targets = rng.standard_normal((n_rows, width)), rng.standard_normal((n_bits, n_rows))
    start = 3.0 * rng.standard_normal((n_bits, width + 1))
    targets[:, 0] = -targets[:, -1]  # both bits are there, or no intercept would be the best

    def objective(weights):
        margin = np.sign(targets) * (weights[:, :-1] @ Z.T + weights[:, -1:])
        losses = np.abs(targets) * np.logaddexp(0.0, -margin)
        return 0.5 * (weights[:, :-1] ** 2).sum(axis=1) + losses.sum(axis=1)

    given_targets = targets.copy()
    for rows in (Z, sp.csr_array(Z)):
        found, done = minimise_logistic(rows, targets, start, tol=1e-7, max_iter=100)
        assert done.all()
        for _ in range(5):
            step = 1e-3 * rng.standard_normal(found.shape)
            assert (objective(found) <= objective(found + step) + 1e-12).all()
    np.testing.assert_array_equal(targets, given_targets)


@pytest.mark.parametrize("shape", [(20, 5), (5, 20), (1, 3), (3, 1)])
@pytest.mark.parametrize("sparse", [False, True])
def test_axes_keep_all_products_and_lead_back(shape, sparse):
    rng = np.random.default_rng(8)
    X = rng.standard_normal(shape)
    X[-1] = X[0]
    found = find_axes(sp.csr_array(X) if sparse else X)
    np.testing.assert_allclose(found.coordinates @ found.coordinates.T, X @ X.T, atol=1e-8)
    weights = rng.standard_normal(found.coordinates.shape[1])
    of_basis = found.back @ weights
    of_features = of_basis if found.basis is None else found.basis.T @ of_basis
    np.testing.assert_allclose(X @ of_features, found.coordinates @ weights, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(of_features), np.linalg.norm(weights))


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_missing_values_are_refused(broken):
    X = np.ones((20, 3))
    X[4, 1] = broken
    problems, _ = make_problems(20, np.random.default_rng(9))
    with pytest.raises(ValueError, match="Input X contains"):
        LogisticBank().fit(X, problems)


@pytest.mark.parametrize("offset", [0.0, 30.0, 1e4])
@pytest.mark.parametrize("most_axes", [1500, 0], ids=["along axes", "as it is"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_features_far_from_0(offset, most_axes, form, monkeypatch):
    monkeypatch.setattr(logistic, "_MOST_AXES", most_axes)
    rng = np.random.default_rng(10)
    away = np.array([offset, 0.0, 0.0])
    X = rng.standard_normal((60, 3)) + away
    problems, _ = make_problems(60, rng)
    bank = LogisticBank(tol=1e-5).fit(form(X), problems)  # warnings are errors
    centred = LogisticBank(tol=1e-5).fit(X - away, problems)
    np.testing.assert_allclose(bank.decisions(X), centred.decisions(X - away), atol=2e-2)


@pytest.mark.parametrize("far", [1e2, 1e4, 1e30, np.nan])
def test_a_start_that_is_no_help_does_no_harm(far):
    rng = np.random.default_rng(11)
    X = rng.standard_normal((40, 5))
    problems, _ = make_problems(40, rng)
    cold = LogisticBank(tol=1e-7).fit(X, problems)
    start = LogisticBank().fit(X, problems)
    start.weights_[:, 2], start.intercept_[:6] = far, far
    warm = LogisticBank(tol=1e-7).fit(X, problems, start)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-6)


def test_little_weight_is_learnt_from_too():
    rng = np.random.default_rng(12)
    X = rng.standard_normal((40, 5))
    problems, targets = make_problems(40, rng)
    bank = LogisticBank(1e-5, tol=1e-2).fit(X, problems)
    for bit in set(range(len(bank))) - set(CONSTANT):
        model = by_scikit_learn(X, targets[problems.vector_of_row, bit], 1e-5)
        np.testing.assert_allclose(bank.decisions(X)[:, bit], model.decision_function(X), atol=0.1)


def test_the_rows_may_change_after_fit():
    rng = np.random.default_rng(13)
    X = rng.standard_normal((8, 20))
    problems, _ = make_problems(8, rng)
    for mine in (X.copy(), sp.csr_array(X)):
        bank = LogisticBank().fit(mine, problems)
        before = bank.decisions(X)
        mine *= 0.0
        np.testing.assert_array_equal(bank.decisions(X), before)


def sparse_rows(rng, shape, density=0.2):
    return sp.csr_array(rng.standard_normal(shape) * (rng.random(shape) < density))


@given(st.integers(0, 2**31), st.integers(1, 30), st.integers(1, 30), st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=50)
def test_products_of_lanes(seed, n, m, density):
    rng = np.random.default_rng(seed)
    matrix = sparse_rows(rng, (n, m), density)
    for dtype in (np.float32, np.float64):
        form = logistic._csr(matrix)._replace(data=matrix.data.astype(dtype))
        for width in (8, 32):
            values, out = rng.standard_normal((m, width)).astype(dtype), np.full((n, width + 3), 7, dtype)
            multiply(form, values, width, out)
            np.testing.assert_allclose(out[:, :width], matrix @ values, rtol=1e-4, atol=1e-4)
            assert (out[:, width:] == 7).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lanes_begin_with_a_line_of_the_cache(dtype):
    for n in range(1, 20):
        made = make_lanes(n, 8, np.empty(0, dtype))
        assert made.shape == (n, 8)
        assert made.dtype == dtype
        assert not made.any()
        assert made.ctypes.data % 64 == 0


@given(
    st.integers(0, 2**31),
    st.integers(2, 40),
    st.integers(1, 40),
    st.integers(0, 80),
    st.sampled_from([0.01, 1.0, 30.0]),
)
@settings(deadline=None, max_examples=60)
def test_sparse_rows_have_the_minimum_of_dense_ones(seed, n_rows, width, n_bits, scale):
    rng = np.random.default_rng(seed)
    Z = scale * sparse_rows(rng, (n_rows, width), rng.random())
    targets = rng.standard_normal((n_bits, n_rows)) * rng.integers(0, 2, (n_bits, n_rows))
    targets[:, 0], targets[:, -1] = 1.0, -1.0
    given_targets, start = targets.copy(), rng.standard_normal((n_bits, width + 1))
    sparse, done = minimise_logistic(Z, targets, start, tol=1e-7, max_iter=100)
    dense, dense_done = minimise_logistic(Z.toarray(), targets, 0.0 * start, tol=1e-7, max_iter=100)
    assert done.all()
    assert dense_done.all()
    np.testing.assert_allclose(sparse[:, :-1], dense[:, :-1], atol=1e-6)
    np.testing.assert_allclose(sparse[:, -1], dense[:, -1], rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(targets, given_targets)


def test_bits_in_lanes_do_not_depend_on_their_neighbours_or_on_threads(monkeypatch):
    monkeypatch.setattr(logistic, "_MOST_AXES", 0)
    monkeypatch.setattr(logistic, "_SPARSE_BITS_A_CALL", 100)
    rng = np.random.default_rng(14)
    X = sparse_rows(rng, (50, 70))
    problems, _ = make_problems(50, rng, n_bits=250)
    one, two = (LogisticBank(n_jobs=n_jobs, max_samples=0.8).fit(X, problems) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.weights_, two.weights_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    some = rng.permutation(250)[:90]
    few = LogisticBank(max_samples=0.8).fit(X, problems.take(some))
    np.testing.assert_allclose(few.weights_, one.weights_[some], atol=1e-4)


def test_sparse_rows_begin_anywhere_and_say_if_they_are_not_done(monkeypatch):
    monkeypatch.setattr(logistic, "_MOST_AXES", 0)
    rng = np.random.default_rng(15)
    X = sparse_rows(rng, (60, 20))
    problems, _ = make_problems(60, rng, n_bits=50)
    cold = LogisticBank(tol=1e-7).fit(X, problems)
    for far in (0.0, 1e4, 1e30, np.nan):
        start = LogisticBank().fit(X, problems)
        start.weights_[:, 2] = far
        warm = LogisticBank(tol=1e-7).fit(X, problems, start)
        np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-6)
    with pytest.warns(ConvergenceWarning, match=r"47 of 50 .* max_iter=2 steps"):
        LogisticBank(max_iter=2, tol=1e-7).fit(X, problems)
    LogisticBank(max_iter=2, tol=1e-6).fit(X, problems, cold)  # warnings are errors


@pytest.mark.parametrize(
    ("shape", "density", "as_it_is"),
    [
        ((900, 1000), 0.03, True),
        ((900, 1000), 0.5, False),
        ((900, 20), 0.3, False),
        ((100, 1000), 0.03, False),
        ((900, 5000), 0.003, False),
    ],
)
def test_large_sparse_rows_are_taken_as_they_are(shape, density, as_it_is, monkeypatch):
    monkeypatch.setattr(np.linalg, "eigh", lambda products: (np.ones(len(products)), np.eye(len(products))))
    X = sparse_rows(np.random.default_rng(16), shape, density)
    assert (find_axes(X).back is None) == as_it_is
    assert find_axes(X.toarray()).back is not None


def test_few_sparse_rows_are_decided_as_many_are(monkeypatch):
    monkeypatch.setattr(logistic, "_MOST_AXES", 0)
    rng = np.random.default_rng(17)
    X = sparse_rows(rng, (60, 200), 0.05)
    problems, _ = make_problems(60, rng)
    bank = LogisticBank().fit(X, problems)
    for row in (0, 30):
        for bits in (slice(None), slice(2, 5)):
            few = bank.decisions(X[row : row + 1], bits)
            np.testing.assert_allclose(few, bank.decisions(X, bits)[row : row + 1], rtol=1e-12)
    np.testing.assert_array_equal(bank.decisions(X[:1] * 0.0), bank.intercept_[None])
