"""The source of leaves: what training samples of the same leaves say."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from refpair.posterior import leaves
from refpair.posterior.leaves import BATCHES, LeafSource, _NearestReference, _normed
from tests import naive
from tests.posterior.training import make_training, some_samples


def learnt(training, n_steps=1, seed=1):
    """Return a source after some steps, and what it said in the last one."""
    source = LeafSource()
    steps = source.learn(training, np.random.default_rng(seed))
    return source, [next(steps).copy() for _ in range(n_steps)][-1]


def grown(training, n_trees=6):
    rng = np.random.default_rng(3)
    source, _ = learnt(training)
    return source._grow(n_trees, training, source.trees.bins_, _NearestReference(training, rng), rng)


def counted(trees, node):
    held = slice(trees.count_start[node], trees.count_start[node + 1])
    return dict(zip(trees.classes[held].tolist(), trees.counts[held].tolist(), strict=True))


def test_leaves_hold_the_vectors_of_the_samples_of_their_bag():
    training = make_training(*some_samples())
    bank, bags = grown(training)
    trees = bank.trees_
    reached = bank.find_leaves(training.X)
    assert (bags.n_rows, bags.n_sampled) == (120, 96)
    for tree in range(len(trees)):
        expected = {}
        for row in bags.rows(tree):
            expected.setdefault(reached[row, tree], Counter())[training.vector_of_row[row]] += 1
        mine = range(trees.start[tree], trees.start[tree + 1])
        found = {node: counted(trees, node) for node in mine if trees.feature[node] < 0}
        assert found == expected
        assert all(list(counts) == sorted(counts) for counts in found.values())
        assert all(counted(trees, node) == {} for node in mine if trees.feature[node] >= 0)


def test_samples_whose_vector_is_not_relevant_do_not_vote():
    X, Y = some_samples()
    training = make_training(X, Y)
    few = make_training(X, Y, vectors=training.vectors[[2, 5]])
    bank, bags = grown(few, 3)
    trees, reached = bank.trees_, bank.find_leaves(X)
    n_empty = 0
    for tree in range(3):
        rows = bags.rows(tree)
        for leaf in set(reached[:, tree].tolist()):
            there = few.vector_of_row[rows[reached[rows, tree] == leaf]]
            votes = Counter(there[there >= 0].tolist())
            n_empty += not votes
            assert counted(trees, leaf) == (votes or {0: 1}), "the most frequent one, if there is none"
    assert n_empty > 0
    source, told = learnt(few)
    assert told.shape == (120, 2)
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    source.check_shapes(6, 4, 2)
    with pytest.raises(ValueError, match="other label vectors"):
        source.check_shapes(6, 4, 3)
    with pytest.raises(ValueError, match="not those of the features"):
        source.check_shapes(5, 4, 2)


def test_answers_are_the_mean_frequencies_in_the_leaves():
    training = make_training(*some_samples())
    source, _ = learnt(training)
    new = some_samples(30, seed=5)[0]
    trees = source.trees.trees_
    reached = source.trees.find_leaves(new)
    expected = np.zeros((30, len(training.vectors)))
    for row, tree in np.ndindex(reached.shape):
        counts = counted(trees, reached[row, tree])
        for vector, count in counts.items():
            expected[row, vector] += count / sum(counts.values()) / len(trees)
    np.testing.assert_allclose(source.answer(new, None), expected, rtol=1e-9)


def test_out_of_bag_each_tree_speaks_of_the_samples_it_does_not_know():
    training = make_training(*some_samples(60), rows=[7, 3, 3, 59])
    source, answers = learnt(training, seed=1)
    rng = np.random.default_rng(1)  # the same trees again, with their bags
    nearest = _NearestReference(training, rng)
    bank, bags = source._grow(BATCHES[0], training, source.trees.bins_, nearest, rng)
    trees, reached = bank.trees_, bank.find_leaves(training.X)
    for told, row in zip(answers, training.rows, strict=True):
        votes = np.zeros(len(training.vectors))
        unknowing = [tree for tree in range(BATCHES[0]) if row not in bags.rows(tree)]
        assert 0 < len(unknowing) < BATCHES[0]
        for tree in unknowing:
            counts = counted(trees, reached[row, tree])
            for vector, count in counts.items():
                votes[vector] += count / sum(counts.values()) / len(unknowing)
        np.testing.assert_allclose(told, votes, rtol=1e-9)


def test_a_vector_that_one_sample_has_gets_no_weight_from_others():
    """The labels are noise, and each vector is there once: only a tree that knew it could tell it."""
    rng = np.random.default_rng(0)
    Y = np.array(naive.all_vectors(6), np.uint8)
    training = make_training(rng.normal(size=(64, 5)), Y, rows=np.arange(64))
    source, told = learnt(training, 2)
    own = training.vector_of_row[training.rows]
    np.testing.assert_array_equal(told[np.arange(64), own], 0.0)
    assert (source.answer(training.X, None)[np.arange(64), own] > 0.5).all(), "trees that know it do tell it"


def test_what_the_steps_say_is_of_all_trees_so_far():
    training = make_training(*some_samples())
    source = LeafSource()
    said, n_trees = [], []
    for told in source.learn(training, np.random.default_rng(1)):
        said.append(told)
        n_trees.append(len(source.trees.trees_))
        assert source.trees.n_trees_ == n_trees[-1]
        source.trees._check_saved()
        np.testing.assert_allclose(source.answer(training.X, None).sum(axis=1), 1.0)
        np.testing.assert_allclose(told.sum(axis=1), 1.0)
    assert n_trees == [100, 200, 400]
    for fewer, more, least in zip(said, said[1:], [0.01, 0.005], strict=False):
        assert least < np.abs(fewer - more).max() < 0.3


def test_of_a_sample_that_all_trees_know_the_frequencies_are_told():
    found = _normed(np.array([[0.0, 0.0, 0.0], [1.0, 3.0, 0.0]]), np.array([0.0, 4.0]), np.array([5, 3, 2]))
    np.testing.assert_allclose(found, [[0.5, 0.3, 0.2], [0.25, 0.75, 0.0]])


def test_it_tells_more_than_frequencies():
    training = make_training(*some_samples(400))
    _, told = learnt(training)
    own = training.vector_of_row[training.rows]
    likelihood = np.log(np.maximum(told[np.arange(400), own], 1e-3)).mean()
    assert likelihood > np.log(training.counts / 400)[own].mean() + 0.2


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_matter(n_jobs):
    training = make_training(*some_samples())
    source, told = learnt(training)
    again, told_again = learnt(replace(training, n_jobs=n_jobs))
    np.testing.assert_array_equal(told_again, told)
    for name, array in vars(source.trees.trees_).items():
        np.testing.assert_array_equal(getattr(again.trees.trees_, name), array, err_msg=name)
    np.testing.assert_array_equal(again.answer(training.X, n_jobs), source.answer(training.X, None))


def test_another_seed_grows_other_trees():
    training = make_training(*some_samples())
    _, told = learnt(training)
    np.testing.assert_array_equal(learnt(training)[1], told)
    assert (learnt(training, seed=2)[1] != told).any()


def test_samples_are_of_the_class_of_the_nearest_reference(monkeypatch):
    monkeypatch.setattr(leaves, "N_REFERENCES", 3)
    training = make_training(*some_samples(80, 3))
    vectors, of_row = training.distinct.vectors.tolist(), training.distinct.of_row
    classes = _NearestReference(training, np.random.default_rng(0)).draw(np.random.default_rng(1))
    class_of = dict(zip(of_row.tolist(), classes.tolist(), strict=True))
    assert [class_of[one] for one in of_row.tolist()] == classes.tolist(), "one class for all of a vector"

    def is_nearest(references):
        costs = [[naive.accuracy(y, vectors[r]) for r in references] for y in vectors]
        return all(row[class_of[one]] == min(row) for one, row in enumerate(costs))

    assert set(class_of.values()) == {0, 1, 2}
    assert any(is_nearest(three) for three in permutations(range(len(vectors)), 3))


def test_of_two_samples_there_are_trees_of_one():
    training = make_training(np.array([[0.0], [1.0]]), [[0, 1], [1, 0]], rows=[0, 1])
    source, told = learnt(training)
    own = training.vector_of_row
    np.testing.assert_array_equal(told[[0, 1], own], 0.0)
    np.testing.assert_allclose(source.answer(training.X, None).sum(axis=1), 1.0)
