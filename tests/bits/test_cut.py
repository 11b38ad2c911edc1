from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from refpair._kernels.binning import MISSING
from refpair.bits.estimator import EstimatorBank
from refpair.bits.nodes import Trees
from refpair.bits.problem import BitProblems
from refpair.bits.trees import TreeBank

N_BITS = 60  # more than are grown at a time
DEPTHS = [0, 1, 2, 3, 100]
SLICES = [
    slice(None), slice(0, 0), slice(0, 1), slice(7, 23), slice(40, None), slice(49, 51), slice(-3, None),
    slice(0, 1000), slice(60, None), slice(9, 5),
]  # fmt: skip


def make_problems(n, rng, n_bits=N_BITS):
    targets = rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0], (12, n_bits))
    targets[:, 3] = 1.0  # a tree of a single leaf
    seeds = rng.integers(0, 2**63, n_bits, dtype=np.uint64)
    vector_of_row = rng.integers(0, 12, n).astype(np.int32)
    return BitProblems(vector_of_row, n_bits, lambda bits: targets[:, bits], seeds)


@pytest.fixture(scope="module")
def grown():
    """A bank of deep trees and rows, new to it, with missing values."""
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((150, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    bank = TreeBank(max_features=2).fit(X, make_problems(150, rng))
    new = np.round(rng.standard_normal((90, 4)), 1)
    new[rng.random(new.shape) < 0.1] = np.nan
    return bank, new


def walk(trees, tree, row, depth):
    """The value of the node where a row stops: at a leaf, or after so many steps."""
    root = node = int(trees.start[tree])
    steps = 0
    while trees.feature[node] >= 0 and steps < depth:
        code = row[trees.feature[node]]
        left = trees.missing_left[node] if code == MISSING else code <= trees.threshold[node]
        node = root + int(trees.left_child[node]) + (0 if left else 1)
        steps += 1
    return trees.value[node]


def codes_of(bank, X):
    return np.concatenate([codes for _, codes in bank.bins_.blocks(X)])


def depth_of(trees, tree):
    """The depth of the deepest leaf."""
    first = int(trees.start[tree])

    def below(node):
        if trees.feature[first + node] < 0:
            return 0
        left = int(trees.left_child[first + node])
        return 1 + max(below(left), below(left + 1))

    return below(0)


@pytest.mark.parametrize("depth", DEPTHS)
def test_cut_trees_answer_where_a_walk_stops(grown, depth):
    bank, X = grown
    cut = bank.cut(depth)
    expected = [[walk(bank.trees_, tree, row, depth) for tree in range(N_BITS)] for row in codes_of(bank, X)]
    np.testing.assert_array_equal(cut.values(X), expected)
    np.testing.assert_array_equal(cut.predict(X), np.where(np.array(expected) > 0, 1, -1))


@pytest.mark.parametrize("depth", DEPTHS)
def test_cut_trees_have_no_node_too_many(grown, depth):
    trees = grown[0].trees_
    cut = trees.cut(depth)
    assert len(cut) == len(trees)
    assert cut.start[0] == 0
    assert cut.start[-1] == len(cut.feature) == len(cut.value)
    for tree in range(N_BITS):
        assert depth_of(cut, tree) == min(depth, depth_of(trees, tree))
        nodes = slice(cut.start[tree], cut.start[tree + 1])
        n_inner = (cut.feature[nodes] >= 0).sum()
        assert nodes.stop - nodes.start == 2 * n_inner + 1, "two children of every inner node, and the root"


def test_trees_cut_below_their_leaves_are_the_trees(grown):
    trees = grown[0].trees_
    assert max(depth_of(trees, tree) for tree in range(N_BITS)) < 100
    cut = trees.cut(100)
    inner = trees.feature >= 0
    for name in ("start", "feature", "threshold", "missing_left", "value"):
        np.testing.assert_array_equal(getattr(cut, name), getattr(trees, name), err_msg=name)
    np.testing.assert_array_equal(cut.left_child[inner], trees.left_child[inner])


def test_cut_trees_are_arrays_of_the_same_kind(grown):
    trees = grown[0].trees_
    for depth in DEPTHS:
        for name, array in vars(trees.cut(depth)).items():
            assert array.dtype == getattr(trees, name).dtype, name


def test_cutting_twice_is_cutting_at_the_smaller_depth(grown):
    trees = grown[0].trees_
    for first, second in [(3, 1), (1, 3), (2, 2)]:
        twice, once = trees.cut(first).cut(second), trees.cut(min(first, second))
        for name, array in vars(once).items():
            np.testing.assert_array_equal(getattr(twice, name), array)


def test_cut_trees_are_the_trees_grown_no_deeper():
    """With all features looked at, what is grown above a depth does not depend on what is below."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 1))
    problems = make_problems(80, rng, n_bits=10)
    deep, shallow = TreeBank().fit(X, problems), TreeBank(max_depth=2).fit(X, problems)
    np.testing.assert_array_equal(deep.cut(2).values(X), shallow.values(X))


def test_the_uncut_bank_is_left_alone(grown):
    bank, X = grown
    before = {name: array.copy() for name, array in vars(bank.trees_).items()}
    cut = bank.cut(1)
    assert isinstance(cut, TreeBank)
    assert cut.bins_ is bank.bins_
    assert (cut.values(X) != bank.values(X)).any()
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(bank.trees_, name), array)


def test_trees_of_single_leaves_may_be_cut():
    leaves = Trees(
        np.int64([0, 1, 2]), np.int32([-1, -1]), np.uint8([0, 0]), np.zeros(2, bool), np.int32([0, 0]),
        np.float32([0.5, -1]),
    )  # fmt: skip
    for depth in DEPTHS:
        assert leaves.cut(depth).value.tolist() == [0.5, -1.0]
        assert leaves.cut(depth).start.tolist() == [0, 1, 2]


# ---- some of the bits ----


@pytest.mark.parametrize("bits", SLICES, ids=str)
def test_some_bits_of_trees_are_columns_of_all(grown, bits):
    bank, X = grown
    for some in (bank, bank.cut(2)):
        for rows in (X, X[:1], sp.csr_array(np.nan_to_num(X))):
            np.testing.assert_array_equal(some.predict(rows, bits), some.predict(rows)[:, bits])
            np.testing.assert_array_equal(some.values(rows, bits), some.values(rows)[:, bits])


def test_values_have_the_sign_of_the_bit(grown):
    bank, X = grown
    values = bank.values(X)
    assert values.dtype == np.float32
    assert np.abs(values).max() <= 1
    np.testing.assert_array_equal(bank.predict(X), np.where(values > 0, 1, -1))


@pytest.fixture(scope="module", params=[LogisticRegression(), RidgeClassifier()], ids=["sure", "signs"])
def learnt(request):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((70, 3))
    return EstimatorBank(request.param).fit(X, make_problems(70, rng, n_bits=10)), X


@pytest.mark.parametrize(
    "bits", [slice(None), slice(0, 0), slice(2, 7), slice(7, None), slice(-1, None), slice(0, 99)]
)
def test_some_bits_of_estimators_are_columns_of_all(learnt, bits):
    bank, X = learnt
    np.testing.assert_array_equal(bank.predict(X, bits), bank.predict(X)[:, bits])
    np.testing.assert_array_equal(bank.values(X, bits), bank.values(X)[:, bits])


def test_values_of_estimators_are_their_probabilities_if_they_have_any(learnt):
    bank, X = learnt
    values, signs = bank.values(X), bank.predict(X)
    assert values.dtype == np.float32
    for bit, estimator in enumerate(bank.estimators_):
        expected = signs[:, bit]
        if isinstance(estimator, LogisticRegression):
            of_class = dict(zip(estimator.classes_.tolist(), estimator.predict_proba(X).T, strict=True))
            expected = of_class[1] - of_class[0]
            np.testing.assert_array_equal(np.sign(expected), signs[:, bit])
        np.testing.assert_allclose(values[:, bit], expected, rtol=1e-5, atol=1e-6)
    assert isinstance(bank.estimators_[3], int)
    assert (values[:, 3] == 1).all()


@pytest.mark.parametrize("bank", [TreeBank(max_depth=3), EstimatorBank(LogisticRegression())])
@pytest.mark.parametrize("n_signs", [0, 3, 8])
def test_bits_and_values_at_once(bank, n_signs):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    bank.fit(X, make_problems(60, rng, n_bits=8))
    signs, values = bank.predict_and_values(X, n_signs)
    np.testing.assert_array_equal(signs, bank.predict(X)[:, :n_signs])
    np.testing.assert_array_equal(values, bank.values(X)[:, n_signs:])


# ---- max_features="auto" and "forest" ----


def trees_for(X, max_features):
    return (
        TreeBank(max_features=max_features)
        .fit(X, make_problems(len(X), np.random.default_rng(2), n_bits=5))
        .trees_
    )


def same(trees, others):
    return all(np.array_equal(array, getattr(others, name)) for name, array in vars(trees).items())


@pytest.mark.parametrize(("how", "of_binary"), [("auto", None), ("forest", 1 / 3)])
@pytest.mark.parametrize(("n_numeric", "few"), [(16, True), (9, True), (8, False), (0, False)])
def test_few_features_are_looked_at_if_most_are_numeric(n_numeric, few, how, of_binary):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (120, 16)).astype(np.float64)
    X[:, :n_numeric] = rng.integers(0, 30, (120, n_numeric))
    found = trees_for(X, how)
    assert same(found, trees_for(X, "sqrt" if few else of_binary))
    assert not same(found, trees_for(X, of_binary if few else "sqrt"))


@pytest.mark.parametrize("n_numeric", [0, 4])
def test_the_features_that_all_bits_may_use_decide_how_many_are_looked_at(n_numeric):
    """Those after them are the labels of a chain, which are always there or not."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (120, 12)).astype(np.float64)
    X[:, :n_numeric] = rng.integers(0, 30, (120, n_numeric))
    problems = replace(make_problems(120, rng, n_bits=5), n_features=np.int32([4, 6, 8, 10, 12]))
    banks = {how: TreeBank(max_features=how).fit(X, problems).trees_ for how in ("forest", "sqrt", 1 / 3)}
    assert same(banks["forest"], banks["sqrt"]) == (n_numeric == 4)
    assert same(banks["forest"], banks[1 / 3]) == (n_numeric == 0)


# ---- some of the bits ----


@pytest.mark.parametrize("bits", [[], [0], [4, 2, 2], range(7)], ids=str)
def test_a_bank_of_some_bits_has_their_columns(grown, bits):
    bank, X = grown
    bits = np.array(bits, dtype=np.intp)
    for some in (bank, bank.cut(2)):
        taken = some.take(bits)
        assert len(taken) == len(bits)
        np.testing.assert_array_equal(taken.values(X), some.values(X)[:, bits])
        np.testing.assert_array_equal(taken.predict(X), some.predict(X)[:, bits])
        assert taken.trees_.start[-1] == len(taken.trees_.feature), "no node too many"
        for name, array in vars(taken.trees_).items():
            assert array.dtype == getattr(some.trees_, name).dtype, name


@pytest.mark.parametrize(
    "bank", [TreeBank(max_samples=0.5), EstimatorBank(LogisticRegression(), max_samples=0.5)]
)
def test_some_bits_keep_their_bags_and_the_bank_itself_is_left_alone(bank):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    n_features = np.int32([1, 2, 3, 4, 4, 3, 2, 1])
    bank.fit(X, replace(make_problems(60, rng, n_bits=8), n_features=n_features))
    before, seeds = bank.values(X), bank.bags_.seeds.copy()
    bits = np.array([0, 1, 5, 6, 7])
    taken = bank.take(bits)
    np.testing.assert_array_equal(taken.values(X), before[:, bits])
    np.testing.assert_array_equal(taken.bags_.seeds, seeds[bits])
    np.testing.assert_array_equal(bank.values(X), before)
    np.testing.assert_array_equal(bank.bags_.seeds, seeds)
