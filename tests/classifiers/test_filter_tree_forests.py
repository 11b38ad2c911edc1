"""Levels of a condensed filter tree that are forests."""

import numpy as np
import pytest

from refpair import CondensedFilterTree, Cost, Forest, get_cost
from refpair._kernels.walk import sum_values
from refpair.classifiers._filter_levels import TreeLevels, _draw
from refpair.classifiers.filter_tree import KeyPaths, train_round
from tests.classifiers.test_filter_tree import noisy


@pytest.fixture
def forest(small):
    """Return the levels of forests that were trained for a round, and what they were trained on."""
    X, Y = small
    Y = Y.astype(np.uint8)
    levels = TreeLevels("forest", X, 4, np.random.default_rng(0), None)
    keys, cost = KeyPaths.of_truth(Y), get_cost("f1")
    train_round(
        levels, keys, lambda row, z: cost.rows(Y[row], z), draft=True, n_jobs=None, after_level=lambda: None
    )
    return levels


def test_rows_ask_the_trees_that_have_not_seen_them(forest):
    rng = np.random.default_rng(1)
    row, k = np.sort(rng.integers(0, 120, 500)), 3
    paths = rng.integers(0, 2, (500, k)).astype(np.uint8)
    trees = forest.trees[k]
    assert len(trees) == 32
    values = np.empty((32, 500))
    for tree in range(32):
        nodes = trees.nodes._replace(start=trees.start[tree : tree + 2])
        sum_values(forest.codes, row, paths, nodes, trees.value, values[tree])
    has_seen = forest.in_bag[:32, row]
    assert 0.6 < has_seen.mean() < 0.66
    expected = np.where(has_seen, 0.0, values).sum(axis=0) > 0
    np.testing.assert_array_equal(forest.decide(k, row, paths)[0], expected)
    assert (expected != (values.sum(axis=0) > 0)).any()


def labels_on_the_way(levels, k, row, path):
    """Return the labels that the trees which have not seen a row ask for, unless the vote is settled."""
    trees, n_features = levels.trees[k], levels.codes.shape[1]
    cells = [*levels.codes[row].astype(int), *path]
    asked = [tree for tree in range(len(trees)) if not levels.in_bag[tree, row]]
    total, labels = 0.0, set()
    for n_before, tree in enumerate(asked):
        if abs(total) > len(asked) - n_before:
            break
        root = node = trees.start[tree]
        while (feature := trees.feature[node]) >= 0:
            labels |= {feature - n_features} if feature >= n_features else set()
            node = root + trees.left_child[node] + (cells[feature] > trees.threshold[node])
        total += trees.value[node]
    return labels


def test_levels_tell_which_labels_a_vote_depends_on(forest):
    rng = np.random.default_rng(2)
    row, k = rng.integers(0, 120, 200), 3
    paths = rng.integers(0, 2, (200, k)).astype(np.uint8)
    _, looked_at = forest.decide(k, row, paths)
    expected = [labels_on_the_way(forest, k, *each) for each in zip(row, paths, strict=True)]
    assert looked_at.tolist() == [sum(1 << int(label) for label in labels) for labels in expected]
    assert len(set(looked_at.tolist())) > 3


class Asked:
    """Levels that count what they are asked, and may not tell which labels they look at."""

    def __init__(self, levels, tells):
        self.levels, self.learn, self.tells, self.n_asked = levels, levels.learn, tells, 0

    def decide(self, k, row, paths):
        self.n_asked += len(row)
        votes, looked_at = self.levels.decide(k, row, paths)
        return votes, looked_at if self.tells else looked_at | np.uint64(2**64 - 1)


