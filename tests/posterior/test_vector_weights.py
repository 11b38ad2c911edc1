from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels.code_words import pack_signs
from refpair.posterior.code import KnownCodes
from tests import naive

seeds = st.integers(0, 2**32 - 1)
SHARES = [0.0, 0.5, 1.0]
KEPT = 1e-3


class Case:
    """A few codes of 8 bits, so that agreements are exact, and the weights of their vectors by loops."""

    def __init__(self, kind, seed, temperature, n_rows=4):
        rng = np.random.default_rng(seed)
        n_labels = int(rng.integers(1, 5))
        everything = np.array(naive.all_vectors(n_labels), np.uint8)
        self.vectors = rng.permutation(everything)[: rng.integers(1, 7)]
        n = len(self.vectors)
        if kind == "words":
            counts = rng.integers(0, 4, n)
            counts[0] += 2  # its own row is never the only one
            self.codes = KnownCodes.of_words(self.vectors, rng.choice(np.int8([-1, 0, 1]), (n, 8)), counts)
        else:
            of_row = rng.integers(0, n, 9).astype(np.int32)
            signs = rng.choice(np.int8([-1, 1]), (9, 8))
            self.codes = KnownCodes.of_rows(self.vectors, pack_signs(signs), of_row, 8)
        self.agreement = self.codes.agreement(rng.choice(np.int8([-1, 1]), (n_rows, 8)))
        self.labels = rng.random((n_rows, n_labels))
        self.own = rng.choice(np.flatnonzero(self.codes.count >= 1), n_rows)
        self.own[-1] = -1
        self.weights = [
            naive.vector_weights(row.tolist(), temperature, self.codes.count, self.codes.vector, n, own)
            for row, own in zip(self.agreement, self.own, strict=True)
        ]
        self.sums = [naive.label_sums(row, self.vectors) for row in self.weights]

    def weigh(self, temperature=4.0):
        return self.codes.weigh(self.agreement, temperature, self.own)


cases = st.builds(Case, st.sampled_from(["words", "rows"]), seeds, st.just(4.0))


def dense(distribution):
    return distribution.weights().toarray()


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("share", SHARES)
@settings(deadline=None, max_examples=30)
@given(case=cases)
def test_marginals_are_those_of_the_formula(share, case):
    found = case.weigh().marginals(case.labels, share)
    close(found, [naive.mixed(p, q, share) for p, q in zip(case.sums, case.labels, strict=True)])


@pytest.mark.parametrize("share", SHARES)
def test_without_bits_of_single_labels_the_code_alone_speaks(share):
    case = Case("rows", 3, 4.0)
    close(case.weigh().marginals(None, share), case.sums)
    expected = [naive.without_small(row, KEPT) for row in case.weights]
    close(dense(case.weigh().distribution(None, share)), expected)


def test_temperatures():
    for temperature in (0.0, 1.0, 20.0, np.inf):
        case = Case("rows", 7, temperature)
        close(case.weigh(temperature).marginals(None, 0.0), case.sums)


@pytest.mark.parametrize("share", SHARES)
@settings(deadline=None, max_examples=30)
@given(case=cases)
def test_weights_of_vectors_are_tilted_by_the_odds_of_their_labels(share, case):
    found = case.weigh().distribution(case.labels, share)
    expected = []
    for weights, sums, labels in zip(case.weights, case.sums, case.labels, strict=True):
        p = naive.mixed(sums, labels, share)
        factors = [naive.odds(a) / naive.odds(b) for a, b in zip(p, sums, strict=True)]
        expected.append(naive.without_small(naive.tilted(weights, case.vectors, factors), KEPT))
    close(dense(found), expected)


def test_vectors_of_one_label_each_follow_the_mixed_odds():
    # Equal agreements: the counts are the weights, 0.6, 0.2 and 0.2.
    vectors = np.uint8([[1, 0], [0, 1], [0, 0]])
    codes = KnownCodes.of_words(vectors, np.int8([[1], [1], [1]]), np.array([6, 2, 2]))
    agreement, labels = codes.agreement(np.int8([[1]])), np.array([[0.2, 0.4]])
    weighed = codes.weigh(agreement, 9.0)
    close(weighed.marginals(labels, 0.5), [[0.4, 0.3]])
    (weights,) = dense(weighed.distribution(labels, 0.5))
    # Odds of the first label fall from 3/2 to 2/3, of the second they rise from 1/4 to 3/7.
    assert weights[0] / weights[2] == pytest.approx(3 * (2 / 3) / (3 / 2))
    assert weights[1] / weights[2] == pytest.approx(1 * (3 / 7) / (1 / 4))


def test_labels_that_say_the_same_tilt_nothing():
    for seed, share in product(range(5), SHARES):
        case = Case("words", seed, 4.0)
        expected = [naive.without_small(row, KEPT) for row in case.weights]
        found = case.weigh().distribution(np.array(case.sums), share)
        close(dense(found), expected)


@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_odds_are_taken_to_be_999_at_most(sure):
    # One row in a million speaks for what the label is sure of: odds of 1 to 9,999 rise to 9,999 to 1.
    counts = np.array([1, 999_999]) if sure else np.array([999_999, 1])
    codes = KnownCodes.of_words(np.uint8([[1], [0]]), np.int8([[1], [1]]), counts)
    weighed, labels = codes.weigh(codes.agreement(np.int8([[1]])), 1.0), np.array([[sure]])
    (found,) = dense(weighed.distribution(labels, 1.0))
    with_label, without = found
    ratio = with_label / without if sure else without / with_label
    assert ratio == pytest.approx(999**2 / 999_999)
    assert weighed.marginals(labels, 1.0).item() == sure


def test_a_vector_without_labels_and_one_with_all():
    vectors = np.uint8([[0, 0, 0], [1, 1, 1]])
    codes = KnownCodes.of_words(vectors, np.int8([[1, 1], [-1, 1]]), np.array([1, 3]))
    agreement = codes.agreement(np.int8([[1, 1]]))
    p = 3 * np.exp(-2.0) / (1 + 3 * np.exp(-2.0))
    close(codes.weigh(agreement, 2.0).marginals(None, 0.0), [[p, p, p]])


def test_asking_again_gives_the_same():
    case = Case("rows", 5, 4.0)
    weighed = case.weigh()
    before = weighed.weights.copy()
    first = dense(weighed.distribution(case.labels, 0.5))
    np.testing.assert_array_equal(dense(weighed.distribution(case.labels, 0.5)), first)
    np.testing.assert_array_equal(weighed.weights, before)
