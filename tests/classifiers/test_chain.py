import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import BinaryRelevance, ChainClassifier
from refpair.classifiers import _chain_search
from refpair.classifiers._links import append_labels


@parametrize_with_checks([ChainClassifier("tree"), ChainClassifier(LogisticRegression())])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


# ---- against scikit-learn ----

LEARNERS = [
    LogisticRegression(),
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    LinearSVC(random_state=0),
    KNeighborsClassifier(4),  # takes no weights
    make_pipeline(MaxAbsScaler(), LogisticRegression()),
]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("order", [None, [2, 0, 3, 1]])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_predictions_are_those_of_scikit_learn(small, learner, order, kind):
    X, Y = small
    X = kind(X)
    theirs = ClassifierChain(learner, order=order).fit(X[:60], Y[:60])
    ours = ChainClassifier(learner, order=order).fit(X[:60], Y[:60])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y))
    assert hasattr(ours, "predict_proba") == hasattr(theirs, "predict_proba")
    if hasattr(ours, "predict_proba"):
        expected = np.clip(theirs.predict_proba(X), 1e-6, 1 - 1e-6)
        np.testing.assert_allclose(ours.predict_proba(X), expected, rtol=1e-12)


# ---- trees ----


@pytest.mark.parametrize("name", ["tree", "forest"])
def test_it_is_a_loop_over_the_links(small, name):
    X, Y = small
    model = ChainClassifier(name, order=[3, 1, 0, 2], random_state=0).fit(X[:90], Y[:90])
    links = model.links_
    assert links.n_trees == (100 if name == "forest" else 1)
    path = np.zeros((30, 4), np.uint8)
    p = np.zeros((30, 4))
    for k in range(4):
        trees = slice(k * links.n_trees, (k + 1) * links.n_trees)
        p[:, k] = (1 + links.bank.values(append_labels(X[90:], path), trees).mean(axis=1, dtype=float)) / 2
        path[:, k] = p[:, k] > 0.5
    np.testing.assert_array_equal(model.predict(X[90:])[:, [3, 1, 0, 2]], path)
    np.testing.assert_allclose(model.predict_proba(X[90:])[:, [3, 1, 0, 2]], p, atol=1.1e-6)


@pytest.mark.parametrize("name", ["tree", "forest"])
def test_no_link_uses_its_own_label_or_a_later_one(small, name):
    X, Y = small
    model = ChainClassifier(name, random_state=0).fit(X, Y)
    trees, n_trees = model.links_.bank.trees_, model.links_.n_trees
    used = []
    for k in range(4):
        asked = trees.feature[trees.start[k * n_trees] : trees.start[(k + 1) * n_trees]]
        assert asked.max() < 6 + k
        used += [asked.max() >= 6]
    assert name == "tree" or used == [False, True, True, True]


@pytest.mark.parametrize("learner", ["tree", "forest", "logistic", *LEARNERS])
def test_later_labels_change_nothing(small, learner):
    X, Y = small
    model = ChainClassifier(learner, random_state=0).fit(X[:90], Y[:90])
    other = Y[:90].copy()
    other[:, 3] = np.random.default_rng(0).permutation(other[:, 3])
    other[:, 2] = 1 - other[:, 2]
    changed = ChainClassifier(learner, random_state=0).fit(X[:90], other)
    np.testing.assert_array_equal(model.predict(X)[:, :2], changed.predict(X)[:, :2])


# ---- order ----


@pytest.mark.parametrize("learner", ["forest", "logistic"])
def test_the_order_is_that_of_permuted_labels(small, learner):
    X, Y = small
    order = np.array([3, 0, 2, 1])
    model = ChainClassifier(learner, order=order, random_state=0).fit(X[:90], Y[:90])
    permuted = ChainClassifier(learner, random_state=0).fit(X[:90], Y[:90][:, order])
    np.testing.assert_array_equal(model.order_, order)
    np.testing.assert_array_equal(model.predict(X)[:, order], permuted.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X)[:, order], permuted.predict_proba(X))


def test_a_random_order_is_by_the_random_state(small):
    X, Y = small
    orders = [ChainClassifier("tree", order="random", random_state=s).fit(X, Y).order_ for s in range(8)]
    again = ChainClassifier("tree", order="random", random_state=3).fit(X, Y).order_
    np.testing.assert_array_equal(again, orders[3])
    assert len({tuple(order) for order in orders}) > 2
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)


