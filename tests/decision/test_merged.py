"""Distributions whose vectors are changed, against dictionaries of weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.decision.merged import merged
from refpair.posterior import LabelDistribution
from tests.decision.cases import random_distribution


def merged_slowly(row, new, allowed, targets):
    """Return the weights of the new vectors of a row, given those of its vectors by their numbers."""
    left = {v: weight for v, weight in row.items() if allowed[v]}
    if sum(left.values()) == 0:
        left = row
    mass = sum(left.values())
    for halved in range(1, 60 if targets is not None else 0):
        large = {v: weight for v, weight in left.items() if weight >= mass / len(left) / 2**halved}
        there = new[list(large)].mean(axis=0) if large else None
        lost = large and ((there == 0) & (targets > 0.05)) | ((there == 1) & (targets < 0.95))
        if len(large) == len(left) or (mass - sum(large.values()) <= 0.05 * mass and not any(lost)):
            left = large
            break
    found = {}
    for v, weight in left.items():
        found[tuple(new[v])] = found.get(tuple(new[v]), 0) + weight / sum(left.values())
    return found


@given(seed=st.integers(0, 2**32 - 1), is_told=st.booleans())
@settings(deadline=None)
def test_weights_of_changed_vectors(seed, is_told):
    rng = np.random.default_rng(seed)
    p = random_distribution(rng, 6, 4, 9)
    vectors = p.vectors | (p.vectors[:, ::-1] & (rng.random(4) < 0.5))
    allowed = rng.random(len(vectors)) < rng.choice([0.2, 0.7, 1.0])
    targets = rng.choice([0.01, 0.5, 0.99], (6, 4)) if is_told else None
    for new in (vectors, p.vectors):
        q = merged(p, new, allowed, targets)
        assert len(np.unique(q.vectors, axis=0)) == len(q.vectors)
        for i in range(len(p)):
            own, left = slice(*p.start[i : i + 2]), slice(*q.start[i : i + 2])
            row = dict(zip(p.index[own].tolist(), p.weight[own].tolist(), strict=True))
            keys = map(tuple, q.vectors[q.index[left]])
            found = dict(zip(keys, q.weight[left].tolist(), strict=True))
            assert len(found) == left.stop - left.start
            assert found == pytest.approx(merged_slowly(row, new, allowed, targets[i] if is_told else None))


def test_no_weight_on_what_is_allowed():
    p = LabelDistribution(
        np.array([[0, 0], [0, 1]], np.uint8),
        np.array([0, 2]),
        np.array([0, 1], np.int32),
        np.array([1.0, 0.0]),
        is_of_labels=True,
    )
    q = merged(p, p.vectors, np.array([False, True]))
    assert q.weight.tolist() == [1.0, 0.0]
    assert q.is_of_labels
