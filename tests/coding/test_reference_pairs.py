from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refpair.coding import ReferencePairCode, draw_code
from refpair.coding import reference_pairs as code_module
from refpair.coding.reference_pairs import sample_pairs
from refpair.costs import Cost, get_cost
from tests import naive


def generator(seed=0):
    return np.random.default_rng(seed)


def as_sets(alpha, beta):
    return [frozenset([tuple(a), tuple(b)]) for a, b in zip(alpha.tolist(), beta.tolist(), strict=True)]


def full_code(n_labels, cost):
    """All pairs of label vectors, and the code of them."""
    pairs = naive.all_pairs(naive.all_vectors(n_labels))
    return pairs, ReferencePairCode([a for a, _ in pairs], [b for _, b in pairs], cost)


# ---- sample_pairs ----


@pytest.mark.parametrize("n_labels", [1, 2, 3, 5])
def test_the_full_code_has_every_pair_once(n_labels):
    n_pairs = 2 ** (n_labels - 1) * (2**n_labels - 1)
    for n_bits in (n_pairs, n_pairs + 100):
        drawn = as_sets(*sample_pairs(n_labels, n_bits, rng=generator()))
        assert len(drawn) == n_pairs
        assert set(drawn) == {frozenset(pair) for pair in naive.all_pairs(naive.all_vectors(n_labels))}


@pytest.mark.parametrize("n_vectors", [1, 2, 5, 6])
def test_observed_pairs_are_the_pairs_of_distinct_rows(n_vectors):
    vectors = generator(1).permutation(naive.all_vectors(4))[:n_vectors]
    rows = np.vstack([vectors, vectors[:2], vectors])
    drawn = as_sets(*sample_pairs(4, 1000, how="observed", label_vectors=rows, rng=generator()))
    assert len(drawn) == n_vectors * (n_vectors - 1) // 2
    assert set(drawn) == {frozenset(pair) for pair in naive.all_pairs([tuple(v) for v in vectors.tolist()])}


@pytest.mark.parametrize("n_labels", [6, 10, 31, 32, 374])
def test_pairs_are_distinct_pairs_of_distinct_vectors(n_labels):
    drawn = as_sets(*sample_pairs(n_labels, 1500, rng=generator()))
    assert len(set(drawn)) == 1500
    assert {len(pair) for pair in drawn} == {2}


def test_uniform_pairs_are_uniform():
    counts = dict.fromkeys([frozenset(pair) for pair in naive.all_pairs(naive.all_vectors(2))], 0)
    rng = generator()
    for _ in range(1500):
        for pair in as_sets(*sample_pairs(2, 2, rng=rng)):
            counts[pair] += 1
    # 500 each with standard deviation √(1500 · 1/3 · 2/3) = 18; six counts within four of them.
    assert min(counts.values()) > 427
    assert max(counts.values()) < 573


@pytest.mark.parametrize("n_labels", [20, 31, 40])
def test_every_label_is_on_in_half_of_the_vectors(n_labels):
    alpha, beta = sample_pairs(n_labels, 4000, rng=generator())
    for vectors in (alpha, beta):
        np.testing.assert_allclose(vectors.mean(axis=0), 0.5, atol=4.5 * np.sqrt(0.25 / 4000))


