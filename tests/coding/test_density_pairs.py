import numpy as np
import pytest
import scipy.sparse as sp

from refpair.coding import draw_code
from refpair.coding.reference_pairs import sample_pairs
from refpair.costs import get_cost
from tests import naive


def generator(seed=0):
    return np.random.default_rng(seed)


def sparse_labels(n=500, n_labels=20, seed=1):
    """Labels of all kinds of frequencies, from one in twenty to one in two."""
    return (generator(seed).random((n, n_labels)) < np.linspace(0.05, 0.5, n_labels)).astype(np.uint8)


def rare_labels(n=400, n_labels=20, seed=1):
    return (generator(seed).random((n, n_labels)) < 0.1).astype(np.uint8)


def as_sets(alpha, beta):
    return [frozenset([tuple(a), tuple(b)]) for a, b in zip(alpha.tolist(), beta.tolist(), strict=True)]


def density_pairs(Y, n_bits, seed=0):
    return sample_pairs(Y.shape[1], n_bits, how="density", label_vectors=Y, rng=generator(seed))


@pytest.mark.parametrize("n_labels", [1, 2, 3, 5, 20, 70])
def test_pairs_are_distinct_pairs_of_distinct_vectors(n_labels):
    Y = (generator(n_labels).random((50, n_labels)) < 0.2).astype(np.uint8)
    alpha, beta = density_pairs(Y, 3000)
    assert alpha.dtype == beta.dtype == np.uint8
    drawn = as_sets(alpha, beta)
    assert len(drawn) > 0
    assert {len(pair) for pair in drawn} == {2}
    assert len(set(drawn)) == len(drawn) <= 3000


def test_many_labels_lose_few_pairs():
    assert len(density_pairs(sparse_labels(), 4000)[0]) > 3900


@pytest.mark.parametrize("n_labels", [1, 2])
def test_few_labels_have_few_pairs(n_labels):
    Y = np.array(naive.all_vectors(n_labels), np.uint8)
    drawn = as_sets(*density_pairs(Y, 500))
    assert set(drawn) == {frozenset(pair) for pair in naive.all_pairs(naive.all_vectors(n_labels))}


def test_labels_are_as_frequent_as_in_the_data():
    Y = sparse_labels()
    alpha, beta = density_pairs(Y, 4000)
    for vectors in (alpha, beta):
        np.testing.assert_allclose(vectors.mean(axis=0), Y.mean(axis=0), atol=0.03)  # 4 standard errors
    # Labels are drawn independently of each other.
    correlation = np.corrcoef(alpha.T)
    assert np.abs(correlation[~np.eye(20, dtype=bool)]).max() < 0.08
    assert np.abs(np.corrcoef(alpha.T, beta.T)[:20, 20:]).max() < 0.08


def test_repeated_rows_count():
    Y = np.uint8([[1, 0, 0, 0, 1, 0]] * 9 + [[0, 1, 0, 1, 0, 1]])
    alpha, beta = density_pairs(np.tile(Y, (50, 1)), 300)
    # Two label vectors, but one of them nine times as often: distinct pairs are fewer, so the order remains.
    frequency = np.vstack([alpha, beta]).mean(axis=0)
    assert frequency[[0, 4]].min() > 0.55
    assert frequency[[1, 3, 5]].max() < 0.45
    assert frequency[2] < 0.1


def test_labels_that_no_row_or_every_row_has_are_drawn_otherwise_now_and_then():
    Y = sparse_labels(n=30)
    Y[:, 0], Y[:, 1] = 0, 1
    alpha, _ = density_pairs(Y, 4000)
    expected = 0.5 / 31
    assert alpha[:, 0].mean() == pytest.approx(expected, abs=0.008)
    assert 1 - alpha[:, 1].mean() == pytest.approx(expected, abs=0.008)


