"""Forests with parameters of one's own, as the base learner of every reduction."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from refpair import BinaryRelevance, CondensedFilterTree, CSRPEClassifier, Forest, LabelPowerset
from refpair.bits.trees import ClassTreeBank, TreeBank
from refpair.classifiers._base_learners import ClassLearners
from refpair.classifiers._filter_levels import TreeLevels, _all, _draw
from refpair.classifiers._reduction import ReductionClassifier
from refpair.classifiers.mlecc import CodeLearners
from tests.classifiers.common import CLASSES, make

REDUCTIONS = [name for name, cls in CLASSES.items() if issubclass(cls, ReductionClassifier)]
FORESTS = {"forest": Forest(), "tree": Forest(n_trees=1, max_features=None, max_samples=None)}

each = pytest.mark.parametrize("name", REDUCTIONS)


def bank_of(model):
    """Return the bank that a fitted reduction has its trees in."""
    if hasattr(model, "links_"):
        return model.links_.bank
    learners = model.learners_.learners_ if isinstance(model.learners_, CodeLearners) else model.learners_
    return learners.learnt_ if isinstance(learners, ClassLearners) else learners.bank_


def test_all_reductions_are_tried():
    assert len(REDUCTIONS) == 7


# ---- what the names stand for ----


@each
@pytest.mark.parametrize("named", FORESTS)
def test_a_name_is_a_forest(small, name, named):
    X, Y = small
    by_name, by_forest = (make(name, estimator=e).fit(X[:80], Y[:80]) for e in (named, FORESTS[named]))
    np.testing.assert_array_equal(by_name.predict(X[80:]), by_forest.predict(X[80:]))
    assert hasattr(by_name, "predict_proba") == hasattr(by_forest, "predict_proba")
    if hasattr(by_name, "predict_proba"):
        np.testing.assert_array_equal(by_name.predict_proba(X[80:]), by_forest.predict_proba(X[80:]))
    for field, array in vars(bank_of(by_name).trees_).items():
        np.testing.assert_array_equal(array, getattr(bank_of(by_forest).trees_, field))


# ---- parameters ----


@each
def test_parameters_reach_the_trees(small, name):
    X, Y = small
    forest = Forest(7, max_depth=2, min_samples_leaf=3, max_features="log2", max_samples=None, max_bins=9)
    model = make(name, estimator=forest).fit(X, Y)
    bank = bank_of(model)
    given = {key: value for key, value in forest.get_params().items() if key != "n_trees"}
    assert {key: getattr(bank, key) for key in given} == given
    assert len(bank.trees_) % 7 == 0
    assert np.diff(bank.trees_.start).max() == 7  # nodes of a full tree of that depth
    assert bank.bins_.n_bins.max() <= 9
    assert model.estimator is forest


@each
@pytest.mark.parametrize("parameter", ["max_depth", "min_samples_leaf"])
def test_forests_can_be_held_small(small, name, parameter):
    X, Y = small
    value = {"max_depth": 1, "min_samples_leaf": 20}[parameter]
    forest = Forest(4, max_features=None, max_samples=None, **{parameter: value})
    model = make(name, estimator=forest).fit(X, Y)
    n_nodes = np.diff(bank_of(model).trees_.start).max()
    n_examples = 120 * getattr(model, "n_rounds_", 1)  # a filter tree meets rows on several paths
    assert n_nodes == 3 if parameter == "max_depth" else 3 < n_nodes <= 2 * n_examples / 20 - 1


def test_leaves_of_classes_have_enough_rows(small):
    X, Y = small
    trees = bank_of(LabelPowerset(Forest(5, min_samples_leaf=9), random_state=0).fit(X, Y)).trees_
    n_rows = np.add.reduceat(trees.counts, trees.count_start[:-1][trees.feature < 0])
    assert n_rows.min() >= 9
    assert n_rows.sum() == 5 * round(0.632 * 120)


def test_auto_is_for_forests():
    """Of features that are there or not, a third; a bank's own "auto" would take all."""
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 2, (60, 9)).astype(float), rng.integers(0, 2, (60, 3))
    trees = {
        how: BinaryRelevance(Forest(3, max_features=how), random_state=0).fit(X, Y).learners_.bank_.trees_
        for how in ("auto", 1 / 3, None)
    }
    np.testing.assert_array_equal(trees["auto"].feature, trees[1 / 3].feature)
    assert not np.array_equal(trees["auto"].feature, trees[None].feature)


def test_banks_take_what_a_forest_is_made_with():
    parameters = Forest(max_features=3, max_bins=7).bank_parameters()
    for bank in (TreeBank(**parameters), ClassTreeBank(**parameters)):
        assert (bank.max_features, bank.max_samples, bank.max_bins) == (3, 0.632, 7)


# ---- scikit-learn ----


def test_a_forest_is_cloned_with_its_reduction():
    model = BinaryRelevance(Forest(n_trees=5, max_depth=3))
    assert model.get_params()["estimator__max_depth"] == 3
    copy = clone(model).set_params(estimator__max_depth=4, estimator__n_trees=2)
    assert (copy.estimator.max_depth, copy.estimator.n_trees) == (4, 2)
    assert (model.estimator.max_depth, model.estimator.n_trees) == (3, 5)
    assert repr(model.estimator) == "Forest(max_depth=3, n_trees=5)"


