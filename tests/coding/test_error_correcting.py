import dataclasses
import functools
import math
import time

import galois
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.coding import (
    BCHCode,
    HammingRepetition,
    LabelsetRepetition,
    RepetitionCode,
    _bch,
    draw_labelsets,
    make_label_code,
)
from tests import naive

NAMES = ["rep", "rrep", "hamr", "bch"]
seeds = st.integers(0, 2**32 - 1)


def generator(seed=0):
    return np.random.default_rng(seed)


def random_bits(rng, *shape):
    return rng.integers(0, 2, size=shape, dtype=np.uint8)


def with_errors(words, n_errors, rng):
    """The words with so many errors in each, at random places."""
    out = words.copy()
    for row in out:
        row[rng.choice(len(row), size=n_errors, replace=False)] ^= 1
    return out


def shortest(name, n_labels):
    return {
        "rep": n_labels,
        "rrep": 3 * math.ceil(n_labels / 3) if n_labels > 3 else n_labels,
        "hamr": 7 * math.ceil(n_labels / 4),
        "bch": next(n for n in (7, 15, 31, 63, 127) if n - n.bit_length() >= n_labels),
    }[name]


# ---- all codes ----


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.integers(1, 20), st.integers(0, 3), seeds)
def test_what_was_encoded_is_decoded(name, n_labels, longer, seed):
    rng = generator(seed)
    length = shortest(name, n_labels)
    length = (length + 1) * 2**longer - 1 if name == "bch" else length + 5 * longer
    code = make_label_code(name, n_labels, length, rng=rng)
    Y = random_bits(rng, 30, n_labels)
    words = code.encode(Y)
    assert words.dtype == np.uint8
    assert words.shape == (30, code.n_bits)
    assert length - code.n_bits < {"rep": 1, "rrep": 3, "hamr": 7, "bch": 1}[name]
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
    for arrays in (getattr(code, "labelsets", None), getattr(code, "permutation", None)):
        assert arrays is None or not arrays.flags.writeable


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

    code = LabelsetRepetition.draw(n_labels, 3 * n_labels + longer, k=min(3, n_labels), rng=rng)
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


# ---- BCH ----


def lengths(low, high):
    return st.integers(low, high).flatmap(
        lambda p: st.tuples(st.just(2**p - 1), st.integers(1, 2**p - 1 - p))
    )


@settings(max_examples=60, deadline=None)
@given(lengths(3, 9), st.data(), seeds)
def test_bch_corrects_up_to_t_errors(length_and_labels, data, seed):
    code_length, n_labels = length_and_labels
    rng = generator(seed)
    code = BCHCode.draw(n_labels, code_length, rng=rng)
    n_errors = data.draw(st.integers(0, code.n_correctable) | st.just(code.n_correctable))
    Y = random_bits(rng, 10, n_labels)
    np.testing.assert_array_equal(code.decode(with_errors(code.encode(Y), n_errors, rng)), Y)


@functools.cache
def galois_bch(code_length, n_correctable):
    """The independent code; compiling its field would take longer than doing without."""
    degree = code_length.bit_length()
    polynomial = galois.matlab_primitive_poly(2, degree)
    field = galois.GF(2**degree, irreducible_poly=polynomial, compile="python-calculate")
    return galois.BCH(code_length, d=2 * n_correctable + 1, extension_field=field)


