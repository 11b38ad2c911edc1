import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import Cost, CSRPEClassifier
from refpair.classifiers import _code_bits
from refpair.datasets import load_dataset
from tests import naive
from tests.classifiers.common import NOT_COPIES


def what_cannot_hold(estimator):
    """Return the checks that a model must fail, and why."""
    if estimator.decoder == "nearest":
        return {}
    if estimator.cost == "hamming":
        return NOT_COPIES
    reason = "what is best for F1 are not the labels that are likelier than not"
    return NOT_COPIES | {"check_classifier_multioutput": reason}


@parametrize_with_checks(
    [
        CSRPEClassifier(n_bits=64, decoder="nearest", random_state=0),
        CSRPEClassifier(n_bits=64, cost="hamming", random_state=1),
        CSRPEClassifier(n_bits=64, random_state=0),
        CSRPEClassifier(n_bits=8, cost="hamming", estimator=LogisticRegression(), random_state=0),
    ],
    expected_failed_checks=what_cannot_hold,
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


# ---- the method ----


@pytest.mark.parametrize("cost", ["f1", "accuracy", "hamming", "rank", "f2"])
def test_it_is_the_nearest_code_word_of_the_predicted_bits(small, cost):
    X, Y = small
    model = CSRPEClassifier(cost=cost, n_bits=101, decoder="nearest", random_state=1).fit(X[:80], Y[:80])
    signs = model.predict_code(X[80:])
    assert signs.shape == (40, 101)
    pairs = list(zip(model.code_.alpha.tolist(), model.code_.beta.tolist(), strict=True))
    vectors = model.relevant_set_.tolist()
    square = {"f1": 1, "f2": 4}.get(cost)
    of = naive.COSTS[cost] if cost in naive.COSTS else lambda y, z: naive.f_beta(y, z, square)
    words = [naive.code_word(vector, pairs, of) for vector in vectors]
    np.testing.assert_array_equal(model.encode(vectors), words)
    expected = [vectors[naive.nearest(row, words)] for row in signs.tolist()]
    assert model.predict(X[80:]).tolist() == expected


@pytest.mark.parametrize(("n_bits", "votes"), [(4, 2), (8, 4), (10, 5), (80, 5)])
def test_bits_that_ask_for_single_labels_are_twice_as_many_but_bounded(small, monkeypatch, n_bits, votes):
    X, Y = small
    monkeypatch.setattr(_code_bits, "_MOST_VOTES", 5)
    model = CSRPEClassifier(n_bits=n_bits, sources=("code", "labels"), random_state=1).fit(X, Y)
    (labels,) = (source for source in model.posterior_.sources if source.name == "labels")
    assert (len(model.bits_.trees_), len(labels.bits)) == (n_bits, 4 * votes)


def test_bits_are_learnt_from_the_cost_differences(small):
    """Full trees on distinct rows answer every bit of a training row right, so each is decoded right."""
    X, Y = small
    X = np.column_stack([X, np.arange(120)])
    nearest = CSRPEClassifier(cost="hamming", n_bits=300, max_bins=255, decoder="nearest", random_state=0)
    model = nearest.fit(X, Y)
    words = model.encode(Y)
    signs = model.predict_code(X)
    np.testing.assert_array_equal(signs[words != 0], words[words != 0])
    np.testing.assert_array_equal(model.predict(X), Y)
    assert model.score(X, Y) == 0.0


def test_the_most_frequent_of_equally_near_vectors_is_predicted():
    """The bits of labels 0 and 1 cannot be told apart: what has either of them is equally near."""
    X = np.array([[0.0]] * 6 + [[1.0]] * 7)
    Y = np.array([[1, 0, 0]] * 2 + [[0, 1, 0]] * 4 + [[0, 0, 1]] * 7)

    def ignores_the_difference(truth, predicted):
        either = [labels[:, 0] | labels[:, 1] for labels in (truth, predicted)]
        return np.abs(either[0] - either[1]) + np.abs(truth[:, 2] - predicted[:, 2])

    nearest = CSRPEClassifier(cost=ignores_the_difference, n_bits=40, decoder="nearest", random_state=0)
    model = nearest.fit(X, Y)
    assert model.relevant_set_.tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert model.relevant_counts_.tolist() == [7, 4, 2]
    words = model.encode(model.relevant_set_)
    np.testing.assert_array_equal(words[1], words[2])
    assert model.predict([[0.0], [1.0]]).tolist() == [[0, 1, 0], [0, 0, 1]]

    Y[:6] = [[0, 1, 0]] * 2 + [[1, 0, 0]] * 4  # now the other one is the more frequent
    model.fit(X, Y)
    assert model.predict([[0.0], [1.0]]).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_vectors_of_equal_frequency_are_in_a_fixed_order():
    Y = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 1], [1, 1, 0], [0, 0, 1]])
    X = np.arange(5.0)[:, None]
    expected = [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    for order in ([0, 1, 2, 3, 4], [3, 2, 1, 0, 4]):
        for labels in (Y[order], sp.csr_array(Y[order])):
            model = CSRPEClassifier(n_bits=10, random_state=0).fit(X, labels)
            assert model.relevant_set_.tolist() == expected
            assert model.relevant_counts_.tolist() == [2, 1, 1, 1]


@pytest.mark.parametrize("decoder", ["posterior", "nearest"])
def test_a_model_is_best_on_its_own_cost(decoder):
    """On pictures of digits, which cost a model is fitted for shows in what it predicts."""
    digits = load_dataset("digits")
    costs = [Cost.per_label(false_negative=9), Cost.per_label(false_positive=9)]
    models = [
        CSRPEClassifier(cost, n_bits=300, decoder=decoder, random_state=0).fit(digits.X[:800], digits.Y[:800])
        for cost in costs
    ]
    table = [
        [cost.mean(digits.Y[800:1800], model.predict(digits.X[800:1800])) for cost in costs]
        for model in models
    ]
    assert table[0][0] < 0.8 * table[1][0]
    assert table[1][1] < 0.8 * table[0][1]


@pytest.mark.slow
def test_any_learner_with_sample_weight(small):
    X, Y = small
    model = CSRPEClassifier(n_bits=60, estimator=LogisticRegression(), random_state=0).fit(X[:90], Y[:90])
    assert model.score(X[90:], Y[90:]) > 0.75
    assert not model.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(np.where(X > 1, np.nan, X), Y)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        CSRPEClassifier(estimator=GaussianNB()).fit(sp.csr_array(X), Y)
    with_missing = CSRPEClassifier(n_bits=20, estimator=DecisionTreeClassifier(), random_state=0)
    assert with_missing.fit(np.where(X > 1, np.nan, X), Y).score(X, Y) > 0.5


def test_missing_values_are_learnt_from():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 3))
    Y = np.column_stack([rng.random(200) < 0.5, X[:, 1] > 0]).astype(int)
    X[Y[:, 0] == 1, 0] = np.nan  # missing only where the first label is there
    model = CSRPEClassifier(cost="hamming", n_bits=20, random_state=0).fit(X[:150], Y[:150])
    assert model.score(X[150:], Y[150:]) > -0.05


