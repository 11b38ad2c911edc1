from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numba import njit
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from refpair._kernels import grow_classes
from refpair._kernels.class_features import MOST_CLASSES, make_counts, n_counted, with_bits
from refpair._kernels.rng import draw_rows
from refpair.bits import binning
from refpair.bits.binning import find_bins
from refpair.bits.nodes import ClassTrees
from refpair.bits.problem import ClassProblems, resolve_max_features
from refpair.bits.trees import ClassTreeBank
from refpair.bits.weights import in_whole_copies
from tests import naive
from tests.kernels.growing import naive_codes


def make_problems(classes, n_trees=1, seed=0, row_weight=None):
    classes = np.int32(classes).reshape(len(classes), -1)
    seeds = np.random.default_rng(seed).integers(0, 2**63, classes.shape[1] * n_trees, dtype=np.uint64)
    return ClassProblems(classes, classes.max(0) + 1, n_trees, seeds, row_weight)


def random_problems(n, n_problems, n_classes, n_trees, seed=0):
    rng = np.random.default_rng(seed)
    return make_problems(rng.integers(0, n_classes, (n, n_problems)), n_trees, seed)


def fit_all_forms(X, problems, **parameters):
    """A bank that dense and sparse features agree on, array for array."""
    with patch.object(binning, "SPARSE_BELOW", 0.0):
        bank = ClassTreeBank(**parameters).fit(X, problems)
    with patch.object(binning, "SPARSE_BELOW", 2.0):
        for given_ in (X, sp.csr_array(X)):
            assert_same_trees(ClassTreeBank(**parameters).fit(given_, problems), bank)
    return bank


def assert_same_trees(bank, other):
    for field in vars(bank.trees_):
        ours, theirs = getattr(bank.trees_, field), getattr(other.trees_, field)
        np.testing.assert_array_equal(ours, theirs, err_msg=field)
        assert ours.dtype == theirs.dtype


def leaf_counts(trees, tree, node):
    node += trees.start[tree]
    at = slice(trees.count_start[node], trees.count_start[node + 1])
    return dict(zip(trees.classes[at].tolist(), trees.counts[at].tolist(), strict=True))


def assert_same_tree(trees, tree, expected):
    first, seen = int(trees.start[tree]), set()

    def compare(node, twin):
        seen.add(node)
        at = first + node
        assert trees.feature[at] == twin.feature
        if twin.children is None:
            counts = leaf_counts(trees, tree, node)
            assert counts == twin.counts
            assert list(counts) == sorted(counts)
            return
        assert trees.threshold[at] == twin.threshold
        assert trees.missing_left[at] == twin.missing_left
        for child, child_twin in enumerate(twin.children):
            compare(int(trees.left_child[at]) + child, child_twin)

    compare(0, expected)
    assert seen == set(range(int(trees.start[tree + 1]) - first))


def check(
    X, problems, *, max_bins=64, max_samples=None, max_features=None, max_depth=None, min_samples_leaf=1
):
    """Grow in all forms and compare each tree with its naive twin, node for node."""
    bank = fit_all_forms(
        X,
        problems,
        max_bins=max_bins,
        max_samples=max_samples,
        max_features=max_features,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
    )
    copies, unit = (None, 1) if problems.row_weight is None else in_whole_copies(problems.row_weight)
    codes = naive_codes(X, max_bins, copies)
    for tree, seed in enumerate(problems.seeds):
        rows = draw_rows(len(X), max_samples or len(X), seed)
        twin = naive.grow_class_tree(
            codes,
            problems.classes[:, tree // problems.n_trees].tolist(),
            sorted(rows.tolist()),
            int(seed),
            max_depth=10**9 if max_depth is None else max_depth,
            min_samples_leaf=unit * min_samples_leaf,
            copies=None if copies is None else copies.tolist(),
            max_features=resolve_max_features(max_features, X.shape[1]),
        )
        assert_same_tree(bank.trees_, tree, twin)
    return bank


values = st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, -1.0, 5.0, np.nan])


@st.composite
def tasks(draw):
    n, d = draw(st.integers(1, 14)), draw(st.integers(1, 5))
    # Some features have two values only, some have many, and few rows: ties abound.
    kinds = [draw(st.sampled_from([values, st.sampled_from([0.0, 1.0])])) for _ in range(d)]
    columns = [draw(st.lists(kind, min_size=n, max_size=n)) for kind in kinds]
    classes = draw(st.lists(st.integers(0, draw(st.integers(0, 6))), min_size=n, max_size=n))
    return np.array(columns).T, classes


