import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refpair._kernels.code_words import pack_signs
from refpair.coding import ReferencePairCode
from refpair.coding.nearest import CodeBook
from refpair.costs import Cost, get_cost
from tests import naive


def full_code(n_labels, cost):
    vectors = naive.all_vectors(n_labels)
    pairs = naive.all_pairs(vectors)
    code = ReferencePairCode([a for a, _ in pairs], [b for _, b in pairs], cost)
    return vectors, pairs, code.encode(vectors)


# ---- the search ----


@given(st.data(), st.sampled_from([1, 2, 63, 64, 65, 130]))
@settings(deadline=None)
def test_the_nearest_code_word_is_found(data, n_bits):
    words = data.draw(arrays(np.int8, (data.draw(st.integers(1, 6)), n_bits), elements=st.integers(-1, 1)))
    signs = data.draw(arrays(np.int8, (4, n_bits), elements=st.sampled_from([-1, 1])))
    book = CodeBook(words)
    assert book.decode(signs).tolist() == [naive.nearest(s, words.tolist()) for s in signs.tolist()]
    expected = [[naive.code_distance(s, word) for word in words.tolist()] for s in signs.tolist()]
    np.testing.assert_array_equal(book.distances(signs), expected)


def test_thousands_of_bits_give_what_the_matrix_product_gives():
    rng = np.random.default_rng(0)
    words = rng.integers(-1, 2, (200, 3001), dtype=np.int8)
    signs = 2 * rng.integers(0, 2, (300, 3001), dtype=np.int8) - 1
    products = signs.astype(int) @ words.T.astype(int)
    book = CodeBook(words)
    np.testing.assert_array_equal(book.distances(signs), (3001 - products) / 2)
    np.testing.assert_array_equal(book.decode(signs), products.argmax(axis=1))
    parts = [book.decode(signs[rows]) for rows in (slice(0, 1), slice(1, 130), slice(130, 300))]
    np.testing.assert_array_equal(np.concatenate(parts), book.decode(signs))


def test_the_first_of_equally_near_code_words_is_taken():
    book = CodeBook([[0, 0], [1, -1], [1, 1], [1, 1]])
    assert book.decode([[1, 1], [-1, 1], [1, -1]]).tolist() == [2, 0, 1]


def test_a_code_without_bits_decodes_to_the_first_word():
    book = CodeBook(np.empty((3, 0)))
    assert book.decode(np.empty((2, 0))).tolist() == [0, 0]
    assert book.distances(np.empty((2, 0))).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_no_rows_no_answers():
    book = CodeBook([[1, 0], [0, 1]])
    assert book.decode(np.empty((0, 2))).shape == (0,)
    assert book.distances(np.empty((0, 2))).shape == (0, 2)


def test_signs_are_packed_64_a_word():
    signs = -np.ones((2, 70), np.int8)
    signs[0, [0, 63, 64]] = 1
    assert pack_signs(signs).tolist() == [[1 + 2**63, 1], [0, 0]]


@pytest.mark.parametrize("signs", [[[1, 0]], [[1, 2]], [[1, np.nan]], [1, -1]])
def test_only_signs_are_packed(signs):
    with pytest.raises(ValueError, match="signs must be a matrix of -1 and"):
        pack_signs(signs)


def test_wrong_shapes_and_values_are_refused():
    book = CodeBook([[1, 0, -1], [1, 1, 1]])
    for search in (book.decode, book.distances):
        with pytest.raises(ValueError, match=r"signs must have shape \(n, 3\), got shape \(1, 2\)"):
            search([[1, 1]])
    with pytest.raises(
        ValueError, match=r"code_words must have shape \(n_words, n_bits\), got shape \(0, 3\)"
    ):
        CodeBook(np.empty((0, 3)))
    with pytest.raises(ValueError, match=r"code_words must be -1, 0 and"):
        CodeBook([[1, 2]])


# ---- the theory ----

COSTS = [
    *(get_cost(name) for name in ["hamming", "zero_one", "rank", "f1", "accuracy", "f2"]),
    Cost.per_label(false_positive=1, false_negative=7),
    Cost.per_label(false_positive=0, false_negative=1),
    Cost.from_function(lambda Y, Z: np.abs(Y.sum(axis=1) - Z.sum(axis=1)), name="number_of_labels"),
]


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4])
@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost.name)
def test_right_bits_decode_to_a_cheapest_prediction(cost, n_labels):
    """Answer every bit of the full code right, and ties once either way: the decoded vector costs least.

    Why: y itself agrees with each answered bit, so the decoded y' must too. Were some z cheaper for y than
    y', the bit (y', z) would answer z for y and so for y', but no z is cheaper for y' than y' itself.
    """
    vectors, _, words = full_code(n_labels, cost)
    book = CodeBook(np.hstack([words, words]))
    decoded = book.decode(np.hstack([np.where(words == 0, -1, words), np.where(words == 0, 1, words)]))
    costs = cost.matrix(vectors, vectors)
    np.testing.assert_array_equal(costs[np.arange(len(vectors)), decoded], costs.min(axis=1))
    separates = (costs == costs.min(axis=1, keepdims=True)).sum(axis=1) == 1
    np.testing.assert_array_equal(decoded[separates], np.flatnonzero(separates))


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4])
def test_zero_one_decoding_is_one_versus_one_voting(n_labels):
    vectors, pairs, words = full_code(n_labels, get_cost("zero_one"))
    signs = 2 * np.random.default_rng(n_labels).integers(0, 2, (50, len(pairs)), dtype=np.int8) - 1
    expected = [naive.one_versus_one(s, pairs, vectors) for s in signs.tolist()]
    assert CodeBook(words).decode(signs).tolist() == expected
