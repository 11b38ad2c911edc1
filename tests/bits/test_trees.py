import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config

from refpair._kernels.rng import draw_rows
from refpair._kernels.walk import MOST_FEATURES, ask_trees
from refpair._parallel import chunks_of
from refpair.bits.nodes import Trees
from refpair.bits.problem import BitProblems, resolve_max_features, resolve_share
from refpair.bits.trees import TreeBank
from tests import naive
from tests.kernels.growing import assert_same_tree, integer_weights, limits_for, naive_codes


def make_problems(n, n_vectors, n_bits, seed=0):
    rng = np.random.default_rng(seed)
    targets = rng.choice([-3.0, -1.0, 0.0, 1.0, 2.0], (n_vectors, n_bits))
    vector_of_row = rng.integers(0, n_vectors, n).astype(np.int32)
    seeds = rng.integers(0, 2**63, n_bits, dtype=np.uint64)
    return BitProblems(vector_of_row, n_bits, lambda bits: targets[:, bits], seeds), targets


def assert_same_bank(bank, other):
    for field in vars(bank.trees_):
        np.testing.assert_array_equal(getattr(bank.trees_, field), getattr(other.trees_, field))
    assert_same_bags(bank.bags_, other.bags_)


def assert_same_bags(bags, others):
    assert (bags is None) == (others is None)
    if bags is not None:
        assert (bags.n_rows, bags.n_sampled) == (others.n_rows, others.n_sampled)
        np.testing.assert_array_equal(bags.seeds, others.seeds)


def test_rows_and_targets_are_as_many():
    problems, _ = make_problems(90, 5, 7)
    with pytest.raises(ValueError, match="60 rows of X are given, but targets of 90"):
        TreeBank().fit(np.zeros((60, 3)), problems)


def test_features_are_no_more_than_a_node_can_name():
    problems, _ = make_problems(2, 2, 1)
    with pytest.raises(ValueError, match="16,777,217 features, and trees can ask for 16,777,216"):
        TreeBank().fit(sp.csr_array((2, MOST_FEATURES + 1)), problems)


def test_trees_are_asked_in_as_many_threads_as_n_jobs(monkeypatch):
    X = np.random.default_rng(9).standard_normal((300, 3))
    problems, _ = make_problems(300, 5, 7)
    asked, both = set(), threading.Barrier(2, timeout=30)

    def ask(codes, *trees):
        asked.add(threading.get_ident())
        both.wait()  # each of two chunks, at the same time
        ask_trees(codes, *trees)

    bank = TreeBank(n_jobs=2).fit(X, problems)
    expected = bank.predict(X)
    monkeypatch.setattr("refpair.bits.trees.ask_trees", ask)
    np.testing.assert_array_equal(bank.predict(X), expected)
    assert len(asked) == 2


PARAMETERS = [
    {},
    {"max_depth": 3, "min_samples_leaf": 4},
    {"max_features": "sqrt"},
    {"max_samples": 0.6, "max_bins": 5},
]


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_dense_sparse_threads_and_processes_grow_the_same_trees(parameters):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (150, 6)) * (rng.random((150, 6)) < 0.4)
    X = X.astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    problems, _ = make_problems(150, 20, 130)
    bank = TreeBank(**parameters).fit(X, problems)
    predicted = bank.predict(X)
    before = X.copy()
    for given, n_jobs in [
        (X, 2),
        (np.asfortranarray(X), -1),
        (sp.csr_array(X), 1),
        (X.astype(np.float32), 1),
    ]:
        other = TreeBank(**parameters, n_jobs=n_jobs).fit(given, problems)
        assert_same_bank(other, bank)
        np.testing.assert_array_equal(other.predict(given), predicted)
        np.testing.assert_array_equal(bank.predict(given), predicted)
        np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, before)


@pytest.mark.slow
def test_other_processes_learn_the_same_and_predictions_are_not_lost_in_them():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((3000, 3))
    problems, _ = make_problems(3000, 20, 60)
    bank = TreeBank(max_depth=4).fit(X, problems)
    predicted = bank.predict(X)
    with parallel_config("loky", n_jobs=2):
        other = TreeBank(max_depth=4).fit(X, problems)
        np.testing.assert_array_equal(other.predict(X), predicted)
    assert_same_bank(other, bank)