@settings(max_examples=100, deadline=None)
@given(
    tasks(),
    st.integers(0, 2**63),
    st.sampled_from([None, "sqrt", 1, 2]),
    st.sampled_from([None, 0, 1, 3]),
    st.sampled_from([1, 1, 2, 4]),
    st.sampled_from([2, 4, 64]),
    st.floats(0.3, 1.0),
)
@pytest.mark.slow
def test_trees_are_the_naive_ones_node_for_node(
    task, seed, max_features, max_depth, min_samples_leaf, max_bins, share
):
    X, classes = task
    check(
        X,
        make_problems(classes, 2, seed),
        max_bins=max_bins,
        max_features=max_features,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        max_samples=max(1, int(share * len(X))),
    )


@settings(max_examples=100, deadline=None)
@given(tasks(), st.integers(0, 2**32), st.booleans(), st.sampled_from([None, 1, 2]), st.sampled_from([1, 3]))
@pytest.mark.slow
def test_rows_that_count_differently(task, seed, whole, max_features, min_samples_leaf):
    X, classes = task
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, len(X)).astype(float) if whole else rng.choice([0.3, 1.0, 2.2], len(X))
    problems = make_problems(classes, 2, seed, weight)
    check(X, problems, max_features=max_features, min_samples_leaf=min_samples_leaf)
    check(X, problems, max_features=max_features, max_samples=max(1, len(X) // 2))


@pytest.mark.parametrize("max_features", [None, "sqrt"])
def test_larger_trees_are_the_naive_ones(max_features):
    rng = np.random.default_rng(0)
    n = 120
    X = np.column_stack(
        [
            rng.standard_normal((n, 2)),
            (rng.random((n, 6)) < 0.1) * rng.integers(1, 4, (n, 6)),
            rng.random((n, 6)) < [0.02, 0.1, 0.1, 0.3, 0.5, 0.9],
            np.where(rng.random((n, 2)) < [0.2, 0.9], np.nan, rng.integers(0, 5, (n, 2))),
        ]
    )
    classes = np.column_stack([rng.integers(0, 5, n), np.arange(n) % 90, (X[:, 0] > 0) + 2 * (X[:, 9] > 0)])
    check(X, make_problems(classes, 2), max_features=max_features, max_samples=100, max_bins=20)


@pytest.mark.parametrize("max_features", [None, 10])
@pytest.mark.parametrize("n_classes", [2, 7, MOST_CLASSES, MOST_CLASSES + 1])
def test_trees_of_counted_cells_are_the_naive_ones(n_classes, max_features):
    """Large nodes, most of whose features have two values: all that rows store is counted at once."""
    rng = np.random.default_rng(n_classes)
    X = (rng.random((150, 24)) < np.linspace(0.05, 0.3, 24)).astype(float)
    X[:, ::5] *= rng.integers(1, 4, (150, 5))
    classes = (X[:, :9].sum(1) + rng.integers(0, n_classes, 150)) % n_classes
    with patch.object(binning, "SPARSE_BELOW", 2.0):
        features = with_bits(binning.bin_for_training(X, find_bins(X, 64)))
    assert n_counted(features, max_features or 24) == 19
    counts = make_counts(19, n_classes, 100)
    assert (len(counts.kept) > 0) == (n_classes <= MOST_CLASSES)
    check(X, make_problems(classes, 3), max_features=max_features, max_samples=100)
    check(X, make_problems(classes, 1), max_features=max_features, max_samples=100, min_samples_leaf=5)


def test_features_that_share_a_bit():
    """So many and so empty features that the rows have no bit for each."""
    rng = np.random.default_rng(1)
    X = np.zeros((60, 300))
    X[np.arange(60), rng.integers(0, 300, 60)] = rng.integers(1, 3, 60)
    X[rng.random(60) < 0.5, 250] = 1.0
    check(X, random_problems(60, 1, 4, 3), max_features="sqrt")


PARAMETERS = [
    {},
    {"max_features": "sqrt"},
    {"max_depth": 3, "max_features": "sqrt"},
    {"min_samples_leaf": 7, "max_features": 2},
    {"max_samples": 0.632, "max_bins": 5},
]


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_any_form_and_any_number_of_threads_give_the_same(parameters):
    rng = np.random.default_rng(2)
    X = (rng.integers(0, 9, (150, 6)) * (rng.random((150, 6)) < 0.4)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    problems = random_problems(150, 13, 8, 10)
    bank = ClassTreeBank(**parameters).fit(X, problems)
    predicted, probabilities, before = bank.predict(X), bank.predict_proba(X, 12), X.copy()
    for given_, n_jobs in [(X, 2), (np.asfortranarray(X), -1), (sp.csr_array(X), 1), (np.float32(X), 1)]:
        other = ClassTreeBank(**parameters, n_jobs=n_jobs).fit(given_, problems)
        assert_same_trees(other, bank)
        np.testing.assert_array_equal(other.predict(given_), predicted)
        np.testing.assert_array_equal(other.predict_proba(given_, 12), probabilities)
        np.testing.assert_array_equal(given_.toarray() if sp.issparse(given_) else given_, before)


def test_other_processes_learn_the_same():
    X = np.random.default_rng(3).standard_normal((300, 3))
    problems = random_problems(300, 6, 4, 20)
    bank = ClassTreeBank(max_depth=4).fit(X, problems)
    with parallel_config("loky", n_jobs=2):
        other = ClassTreeBank(max_depth=4).fit(X, problems)
        np.testing.assert_array_equal(other.predict(X), bank.predict(X))
    assert_same_trees(other, bank)


@pytest.mark.parametrize("max_depth", [2, None])
def test_probabilities_are_mean_frequencies_and_predictions_the_largest(max_depth):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 5, (80, 3)).astype(float)
    problems = random_problems(80, 3, 6, 4)
    bank = ClassTreeBank(max_samples=50, max_depth=max_depth, max_features="sqrt").fit(X, problems)
    predicted, codes = bank.predict(X), naive_codes(X, 64)
    for problem in range(3):
        expected = np.zeros((80, 6))
        for tree in range(4 * problem, 4 * problem + 4):
            twin = naive.grow_class_tree(
                codes,
                problems.classes[:, problem].tolist(),
                draw_rows(80, 50, problems.seeds[tree]).tolist(),
                int(problems.seeds[tree]),
                max_features=1,
                max_depth=max_depth or 10**9,
            )
            for row in range(80):
                counts = naive.leaf(twin, codes[row]).counts
                for c, count in counts.items():
                    expected[row, c] += count / sum(counts.values()) / 4
        probabilities = bank.predict_proba(X, problem)
        np.testing.assert_allclose(probabilities, expected, atol=1e-15)
        np.testing.assert_allclose(probabilities.sum(1), 1.0)
        np.testing.assert_array_equal(predicted[:, problem], probabilities.argmax(1))


def test_ties_go_to_the_smallest_class():
    problems = ClassProblems(np.int32([[3], [1], [1], [3]]), np.array([5]), 3, np.arange(3, dtype=np.uint64))
    bank = ClassTreeBank().fit(np.zeros((4, 2)), problems)
    np.testing.assert_array_equal(bank.predict_proba(np.ones((2, 2)), 0), [[0, 0.5, 0, 0.5, 0]] * 2)
    np.testing.assert_array_equal(bank.predict(np.ones((2, 2))), [[1], [1]])


def test_constant_classes_and_one_row():
    X = np.random.default_rng(5).standard_normal((20, 3))
    twos = np.full((20, 2), 2, np.int32)
    bank = fit_all_forms(X, ClassProblems(twos, np.array([3, 9]), 4, np.zeros(8, np.uint64)))
    assert len(bank.trees_.feature) == 8
    np.testing.assert_array_equal(bank.predict(X), twos)
    np.testing.assert_array_equal(bank.predict_proba(X, 0), np.tile([0.0, 0.0, 1.0], (20, 1)))
    one = fit_all_forms(X[:1], ClassProblems(np.int32([[1]]), np.array([2]), 2, np.zeros(2, np.uint64)))
    np.testing.assert_array_equal(one.predict(X), np.ones((20, 1)))


def test_no_problems_and_no_rows_to_predict():
    X = np.zeros((10, 2))
    nothing = ClassProblems(np.empty((10, 0), np.int32), np.empty(0, np.int64), 3, np.empty(0, np.uint64))
    bank = ClassTreeBank(max_samples=0.5).fit(X, nothing)
    assert len(bank.trees_) == 0
    assert bank.predict(X).shape == (10, 0)
    bank = ClassTreeBank().fit(X, random_problems(10, 2, 3, 1))
    assert bank.predict(X[:0]).shape == (0, 2)
    assert bank.predict_proba(X[:0], 1).shape == (0, bank.n_classes_[1])


def test_a_thousand_classes():
    rng = np.random.default_rng(6)
    classes = np.concatenate([np.arange(1000), rng.integers(0, 1000, 1000)])
    X = (classes[:, None] >> np.arange(10) & 1) + 0.1 * rng.random((2000, 10)).round()
    problems = make_problems(classes, 3)
    bank = ClassTreeBank(max_features="sqrt", n_jobs=2).fit(X, problems)
    np.testing.assert_array_equal(bank.predict(X).ravel(), classes)
    assert len(bank.trees_.classes) < 3 * 2100  # leaves name no class but their own
    np.testing.assert_array_equal(bank.predict(np.tile(X, (3, 1))), np.tile(bank.predict(X), (3, 1)))


@pytest.mark.slow
def test_marks_are_renewed(monkeypatch):
    """Where the marks of nodes would grow too large they start anew, which changes nothing."""
    X = np.random.default_rng(7).integers(0, 2, (40, 9)).astype(float) * (np.arange(9) > 1)
    problems = random_problems(40, 2, 5, 3)
    with patch.object(binning, "SPARSE_BELOW", 2.0):
        bank = ClassTreeBank(max_features="sqrt").fit(X, problems)
        features = with_bits(binning.bin_for_training(X, find_bins(X, 64)))
    monkeypatch.setattr(grow_classes, "_LAST_MARK", 7)
    again = njit(error_model="numpy")(grow_classes.grow_while_room.py_func)  # compiled with the new mark
    monkeypatch.setattr(grow_classes, "grow_while_room", again)
    nodes, held = grow_classes.grow_class_trees(
        features, 9, np.ascontiguousarray(problems.classes.T), 5, np.repeat(np.int32([0, 1]), 3), 40,
        problems.seeds, 10**6, 1, 3,
    )  # fmt: skip
    for ours, theirs in zip((*nodes, *held), vars(bank.trees_).values(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_banks_are_joined_in_order():
    X = np.random.default_rng(8).standard_normal((50, 4))
    problems = random_problems(50, 5, 4, 1)
    whole = ClassTreeBank().fit(X, problems)
    parts = [
        ClassTreeBank()
        .fit(X, ClassProblems(problems.classes[:, at], problems.n_classes[at], 1, problems.seeds[at]))
        .trees_
        for at in (slice(0, 2), slice(2, 3), slice(3, 5))
    ]
    joined = ClassTrees.join(parts)
    for field in vars(joined):
        np.testing.assert_array_equal(getattr(joined, field), getattr(whole.trees_, field))


@pytest.mark.parametrize(("load", "slack"), [(load_iris, 0.04), (load_digits, 0.015)])
def test_new_rows_are_predicted_about_as_well_as_by_scikit_learn(load, slack):
    X, y = load(return_X_y=True)
    X, new_X, y, new_y = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    ours = (
        ClassTreeBank(max_samples=0.632, max_features="sqrt")
        .fit(X, make_problems(y, 100))
        .predict(new_X)
        .ravel()
        == new_y
    )
    theirs = RandomForestClassifier(random_state=0).fit(X, y).predict(new_X) == new_y
    assert ours.mean() > theirs.mean() - slack


def test_what_is_wrong_is_refused():
    classes, seeds = np.int32([[0, 1], [1, 2]]), np.arange(4, dtype=np.uint64)
    for arguments, message in [
        ((classes, np.array([2]), 2, seeds), "1 numbers of classes are given for 2 problems"),
        ((classes, np.array([2, 2]), 2, seeds), "problem 1 has the class 2, but its classes are 0 to 1"),
        ((classes - 1, np.array([2, 2]), 2, seeds), "problem 0 has the class -1"),
        ((classes, np.array([2, 3]), 3, seeds), "4 seeds are given for 2 problems of 3 trees"),
        ((classes, np.array([2, 3]), 0, seeds[:0]), "n_trees must be 1 or more"),
        ((classes[:0], np.array([2, 3]), 2, seeds), "no rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            ClassProblems(*arguments)
    problems = ClassProblems(classes, np.array([2, 3]), 2, seeds)
    with pytest.raises(ValueError, match="3 rows of X are given, but classes of 2"):
        ClassTreeBank().fit(np.zeros((3, 2)), problems)
    bank = ClassTreeBank().fit(np.zeros((2, 2)), problems)
    for problem in (-1, 2):
        with pytest.raises(ValueError, match="problem must be from 0 to 1"):
            bank.predict_proba(np.zeros((2, 2)), problem)
