"""What decoding by the posterior adds: probabilities, expected costs, decisions for other costs."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from refpair import Cost, CSRPEClassifier, load, save
from refpair.classifiers import csrpe
from refpair.classifiers._code_bits import learn_bits
from refpair.datasets import load_dataset
from refpair.posterior.code import TEMPERATURES, _Learning
from refpair.posterior.labels import N_FOLDS

FEATURES = [f"x{i}" for i in range(6)]
KINDS = {
    "sparse": sp.csr_array,
    "frame": lambda X: pd.DataFrame(X, columns=FEATURES),
}


def fit(X, Y, **parameters):
    return CSRPEClassifier(**{"n_bits": 100, "random_state": 0} | parameters).fit(X, Y)


def n_wrong(Y, Z):
    return np.abs(Y - Z).sum(axis=1)


def choosing(kind):
    """Return what looks at codes of one kind alone."""
    seen = _Learning._out_of_bag
    return lambda learning: (codes for codes in seen(learning) if codes.kind == kind)


def everything(model, X, Y):
    """Return what a model says of rows, after a look at whether it can be true."""
    n, n_labels = Y.shape
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (n, n_labels)
    assert (probabilities > 0).all()
    assert (probabilities < 1).all()
    vectors, chances = model.predict_set_proba(X, k=3)
    assert vectors.shape == (n, 3, n_labels)
    assert (chances >= 0).all()
    assert (np.diff(chances, axis=1) <= 0).all()
    assert (chances.sum(axis=1) <= 1 + 1e-9).all()
    assert (chances.sum(axis=1) > 0).all()
    costs = [model.expected_cost(X), model.expected_cost(X, Y)]
    assert np.isfinite(costs).all()
    decided = [model.decide(X, cost) for cost in ("f1", "hamming", "rank", "zero_one")]
    for labels in decided:
        assert labels.shape == (n, n_labels)
    np.testing.assert_array_equal(model.decide(X, model.cost), model.predict(X))
    return probabilities, vectors, chances, *costs, *decided, model.predict(X)


def assert_same(model, other, X, Y):
    for mine, others in zip(everything(model, X, Y), everything(other, X, Y), strict=True):
        np.testing.assert_array_equal(mine, others)
    assert model.posterior_.sources[0].settings == other.posterior_.sources[0].settings
    assert model.oob_cost_ == other.oob_cost_
    np.testing.assert_equal(model.oob_search_, other.oob_search_)


# ---- what it says ----


@pytest.mark.parametrize("cost", ["f1", "hamming", "rank", "accuracy", "zero_one"])
@pytest.mark.parametrize("max_samples", ["auto", None], ids=["out of bag", "folds"])
def test_it_says_the_same_whatever_the_threads_and_the_kind_of_features(small, cost, max_samples):
    X, Y = small
    X = np.float32(X).astype(float)
    models = [fit(X, Y, cost=cost, max_samples=max_samples, n_jobs=n_jobs) for n_jobs in (1, 2)]
    assert_same(*models, X, Y)
    for kind in ("sparse", "frame"):
        given = KINDS[kind](X)
        other = fit(given, Y, cost=cost, max_samples=max_samples)
        for mine, others in zip(everything(models[0], X, Y), everything(other, given, Y), strict=True):
            np.testing.assert_array_equal(mine, others)


def test_two_classes_have_two_columns_and_one_class_is_certain(small):
    X, Y = small
    y = np.array(["no", "yes"])[Y[:, 0]]
    two = fit(X, y, cost="hamming").predict_proba(X)
    assert two.shape == (120, 2)
    np.testing.assert_allclose(two.sum(axis=1), 1)
    assert ((two > 0) & (two < 1)).all()
    np.testing.assert_array_equal(two[:, 1:], fit(X, Y[:, :1], cost="hamming").predict_proba(X))
    only = fit(X, np.full(120, "no"))
    assert only.predict_proba(X).tolist() == [[1.0]] * 120
    assert not only.expected_cost(X).any()


def test_probable_labels_are_more_often_there(small):
    X, Y = small
    model = fit(X[:80], Y[:80], cost="hamming")
    probabilities = model.predict_proba(X[80:])
    assert Y[80:][probabilities > 0.8].mean() > 0.8
    assert Y[80:][probabilities < 0.2].mean() < 0.2


@pytest.mark.parametrize(
    "cost", ["f1", "hamming", "rank", Cost.per_label(false_negative=[1, 5, 2, 1])], ids=str
)
def test_the_own_answers_are_expected_to_cost_less_than_others(small, cost):
    X, Y = small
    model, rng = fit(X[:80], Y[:80], cost=cost), np.random.default_rng(0)
    own = model.expected_cost(X[80:])
    np.testing.assert_array_equal(own, model.expected_cost(X[80:], model.predict(X[80:])))
    assert (own >= 0).all()
    for _ in range(5):
        assert own.mean() < model.expected_cost(X[80:], rng.integers(0, 2, (40, 4))).mean()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.expected_cost(X[80:], Y[:3])


def test_another_cost_is_decided_for_without_fitting_again(small):
    X, Y = small
    model = fit(X, pd.DataFrame(Y, columns=list("abcd")), max_depth=2)
    careful, bold = (
        model.decide(X, Cost.per_label(false_positive=fp, false_negative=fn)) for fp, fn in ((9, 1), (1, 9))
    )
    assert list(careful.columns) == list("abcd")
    assert careful.to_numpy().sum() < model.predict(X).to_numpy().sum() < bold.to_numpy().sum()
    pd.testing.assert_frame_equal(model.decide(X, "f1"), model.predict(X))
    with pytest.raises(ValueError, match="3 prices for 4 labels"):
        model.decide(X, Cost.per_label(false_negative=[1, 2, 3]))


@pytest.mark.parametrize("cost", ["f1", "hamming"])
def test_the_out_of_bag_cost_tells_that_of_new_rows(cost):
    digits = load_dataset("digits")
    model = fit(digits.X[:1000], digits.Y[:1000], cost=cost, n_bits=1000, n_jobs=2)
    X, Y = digits.X[1000:2000], digits.Y[1000:2000]
    of_new_rows = model.cost_.rows(Y, model.predict(X)).mean()
    assert model.oob_cost_ == pytest.approx(of_new_rows, rel=0.25)
    # By 200 or 300 bits it is a third too much for Hamming: a row's out-of-bag code has few of them.
    assert model.expected_cost(X).mean() == pytest.approx(of_new_rows, rel=0.25)


# ---- how the settings are chosen ----


@pytest.mark.parametrize("max_samples", ["auto", None])
def test_the_first_mixture_is_taken_unless_another_one_is_cheaper(small, max_samples):
    X, Y = small
    model = fit(X, Y, max_samples=max_samples)
    tried, mixture = pd.DataFrame(model.oob_search_), model.posterior_.mixture
    assert model.posterior_.sources[0].settings.temperature in TEMPERATURES
    assert not tried.duplicated("new_share").any()
    chosen = tried[tried["new_share"] == mixture.new_share]
    assert chosen["cost"].tolist() == [model.oob_cost_]
    assert model.oob_cost_ <= tried["cost"][0]


def test_bits_learnt_from_all_rows_are_judged_by_folds(small, monkeypatch):
    X, Y = small
    learnt = []
    monkeypatch.setattr(csrpe, "learn_bits", lambda *given: learnt.append(1) or learn_bits(*given))
    for max_samples, by_folds in ((None, True), (1.0, True), (120, True), ("auto", False), (119, False)):
        learnt.clear()
        model = fit(X, Y, max_samples=max_samples, sources=("code",))
        assert len(learnt) == 3 * (1 + by_folds * N_FOLDS)  # first bits of two codes, the others of one
        assert (model.bits_.bags_ is None) == by_folds
        everything(model, X, Y)


@pytest.mark.parametrize("max_samples", ["auto", None])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_rows(small, n, kind, max_samples):
    X, Y = small
    for cost in ("f1", "hamming", "rank"):
        model = fit(kind(X[:n]), Y[:n], cost=cost, max_samples=max_samples)
        everything(model, kind(X), Y)


@pytest.mark.parametrize("max_samples", ["auto", None])
@pytest.mark.parametrize("n_labels", [1, 3])
def test_one_label_and_one_label_vector(small, n_labels, max_samples):
    X, Y = small
    everything(fit(X, Y[:, :n_labels], max_samples=max_samples), X, Y[:, :n_labels])
    same = np.tile([1, 0, 1][:n_labels], (120, 1))
    single = fit(X, same, max_samples=max_samples)
    *_, predicted = everything(single, X, same)
    np.testing.assert_array_equal(predicted, same)
    assert not single.expected_cost(X).any()
    assert not hasattr(single, "posterior_")


@pytest.mark.parametrize("max_samples", ["auto", None])
@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVC()], ids=str)
def test_other_learners_with_and_without_probabilities(small, learner, max_samples):
    X, Y = small
    kind, n_bits = (sp.csr_array, 24) if max_samples else (np.asarray, 8)
    model = fit(kind(X[:80]), Y[:80], estimator=learner, n_bits=n_bits, max_samples=max_samples)
    everything(model, kind(X[80:]), Y[80:])
    assert model.score(kind(X[80:]), Y[80:]) > (0.7 if n_bits == 24 else 0.5)
    assert model.posterior_.sources[0].settings.max_depth is None


SETS = {"some and others": [[1, 1, 0], [0, 1, 0]], "none": [[1, 1, 1], [0, 0, 1]], "one": [[0, 0, 0]]}


@pytest.mark.parametrize("max_samples", ["auto", None])
@pytest.mark.parametrize(
    ("which", "learner"),
    [*((which, "tree") for which in SETS), ("none", LogisticRegression())],
    ids=str,
)
def test_relevant_sets_of_other_vectors_than_those_of_the_rows(small, which, max_samples, learner):
    X = small[0]
    Y = np.where(X[:, :1] > 0, [1, 1, 0], [0, 0, 0])
    for cost in ("f1", "hamming"):
        model = fit(
            X, Y, cost=cost, n_bits=12, relevant_set=SETS[which], max_samples=max_samples, estimator=learner
        )
        vectors, chances = everything(model, X, Y)[1:3]
        known = {tuple(vector) for vector in SETS[which]}
        assert {tuple(vector) for vector in vectors[chances > 0].tolist()} <= known
        if which == "none":
            assert model.posterior_.sources[0].settings.compared_with == "words"


@pytest.mark.parametrize(
    "cost",
    [
        n_wrong,
        Cost.from_function(lambda Y, Z: n_wrong(Y, Z) + 3 * (Y[:, 0] > Z[:, 0])),
        Cost.from_counts(lambda tp, fp, fn, tn: (fp + 2 * fn) / (1 + tp + fp + fn), name="mine"),
        Cost.per_label(false_positive=0.5, false_negative=[1, 2, 0, 9]),
    ],
    ids=["function", "from_function", "from_counts", "per_label"],
)
def test_costs_of_ones_own(small, cost):
    X, Y = small
    model = fit(X[:80], Y[:80], cost=cost, n_bits=60)
    *_, predicted = everything(model, X[80:], Y[80:])
    of = model.cost_.rows
    assert of(Y[80:], predicted).mean() < of(Y[80:], np.random.default_rng(0).permutation(Y[80:])).mean()


# ---- copies and files ----


@pytest.mark.parametrize("max_samples", ["auto", None])
@pytest.mark.parametrize("kind", ["words", "rows"])
@pytest.mark.parametrize("cost", ["f1", "hamming", n_wrong])
def test_copies_and_loaded_models_say_the_same(small, tmp_path, monkeypatch, kind, cost, max_samples):
    X, Y = small
    monkeypatch.setattr(_Learning, "_out_of_bag", choosing(kind))
    model = fit(X[:80], Y[:80], cost=cost, n_bits=70, max_samples=max_samples)
    assert model.posterior_.sources[0].settings.compared_with == kind
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m", cost=cost)
    for other in (loaded, pickle.loads(pickle.dumps(model)), clone(loaded).fit(X[:80], Y[:80])):
        assert_same(model, other, X[80:], Y[80:])


def test_a_loaded_model_of_a_single_label_vector_says_the_same(small, tmp_path):
    X, Y = small[0], np.tile([1, 0, 1], (120, 1))
    model = fit(X, Y)
    save(model, tmp_path / "m")
    for mine, others in zip(everything(model, X, Y), everything(load(tmp_path / "m"), X, Y), strict=True):
        np.testing.assert_array_equal(mine, others)


def test_nearest_decoding_tells_no_probabilities(small, tmp_path):
    X, Y = small
    model = fit(X, Y).set_params(decoder="nearest").fit(X, Y)
    save(model, tmp_path / "m")
    for nearest in (model, load(tmp_path / "m")):
        for name in ("predict_proba", "predict_set_proba", "expected_cost", "decide"):
            assert not hasattr(nearest, name)
            with pytest.raises(AttributeError) as caught:
                getattr(nearest, name)
            assert 'need decoder="posterior"' in f"{caught.value} {caught.value.__cause__}"
        for name in ("posterior_", "oob_search_", "oob_cost_"):
            assert not hasattr(nearest, name), "of an earlier fit"
    with pytest.raises(NotFittedError):
        CSRPEClassifier().predict_proba(X)


def unlike_any_other(n):
    """Rows with many labels, each told by a feature of its own: most label vectors are new."""
    rng = np.random.default_rng(5)
    X = rng.random((n, 12))
    return X, (rng.random((n, 12)) < X**3).astype(np.uint8)


def test_labels_are_taken_as_independent_where_label_vectors_are_new():
    X, Y = unlike_any_other(600)
    model = CSRPEClassifier("f1", n_bits=200, random_state=0).fit(X[:300], Y[:300])
    assert model.posterior_.mixture.new_share > 0.4
    known = CSRPEClassifier("f1", n_bits=200, relevant_set=Y[:300], random_state=0).fit(X[:300], Y[:300])
    assert known.posterior_.mixture.new_share == 0, "told which vectors there are"
    assert model.score(X[300:], Y[300:]) > known.score(X[300:], Y[300:])
    assert (model.predict_set_proba(X[300:], k=1)[1] > 0).all()
    expected = model.expected_cost(X[300:]).mean()
    assert expected == pytest.approx(1 - model.score(X[300:], Y[300:]), rel=0.15)
