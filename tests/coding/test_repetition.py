import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.coding.repetition import (
    HammingRepetition,
    LabelsetRepetition,
    RepetitionCode,
    draw_labelsets,
    make_label_code,
)
from tests import naive

NAMES = ["rep", "rrep", "hamr"]
seeds = st.integers(0, 2**32 - 1)


def generator(seed=0):
    return np.random.default_rng(seed)


def random_bits(rng, *shape):
    return rng.integers(0, 2, size=shape, dtype=np.uint8)


def shortest(name, n_labels):
    return {
        "rep": n_labels,
        "rrep": 3 * math.ceil(n_labels / 3) if n_labels > 3 else n_labels,
        "hamr": 7 * math.ceil(n_labels / 4),
    }[name]


# ---- all codes ----


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.integers(1, 20), st.integers(0, 3), seeds)
def test_what_was_encoded_is_decoded(name, n_labels, longer, seed):
    rng = generator(seed)
    length = shortest(name, n_labels) + 5 * longer
    code = make_label_code(name, n_labels, length, rng=rng)
    Y = random_bits(rng, 30, n_labels)
    words = code.encode(Y)
    assert words.dtype == np.uint8
    assert words.shape == (30, code.n_bits)
    assert length - code.n_bits < {"rep": 1, "rrep": 3, "hamr": 7}[name]
    decoded = code.decode(words)
    assert decoded.dtype == np.uint8
    np.testing.assert_array_equal(decoded, Y)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_labels", [1, 2, 3, 6, 14, 22, 45, 174])
def test_the_default_lengths_suit(name, n_labels):
    code = make_label_code(name, n_labels, rng=generator())
    Y = random_bits(generator(1), 20, n_labels)
    np.testing.assert_array_equal(code.decode(code.encode(Y)), Y)


@pytest.mark.parametrize(
    ("n_labels", "length"),
    [(1, 127), (6, 127), (7, 127), (8, 255), (14, 255), (15, 511), (22, 511), (28, 511), (29, 1023)],
)
def test_default_lengths(n_labels, length):
    assert make_label_code("rep", n_labels, rng=generator()).n_bits == length
    assert make_label_code("hamr", n_labels, rng=generator()).n_bits == length // 7 * 7


@pytest.mark.parametrize(
    ("n_labels", "length"), [(53, 1023), (174, 1023), (511, 1023), (512, 2047), (1000, 2047), (5000, 16383)]
)
def test_default_lengths_for_many_labels(n_labels, length):
    for name in ("rep", "rrep", "hamr"):
        assert length - make_label_code(name, n_labels, rng=generator()).n_bits < 7


@pytest.mark.parametrize("name", NAMES)
def test_labels_and_bits_of_any_kind(name):
    code = make_label_code(name, 5, rng=generator())
    Y = random_bits(generator(1), 9, 5)
    words = code.encode(Y)
    for same in (Y.tolist(), Y.astype(bool), np.asfortranarray(Y), Y.astype(float), sp.csr_array(Y)):
        np.testing.assert_array_equal(code.encode(same), words)
    for same in (words.tolist(), words.astype(bool), np.asfortranarray(words), words.astype(float)):
        np.testing.assert_array_equal(code.decode(same), Y)
    assert code.encode(Y[:0]).shape == (0, code.n_bits)
    assert code.decode(words[:0]).shape == (0, 5)


@pytest.mark.parametrize("name", NAMES)
def test_decode_leaves_its_argument_alone(name):
    code = make_label_code(name, 5, rng=generator())
    bits = random_bits(generator(1), 50, code.n_bits)
    before = bits.copy()
    code.decode(bits)
    np.testing.assert_array_equal(bits, before)


@pytest.mark.parametrize("name", NAMES)
def test_a_code_is_its_seed(name):
    first, second = (make_label_code(name, 14, rng=generator(3)) for _ in range(2))
    Y, bits = random_bits(generator(1), 20, 14), random_bits(generator(2), 20, first.n_bits)
    np.testing.assert_array_equal(first.encode(Y), second.encode(Y))
    np.testing.assert_array_equal(first.decode(bits), second.decode(bits))


@pytest.mark.parametrize("name", NAMES)
def test_codes_are_frozen(name):
    code = make_label_code(name, 5, rng=generator())
    with pytest.raises(dataclasses.FrozenInstanceError):
        code.n_labels = 4
    assert name != "rrep" or not code.labelsets.flags.writeable


def naive_vote(bits, labels, n_labels):
    votes = [[bit for bit, label in zip(bits, labels, strict=True) if label == k] for k in range(n_labels)]
    return [int(2 * sum(copies) > len(copies)) for copies in votes]


def naive_hamming(block):
    """The message of the nearest of the 16 code words."""
    messages = naive.all_vectors(4)
    words = [(*m, m[0] ^ m[1] ^ m[3], m[0] ^ m[2] ^ m[3], m[1] ^ m[2] ^ m[3]) for m in messages]
    distances = [sum(a != b for a, b in zip(word, block, strict=True)) for word in words]
    return messages[distances.index(min(distances))]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(0, 30), seeds)
