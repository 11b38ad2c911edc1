from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from refpair.posterior import LabelDistribution

VECTORS = np.array([[0, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], np.uint8)
WEIGHTS = np.array([[1.0, 0, 0, 3], [0, 2, 2, 0], [0, 0, 5, 0]])


@settings(deadline=None, max_examples=50)
@given(hnp.arrays(np.float64, (3, 4), elements=st.sampled_from([0, 0, 1, 2, 0.1, 1e-300, 1e300])))
def test_dense_weights(weights):
    weights[:, 1] = np.where(weights.any(axis=1), weights[:, 1], 1)
    with np.errstate(all="ignore"):
        expected = (weights / weights.max(axis=1, keepdims=True)).astype(np.float64)
    expected /= expected.sum(axis=1, keepdims=True)
    distribution = LabelDistribution.from_dense(VECTORS, weights)
    np.testing.assert_allclose(distribution.weights().toarray(), expected, rtol=1e-15)
    assert (distribution.weight > 0).all()
    np.testing.assert_allclose(distribution.marginals(), expected @ VECTORS, rtol=1e-14)
    assert distribution.marginals().max() <= 1


@pytest.mark.parametrize("n_labels", [1, 8, 9, 64, 65, 200])
def test_samples(n_labels):
    rng = np.random.default_rng(n_labels)
    pool = rng.integers(0, 2, (5, n_labels), dtype=np.uint8)
    samples = pool[rng.integers(0, 5, (4, 12))]
    distribution = LabelDistribution.from_samples(samples)
    assert len(np.unique(distribution.vectors, axis=0)) == len(distribution.vectors)
    for i in range(4):
        part = slice(distribution.start[i], distribution.start[i + 1])
        vectors = map(tuple, distribution.vectors[distribution.index[part]].tolist())
        found = dict(zip(vectors, distribution.weight[part].tolist(), strict=True))
        assert found == {y: count / 12 for y, count in Counter(map(tuple, samples[i].tolist())).items()}
    np.testing.assert_allclose(distribution.marginals(), samples.mean(axis=1), rtol=1e-14)
    assert len(LabelDistribution.from_samples(samples[:0])) == 0


@given(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.booleans())
def test_taken_rows(rows, is_of_labels):
    whole = LabelDistribution.from_dense(VECTORS, WEIGHTS)
    whole = replace(whole, is_of_labels=is_of_labels)
    part = whole.taken(np.array(rows))
    assert part.is_of_labels == is_of_labels
    assert set(part.index) == set(range(len(part.vectors)))
    for own, row in zip(part.weights().toarray(), rows, strict=True):
        found = dict(zip(map(tuple, part.vectors), own, strict=True))
        for vector, weight in zip(VECTORS, whole.weights().toarray()[row], strict=True):
            assert found.get(tuple(vector), 0) == weight


def test_most_likely():
    weights = [[1, 2, 2, 1], [0, 0, 1, 0], [0, 1, 0, 3]]
    labels, probabilities = LabelDistribution.from_dense(VECTORS, weights).most_likely(3)
    order = [[1, 2, 0], [2, None, None], [3, 1, None]]
    expected = [[[0, 0, 0] if v is None else VECTORS[v].tolist() for v in row] for row in order]
    assert labels.tolist() == expected
    assert labels.dtype == np.uint8
    np.testing.assert_allclose(probabilities, [[1 / 3, 1 / 3, 1 / 6], [1, 0, 0], [0.75, 0.25, 0]])


def test_parts():
    whole = LabelDistribution.from_dense(VECTORS, WEIGHTS)
    for part in (slice(1, 3), slice(None), slice(-1, None), slice(0, 0), slice(2, 1), slice(5, 9)):
        np.testing.assert_array_equal(whole[part].weights().toarray(), whole.weights().toarray()[part])
        np.testing.assert_array_equal(whole[part].marginals(), whole.marginals()[part])
        assert whole[part].entries()[3] is whole.entries()[3]
    assert len(whole) == 3
    with pytest.raises(ValueError, match="consecutive"):
        whole[::2]


@st.composite
def distributions_to_mix(draw):
    """Distributions of the same rows on vectors of which some are the same, and shares that sum to 1."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_labels, n_parts = (
        draw(st.integers(0, 3)),
        draw(st.sampled_from([2, 9, 70])),
        draw(st.integers(1, 3)),
    )
    pool = np.unique(rng.integers(0, 2, (6, n_labels), dtype=np.uint8), axis=0)
    parts = []
    for _ in range(n_parts):
        vectors = rng.permutation(pool)[: rng.integers(1, len(pool) + 1)]
        weights = rng.random((n_rows, len(vectors))) * (rng.random((n_rows, len(vectors))) < 0.6)
        weights[:, rng.integers(len(vectors))] += 0.1
        parts.append(LabelDistribution.from_dense(vectors, weights))
    shares = rng.dirichlet(np.ones(n_parts)) if draw(st.booleans()) else np.eye(n_parts)[0]
    return parts, shares.tolist()


def as_dicts(p):
    """The weight of each vector, row by row."""
    ways = [slice(*ends) for ends in pairwise(p.start.tolist())]
    return [
        {tuple(p.vectors[i].tolist()): w for i, w in zip(p.index[one], p.weight[one].tolist(), strict=True)}
        for one in ways
    ]


@settings(deadline=None, max_examples=80)
@given(distributions_to_mix())
def test_mixed_distributions_are_those_of_the_loop(case):
    parts, shares = case
    expected = [Counter() for _ in range(len(parts[0]))]
    for part, share in zip(parts, shares, strict=True):
        for row, weights in zip(expected, as_dicts(part), strict=True):
            for vector, weight in weights.items():
                row[vector] += share * weight
    mixed = LabelDistribution.mix(parts, shares)
    assert len(np.unique(mixed.vectors, axis=0)) == len(mixed.vectors)
    for found, row in zip(as_dicts(mixed), expected, strict=True):
        assert found == pytest.approx({vector: weight for vector, weight in row.items() if weight})
    assert len(mixed.index) == sum(map(len, as_dicts(mixed))), "no vector is there twice"


def test_labels_of_vectors():
    *_, start, label = LabelDistribution.from_dense(VECTORS, WEIGHTS).entries()
    assert start.tolist() == [0, 0, 2, 4, 7]
    assert label.tolist() == [0, 2, 1, 2, 0, 1, 2]
    assert (start.dtype, label.dtype) == (np.int64, np.int32)


GOOD = {
    "vectors": VECTORS,
    "start": np.array([0, 2, 3]),
    "index": np.array([0, 3, 1], np.int32),
    "weight": np.array([0.5, 0.5, 1.0]),
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"vectors": VECTORS.astype(int)}, "vectors must be an array of 2 dimensions and dtype uint8"),
        ({"vectors": VECTORS[0]}, "vectors must be an array"),
        ({"vectors": VECTORS * np.uint8(2)}, "0 and 1"),
        ({"vectors": VECTORS[:, :0]}, "at least one label"),
        ({"weight": [0.5, 0.5, 1.0]}, "weight must be an array"),
        ({"weight": np.array([0.5, 0.5])}, "index has 3 entries and weight has 2"),
        ({"weight": np.array([0.5, 0.6, 1.0])}, "sum to 1"),
        ({"weight": np.array([1.5, -0.5, 1.0])}, "negative"),
        ({"weight": np.array([np.nan, 0.5, 1.0])}, "sum to 1"),
        ({"start": np.array([0, 2])}, "end with the number"),
        ({"start": np.array([1, 2, 3])}, "begin with 0"),
        ({"start": np.array([], np.int64)}, "begin with 0"),
        ({"start": np.array([0, 2, 2, 3])}, "row 1 has no weights"),
        ({"index": np.array([0, 4, 1], np.int32)}, "from 0 to 3"),
        ({"index": np.array([0, -1, 1], np.int32)}, "from 0 to 3"),
    ],
)
def test_what_makes_no_distribution(wrong, message):
    LabelDistribution(**GOOD)
    with pytest.raises(ValueError, match=message):
        LabelDistribution(**{**GOOD, **wrong})


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[1, 2]], "shape"),
        ([1, 1, 1, 1], "shape"),
        ([[1, -1, 1, 1]], "not negative"),
        ([[1, np.inf, 1, 1]], "finite"),
        ([[1, 0, 0, 0], [0, 0, 0, 0]], "all zero in row 1"),
    ],
)
def test_wrong_dense_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        LabelDistribution.from_dense(VECTORS, weights)


def test_wrong_samples():
    with pytest.raises(ValueError, match="n_samples"):
        LabelDistribution.from_samples(VECTORS)
    with pytest.raises(ValueError, match="0 and 1 only"):
        LabelDistribution.from_samples([[[0, 2]]])
    with pytest.raises(ValueError, match="n_samples"):
        LabelDistribution.from_samples(np.zeros((2, 0, 3)))
