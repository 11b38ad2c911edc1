"""What unknown labels may be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.bits.code_problems import bit_problems, label_problems
from refpair.coding.reference_pairs import ReferencePairCode
from refpair.costs import get_cost
from refpair.posterior.completion import agreeing, complete
from refpair.posterior.distinct_labels import distinct_labels
from refpair.tables.labels import UNKNOWN
from tests import naive


def some_rows(seed, n=30, n_labels=4):
    rng = np.random.default_rng(seed)
    observed = (rng.random((n, n_labels)) < rng.random(n_labels)).astype(np.uint8)
    observed[rng.random(observed.shape) < rng.random()] = UNKNOWN
    observed[0, 0] = UNKNOWN
    return observed, rng.random(observed.shape), rng.integers(1, 4, n).astype(float)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.booleans())
def test_probabilities_are_those_of_the_formula(seed, is_weighted):
    observed, p, weights = some_rows(seed)
    found = complete(observed, p, np.random.default_rng(seed), weights if is_weighted else None)
    drawn = np.random.default_rng(seed).random(p.shape)
    counts, shares = naive.complete(observed, p, drawn, weights if is_weighted else np.ones(len(observed)))
    dense = found.shares.toarray()
    expected = [[q.get(tuple(v), 0.0) for v in found.vectors.tolist()] for q in shares]
    np.testing.assert_allclose(dense[found.of_row], expected, atol=1e-6)
    expected = [counts[tuple(v)] for v in found.vectors.tolist()]
    np.testing.assert_allclose(found.counts, expected, atol=1e-5)
    assert sum(n > 0 for n in counts.values()) == len(found.vectors)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_what_is_known_is_certain(seed):
    observed, p, weights = some_rows(seed)
    found = complete(observed, p, np.random.default_rng(0), weights)
    marginals = (found.shares @ found.vectors)[found.of_row]
    known = observed != UNKNOWN
    np.testing.assert_allclose(marginals[known], observed[known], atol=1e-12)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.counts.sum(), weights.sum())
    whole = known.all(axis=1)
    np.testing.assert_array_equal(found.vectors[found.likeliest[whole]], observed[whole])
    of_rows = found.shares_of(np.arange(len(observed)))
    np.testing.assert_allclose(of_rows.sum(axis=1), weights)
    expected = [
        np.average(column[there] == 1, weights=weights[there]) if there.any() else 0.0
        for column, there in zip(observed.T, known.T, strict=True)
    ]
    np.testing.assert_allclose(found.frequencies, expected)


def test_vectors_that_agree():
    observed, *_ = some_rows(0)
    vectors = np.random.default_rng(0).integers(0, 2, (9, 4)).astype(np.uint8)
    expected = [
        [all(y in (UNKNOWN, z) for y, z in zip(row, v, strict=True)) for v in vectors] for row in observed
    ]
    np.testing.assert_array_equal(agreeing(observed, vectors), expected)


def test_labels_that_go_together_complete_each_other():
    """Of two labels that always agree, the known one tells the other, whatever the features say."""
    observed = np.repeat(np.array([[0, 0], [1, 1]], np.uint8), 20, axis=0)
    observed[0, 1] = observed[20, 0] = UNKNOWN
    found = complete(observed, np.full(observed.shape, 0.5), np.random.default_rng(0))
    completed = (found.shares @ found.vectors)[found.of_row]
    np.testing.assert_allclose(completed[[0, 20]], [[0, 0], [1, 1]], atol=0.06)


@pytest.mark.parametrize("cost", ["f1", "rank", "zero_one"])
def test_bits_learn_the_expected_difference(cost):
    observed, p, weights = some_rows(1)
    found = complete(observed, p, np.random.default_rng(0), weights)
    code = ReferencePairCode([[1, 0, 0, 1], [0, 1, 1, 0]], [[0, 1, 0, 0], [1, 1, 1, 1]], get_cost(cost))
    seeds = np.arange(2, dtype=np.uint64)
    problems = bit_problems(
        code, found.vectors, found.of_row, seeds, shares=found.shares, row_weight=found.row_weight
    )
    expected = [
        [s @ code.differences(found.vectors)[:, bit] for bit in range(2)] for s in found.shares.toarray()
    ]
    np.testing.assert_allclose(problems.differences(slice(0, 2)), expected, atol=1e-12)
    assert problems.row_weight is weights


def test_labels_are_learned_where_they_are_known():
    observed, *_ = some_rows(2)
    distinct = distinct_labels(observed)
    problems = label_problems(distinct.known, distinct.of_row, np.zeros(4, np.uint64))
    expected = np.array([-1.0, 1.0, 0.0])[observed]
    np.testing.assert_array_equal(problems.differences(slice(0, 4))[problems.vector_of_row], expected)