def test_equal_vectors_are_drawn_again():
    class Stuck:
        """Draws zeros first, then ones: α and β are equal until β is drawn again."""

        calls = 0

        def integers(self, low, high, size, dtype):
            self.calls += 1
            return np.full(size, self.calls - 1, dtype)

    alpha, beta = sample_pairs(40, 3, rng=Stuck())
    assert not alpha.any()
    assert beta.all()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"how": "random"}, 'how must be "uniform", "observed" or "density"'),
        ({"how": "observed"}, "label_vectors, which are missing"),
        ({"how": "observed", "label_vectors": [[0, 1]]}, "label_vectors has 2 labels"),
        (
            {"how": "observed", "label_vectors": [[0, 1, 3]]},
            "label_vectors must be a label matrix of 0 and 1",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        sample_pairs(3, 5, rng=generator(), **arguments)


# ---- ReferencePairCode ----


@pytest.mark.parametrize("name", list(naive.COSTS))
@pytest.mark.parametrize("n_labels", [1, 2, 4])
def test_code_words_are_their_definition(name, n_labels):
    vectors = naive.all_vectors(n_labels)
    pairs, code = full_code(n_labels, get_cost(name))
    expected = [naive.code_word(y, pairs, naive.COSTS[name]) for y in vectors]
    np.testing.assert_array_equal(code.encode(vectors), expected)
    assert code.encode(vectors).dtype == np.int8


@given(st.data(), st.sampled_from(list(naive.COSTS)))
@settings(deadline=None)
def test_random_code_words_are_their_definition(data, name):
    vectors = arrays(np.uint8, (8, data.draw(st.integers(5, 12))), elements=st.integers(0, 1))
    Y, alpha, beta = data.draw(vectors), data.draw(vectors), data.draw(vectors)
    beta = np.where((alpha == beta).all(axis=1, keepdims=True), 1 - alpha, beta)
    code = ReferencePairCode(alpha, beta, get_cost(name))
    pairs = list(zip(alpha.tolist(), beta.tolist(), strict=True))
    expected = [naive.code_word(y, pairs, naive.COSTS[name]) for y in Y.tolist()]
    np.testing.assert_array_equal(code.encode(Y), expected)
    np.testing.assert_array_equal(code.encode(sp.csr_array(Y)), expected)
    differences = code.differences(Y)
    np.testing.assert_array_equal(np.sign(differences), expected)
    np.testing.assert_array_equal(code.weights(Y), np.abs(differences))
    by_costs = code.cost.matrix(Y, beta) - code.cost.matrix(Y, alpha)
    np.testing.assert_allclose(differences, by_costs, atol=1e-12)


def test_equal_fractions_tie():
    """F1 of 2·1/(3+1) and 2·2/(3+5), a half each."""
    code = ReferencePairCode([[1, 0, 0, 0, 0, 0]], [[1, 1, 0, 1, 1, 1]], get_cost("f1"))
    assert code.differences([[1, 1, 1, 0, 0, 0]]) == [[0.0]]


def test_sums_of_prices_tie_as_the_exact_sums_do():
    """0.1 + 0.2 and 0.3 differ as floats."""
    vectors = naive.all_vectors(5)
    exact = [Fraction(k, 10) for k in (1, 2, 3, 6, 7)]
    prices = [float(price) for price in exact]
    cost = Cost.per_label(false_positive=prices, false_negative=prices)
    pairs, code = full_code(5, cost)
    expected = [naive.code_word(y, pairs, lambda y, z: naive.per_label(y, z, exact, exact)) for y in vectors]
    np.testing.assert_array_equal(code.encode(vectors), expected)
    in_floats = cost.matrix(vectors, code.beta) - cost.matrix(vectors, code.alpha)
    assert (np.sign(in_floats) != expected).any(), "the case shows nothing"


def test_f_beta_of_an_odd_beta_ties_as_the_exact_fractions_do():
    """With beta² = 0.04 and 25 labels F is 1.04·tp / (1 + |z|): equal for 1/2, 2/4, 3/6 and so on."""
    y = [1] * 25 + [0] * 25
    predictions = [
        [1] * tp + [0] * (25 - tp) + [1] * fp + [0] * (25 - fp)
        for tp in range(1, 26, 4)
        for fp in range(0, 26, 2)
    ]
    exact = {tuple(z): naive.f_beta(y, z, Fraction(1, 25)) for z in predictions}
    pairs = naive.all_pairs(predictions)
    cost = Cost.f_beta(0.2)
    code = ReferencePairCode([a for a, _ in pairs], [b for _, b in pairs], cost)
    expected = naive.code_word(y, pairs, lambda _, z: exact[tuple(z)])
    assert code.encode([y])[0].tolist() == expected
    in_floats = cost.matrix([y], code.beta) - cost.matrix([y], code.alpha)
    assert np.sign(in_floats[0]).tolist() != expected, "the case shows nothing"


def test_blocks_do_not_show(monkeypatch):
    Y = generator().integers(0, 2, (30, 7), dtype=np.uint8)
    code = ReferencePairCode(*sample_pairs(7, 50, rng=generator(1)), get_cost("f1"))
    expected = code.differences(Y)
    monkeypatch.setattr(code_module, "_ROWS", 7)
    monkeypatch.setattr(code_module, "_BITS", 8)
    np.testing.assert_array_equal(code.differences(Y), expected)
    np.testing.assert_array_equal(code.encode(Y), np.sign(expected))


def test_some_of_the_bits():
    Y = naive.all_vectors(3)
    _, code = full_code(3, get_cost("f1"))
    assert len(code) == 28
    assert len(code[5:9]) == 4
    np.testing.assert_array_equal(code[5:9].encode(Y), code.encode(Y)[:, 5:9])
    assert code[5:5].encode(Y).shape == (8, 0)


@pytest.mark.parametrize(
    ("alpha", "beta", "complaint"),
    [
        ([[1, 0]], [[1, 0]], "two distinct vectors"),
        ([[1, 0]], [[1, 0], [0, 1]], r"differ in shape: \(1, 2\) and \(2, 2\)"),
        ([[1, 2]], [[1, 0]], "alpha must be a label matrix of 0 and 1"),
    ],
)
def test_wrong_pairs_are_refused(alpha, beta, complaint):
    with pytest.raises(ValueError, match=complaint):
        ReferencePairCode(alpha, beta, get_cost("f1"))


def test_a_code_cannot_be_changed_from_outside():
    alpha, beta = np.eye(3, dtype=np.uint8), 1 - np.eye(3, dtype=np.uint8)
    code = ReferencePairCode(alpha, beta, get_cost("f1"))
    alpha[:] = 0
    np.testing.assert_array_equal(code.alpha, np.eye(3))
    with pytest.raises(ValueError, match="read-only"):
        code.alpha[0, 0] = 0


# ---- draw_code ----


def observed(n_rows=60, n_labels=40, seed=0):
    return (generator(seed).random((n_rows, n_labels)) < 0.1).astype(np.uint8)


@pytest.mark.parametrize("how", ["uniform", "observed"])
@pytest.mark.parametrize("name", list(naive.COSTS))
def test_no_bit_is_useless(name, how):
    Y = observed()
    code = draw_code(get_cost(name), Y, 200, how, generator())
    assert len(code) == 200
    assert len(set(as_sets(code.alpha, code.beta))) == 200
    assert code.encode(Y).any(axis=0).all()


def test_useless_uniform_pairs_give_way_to_observed_ones():
    """Under zero_one a uniform pair of 40 labels ties for all; of 8 labels some do not, and these stay."""
    Y = observed()
    rows = {tuple(y) for y in Y.tolist()}
    assert all(
        pair <= rows
        for pair in as_sets(*_pairs(draw_code(get_cost("zero_one"), Y, 50, "uniform", generator())))
    )
    Y = observed(n_rows=12, n_labels=8)
    rows = {tuple(y) for y in Y.tolist()}
    n_pairs = len(rows) * (len(rows) - 1) // 2
    drawn = as_sets(*_pairs(draw_code(get_cost("zero_one"), Y, 100, "uniform", generator())))
    assert all(pair & rows for pair in drawn)
    assert 0 < sum(not pair <= rows for pair in drawn) <= 100 - n_pairs
    assert len(drawn) == len(set(drawn))


@pytest.mark.parametrize("seed", range(5))
def test_useless_pairs_do_not_change_the_length(seed):
    """Four of 16 vectors are observed: under zero_one 54 of 120 pairs tell something."""
    code = draw_code(get_cost("zero_one"), naive.all_vectors(4)[:4], 10, "uniform", generator(seed))
    assert len(code) == 10


def _pairs(code):
    return code.alpha, code.beta


def test_a_short_code_is_a_fair_sample_of_the_full_one():
    """Of the 28 pairs of 3 labels, 7 are drawn: each in a quarter of the codes."""
    counts = dict.fromkeys([frozenset(pair) for pair in naive.all_pairs(naive.all_vectors(3))], 0)
    rng, Y = generator(), naive.all_vectors(3)
    for _ in range(400):
        for pair in as_sets(*_pairs(draw_code(get_cost("hamming"), Y, 7, "uniform", rng))):
            counts[pair] += 1
    # 100 each with standard deviation √(400 · 1/4 · 3/4) = 8.7; 28 counts within four of them.
    assert min(counts.values()) > 65
    assert max(counts.values()) < 135


def test_the_code_ends_where_the_pairs_do():
    Y = [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    code = draw_code(get_cost("hamming"), Y, 500, "uniform", generator())
    assert len(code) == sum(
        any(naive.code_word(y, [pair], naive.hamming)[0] for y in Y) for pair in _all_pairs(3)
    )
    assert len(draw_code(get_cost("hamming"), Y, 500, "observed", generator())) == 1


def _all_pairs(n_labels):
    return naive.all_pairs(naive.all_vectors(n_labels))


@pytest.mark.parametrize("how", ["uniform", "observed"])
def test_one_label_vector_needs_no_bits(how):
    code = draw_code(get_cost("f1"), [[1, 0, 1], [1, 0, 1]], 10, how, generator())
    assert code.alpha.shape == (0, 3)
    assert code.encode([[1, 0, 1]]).shape == (1, 0)


@pytest.mark.parametrize("n_labels", [3, 40])
def test_a_cost_that_tells_nothing_apart_has_no_bits(n_labels):
    same = Cost.from_counts(lambda tp, fp, fn, tn: np.ones_like(tp), name="same")
    assert len(draw_code(same, observed(n_labels=n_labels), 10, "uniform", generator())) == 0


def test_constant_bits_are_kept():
    """For these truths {0} is never dearer than {1, 2}; it is part of the paper's code nevertheless."""
    Y = [[1, 0, 0], [1, 1, 0]]
    code = draw_code(get_cost("hamming"), Y, 28, "uniform", generator())
    index = as_sets(code.alpha, code.beta).index(frozenset([(1, 0, 0), (0, 1, 1)]))
    assert len(set(code.encode(Y)[:, index]) - {0}) == 1


@pytest.mark.parametrize("how", ["uniform", "observed"])
def test_the_code_depends_on_the_seed_and_the_distinct_vectors_only(how):
    Y = observed()
    codes = [
        draw_code(get_cost("zero_one"), labels, 30, how, generator(seed))
        for labels, seed in [(Y, 0), (np.vstack([Y[::-1], Y[:7]]), 0), (sp.csr_matrix(Y), 0), (Y, 1)]
    ]
    for same in codes[1:3]:
        np.testing.assert_array_equal(same.alpha, codes[0].alpha)
        np.testing.assert_array_equal(same.beta, codes[0].beta)
    assert (codes[3].alpha != codes[0].alpha).any()


def test_labels_may_be_in_fortran_order():
    Y = np.asfortranarray(np.random.default_rng(0).integers(0, 2, (20, 9)))
    code = draw_code(get_cost("f1"), Y, 16, "uniform", rng=np.random.default_rng(1))
    same = draw_code(get_cost("f1"), Y.copy("C"), 16, "uniform", rng=np.random.default_rng(1))
    np.testing.assert_array_equal(code.alpha, same.alpha)
