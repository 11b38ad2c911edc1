import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from refpair._kernels import walk
from refpair.bits.binning import find_bins
from refpair.bits.nodes import Trees
from refpair.bits.trees import TreeBank
from refpair.classifiers import _links
from refpair.classifiers._links import EstimatorLinks, TreeLinks, append_labels

MISSING = 255


def random_trees(rng, n_trees, n_features, n_labels, depth):
    """Trees that ask for features and for labels, never twice for the same label."""
    feature, threshold, missing_left, left_child, value, start = [], [], [], [], [], [0]

    def grow(depth, labels):
        """Return the nodes of a tree, its root first: lists of [feature, threshold, missing_left, left]."""
        nodes = [[-1, 0, False, 0]]
        todo = [(0, depth, labels)]
        while todo:
            node, left_over, labels = todo.pop()
            may_ask = [*range(n_features), *(n_features + label for label in labels)]
            if left_over == 0 or rng.random() < 0.15 or not may_ask:
                continue
            f = int(rng.choice(may_ask))
            cut = 0 if f >= n_features else int(rng.integers(0, 6))
            nodes[node] = [f, cut, bool(rng.random() < 0.5), len(nodes)]
            rest = [label for label in labels if n_features + label != f]
            todo += [(len(nodes), left_over - 1, rest), (len(nodes) + 1, left_over - 1, rest)]
            nodes += [[-1, 0, False, 0], [-1, 0, False, 0]]
        return nodes

    for _ in range(n_trees):
        nodes = grow(depth, list(range(n_labels)))
        start.append(start[-1] + len(nodes))
        for columns, column in zip(
            (feature, threshold, missing_left, left_child), zip(*nodes, strict=True), strict=True
        ):
            columns += column
        value += rng.uniform(-1, 1, len(nodes)).tolist()
    return Trees(
        np.int64(start), np.int32(feature), np.uint8(threshold), np.array(missing_left, bool),
        np.int32(left_child), np.float32(value),
    )  # fmt: skip


def naive_sum(trees, which, codes, labels):
    """One path down one tree after the other."""
    asked = [*codes.tolist(), *labels.tolist()]
    total = 0.0
    for tree in which:
        root = node = int(trees.start[tree])
        while trees.feature[node] >= 0:
            code = asked[trees.feature[node]]
            goes_left = trees.missing_left[node] if code == MISSING else code <= trees.threshold[node]
            node = root + int(trees.left_child[node]) + (not goes_left)
        total += float(trees.value[node])
    return total


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    n_rows=st.integers(1, 5),
    most_paths=st.sampled_from([1, 2, 10, 64, 65, 150]),
    n_features=st.integers(0, 4),
    n_labels=st.integers(0, 9),
    in_order=st.booleans(),
)
def test_paths_that_go_together_come_to_the_leaves_they_reach_alone(
    seed, n_rows, most_paths, n_features, n_labels, in_order
):
    rng = np.random.default_rng(seed)
    trees = random_trees(rng, 7, n_features, n_labels, depth=7)
    codes = rng.integers(0, 7, (n_rows, n_features)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.1] = MISSING
    row = np.repeat(np.arange(n_rows), rng.integers(0, most_paths + 1, n_rows))
    if not in_order:
        rng.shuffle(row)
    paths = rng.integers(0, 2, (len(row), n_labels)).astype(np.uint8)
    out = np.full(len(row), np.nan)
    walk.sum_values(codes, row, paths, trees.nodes._replace(start=trees.start[2:7]), trees.value, out)
    expected = [naive_sum(trees, range(2, 6), codes[r], y) for r, y in zip(row, paths, strict=True)]
    np.testing.assert_array_equal(out, expected)  # to the last digit


