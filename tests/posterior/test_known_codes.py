import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels.code_words import pack_signs
from refpair.coding.nearest import CodeBook
from refpair.posterior.code import KnownCodes
from tests import naive

seeds = st.integers(0, 2**32 - 1)


def of_words(words, counts):
    """Code words of as many label vectors, whatever these are."""
    return KnownCodes.of_words(np.zeros((len(words), 2), np.uint8), words, counts)


def of_rows(signs, vector, n_vectors):
    plain = np.ones(len(vector)), vector, np.arange(len(vector) + 1)
    shares = sp.csr_array(plain, shape=(len(vector), n_vectors))
    return KnownCodes.of_rows(np.zeros((n_vectors, 2), np.uint8), pack_signs(signs), shares, signs.shape[1])


def weights(codes, agreement, temperature, own=None):
    return codes.weigh(agreement, temperature, own)


def random_words(rng, n, n_bits):
    return rng.choice(np.int8([-1, 0, 1]), (n, n_bits))


def random_signs(rng, n, n_bits):
    return rng.choice(np.int8([-1, 1]), (n, n_bits))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 140), seeds)
def test_agreement_is_the_mean_product_of_signs_and_bits(n_bits, seed):
    rng = np.random.default_rng(seed)
    words, codes, signs = (
        random_words(rng, 4, n_bits),
        random_signs(rng, 5, n_bits),
        random_signs(rng, 3, n_bits),
    )
    for known, given_codes in [
        (of_words(words, np.ones(4, np.int64)), words),
        (of_rows(codes, np.zeros(5, np.int32), 1), codes),
    ]:
        found = known.agreement(signs)
        expected = [[naive.code_agreement(s, e) for e in given_codes] for s in signs]
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, np.float64(expected), rtol=1e-6)


@pytest.mark.parametrize("n_bits", [1, 63, 64, 65, 128, 130])
def test_when_all_bits_are_known_it_is_as_if_nothing_was_said_of_them(n_bits):
    rng = np.random.default_rng(n_bits)
    words, signs = random_words(rng, 6, n_bits), random_signs(rng, 7, n_bits)
    for codes in (
        of_words(words, np.ones(6, np.int64)),
        of_rows(signs, np.zeros(7, np.int32), 1),
    ):
        everything = np.ones(signs.shape, bool)
        np.testing.assert_allclose(codes.agreement(signs, everything), codes.agreement(signs), rtol=1e-6)


def test_unknown_bits_do_not_matter():
    rng = np.random.default_rng(0)
    words, signs = random_words(rng, 6, 90), random_signs(rng, 5, 90)
    known = rng.random(signs.shape) < 0.4
    codes = of_words(words, np.ones(6, np.int64))
    found = codes.agreement(signs, known)
    expected = [[naive.code_agreement(s, e, k) for e in words] for s, k in zip(signs, known, strict=True)]
    np.testing.assert_allclose(found, np.float64(expected), rtol=1e-6)
    np.testing.assert_array_equal(codes.agreement(np.where(known, signs, -signs), known), found)


def test_a_row_agrees_wholly_with_its_own_code():
    signs = random_signs(np.random.default_rng(0), 8, 70)
    agreement = of_rows(signs, np.arange(8, dtype=np.int32), 8).agreement(signs)
    np.testing.assert_array_equal(np.diag(agreement), 1.0)
    np.testing.assert_array_equal(agreement, agreement.T)


def test_code_words_count_the_rows_and_half_a_row_where_there_is_none():
    words = random_words(np.random.default_rng(0), 3, 10)
    codes = of_words(words, np.array([3, 0, 1]))
    assert len(codes) == 3
    assert codes.n_bits == 10
    assert codes.count.tolist() == [3.0, 0.5, 1.0]
    assert codes.vector.tolist() == [0, 1, 2]
    found = weights(codes, np.zeros((1, 3), np.float32), 7.0)
    np.testing.assert_allclose(found, [[3 / 4.5, 0.5 / 4.5, 1 / 4.5]])


def test_codes_of_rows_count_once_each_for_their_vector():
    signs = random_signs(np.random.default_rng(0), 5, 10)
    codes = of_rows(signs, np.int32([2, 0, 2, 2, 0]), 4)
    assert len(codes) == 5
    np.testing.assert_allclose(weights(codes, np.zeros((2, 5), np.float32), 7.0), [[0.4, 0, 0.6, 0]] * 2)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 8), st.sampled_from([0.0, 4.0, 40.0, np.inf]), st.booleans(), seeds)
def test_weights_are_those_of_the_formula(n_codes, temperature, is_training, seed):
    rng = np.random.default_rng(seed)
    vector = rng.integers(0, 3, n_codes).astype(np.int32)
    codes = of_rows(random_signs(rng, n_codes, 8), vector, 3)
    agreement = codes.agreement(random_signs(rng, 4, 8))  # eighths: exact
    own = rng.integers(-1, n_codes, 4) if is_training else None
    expected = [
        naive.vector_weights(
            row.tolist(), temperature, [1] * n_codes, vector, 3, -1 if own is None else own[i]
        )
        for i, row in enumerate(agreement)
    ]
    np.testing.assert_allclose(weights(codes, agreement, temperature, own), expected, rtol=1e-9, atol=1e-12)


def test_at_an_infinite_temperature_the_words_are_decoded_as_in_the_paper():
    rng = np.random.default_rng(0)
    words, signs = random_words(rng, 40, 101), random_signs(rng, 300, 101)
    codes = of_words(words, np.ones(40, np.int64))
    found = weights(codes, codes.agreement(signs), np.inf)
    distances = CodeBook(words).distances(signs)
    np.testing.assert_array_equal(found > 0, distances == distances.min(axis=1, keepdims=True))
