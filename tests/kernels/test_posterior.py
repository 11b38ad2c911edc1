import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refpair._kernels.code_words import pack_bits, pack_signs
from refpair._kernels.posterior import keep_large, partial_agreements, sum_labels, sum_votes, weigh
from tests import naive

seeds = st.integers(0, 2**32 - 1)
temperatures = st.sampled_from([0.0, 0.5, 5.0, 80.0, np.inf])


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


# ---- partial_agreements ----


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 140), st.sampled_from([0.0, 0.1, 0.6, 1.0]), seeds)
@example(64, 1.0, 0)
@example(65, 0.5, 0)
def test_agreements_count_the_known_bits_alone(n_bits, known_share, seed):
    rng = np.random.default_rng(seed)
    signs = rng.choice(np.int8([-1, 1]), (3, n_bits))
    words = rng.choice(np.int8([-1, 0, 1]), (4, n_bits))
    known = rng.random((3, n_bits)) < known_share
    known[0] = False
    out = np.full((3, 4), np.nan, np.float32)
    partial_agreements(pack_signs(signs), pack_bits(known), pack_bits(words > 0), pack_bits(words != 0), out)
    expected = [[naive.code_agreement(s, e, k) for e in words] for s, k in zip(signs, known, strict=True)]
    np.testing.assert_array_equal(out, np.float32(np.float64(expected)))
    assert not out[0].any()


# ---- weigh ----


def weights_of(agreement, temperature, count, vector, n_vectors, own):
    out = np.zeros((len(agreement), n_vectors))
    weigh(np.float32(agreement), float(temperature), np.float64(count), np.int32(vector), np.int64(own), out)
    return out


@settings(deadline=None, max_examples=150)
@given(st.integers(1, 6), temperatures, seeds)
def test_weights_are_those_of_the_loop(n_anchors, temperature, seed):
    rng = np.random.default_rng(seed)
    agreement = rng.integers(-4, 5, (5, n_anchors)) / 4  # few values, so that several agree most
    count = rng.choice([0.5, 1.0, 1.0, 2.0, 7.0], n_anchors)
    vector = rng.integers(0, 3, n_anchors)
    own = rng.integers(-1, n_anchors, 5)
    found = weights_of(agreement, temperature, count, vector, 3, own)
    expected = [
        naive.vector_weights(a, temperature, count, vector, 3, o) for a, o in zip(agreement, own, strict=True)
    ]
    close(found, expected)
    close(found.sum(axis=1), 1.0)


def test_at_an_infinite_temperature_only_the_nearest_count():
    found = weights_of([[0.5, 0.25, 0.5, 0.5]], np.inf, [1, 100, 2, 1], [0, 1, 2, 0], 3, [-1])
    close(found, [[0.5, 0, 0.5]])


def test_the_own_anchor_counts_once_less():
    agreement = [[1.0, 0.0]] * 3
    weights = weights_of(agreement, np.log(2), [3, 4], [0, 1], 2, [-1, 0, 1])
    close(weights, [[6 / 10, 4 / 10], [4 / 8, 4 / 8], [6 / 9, 3 / 9]])


@pytest.mark.parametrize("temperature", [3.0, np.inf])
def test_an_anchor_that_is_the_row_alone_does_not_set_the_scale(temperature):
    # Far ahead of the others: had it been the one that others are compared with, they would weigh nothing.
    found = weights_of([[1.0, -1.0, -1.0]], 1000 * temperature, [1, 1, 3], [0, 1, 2], 3, [0])
    close(found, [[0, 0.25, 0.75]])


@pytest.mark.parametrize("temperature", [0.0, 3.0, np.inf])
def test_the_only_row_is_all_that_is_known(temperature):
    close(weights_of([[-0.5]], temperature, [1], [1], 3, [0]), [[0, 1, 0]])


def test_weights_are_added_to_what_is_there():
    out = np.array([[10.0, 20.0]])
    weigh(np.float32([[0, 0]]), 1.0, np.float64([1, 3]), np.int32([0, 1]), np.int64([-1]), out)
    close(out, [[10.25, 20.75]])