def test_tree_links_are_the_means_of_their_trees(small, monkeypatch):
    X, Y = small
    X = np.where(np.abs(X) > 1.8, np.nan, X)
    rng = np.random.default_rng(0)
    trees = random_trees(rng, 12, 6, 3, depth=6)
    bank = TreeBank()
    bank.bins_ = find_bins(append_labels(X, Y[:, :4].astype(np.uint8)), 8)
    bank.trees_ = trees
    row = np.repeat(np.arange(120), rng.integers(0, 5, 120))
    paths = rng.integers(0, 2, (len(row), 3)).astype(np.uint8)
    codes = np.concatenate([c for _, c in bank.bins_.blocks(append_labels(X, np.zeros((120, 4), np.uint8)))])
    means = [naive_sum(trees, range(8, 12), codes[r, :6], y) / 4 for r, y in zip(row, paths, strict=True)]
    expected = (1 + np.array(means)) / 2
    for block in (4096, 7):
        monkeypatch.setattr(_links, "_PATHS", block)
        for n_jobs in (None, 2):
            for given_X in (X, sp.csr_array(X)):
                links = TreeLinks(bank, n_trees=4, n_links=3, n_jobs=n_jobs)
                prepared = links.prepare(given_X)
                np.testing.assert_array_equal(prepared, codes[:, :6])
                np.testing.assert_array_equal(links.chance(2, prepared, row, paths), expected)
                np.testing.assert_array_equal(links.labels(2, prepared, row, paths), expected > 0.5)
    assert len(links) == 3


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_estimator_links_ask_the_classifier_of_the_link(small, kind, monkeypatch):
    monkeypatch.setattr(_links, "_CELLS", 50)
    X, Y = small
    first = LogisticRegression().fit(X, Y[:, 0])
    third = LinearSVC(random_state=0).fit(np.hstack([X, Y[:, :2]]), Y[:, 2])
    links = EstimatorLinks([first, 1, third, 0])
    assert len(links) == 4
    prepared = links.prepare(kind(X))
    row = np.repeat(np.arange(120), 2)
    paths = np.tile(np.uint8([[0, 1, 1], [1, 1, 0]]), (120, 1))
    np.testing.assert_allclose(
        links.chance(0, prepared, row, paths[:, :0]), np.repeat(first.predict_proba(X)[:, 1], 2)
    )
    np.testing.assert_array_equal(links.labels(0, prepared, row, paths[:, :0]), first.predict(X)[row])
    for k, value in ((1, 1), (3, 0)):
        assert (links.chance(k, prepared, row, paths[:, :k]) == value).all()
        assert (links.labels(k, prepared, row, paths[:, :k]) == value).all()
    says = third.predict(np.hstack([X[row], paths[:, :2]]))
    np.testing.assert_array_equal(links.labels(2, prepared, row, paths[:, :2]), says)
    np.testing.assert_array_equal(links.chance(2, prepared, row, paths[:, :2]), says)  # it is certain
    assert links.chance(0, prepared, row[:0], paths[:0, :0]).shape == (0,)


def test_draws_are_rounded_row_by_row():
    rng = np.random.default_rng(0)
    row = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    expected = rng.uniform(0, 3, len(row))
    expected[rng.random(len(row)) < 0.2] = 0.0
    mean = np.zeros(len(row))
    for uniform in (np.arange(1000) + 0.5) / 1000:
        drawn = walk.round_draws(expected, row, uniform)
        assert (drawn >= np.floor(expected)).all()
        assert (drawn <= np.ceil(expected)).all()
        totals, sums = np.bincount(row, weights=expected), np.bincount(row, weights=drawn)
        assert (np.abs(totals - sums) < 1).all()
        one = rng.integers(40)
        np.testing.assert_array_equal(
            drawn[row == one], walk.round_draws(expected[row == one], row[row == one], uniform)
        )
        mean += drawn / 1000
    np.testing.assert_allclose(mean, expected, atol=0.002)


def test_a_classifier_that_says_nan_is_refused():
    class Broken:
        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    links = EstimatorLinks([Broken()])
    with pytest.raises(ValueError, match="the classifier of link 0 predicts NaN"):
        links.chance(0, np.zeros((3, 2)), np.arange(3), np.zeros((3, 0), np.uint8))