@pytest.mark.parametrize("order", ["rnd", [0, 1, 2], [0, 1, 2, 4], [0.0, 1.0, 2.0, 3.0], [1, 1, 2, 3], 3])
def test_bad_orders(small, order):
    with pytest.raises(ValueError, match="order must be None"):
        ChainClassifier("tree", order=order).fit(*small)


def test_bad_parameters(small):
    with pytest.raises(ValueError, match="estimator must be a classifier"):
        ChainClassifier("stump").fit(*small)
    with pytest.raises(ValueError, match="n_jobs"):
        ChainClassifier("tree", n_jobs=0).fit(*small)


# ---- kinds of labels and features ----


@pytest.mark.parametrize("learner", ["tree", "forest", "logistic", *LEARNERS])
def test_constant_labels(small, learner):
    X, Y = small
    Y = np.column_stack([np.zeros(120, int), Y[:, 0], np.ones(120, int), Y[:, 1], np.ones(120, int)])
    model = ChainClassifier(learner, random_state=0).fit(X[:90], Y[:90])
    predicted = model.predict(X)
    np.testing.assert_array_equal(predicted[:, [0, 2, 4]], np.tile([0, 1, 1], (120, 1)))
    assert (predicted[:90] == Y[:90]).mean() > 0.9
    if not isinstance(learner, LinearSVC):
        np.testing.assert_allclose(model.predict_proba(X)[:, [0, 2, 4]], predicted[:, [0, 2, 4]], atol=1e-6)
    if not isinstance(learner, str):
        varying = [1, 3]
        theirs = ClassifierChain(learner).fit(X[:90], Y[:90][:, varying])
        agree = predicted[:, varying] == theirs.predict(X)  # a constant feature may still move an intercept
        assert agree.mean() > 0.97
    nothing = ChainClassifier(learner).fit(X, Y[:, [0, 2]])
    np.testing.assert_array_equal(nothing.predict(X), np.tile([0, 1], (120, 1)))


@pytest.mark.parametrize("learner", ["tree", "forest", "logistic"])
def test_a_single_label_is_learnt_alone(small, learner):
    X, Y = small
    names = np.array(["no", "yes"])
    model = ChainClassifier(learner, random_state=0).fit(X[:90], names[Y[:90, 0]])
    alone = BinaryRelevance(learner, random_state=0).fit(X[:90], names[Y[:90, 0]])
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-7)
    assert list(model.classes_) == ["no", "yes"]


@pytest.mark.parametrize("learner", ["tree", "forest", "logistic"])
def test_sparse_is_dense(small, learner):
    X, Y = small
    model = ChainClassifier(learner, random_state=0).fit(X[:90], Y[:90])
    expected, p = model.predict(X), model.predict_proba(X)
    sparse = ChainClassifier(learner, random_state=0).fit(sp.csr_array(X[:90]), sp.csr_array(Y[:90]))
    assert sp.issparse(sparse.predict(X))
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)).toarray(), expected)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), p, atol=1e-6)
    mixed = ChainClassifier(learner, random_state=0).fit(X[:90], sp.csr_array(Y[:90]))
    np.testing.assert_array_equal(mixed.predict(X).toarray(), expected)


def test_frames_and_missing_values(small):
    X, Y = small
    frame = pd.DataFrame(np.where(X > 1.5, np.nan, X), columns=[f"x{i}" for i in range(6)])
    labels = pd.DataFrame(Y, columns=["a", "b", "c", "d"])
    model = ChainClassifier("forest", random_state=0).fit(frame, labels)
    predicted = model.predict(frame)
    assert list(predicted.columns) == ["a", "b", "c", "d"]
    assert (predicted.to_numpy() == Y).mean() > 0.95


@pytest.mark.parametrize("learner", ["forest", "logistic"])
def test_neither_blocks_nor_threads_matter(small, learner, monkeypatch):
    X, Y = small
    model = ChainClassifier(learner, random_state=0).fit(X, Y)
    expected, p = model.predict(X), model.predict_proba(X)
    monkeypatch.setattr(_chain_search, "_ROWS", 17)
    blocks = ChainClassifier(learner, random_state=0, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(blocks.predict(X), expected)
    np.testing.assert_allclose(blocks.predict_proba(X), p, rtol=1e-12)