def test_what_is_drawn_depends_on_the_seed_alone():
    Y = sparse_labels()
    first, again, other = (density_pairs(Y, 100, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert as_sets(*first) != as_sets(*other)
    np.testing.assert_array_equal(
        first, sample_pairs(20, 100, how="density", label_vectors=sp.csr_array(Y), rng=generator(3))
    )
    np.testing.assert_array_equal(first, density_pairs(Y[::-1], 100, 3))


def test_pairs_at_a_density_need_the_labels():
    with pytest.raises(ValueError, match="label_vectors"):
        sample_pairs(3, 10, how="density", rng=generator())
    with pytest.raises(ValueError, match="2 labels"):
        sample_pairs(3, 10, how="density", label_vectors=[[0, 1]], rng=generator())


# ---- draw_code ----


def assert_good(code, n_bits=None):
    drawn = as_sets(code.alpha, code.beta)
    assert len(set(drawn)) == len(drawn)
    assert {len(pair) for pair in drawn} <= {2}
    if n_bits is not None:
        assert len(code) == n_bits


@pytest.mark.parametrize("name", ["hamming", "f1", "rank", "accuracy"])
def test_bits_at_a_density_have_both_answers(name):
    Y = rare_labels()
    code = draw_code(get_cost(name), Y, 300, "density", generator())
    assert_good(code, 300)
    words = code.encode(Y)
    assert (words > 0).any(axis=0).all()
    assert (words < 0).any(axis=0).all()
    assert np.vstack([code.alpha, code.beta]).mean() == pytest.approx(0.1, abs=0.05)


def test_a_bit_that_all_answer_alike_is_passed_over():
    # All rows have at most one label, so under Hamming {0} always beats any four labels.
    Y = np.vstack([np.eye(12, dtype=np.uint8)] * 10)
    cost = get_cost("hamming")
    alpha, beta = density_pairs(Y, 2000)
    counts = np.stack([alpha.sum(axis=1), beta.sum(axis=1)])
    assert (np.abs(counts[0].astype(int) - counts[1]) > 2).any(), "no such pair is drawn"
    words = draw_code(cost, Y, 300, "density", generator()).encode(Y)
    assert ((words > 0).any(axis=0) & (words < 0).any(axis=0)).all()


@pytest.mark.parametrize("n_bits", [300, 301])
def test_mixed_codes_are_half_at_the_density_and_half_uniform(n_bits):
    Y = rare_labels()
    code = draw_code(get_cost("hamming"), Y, n_bits, "mixed", generator())
    assert_good(code, n_bits)
    share = np.hstack([code.alpha, code.beta]).mean(axis=1)
    half = n_bits // 2
    assert share[:half].mean() == pytest.approx(0.1, abs=0.04)
    assert share[half:].mean() == pytest.approx(0.5, abs=0.04)
    assert (share[:half] < 0.3).mean() > 0.95
    assert (share[half:] > 0.3).mean() > 0.95
    words = code.encode(Y)[:, :half]
    assert ((words > 0).any(axis=0) & (words < 0).any(axis=0)).all()


@pytest.mark.parametrize("how", ["density", "mixed"])
def test_codes_depend_on_the_seed_alone(how):
    Y = rare_labels()
    first, again, other = (draw_code(get_cost("f1"), Y, 60, how, generator(seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.alpha, again.alpha)
    np.testing.assert_array_equal(first.beta, again.beta)
    assert as_sets(first.alpha, first.beta) != as_sets(other.alpha, other.beta)


def test_uniform_codes_are_drawn_as_if_there_was_no_other_way():
    Y = rare_labels()
    code = draw_code(get_cost("hamming"), Y, 50, "uniform", generator(7))
    alpha, beta = sample_pairs(20, 200, rng=generator(7))
    useful = np.abs(alpha.astype(int) - beta).sum(axis=1) > 0
    np.testing.assert_array_equal(code.alpha, alpha[useful][:50])
    np.testing.assert_array_equal(code.beta, beta[useful][:50])


@pytest.mark.parametrize("how", ["density", "mixed"])
@pytest.mark.parametrize("name", ["hamming", "f1", "zero_one"])
@pytest.mark.parametrize("n_bits", [1, 2, 7, 500])
def test_few_labels_have_all_useful_pairs_at_most(how, name, n_bits):
    for n_labels in (1, 2, 3):
        vectors = naive.all_vectors(n_labels)
        cost = get_cost(name)
        for some in (vectors, vectors[1:], vectors[:2], vectors[:1]):
            Y = np.array(some, np.uint8)
            code = draw_code(cost, Y, n_bits, how, generator())
            assert_good(code)
            words = [naive.code_word(y, naive.all_pairs(vectors), naive.COSTS[name]) for y in some]
            n_useful = sum(any(bit) for bit in zip(*words, strict=True)) if len(some) > 1 else 0
            assert len(code) <= min(n_bits, n_useful)
            if n_bits == 500:
                assert len(code) == n_useful
            if len(code):
                assert code.encode(Y).any(axis=0).all()