def test_votes_equal_naive_ones(n_labels, longer, seed):
    rng = generator(seed)
    code = RepetitionCode(n_labels, n_labels + longer)
    bits = random_bits(rng, 8, code.n_bits)
    labels = [i % n_labels for i in range(code.n_bits)]
    assert code.decode(bits).tolist() == [naive_vote(row, labels, n_labels) for row in bits.tolist()]

    code = make_label_code("rrep", n_labels, 3 * n_labels + longer, rng=rng)
    bits = random_bits(rng, 8, code.n_bits)
    labels = code.labelsets.ravel().tolist()
    assert code.decode(bits).tolist() == [naive_vote(row, labels, n_labels) for row in bits.tolist()]

    code = HammingRepetition(n_labels, 21 + longer)
    bits = random_bits(rng, 8, code.n_bits)
    labels = [i % n_labels for i in range(4 * (code.n_bits // 7))]
    for row, decoded in zip(bits.tolist(), code.decode(bits).tolist(), strict=True):
        message = [bit for start in range(0, len(row), 7) for bit in naive_hamming(row[start : start + 7])]
        assert decoded == naive_vote(message, labels, n_labels)


# ---- repetition ----


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(0, 60), seeds)
def test_repetition_corrects_fewer_than_half_of_the_copies(n_labels, longer, seed):
    rng = generator(seed)
    code = RepetitionCode(n_labels, n_labels + longer)
    Y = random_bits(rng, 10, n_labels)
    words = code.encode(Y)
    counts = np.bincount(np.arange(code.n_bits) % n_labels)
    assert counts.max() - counts.min() <= 1
    for row in words:
        for label in range(n_labels):
            n_errors = rng.integers(0, (counts[label] + 1) // 2)
            row[label + n_labels * rng.choice(counts[label], size=n_errors, replace=False)] ^= 1
    np.testing.assert_array_equal(code.decode(words), Y)


def test_a_tie_is_a_zero():
    assert RepetitionCode(1, 2).decode([[0, 1], [1, 0], [1, 1]]).tolist() == [[0], [0], [1]]


# ---- labelsets ----


def test_labelsets_vote():
    code = LabelsetRepetition(4, [[0, 1, 2], [2, 1, 0], [0, 2, 1]])
    assert code.encode([[1, 1, 0, 1]]).tolist() == [[1, 1, 0, 0, 1, 1, 1, 0, 1]]
    assert code.decode([[1, 0, 0, 1, 1, 0, 1, 0, 1]]).tolist() == [[1, 1, 0, 0]]  # label 3 is in no set


@settings(max_examples=80, deadline=None)
@given(st.data(), seeds)
def test_labelsets_are_distinct_and_cover(data, seed):
    n_labels = data.draw(st.integers(1, 12))
    k = data.draw(st.integers(1, n_labels))
    n_sets = data.draw(st.integers(1, 60))
    sets = draw_labelsets(n_labels, n_sets, k=k, rng=generator(seed))
    assert sets.shape == (n_sets, k)
    assert (np.diff(sets, axis=1) > 0).all()
    assert set(sets.ravel()) <= set(range(n_labels))
    assert len(set(sets.ravel())) == min(n_labels, n_sets * k)
    counts = np.unique(sets, axis=0, return_counts=True)[1]
    assert len(counts) == min(n_sets, math.comb(n_labels, k))
    assert counts.max() <= -(-n_sets // math.comb(n_labels, k))


def test_labelsets_of_many_labels():
    sets = draw_labelsets(5000, 2000, rng=generator())
    assert len(np.unique(sets, axis=0)) == 2000
    assert len(np.unique(sets)) == 5000


def test_labelsets_are_uniform_where_they_cover_anyway():
    rng = generator()
    counts = np.bincount(np.concatenate([draw_labelsets(7, 15, rng=rng).ravel() for _ in range(400)]))
    np.testing.assert_allclose(counts / counts.sum(), 1 / 7, rtol=0.06)


# ---- Hamming ----


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20), st.integers(0, 70), seeds)
def test_hamming_corrects_one_error_in_each_block(n_labels, longer, seed):
    rng = generator(seed)
    code = HammingRepetition(n_labels, shortest("hamr", n_labels) + longer)
    Y = random_bits(rng, 10, n_labels)
    blocks = code.encode(Y).reshape(10, -1, 7)
    place = rng.integers(0, 8, size=blocks.shape[:2])  # 7: no error
    noisy = blocks ^ (place[:, :, None] == np.arange(7))
    np.testing.assert_array_equal(code.decode(noisy.reshape(10, -1)), Y)


def test_a_block_has_three_parities():
    code = HammingRepetition(4, 7)
    words = code.encode(naive.all_vectors(4))
    distances = (words[:, None] != words).sum(axis=2)
    assert distances[distances > 0].min() == 3


# ---- what is refused ----


@pytest.mark.parametrize("name", NAMES)
def test_too_short_codes_say_what_would_do(name):
    for n_labels in (1, 2, 4, 9, 12, 30):
        least = shortest(name, n_labels)
        make_label_code(name, n_labels, least, rng=generator())
        short = least - 1
        message = f"code_length is {short}, too short for {n_labels} labels?: give at least {least}$"
        with pytest.raises(ValueError, match=message):
            make_label_code(name, n_labels, short, rng=generator())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_label_code("rep", 0, rng=generator()), "n_labels is 0"),
        (lambda: RepetitionCode(0, 5), "n_labels is 0"),
        (lambda: LabelsetRepetition(3, [0, 1]), r"labelsets must be .* got shape \(2,\)"),
        (lambda: LabelsetRepetition(3, [[0.5, 1]]), "labelsets must be .* dtype float64"),
        (lambda: LabelsetRepetition(3, [[0, 3]]), "labels from 0 to 2"),
        (lambda: LabelsetRepetition(3, [[1, 1]]), "a label twice"),
        (lambda: RepetitionCode(2, 4).encode([[1, 0, 1]]), r"Y has 3 labels \(columns\), but the code has 2"),
        (lambda: RepetitionCode(2, 4).encode([[1, 2]]), "Y must be"),
        (lambda: RepetitionCode(2, 4).decode([[1, 0, 1]]), r"bits must be words of shape \(n, 4\)"),
        (lambda: RepetitionCode(2, 4).decode([[1, 0, 1, 0.4]]), "bits must be 0 and 1 only"),
    ],
)
def test_nonsense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
