"""Decisions under prices that differ from row to row, against all label vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair import Cost
from refpair.decision import decide, expected_cost
from refpair.posterior import IndependentLabels, LabelDistribution
from tests import naive


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans())
def test_each_row_is_decided_by_its_own_prices(seed, n_labels, for_all):
    rng = np.random.default_rng(seed)
    everything = naive.all_vectors(n_labels)
    kept = rng.permutation(len(everything))[: rng.integers(1, 9)]
    vectors = [everything[i] for i in kept]
    weights = rng.dirichlet(np.ones(len(vectors)), 4)
    fp, fn = (rng.integers(0, 30, (4, 1 if for_all else n_labels)).astype(float) for _ in range(2))
    cost = Cost.per_label(false_positive=fp, false_negative=fn)
    p = LabelDistribution.from_dense(vectors, weights)
    answer = decide(p, cost)
    found = expected_cost(p, answer, cost)
    np.testing.assert_array_equal(answer, decide(IndependentLabels(p.marginals()), cost))
    for i in range(4):
        prices = [np.broadcast_to(one[i], n_labels).tolist() for one in (fp, fn)]
        costs = [
            sum(w * naive.per_label(y, z, *prices) for y, w in zip(vectors, weights[i], strict=True))
            for z in everything
        ]
        assert found[i] == pytest.approx(min(costs), abs=1e-9)


def test_prices_must_be_of_the_rows():
    p = IndependentLabels([[0.5, 0.5]] * 3)
    cost = Cost.per_label(false_negative=[[1], [2]])
    with pytest.raises(ValueError, match="prices of 2 rows, and here are 3"):
        decide(p, cost)
    with pytest.raises(ValueError, match="prices of 2 rows, and here are 3"):
        expected_cost(p, [[0, 0]] * 3, cost)
