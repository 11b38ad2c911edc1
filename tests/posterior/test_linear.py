"""The linear source: a logistic regression for each label, without each fold in turn."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from refpair.posterior import linear
from refpair.posterior.linear import LinearSource
from tests.posterior.training import make_training, some_samples


def learnt(training, seed=1):
    source = LinearSource()
    (told,) = source.learn(training, np.random.default_rng(seed))  # a single step
    return source, told


def words(n=150, seed=0):
    """Samples most of whose cells are 0, and three labels."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.08, (n, 40)) * rng.choice([1.0, -2.0, 0.5], (n, 40))
    return X, (X[:, [0, 5, 9]] + X[:, [1, 6, 10]] + 0.4 * rng.normal(size=(n, 3)) > 0.2).astype(np.uint8)


def with_zeros(X):
    """The same as a sparse matrix that holds every cell, zeros as well."""
    n, n_features = X.shape
    index, start = np.tile(np.arange(n_features), n), np.arange(0, n * n_features + 1, n_features)
    return sp.csr_array((X.ravel(), index, start), shape=X.shape)


@pytest.mark.parametrize("samples", [some_samples, words])
@pytest.mark.parametrize("n_missing", [0, 30])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, with_zeros, np.asfortranarray])
def test_sparse_or_dense_the_answers_are_the_same(samples, n_missing, form):
    X, Y = samples()
    X[np.random.default_rng(2).integers(0, len(X), n_missing), np.arange(n_missing) % 6] = np.nan
    training = make_training(X, Y)
    source, told = learnt(training)
    other, told_too = learnt(replace(training, X=form(X)))
    np.testing.assert_array_equal(told_too, told)
    for name in ("weights", "intercept", "centre", "is_sparse"):
        np.testing.assert_array_equal(getattr(other, name), getattr(source, name))
    assert source.is_sparse == (samples is words)
    expected = source.answer(X, None)
    assert np.isfinite(expected).all()
    for model in (source, other):
        for asked in (X, form(X)):
            np.testing.assert_array_equal(model.answer(asked, 2), expected)


@pytest.mark.parametrize(
    ("samples", "scaler"),
    [(some_samples, StandardScaler()), (words, MaxAbsScaler())],
    ids=["dense", "sparse"],
)
def test_it_is_the_mean_of_regressions_of_scikit_learn(samples, scaler, monkeypatch):
    monkeypatch.setattr(linear, "_STRENGTHS", (0.3,))
    monkeypatch.setattr(linear, "_TOL", 1e-8)
    X, Y = samples()
    X *= np.linspace(0.01, 100, X.shape[1])
    training = make_training(X, Y)
    source, told = learnt(training)
    new = samples(40, seed=7)[0] * np.linspace(0.01, 100, X.shape[1])
    fold = np.random.default_rng(1).permutation(len(X)) % 5
    scaled, new_scaled = scaler.fit_transform(X), scaler.transform(new)
    for k in range(Y.shape[1]):
        models = [
            LogisticRegression(C=0.3, tol=1e-10, max_iter=1000).fit(scaled[fold != f], Y[fold != f, k])
            for f in range(5)
        ]
        mean = np.mean([model.decision_function(new_scaled) for model in models], axis=0)
        np.testing.assert_allclose(source.answer(new, None)[:, k], 1 / (1 + np.exp(-mean)), atol=1e-5)
        of_fold = np.array([model.predict_proba(scaled)[:, 1] for model in models])
        np.testing.assert_allclose(told[:, k], of_fold[fold, np.arange(len(X))][training.rows], atol=1e-5)


def test_the_strength_is_chosen_by_the_first_fold():
    X, Y = some_samples(300)
    rng = np.random.default_rng(0)
    noise = make_training(rng.normal(size=X.shape), rng.permutation(Y))
    told, weak = learnt(make_training(10 * X, (X[:, :4] > 0.4)))[0], learnt(noise)[0]
    assert np.abs(told.weights).max() * 10 > 5, "all but certain: the largest C"
    assert np.abs(weak.weights).max() < 0.2, "noise: the smallest C"