@pytest.mark.parametrize("degree", [3, 4, 5])
def test_bch_is_the_strongest_that_galois_has(degree):
    length = 2**degree - 1
    peers = [galois_bch(length, t) for t in range(1, length // 2 + 1)]
    for n_labels in range(1, length - degree + 1):
        peer = max((peer for peer in peers if peer.k >= n_labels), key=lambda peer: peer.t)
        code = BCHCode(n_labels, length, range(length))
        assert (code.n_correctable, code.n_message) == (peer.t, peer.k)
        assert _bch.design(degree, n_labels).generator == int(peer.generator_poly)


@pytest.mark.parametrize(
    ("length", "n_labels"),
    [(63, 6), (63, 8), (63, 57), (127, 6), (127, 9), (127, 120), (255, 14), (255, 100), (255, 247)],
)
def test_longer_bch_is_that_of_galois(length, n_labels):
    code = BCHCode(n_labels, length, range(length))
    peer, stronger = (galois_bch(length, t) for t in (code.n_correctable, code.n_correctable + 1))
    assert (code.n_correctable, code.n_message) == (peer.t, peer.k)
    assert stronger.k < n_labels
    assert _bch.design(length.bit_length(), n_labels).generator == int(peer.generator_poly)


def test_bch_in_the_tables_of_lin_and_costello():
    for length, n_labels, n_message, n_correctable in [
        (15, 5, 5, 3),
        (31, 6, 6, 7),
        (63, 10, 10, 13),
        (127, 6, 8, 31),
        (255, 14, 21, 55),
        (511, 22, 28, 111),
        (1023, 45, 46, 219),
    ]:
        code = BCHCode(n_labels, length, range(length))
        assert (code.n_message, code.n_correctable) == (n_message, n_correctable)


@pytest.mark.parametrize(
    ("length", "n_labels"),
    [(7, 1), (7, 3), (15, 4), (15, 7), (31, 10), (63, 6), (63, 30), (127, 6), (255, 14)],
)
def test_bch_words_and_decoding_are_those_of_galois(length, n_labels):
    rng = generator(length + n_labels)
    code = BCHCode.draw(n_labels, length, rng=rng)
    peer = galois_bch(length, code.n_correctable)
    n_rows = 12 if length < 100 else 3  # galois takes its time
    Y = random_bits(rng, n_rows, n_labels)
    messages = np.hstack([Y, np.zeros((n_rows, peer.k - n_labels), np.uint8)])
    words = np.asarray(peer.encode(peer.field(messages)))
    np.testing.assert_array_equal(code.encode(Y), words[:, code.permutation])

    some = [with_errors(words, n_errors, rng) for n_errors in (1, peer.t, min(peer.t + 1, length))]
    received = np.vstack([*some, random_bits(rng, n_rows, length)])
    decoded, n_errors = peer.decode(peer.field(received), errors=True)
    expected = np.where(n_errors[:, None] >= 0, np.asarray(decoded), received[:, : peer.k])
    np.testing.assert_array_equal(code.decode(received[:, code.permutation]), expected[:, :n_labels])


@pytest.mark.parametrize(
    ("length", "n_labels"), [(7, 1), (7, 2), (7, 4), (15, 1), (15, 3), (15, 7), (15, 11), (31, 6), (31, 11)]
)
def test_bch_decodes_to_the_nearest_word_within_t(length, n_labels):
    rng = generator()
    code = BCHCode.draw(n_labels, length, rng=rng)
    full = BCHCode(code.n_message, length, code.permutation)
    messages = np.array(naive.all_vectors(code.n_message), np.uint8)
    words = full.encode(messages)
    every = length == 7
    bits = np.array(naive.all_vectors(7), np.uint8) if every else random_bits(rng, 1000, length)
    bits = np.vstack([bits, with_errors(words[rng.integers(0, len(words), 300)], code.n_correctable, rng)])
    places = np.argsort(code.permutation)[:n_labels]  # of the labels in a word
    decoded = code.decode(bits)
    for row, found in zip(bits, decoded, strict=True):
        distances = (words != row).sum(axis=1)
        near = distances.min() <= code.n_correctable
        expected = messages[distances.argmin(), :n_labels] if near else row[places]
        assert found.tolist() == expected.tolist()


@settings(max_examples=30, deadline=None)
@given(lengths(3, 9), seeds)
def test_bch_is_certain_of_any_word(length_and_labels, seed):
    code_length, n_labels = length_and_labels
    rng = generator(seed)
    code = BCHCode.draw(n_labels, code_length, rng=rng)
    bits = random_bits(rng, 20, code_length)
    bits[0], bits[1] = 0, 1
    decoded = code.decode(bits)
    np.testing.assert_array_equal(decoded, code.decode(bits))
    for row, found in zip(bits, decoded, strict=True):
        np.testing.assert_array_equal(code.decode(row[None])[0], found)


def test_rows_do_not_depend_on_the_blocks_they_are_in(monkeypatch):
    rng = generator()
    code = BCHCode.draw(40, 255, rng=rng)
    Y = random_bits(rng, 50, 40)
    words = np.vstack([with_errors(code.encode(Y), n, rng) for n in (0, code.n_correctable, 70)])
    rng.shuffle(words)
    whole = code.decode(words)
    for name in ("_CELLS", "_COEFFICIENTS", "_SYNDROMES"):
        monkeypatch.setattr(_bch, name, 1)
    np.testing.assert_array_equal(code.decode(words), whole)
    np.testing.assert_array_equal(np.vstack([code.decode(word[None]) for word in words]), whole)


@pytest.mark.parametrize("degree", range(_bch.MIN_DEGREE, _bch.MAX_DEGREE + 1))
def test_fields_have_every_element_once(degree):
    field = _bch.get_field(degree)
    assert sorted(field.exp[: field.size]) == list(range(1, field.size + 1))
    a, b = generator(degree).integers(0, field.size + 1, size=(2, 50))
    polynomial = galois.Poly.Int(_bch._PRIMITIVE[degree])
    for product, first, second in zip(field.exp[field.log[a] + field.log[b]], a, b, strict=True):
        assert int(galois.Poly.Int(int(first)) * galois.Poly.Int(int(second)) % polynomial) == product


def test_bch_is_fast():
    rng = generator()
    code = make_label_code("bch", 22, rng=rng)
    Y = random_bits(rng, 2000, 22)
    words = with_errors(code.encode(Y), code.n_correctable, rng)
    times = []
    for _ in range(3):
        start = time.process_time()  # whatever else the machine does
        decoded = code.decode(words)
        times.append(time.process_time() - start)
    np.testing.assert_array_equal(decoded, Y)
    assert min(times) < 1


# ---- what is refused ----


@pytest.mark.parametrize("name", NAMES)
def test_too_short_codes_say_what_would_do(name):
    for n_labels in (1, 2, 4, 9, 12, 30):
        least = shortest(name, n_labels)
        make_label_code(name, n_labels, least, rng=generator())
        short = (least + 1) // 2 - 1 if name == "bch" else least - 1
        if name == "bch" and short < 7:
            continue
        message = f"code_length is {short}, too short for {n_labels} labels?: give at least {least}$"
        with pytest.raises(ValueError, match=message):
            make_label_code(name, n_labels, short, rng=generator())


@pytest.mark.parametrize(("length", "near"), [(-1, 7), (3, 7), (100, 127), (128, 255), (131071, 65535)])
def test_bch_needs_a_power_of_two_minus_one(length, near):
    with pytest.raises(ValueError, match=rf"code_length is {length}, but .* 2\^p − 1 bits: give {near}"):
        make_label_code("bch", 4, length, rng=generator())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_label_code("golay", 4, rng=generator()), "name must be one of 'rep', .* not 'golay'"),
        (lambda: make_label_code("rep", 0, rng=generator()), "n_labels is 0"),
        (lambda: RepetitionCode(0, 5), "n_labels is 0"),
        (lambda: BCHCode.draw(70000, 65535, rng=generator()), "n_labels is 70000, too many"),
        (lambda: BCHCode(4, 7, [0, 1, 2, 3, 4, 5, 5]), "permutation must hold each number from 0 to 6 once"),
        (lambda: BCHCode(4, 7, range(6)), "permutation must hold each number from 0 to 6 once"),
        (lambda: LabelsetRepetition(3, [0, 1]), r"labelsets must be .* got shape \(2,\)"),
        (lambda: LabelsetRepetition(3, [[0.5, 1]]), "labelsets must be .* dtype float64"),
        (lambda: LabelsetRepetition(3, [[0, 3]]), "labels from 0 to 2"),
        (lambda: LabelsetRepetition(3, [[1, 1]]), "a label twice"),
        (lambda: LabelsetRepetition.draw(2, 9, rng=generator()), "k is 3: .* here 2"),
        (lambda: LabelsetRepetition.draw(2, 9, k=0, rng=generator()), "k is 0"),
        (lambda: draw_labelsets(4, 0, rng=generator()), "n_sets is 0"),
        (lambda: RepetitionCode(2, 4).encode([[1, 0, 1]]), r"Y has 3 labels \(columns\), but the code has 2"),
        (lambda: RepetitionCode(2, 4).encode([[1, 2]]), "Y must be"),
        (lambda: RepetitionCode(2, 4).decode([[1, 0, 1]]), r"bits must be words of shape \(n, 4\)"),
        (lambda: RepetitionCode(2, 4).decode([[1, 0, 1, 0.4]]), "bits must be 0 and 1 only"),
    ],
)
def test_nonsense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