# ---- what is random ----


def _labels(Y):
    return Y.toarray() if sp.issparse(Y) else Y


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_features": 2, "max_samples": 0.7},
        {"pairs": "observed"},
        {"pairs": "density", "max_samples": None},
        {"decoder": "nearest"},
    ],
)
def test_the_seed_decides_everything(small, parameters):
    X, Y = small
    models = [
        CSRPEClassifier(n_bits=120, random_state=5, n_jobs=n_jobs, **parameters).fit(given, labels)
        for n_jobs in (None, 1, 2, -1)
        for given, labels in [(X, Y), (sp.csr_array(X), sp.csr_matrix(Y))]
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.code_.alpha, models[0].code_.alpha)
        np.testing.assert_array_equal(model.code_.beta, models[0].code_.beta)
        np.testing.assert_array_equal(model.predict_code(X), models[0].predict_code(X))
        np.testing.assert_array_equal(_labels(model.predict(X)), models[0].predict(X))
    other = CSRPEClassifier(n_bits=120, random_state=6, **parameters).fit(X, Y)
    assert not np.array_equal(other.predict_code(X), models[0].predict_code(X))


def test_kinds_of_random_state(small):
    X, Y = small
    codes = [
        CSRPEClassifier(n_bits=20, random_state=state).fit(X, Y).predict_code(X)
        for state in (3, np.int64(3), np.random.RandomState(3), None, None)
    ]
    np.testing.assert_array_equal(codes[0], codes[1])
    np.testing.assert_array_equal(codes[0], codes[2])
    assert not np.array_equal(codes[3], codes[4])
