"""All answers of a model tell of one distribution."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from refpair import Cost, CSRPEClassifier, get_cost, load, save
from refpair.datasets import load_dataset

COSTS = ["f1", "f2", "jaccard", "hamming", "rank", "zero_one", Cost.per_label(false_negative=3)]
SOURCES = ["auto", ("code",), ("code", "leaves"), ("code", "labels", "linear")]


@pytest.fixture(scope="module")
def digits():
    digits = load_dataset("digits")
    return digits.X[:400], digits.Y[:400, :7], digits.X[1000:1040], digits.Y[1000:1040, :7]


@pytest.fixture(scope="module", params=COSTS, ids=str)
def fitted(digits, request):
    return CSRPEClassifier(request.param, n_bits=150, random_state=0).fit(*digits[:2])


def alternatives(model, X):
    """Yield the answer with a label flipped, with two swapped, and the likeliest vectors."""
    answer = model.predict(X)
    n_labels = answer.shape[1]
    for k in range(n_labels):
        flipped = answer.copy()
        flipped[:, k] ^= 1
        yield flipped
    for k in range(n_labels):
        for other in range(k):
            swapped = answer.copy()
            swapped[:, [k, other]] = swapped[:, [other, k]]
            yield swapped
    yield from model.predict_set_proba(X, k=20)[0].swapaxes(0, 1)


def test_no_other_answer_is_expected_to_cost_less(fitted, digits):
    X = digits[2]
    own = fitted.expected_cost(X)
    for other in alternatives(fitted, X):
        assert (own <= fitted.expected_cost(X, other) + 1e-9).all()


def test_probabilities_of_labels_are_those_of_their_sets(fitted, digits):
    X = digits[2]
    vectors, chances = fitted.predict_set_proba(X, k=2**7)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    marginals = (vectors * chances[:, :, None]).sum(axis=1)
    np.testing.assert_allclose(marginals, fitted.predict_proba(X), atol=1e-6)


def test_the_expected_cost_is_that_of_the_sets(fitted, digits):
    X = digits[2]
    vectors, chances = fitted.predict_set_proba(X, k=2**7)
    answer = fitted.predict(X)
    for i in range(len(X)):
        costs = fitted.cost_.rows(vectors[i], np.tile(answer[i], (len(vectors[i]), 1)))
        assert fitted.expected_cost(X[i : i + 1])[0] == pytest.approx(float(costs @ chances[i]), abs=1e-6)


def test_costs_that_treat_labels_alike_share_their_sources(digits):
    X, Y, X_test, _ = digits
    asked = [Cost.from_counts(lambda tp, fp, fn, tn: fp + 2 * fn), "f1", "hamming", "zero_one"]
    first, *others = (CSRPEClassifier(cost, n_bits=80, random_state=0).fit(X, Y) for cost in asked)
    assert first.code_.cost in map(get_cost, ("jaccard", "rank"))
    told = [source.answer(X_test, None) for source in first.posterior_.sources]
    for other in others:
        again = [source.answer(X_test, None) for source in other.posterior_.sources]
        for one, same in zip(told, again, strict=True):
            np.testing.assert_array_equal(one, same)


def test_a_price_may_have_a_code_of_its_own(digits, monkeypatch):
    X, Y, _, _ = digits
    price = Cost.per_label(false_negative=[1, 2, 3, 4, 5, 6, 7])
    for clearly, chosen in [(-9.0, get_cost("jaccard")), (0.9, price)]:
        monkeypatch.setattr("refpair.posterior.code._CLEARLY", clearly)
        model = CSRPEClassifier(price, n_bits=40, sources=("code",), random_state=0).fit(X, Y)
        assert model.code_.cost == chosen


def test_the_paper_has_the_code_of_its_cost(digits):
    X, Y, _, _ = digits
    model = CSRPEClassifier("hamming", n_bits=20, decoder="nearest", random_state=0).fit(X, Y)
    assert model.code_.cost == get_cost("hamming")


@pytest.mark.parametrize("n_bits", [1, 30, "auto"])
@pytest.mark.parametrize("cost", ["f1", "jaccard", "hamming", "zero_one"])
def test_a_single_label_is_there_if_it_is_likelier_than_not(digits, cost, n_bits):
    X, Y, X_test, _ = digits
    model = CSRPEClassifier(cost, n_bits=n_bits, random_state=0).fit(X, Y[:, :1])
    np.testing.assert_array_equal(model.predict(X_test), model.predict_proba(X_test).round())


@pytest.mark.parametrize("sources", SOURCES, ids=str)
def test_some_sources_do(digits, sources):
    X, Y, X_test, Y_test = digits
    model = CSRPEClassifier("f1", n_bits=150, sources=sources, random_state=0).fit(X, Y)
    names = [source.name for source in model.posterior_.sources]
    assert names == list(("code", "labels", "leaves", "linear") if sources == "auto" else sources)
    assert len(model.posterior_.mixture.pool.coefficients) == len(names)
    assert model.score(X_test, Y_test) > 0.5


@pytest.mark.slow
def test_a_classifier_of_ones_own_is_a_source(digits, tmp_path):
    X, Y, X_test, _ = digits
    sources = ("code", LogisticRegression(C=1e-3, max_iter=2000), GaussianNB())
    model = CSRPEClassifier("hamming", n_bits=60, sources=sources, random_state=0).fit(X, Y)
    assert [source.name for source in model.posterior_.sources] == ["code", "estimator 0", "estimator 1"]
    alone = CSRPEClassifier("hamming", n_bits=60, sources=("code",), random_state=0).fit(X, Y)
    assert model.oob_cost_ < alone.oob_cost_
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(X_test), model.predict_proba(X_test))
    np.testing.assert_array_equal(clone(loaded).fit(X, Y).predict(X_test), model.predict(X_test))


@pytest.mark.parametrize(
    "sources",
    ["code", ("leaves",), ("code", "no such"), ("code", "code"), ("code", GaussianNB), 3, None],
    ids=str,
)
def test_bad_sources_are_named(digits, sources):
    with pytest.raises(ValueError, match='sources must be "auto" or a tuple with "code"'):
        CSRPEClassifier(sources=sources).fit(*digits[:2])


@pytest.mark.slow
def test_labels_are_calibrated():
    digits = load_dataset("digits")
    X, Y = digits.X, digits.Y
    model = CSRPEClassifier("f1", random_state=0, n_jobs=2).fit(X[:1500], Y[:1500])
    p = model.predict_proba(X[1500:])
    cell = np.minimum((p.ravel() * 15).astype(int), 14)
    gaps = np.bincount(cell, p.ravel(), 15) - np.bincount(cell, Y[1500:].ravel(), 15)
    assert np.abs(gaps).sum() / p.size < 0.02
    vectors, chances = model.predict_set_proba(X[1500:], k=1)
    right = (vectors[:, 0] == Y[1500:]).all(axis=1)
    assert chances.mean() == pytest.approx(right.mean(), abs=0.05)