def test_bits_are_learnt_from_their_vectors_rows_and_seeds():
    """The whole way from matrices to trees, against the naive tree."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 7, (40, 4)).astype(float)
    problems, targets = make_problems(40, 12, 6)
    bank = TreeBank(max_samples=30, min_samples_leaf=2).fit(X, problems)
    codes, limits = naive_codes(X, 64), limits_for(X[:30], min_samples_leaf=2)
    for bit in range(6):
        rows = draw_rows(40, 30, problems.seeds[bit])
        assert bank.bags_.rows(bit).tolist() == rows.tolist()
        signed = integer_weights(targets[problems.vector_of_row, bit], rows, limits)
        expected = naive.grow_tree(codes, signed, int(problems.seeds[bit]), min_samples_leaf=2)
        assert_same_tree(bank.trees_, bit, expected)


@pytest.mark.parametrize("max_features", [None, "sqrt", 0.4, 2])
@pytest.mark.parametrize("kind", ["dense", "words", "counts", "mixed"])
def test_a_bit_uses_its_first_features_as_if_there_were_no_others(kind, max_features):
    rng = np.random.default_rng(7)
    X = {
        "dense": rng.standard_normal((300, 12)),
        "words": (rng.random((300, 12)) < 0.1).astype(float),
        "counts": rng.poisson(0.1, (300, 12)).astype(float),
        "mixed": np.hstack([rng.random((300, 3)), np.zeros((300, 1)), rng.random((300, 8)) < 0.05]),
    }[kind]
    problems, targets = make_problems(300, 40, 60)
    allowed = rng.integers(1, 13, 60).astype(np.int32)
    parameters = {"max_features": max_features, "max_samples": 0.7}
    limited = replace(problems, n_features=allowed)
    for given in (X, sp.csr_array(X)):
        bank = TreeBank(**parameters).fit(given, limited)
        for n_features in range(1, 13):
            bits = np.flatnonzero(allowed == n_features)
            own = BitProblems(
                problems.vector_of_row,
                len(bits),
                partial(lambda bits, some: targets[:, bits[some]], bits),
                problems.seeds[bits],
            )
            alone = TreeBank(**parameters).fit(given[:, :n_features], own)
            some = [Trees.join([one_tree(bank.trees_, bit) for bit in bits])] if len(bits) else []
            for trees in some:
                for field in vars(trees):
                    np.testing.assert_array_equal(getattr(trees, field), getattr(alone.trees_, field))
            assert_same_bags(bank.take(bits).bags_, alone.bags_)


def one_tree(trees, tree):
    nodes = slice(trees.start[tree], trees.start[tree + 1])
    arrays = [getattr(trees, name)[nodes] for name in list(vars(trees))[1:]]
    return Trees(trees.start[tree : tree + 2] - trees.start[tree], *arrays)


def test_full_trees_know_their_training_rows():
    rng = np.random.default_rng(4)
    X = np.arange(200.0)[:, None] + rng.random((200, 2))
    problems, targets = make_problems(200, 30, 40)
    signs = TreeBank(max_bins=255).fit(X, problems).predict(X)
    expected = targets[problems.vector_of_row]
    np.testing.assert_array_equal(signs[expected != 0], np.sign(expected[expected != 0]))


def test_more_rows_than_a_block():
    X = np.random.default_rng(5).standard_normal((5000, 2))
    problems, _ = make_problems(5000, 4, 3)
    bank = TreeBank(max_depth=3, n_jobs=2).fit(X, problems)
    whole = bank.predict(X)
    parts = [bank.predict(X[rows]) for rows in (slice(0, 1), slice(1, 2049), slice(2049, 5000))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_no_bits():
    X = np.zeros((10, 2))
    problems = BitProblems(np.zeros(10, np.int32), 0, lambda bits: np.empty((1, 0)), np.empty(0, np.uint64))
    bank = TreeBank(max_samples=0.5).fit(X, problems)
    assert len(bank.trees_) == 0
    assert bank.predict(X).shape == (10, 0)
    assert len(bank.bags_) == 0


def test_banks_are_joined_in_order():
    X = np.random.default_rng(6).standard_normal((50, 2))
    problems, _ = make_problems(50, 10, 7)
    trees = TreeBank().fit(X, problems).trees_
    parts = []
    for first, last in [(0, 3), (3, 4), (4, 7)]:
        at = slice(trees.start[first], trees.start[last])
        arrays = [getattr(trees, name)[at] for name in list(vars(trees))[1:]]
        parts.append(Trees(trees.start[first : last + 1] - trees.start[first], *arrays))
    joined = Trees.join(parts)
    for field in vars(trees):
        np.testing.assert_array_equal(getattr(joined, field), getattr(trees, field))
        assert getattr(joined, field).dtype == getattr(trees, field).dtype


def test_amounts():
    assert [resolve_share(share, 9) for share in (0.01, 0.5, 1.0, 1, 9, 100, np.int64(3), None)] == [
        1, 4, 9, 1, 9, 9, 3, 9,
    ]  # fmt: skip
    assert [resolve_max_features(m, 1) for m in ("sqrt", "log2", 0.1, 5, None)] == [1] * 5
    assert [resolve_max_features(m, 100) for m in ("sqrt", "log2", 0.1, 5, None)] == [10, 6, 10, 5, 100]


def test_chunks_cover_all():
    assert chunks_of(0, 3) == [slice(0, 0)]
    assert chunks_of(3, 3) == [slice(0, 3)]
    assert chunks_of(7, 3) == [slice(0, 3), slice(3, 6), slice(6, 7)]
