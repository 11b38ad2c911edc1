"""Small, empty, constant and repeated data; costs and relevant sets of one's own; bad parameters."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from refpair import Cost, CSRPEClassifier

LEARNERS = ["tree", LogisticRegression()]


def fit(X, Y, **parameters):
    return CSRPEClassifier(**{"n_bits": 40, "random_state": 0} | parameters).fit(X, Y)


# ---- little to learn ----


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("cost", ["f1", "hamming", "rank", "zero_one"])
def test_constant_labels(small, cost, learner):
    X, Y = small
    Y = np.column_stack([np.zeros(120), Y[:, 0], np.ones(120)]).astype(int)
    predicted = fit(X, Y, cost=cost, estimator=learner).predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, 2].all()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("vector", [[0, 0, 0], [1, 0, 1], [1, 1, 1], [0], [1]])
def test_one_distinct_label_vector_is_always_predicted(small, vector, learner):
    X, _ = small
    for kind in (np.array, sp.csr_array):
        model = fit(X, kind([vector] * 120), estimator=learner, max_samples=0.5)
        assert len(model.code_) == 0
        assert np.asarray(model.predict(X) @ np.eye(len(vector))).tolist() == [vector] * 120
        assert model.predict_code(X).shape == (120, 0)
        assert model.encode([vector]).shape == (1, 0)


def test_one_row():
    model = fit([[1.0, np.nan]], [[1, 0, 1]])
    assert model.predict([[5.0, 2.0], [np.nan, 0.0]]).tolist() == [[1, 0, 1]] * 2


def test_two_rows():
    for cost in ("f1", "hamming", "accuracy"):
        model = fit([[0.0], [1.0]], [[1, 0], [0, 1]], cost=cost, decoder="nearest")
        assert model.predict([[-3.0], [0.4], [0.6]]).tolist() == [[1, 0], [1, 0], [0, 1]]


def test_rows_without_labels(small):
    X, Y = small
    Y = np.where(X[:, :1] > 0, 0, Y)
    model = fit(np.column_stack([X, np.arange(120)]), Y, n_bits=200, max_bins=255, cost="hamming")
    np.testing.assert_array_equal(model.predict(np.column_stack([X, np.arange(120)])), Y)


def test_a_single_label(small):
    X, Y = small
    for cost in ("f1", "hamming", "zero_one", "accuracy"):
        for decoder, share_right in (("nearest", 0.95), ("posterior", 0.8)):  # which did not see all rows
            model = fit(X, Y[:, :1], cost=cost, decoder=decoder)
            assert len(model.code_) == 1, "there is one pair of vectors"
            assert (model.predict(X) == Y[:, :1]).mean() > share_right


def test_repeated_rows_that_disagree():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    Y = np.array([[1, 0]] * 7 + [[0, 1]] * 3 + [[1, 0]] * 2 + [[0, 1]] * 8)
    model = fit(X, Y, cost="hamming")
    assert model.predict([[0.0], [1.0]]).tolist() == [[1, 0], [0, 1]]


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 300)), rng.integers(0, 2, (12, 3))
    model = fit(X, Y, cost="hamming", n_bits=100, decoder="nearest")
    np.testing.assert_array_equal(model.predict(X), Y)
    assert fit(X, Y, n_bits=100).predict_proba(X).shape == (12, 3)


def test_constant_features(small):
    _, Y = small
    model = fit(np.ones((120, 3)), Y, cost="hamming")
    majority = (Y.mean(axis=0) > 0.5).astype(int)
    assert len({tuple(row) for row in model.predict(np.ones((5, 3))).tolist()}) == 1
    assert np.abs(model.predict(np.ones((1, 3))) - majority).sum() <= 2


def test_a_code_has_no_more_bits_than_there_are_pairs(small):
    X, Y = small
    model = fit(X, Y[:, :2], n_bits=3000, cost="hamming")
    assert len(model.code_) == 6
    assert model.predict_code(X).shape == (120, 6)


def test_a_model_can_be_fitted_again_on_other_data(small):
    X, Y = small
    model = fit(pd.DataFrame(X, columns=list("abcdef")), pd.DataFrame(Y))
    model.fit(X[:50, :3], sp.csr_array(Y[:50, :2]))
    fresh = fit(X[:50, :3], Y[:50, :2])
    np.testing.assert_array_equal(model.predict(X[:, :3]).toarray(), fresh.predict(X[:, :3]))
    assert (model.n_features_in_, model.classes_.tolist()) == (3, [0, 1])
    assert not hasattr(model, "feature_names_in_")


# ---- a relevant set of one's own ----


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.coo_array, pd.DataFrame, pl.DataFrame, list])
def test_nearest_decoding_predicts_only_the_relevant_set(small, kind):
    X, Y = small
    vectors = [[1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]]
    given = kind(np.array(vectors), schema=list("abcd")) if kind is pl.DataFrame else kind(vectors)
    model = fit(X, Y, relevant_set=given, decoder="nearest")
    distinct = {tuple(vector) for vector in vectors}
    assert {tuple(vector) for vector in model.relevant_set_.tolist()} == distinct
    assert {tuple(row) for row in model.predict(X).tolist()} <= distinct
    counts = [(vector == Y).all(axis=1).sum() for vector in model.relevant_set_]
    assert model.relevant_counts_.tolist() == counts
    assert counts == sorted(counts, reverse=True)


def test_vectors_that_were_never_seen_can_be_predicted(small):
    X, _ = small
    half = X[:, 0] > 0
    Y = np.where(half[:, None], [1, 1, 0], [0, 0, 0])
    union = fit(X, Y, cost="hamming", relevant_set=[[1, 1, 1], [0, 0, 1]], decoder="nearest")
    np.testing.assert_array_equal(union.predict(X)[:, :2], Y[:, :2])


def test_relevant_sets_that_do_not_fit(small):
    X, Y = small
    with pytest.raises(ValueError, match=r"relevant_set has 3 labels \(columns\), but the model has 4"):
        fit(X, Y, relevant_set=Y[:, :3])
    with pytest.raises(ValueError, match="relevant_set has no rows"):
        fit(X, Y, relevant_set=Y[:0])
    with pytest.raises(
        ValueError, match="relevant_set must be 0/1, boolean or yes/no: column 1 has 3 in row 0"
    ):
        fit(X, Y, relevant_set=[[0, 3, 0, 0]])
    with pytest.raises(ValueError, match="relevant_set must have the labels of the model: 0, 1, 2, 3"):
        fit(X, Y, relevant_set=[0, 1, 0, 0])
    frame = pd.DataFrame(Y, columns=list("abcd"))
    with pytest.raises(ValueError, match="the columns of relevant_set are"):
        fit(X, frame, relevant_set=frame[list("dcba")])


# ---- a cost of one's own ----


def test_costs_of_ones_own(small):
    X, Y = small
    hamming = fit(X, Y, cost="hamming", decoder="nearest").predict(X)
    same = [
        Cost.from_counts(lambda tp, fp, fn, tn: fp + fn, name="wrong"),
        Cost.per_label(),
        Cost.from_function(lambda Y, Z: np.abs(Y - Z).sum(axis=1)),
        lambda Y, Z: np.abs(Y - Z).sum(axis=1),
    ]
    for cost in same:
        np.testing.assert_array_equal(fit(X, Y, cost=cost, decoder="nearest").predict(X), hamming)
    cheap, dear = (
        fit(X, Y, cost=Cost.per_label(false_negative=[1, 1, price, 1]), max_depth=2).predict(X)
        for price in (1, 30)
    )
    assert dear[:, 2].sum() > cheap[:, 2].sum()


def test_costs_that_are_no_numbers_are_named(small):
    X, Y = small

    def my_cost(truth, predicted):
        return np.full(len(truth), np.nan)

    with pytest.raises(ValueError, match="the cost 'my_cost' is nan for the truth"):
        fit(X, Y, cost=my_cost)
    with pytest.raises(ValueError, match="the cost 'precision' is nan for tp=0, fp=0"):
        fit(X, Y, cost=Cost.from_counts(lambda tp, fp, fn, tn: tp / (tp + fp), name="precision"))
    with pytest.raises(ValueError, match="false_negative of the cost 'per_label' has 3 prices for 4 labels"):
        fit(X, Y, cost=Cost.per_label(false_negative=[1, 2, 3]))


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_costs_at_the_ends_of_the_range_of_floats(small):
    X, Y = small
    of_one = Cost.from_counts(lambda tp, fp, fn, tn: fp + fn, name="price")
    expected = fit(X, Y, cost=of_one).predict(X)
    for price in (1e-300, 1e99):
        huge = Cost.from_counts(lambda tp, fp, fn, tn, price=price: price * (fp + fn), name="price")
        np.testing.assert_array_equal(fit(X, Y, cost=huge).predict(X), expected)
    too_huge = Cost.from_function(lambda Y, Z: np.where(Z[:, 0], 1.7e308, -1.7e308), name="gains_and_losses")
    with pytest.raises(ValueError, match=r"the cost 'gains_and_losses' .* at most 1e\+100"):
        fit(X, Y, cost=too_huge)


# ---- parameters ----


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "cost": ["", 3, None, ["f1"]],
        "n_bits": [0, -1, 2.0, "many", None, True],
        "estimator": ["forest", None, 3, LogisticRegression, LinearRegression(), KNeighborsClassifier()],
        "pairs": ["all", None],
        "decoder": ["ball_tree", None],
        "max_depth": [0, 1.5, "deep", True],
        "min_samples_leaf": [0, 0.5, None],
        "max_features": [0, 0.0, 1.5, -1, "all", np.nan, True],
        "max_samples": [0, 0.0, 1.5, "half", np.inf, False],
        "max_bins": [1, 256, 64.0, None],
        "n_jobs": [0, "two", 1.5, True],
        "random_state": ["seed", -1, 1.5],
        "verbose": [-1, "yes", None],
        "relevant_set": [[[0, 2, 0, 0]], 3],
    }.items(),
)
def test_bad_parameters_are_named(small, name, values):
    X, Y = small
    for value in values:
        with pytest.raises(ValueError, match=name):
            CSRPEClassifier(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    "parameters", [{"max_depth": 3}, {"min_samples_leaf": 2}, {"max_features": "sqrt"}, {"max_bins": 9}]
)
def test_parameters_of_trees_belong_to_trees(small, parameters):
    X, Y = small
    with pytest.raises(ValueError, match=f'{next(iter(parameters))} belongs to estimator="tree"'):
        fit(X, Y, estimator=LogisticRegression(), **parameters)
    assert fit(X, Y, **parameters).predict(X).shape == Y.shape


def test_limits_of_trees_do_what_they_say(small):
    X, Y = small
    trees = fit(X, Y, max_depth=1).bits_.trees_
    assert np.diff(trees.start).max() <= 3
    assert np.diff(fit(X, Y, max_depth=1, decoder="nearest").bits_.trees_.start).max() <= 3
    assert fit(X, Y, max_bins=2).bits_.bins_.n_bins.max() == 2
    for decoder in ("nearest", "posterior"):
        bagged = fit(X, Y, max_samples=30, decoder=decoder)
        assert (bagged.bits_.bags_.n_sampled, len(bagged.bits_.bags_)) == (30, 40)
        assert bagged.predict_code(X).shape == (120, 40)
        full = {"max_depth": None, "decoder": decoder}
        coarse, fine = (fit(X, Y, min_samples_leaf=n, **full).bits_.trees_ for n in (20, 1))
        assert len(coarse.feature) < 0.3 * len(fine.feature)
    some = fit(X, Y, max_features=1).bits_.trees_
    roots = some.feature[some.start[:-1]]
    assert set(roots[roots >= 0]) == set(range(6))