@pytest.mark.parametrize(("n_labels", "spared"), [(6, 1.2), (80, 3.0)])
def test_levels_that_have_not_looked_at_what_changed_need_not_be_asked(n_labels, spared):
    X, Y = noisy(60, n_labels, seed=n_labels)
    cost, rounds = get_cost("f1"), []
    for tells in (False, True):
        levels = Asked(TreeLevels(Forest(8), X, n_labels, np.random.default_rng(0), None), tells)
        keys = KeyPaths.of_truth(Y)
        for _ in range(3):
            predicted = train_round(
                levels, keys, lambda row, z: cost.rows(Y[row], z),
                draft=True, n_jobs=None, after_level=lambda: None,
            )  # fmt: skip
            keys = keys.plus(predicted)
        rounds.append((keys, levels))
    (expected, wary), (found, frank) = rounds
    assert len(found.row) > 3 * len(Y)  # paths differ from round to round
    np.testing.assert_array_equal(found.paths, expected.paths)
    np.testing.assert_array_equal(found.count, expected.count)
    for ours, others in zip(frank.levels.trees, wary.levels.trees, strict=True):
        np.testing.assert_array_equal(ours.value, others.value)
    assert spared * frank.n_asked < wary.n_asked


def test_a_row_that_all_trees_have_seen_asks_them_all():
    X, Y = np.array([[0.0], [1.0]]), np.uint8([[0], [1]])
    levels = TreeLevels("forest", X, 1, np.random.default_rng(0), None)
    levels.in_bag[:] = True
    levels.learn(0, np.arange(2), np.zeros((2, 0), np.uint8), np.array([-1.0, 1.0]), draft=False)
    votes, _ = levels.decide(0, np.arange(2), np.zeros((2, 0), np.uint8))
    np.testing.assert_array_equal(votes, Y[:, 0])


def test_trees_do_not_depend_on_rows_they_have_not_seen(small):
    X, Y = small
    row, path = np.arange(120), np.zeros((120, 0), np.uint8)
    gain = np.where(Y[:, 0] == 1, 1.0, -1.0)
    one, other = (TreeLevels("forest", X, 1, np.random.default_rng(0), None) for _ in range(2))
    one.learn(0, row, path, gain, draft=False)
    other.learn(0, row, path, np.where(one.in_bag[7], gain, -gain), draft=False)
    trees = [np.split(levels.trees[0].value, levels.trees[0].start[1:-1]) for levels in (one, other)]
    same = [np.array_equal(a, b) for a, b in zip(*trees, strict=True)]
    assert same[7]
    assert sum(same) == 1


def test_examples_are_drawn_by_weight():
    gain = np.repeat([4.0, -2.0, 1.0], 1000)
    in_bag = np.ones((8, 3000), bool)
    in_bag[:, ::2] = False
    seeds = np.arange(8, dtype=np.uint64)
    drawn = _draw(gain, in_bag, seeds, slice(0, 8))
    assert (drawn[::2] == 0).all()
    assert set(drawn[:1000][1::2].ravel()) == {4.0}
    assert set(drawn[1000:2000].ravel()) == {-4.0, 0.0}
    share = (drawn[1::2] != 0).reshape(3, -1).mean(axis=1)
    np.testing.assert_allclose(share, [1.0, 0.5, 0.25], atol=0.03)
    np.testing.assert_array_equal(_draw(gain, in_bag, seeds, slice(3, 5)), drawn[:, 3:5])


def test_one_heavy_example_does_not_drive_out_the_others():
    gain = np.ones(1000)
    gain[0] = -1e9
    drawn = _draw(gain, np.ones((5, 1000), bool), np.arange(5, dtype=np.uint64), slice(0, 5))
    assert (drawn[0] == -1e9).all()
    assert 0.015 < (drawn != 0).mean() < 0.05


def test_forests_care_for_the_cost(small):
    X, Y = small
    missed = Cost.per_label(false_negative=10)
    for cost in (missed, Cost.from_counts(lambda tp, fp, fn, tn: fp + 10 * fn)):
        careful = CondensedFilterTree("forest", cost=cost, n_rounds=2, random_state=0).fit(X[:70], Y[:70])
        plain = CondensedFilterTree("forest", cost="hamming", n_rounds=2, random_state=0).fit(X[:70], Y[:70])
        costs = [missed.mean(Y[70:], model.predict(X[70:])) for model in (careful, plain)]
        assert costs[0] < 0.7 * costs[1]