def test_parameters_are_searched(small):
    X, Y = small
    model = BinaryRelevance(Forest(n_trees=10), random_state=0)
    search = GridSearchCV(model, {"estimator__max_depth": [None, 1], "estimator__n_trees": [3, 8]}, cv=2)
    search.fit(X, Y)
    assert search.best_params_["estimator__max_depth"] is None
    assert search.best_estimator_.learners_.n_trees_ == search.best_params_["estimator__n_trees"]


@each
def test_sparse_features_and_missing_values(small, name):
    X, Y = small
    model = make(name, estimator=Forest(n_trees=3))
    dense, sparse = (clone(model).fit(given, Y).predict(given) for given in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense, sparse)
    missing = X.copy()
    missing[::7, 2] = np.nan
    assert model.fit(missing, Y).predict(missing).shape == Y.shape


# ---- bad parameters ----

WRONG = {
    "n_trees": [0, -1, 2.5, None, "many", True],
    "max_depth": [0, -1, 2.5, "auto", True],
    "min_samples_leaf": [0, 0.1, None, "one"],
    "max_features": [0, 0.0, 1.5, "forest", "all", True],
    "max_samples": [0, 0.0, 1.5, "auto", True, float("nan")],
    "max_bins": [1, 256, None, 64.0],
}


@pytest.mark.parametrize("parameter", WRONG)
def test_bad_parameters_are_named(parameter):
    for value in WRONG[parameter]:
        forest = Forest(**{parameter: value})  # only stores
        with pytest.raises(ValueError, match=f"^{parameter} must be .*, not {value!r}$"):
            forest.check()


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_trees": np.int64(3), "max_depth": np.int32(4), "min_samples_leaf": 2},
        {"max_features": 1.0, "max_samples": 1},
        {"max_features": "log2", "max_samples": np.float32(0.5), "max_bins": 255},
        {"max_features": 10**6, "max_samples": 10**6, "min_samples_leaf": 10**6},
    ],
)
def test_good_parameters_are_taken(small, parameters):
    X, Y = small
    forest = Forest(**{"n_trees": 2} | parameters)
    forest.check()
    for cls in (BinaryRelevance, LabelPowerset):
        assert cls(forest, random_state=0).fit(X, Y).predict(X).shape == Y.shape


@each
def test_fit_refuses_a_bad_forest(small, name):
    for wrong, message in [
        (Forest(max_depth=0), "^max_depth must be an integer of at least 1, not 0"),
        (Forest, r"^estimator must be a classifier .*: give an instance, Forest\(\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(name, estimator=wrong).fit(*small)


def test_only_reductions_take_a_forest(small):
    with pytest.raises(ValueError, match='estimator must be "tree", "logistic" or a scikit-learn classifier'):
        CSRPEClassifier(estimator=Forest()).fit(*small)


# ---- condensed filter trees ----


def levels_of(forest, X):
    return TreeLevels(forest, X, 1, np.random.default_rng(0), None)


@pytest.mark.parametrize(
    ("forest", "draws"),
    [
        (Forest(), True),
        (Forest(n_trees=2, max_samples=119), True),
        (Forest(n_trees=1), False),
        (Forest(max_samples=None), False),
        (Forest(max_samples=1.0), False),
        (Forest(max_samples=120), False),
    ],
)
def test_examples_are_drawn_for_several_trees_with_bags(small, forest, draws):
    X, _ = small
    levels = levels_of(forest, X)
    assert levels.draws_examples == draws
    weight = np.where(np.arange(120) < 60, 1.0, 3.0)
    given, all_trees = (weight, levels.in_bag), slice(0, forest.n_trees)
    targets = _draw(*given, levels.seeds[0], all_trees) if draws else _all(*given, all_trees)
    bags = levels.in_bag.T
    assert (targets[~bags] == 0).all()
    assert (targets[bags] == np.broadcast_to(weight[:, None], bags.shape)[bags]).all() == (not draws)


def test_a_single_tree_does_not_depend_on_rows_out_of_its_bag(small):
    X, Y = small
    row, path, gain = np.arange(120), np.zeros((120, 0), np.uint8), np.where(Y[:, 0] == 1, 1.0, -1.0)
    one, other = (levels_of(Forest(n_trees=1, max_samples=0.5), X) for _ in range(2))
    assert one.in_bag.sum() == 60
    one.learn(0, row, path, gain, draft=False)
    other.learn(0, row, path, np.where(one.in_bag[0], gain, -gain), draft=False)
    np.testing.assert_array_equal(one.trees[0].value, other.trees[0].value)
    third = levels_of(Forest(n_trees=1, max_samples=0.5), X)
    third.learn(0, row, path, np.where(one.in_bag[0], -gain, gain), draft=False)
    assert not np.array_equal(one.trees[0].value, third.trees[0].value)


@pytest.mark.parametrize("cost", ["f1", "hamming"])
def test_filter_trees_of_forests_that_see_all_rows(small, cost):
    """They learn the training set by heart, and new rows about as well as with bags."""
    X, Y = small
    scores = {}
    for max_samples in (None, 0.632):
        forest = Forest(n_trees=30, max_samples=max_samples)
        model = CondensedFilterTree(forest, cost=cost, n_rounds=2, random_state=0).fit(X[:80], Y[:80])
        scores[max_samples] = model.score(X[80:], Y[80:])
        if max_samples is None:
            np.testing.assert_array_equal(model.predict(X[:80]), Y[:80])
    assert scores[None] > scores[0.632] - 0.1