def test_what_is_said_of_a_training_sample_is_learnt_without_it():
    """There are more features than samples: whoever knows a sample can tell its labels."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 300)), rng.integers(0, 2, (100, 3))
    training = make_training(X, Y)
    source, told = learnt(training)
    assert ((source.answer(X, None) > 0.5) == Y).mean() > 0.95
    assert ((told > 0.5) == training.truths).mean() < 0.62


@pytest.mark.parametrize("row", [0, 3])
def test_the_labels_of_a_sample_do_not_change_what_is_said_of_it(row, monkeypatch):
    monkeypatch.setattr(linear, "_STRENGTHS", (1.0,))
    X, Y = some_samples(60)
    changed = Y.copy()
    changed[row] = 1 - changed[row]
    rows = np.arange(60)
    (_, told), (_, told_too) = (learnt(make_training(X, labels, rows)) for labels in (Y, changed))
    np.testing.assert_allclose(told_too[row], told[row], rtol=1e-6)
    assert np.abs(told_too - told).max() > 1e-3, "of others, what is said does change"


@pytest.mark.parametrize("samples", [some_samples, words])
def test_missing_cells_count_as_the_mean_or_as_nothing(samples):
    X, Y = samples()
    source, _ = learnt(make_training(X, Y))
    new, filled = X.copy(), X.copy()
    new[:, 2] = np.nan
    filled[:, 2] = 0.0 if source.is_sparse else X[:, 2].mean()
    np.testing.assert_allclose(source.answer(new, None), source.answer(filled, None), rtol=1e-9)
    nowhere = X.copy()
    nowhere[:, 3] = np.nan
    without, _ = learnt(make_training(nowhere, Y))
    np.testing.assert_allclose(without.weights[:, 3], 0.0, atol=1e-12)
    assert np.isfinite(without.answer(X, None)).all()


def test_the_mean_of_a_feature_is_that_of_its_known_cells():
    X, Y = some_samples()
    X[::2, 1] = np.nan
    X[:, 1] += 5
    source, _ = learnt(make_training(X, Y))
    assert source.centre[1] == pytest.approx(np.nanmean(X[:, 1]))


def test_a_constant_feature_does_not_count():
    """Not even where its mean is off by rounding."""
    X, Y = some_samples(211)
    source, told = learnt(make_training(X, Y))
    other, told_too = learnt(make_training(np.hstack([X, np.full((211, 1), 0.1)]), Y))
    assert other.centre[6] != 0.1
    np.testing.assert_allclose(told_too, told, atol=1e-3)
    for value in (0.1, 0.2, -50.0):
        asked = np.hstack([X, np.full((211, 1), value)])
        np.testing.assert_allclose(other.answer(asked, None), source.answer(X, None), atol=1e-3)


def test_a_label_that_all_samples_have_or_none():
    X, Y = some_samples()
    Y[:, 0], Y[:, 2] = 1, 0
    source, told = learnt(make_training(X, Y))
    for p in (told, source.answer(X, None), source.answer(100 * X, None)):
        np.testing.assert_allclose(p[:, [0, 2]], np.tile([1.0, 0.0], (len(p), 1)), atol=1e-6)
    assert np.isfinite(source.weights).all()
    source.check_shapes(6, 4, 1)


def test_a_label_that_a_single_sample_has():
    X, Y = some_samples(30)
    Y[:, 1] = 0
    Y[11, 1] = 1
    source, told = learnt(make_training(X, Y, rows=np.arange(30)))
    assert told[11, 1] == 0, "nobody else has it"
    p = source.answer(X, None)[:, 1]
    assert ((p > 0) & (p < 1)).all()


@pytest.mark.parametrize("n", [2, 3, 6])
def test_few_samples(n):
    X, Y = some_samples(n, seed=1)
    source, told = learnt(make_training(X, Y))
    assert ((told >= 0) & (told <= 1)).all()
    assert np.isfinite(source.answer(X, None)).all()


def test_threads_do_not_matter():
    X, Y = some_samples(3000)
    one, two = (learnt(make_training(X, Y, n_jobs=n_jobs)) for n_jobs in (None, 2))
    np.testing.assert_array_equal(two[1], one[1])
    np.testing.assert_array_equal(two[0].answer(X, 2), one[0].answer(X, None))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", np.zeros((4, 5))), ("weights", np.zeros((3, 6))), ("intercept", np.zeros(3)),
        ("centre", np.zeros(5)), ("weights", np.full((4, 6), np.nan)), ("centre", np.full(6, np.inf)),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_weights_are_refused(name, value):
    source, _ = learnt(make_training(*some_samples()))
    source.check_shapes(6, 4, 9)
    setattr(source, name, value)
    with pytest.raises(ValueError, match=r"not those of the features|weight"):
        source.check_shapes(6, 4, 9)