@pytest.mark.parametrize("n_values", [3, 500, 100_000])
def test_exponentials_that_are_kept_are_those_of_the_agreement_at_hand(n_values):
    # Few values are found again and again, many take each other's places.
    agreement = np.float32(np.random.default_rng(2).integers(0, n_values, (40, 700)) / n_values)
    behind = agreement.max(axis=1, keepdims=True) - agreement
    expected = [[math.exp(-7.0 * value) for value in row] for row in behind.astype(float).tolist()]
    found = weights_of(agreement, 7.0, np.ones(700), np.arange(700), 700, np.full(40, -1))
    np.testing.assert_allclose(found, np.divide(expected, np.sum(expected, axis=1)[:, None]), rtol=1e-12)


# ---- labels ----


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 4), st.integers(0, 5), st.integers(1, 5), seeds)
def test_votes_are_summed_as_by_the_loop(n_rows, n_votes, n_labels, seed):
    values = np.random.default_rng(seed).uniform(-1, 1, (n_rows, n_votes, n_labels)).astype(np.float32)
    out = np.full((n_rows, n_labels), np.nan)
    sum_votes(values, out)
    expected = [[sum(row[:, k].tolist(), 0.0) for k in range(n_labels)] for row in values]
    np.testing.assert_array_equal(out, np.reshape(expected, out.shape))


def label_lists(vectors):
    row, label = np.nonzero(vectors)
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(vectors)))])
    return start.astype(np.int64), label.astype(np.int32)


@st.composite
def weighted_vectors(draw):
    """Some label vectors, the empty one often among them, and weights, some of them 0."""
    n_labels, n_vectors = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(seeds))
    vectors = rng.integers(0, 2, (n_vectors, n_labels), dtype=np.uint8)
    weights = rng.dirichlet(np.ones(n_vectors), 3) * (rng.random((3, n_vectors)) < 0.7)
    weights[:, rng.integers(n_vectors)] += 0.01
    return vectors, weights / weights.sum(axis=1, keepdims=True), rng


@settings(deadline=None, max_examples=60)
@given(weighted_vectors())
def test_label_sums_are_those_of_the_loop(case):
    vectors, weights, _ = case
    out = np.full((3, vectors.shape[1]), np.nan)
    sum_labels(weights, *label_lists(vectors), out)
    close(out, [naive.label_sums(row, vectors) for row in weights])


# ---- keep_large ----


@settings(deadline=None, max_examples=60)
@given(weighted_vectors(), st.sampled_from([0.0, 1e-3, 0.25, 1.0]))
def test_large_weights_are_kept_and_normed(case, part):
    vectors, weights, rng = case
    weights[0] = rng.permutation(weights[0] ** 4)
    start, index, kept = keep_large(weights, part, vectors)
    dense = np.zeros_like(weights)
    for i in range(len(weights)):
        mine = index[start[i] : start[i + 1]]
        assert sorted(set(mine.tolist())) == mine.tolist()
        dense[i, mine] = kept[start[i] : start[i + 1]]
    expected = np.array([naive.without_small(row, part, vectors.tolist()) for row in weights.tolist()])
    close(dense, expected)
    if part > 0:
        assert start.tolist() == [0, *np.cumsum((expected > 0).sum(axis=1))]
        assert (kept > 0).all()


def test_a_weight_right_at_the_border_is_kept():
    vectors = np.zeros((5, 1), np.uint8)
    _, index, kept = keep_large(np.array([[0.0, 0.5, 0.125, 0.375 / 4, 0.0]]), 0.25, vectors)
    assert index.tolist() == [1, 2]
    close(kept, [0.8, 0.2])


def test_no_label_becomes_certain():
    vectors = np.array([[0, 1], [1, 1], [1, 0], [1, 0]], np.uint8)
    weights = np.array([[1.0, 0.0, 1e-3, 1e-2]])
    _, index, kept = keep_large(weights, 0.1, vectors)
    assert index.tolist() == [0, 3]
    close(kept, np.array([1, 0.01]) / 1.01)
