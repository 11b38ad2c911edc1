"""The largest cost of a mistake, against all pairs of label vectors."""

import numpy as np
import pytest

from refpair import Cost, get_cost
from refpair.costs.largest import largest_cost


def odd(tp, fp, fn, tn):
    return np.abs(np.sin(3 * tp + 5 * fp)) + fn


COSTS = {
    **{name: get_cost(name) for name in ("f1", "f0.5", "f3", "jaccard", "hamming", "zero_one", "rank")},
    "odd": Cost.from_counts(odd),
    "function": Cost.from_function(lambda Y, Z: (Y != Z) @ np.arange(Y.shape[1])),
    "one price": Cost.per_label(false_positive=2, false_negative=0.5),
}


@pytest.mark.parametrize("n_labels", [1, 2, 5, 6])
@pytest.mark.parametrize("name", COSTS)
def test_it_is_the_largest_of_all_pairs(name, n_labels):
    vectors = np.array(list(np.ndindex((2,) * n_labels)))
    assert largest_cost(COSTS[name], n_labels) == pytest.approx(COSTS[name].matrix(vectors, vectors).max())


def test_prices_of_labels():
    assert largest_cost(Cost.per_label(false_positive=[1, 7], false_negative=[3, 2]), 2) == 10


def test_a_function_of_many_labels():
    assert largest_cost(Cost.from_counts(lambda tp, fp, fn, tn: fp + 2 * fn, name="more"), 99) == 198
    with pytest.raises(ValueError, match="'more' is not known for 100 labels: say it by largest_cost="):
        largest_cost(Cost.from_counts(lambda tp, fp, fn, tn: fp, name="more"), 100)
    with pytest.raises(ValueError, match="for 11 labels"):
        largest_cost(COSTS["function"], 11)


@pytest.mark.parametrize("cost", ["macro_f1", "precision@3", Cost.per_label(false_negative=[[1], [2]])])
def test_costs_of_other_kinds(cost):
    with pytest.raises(ValueError, match="is no cost of label vectors that is the same for all rows"):
        largest_cost(get_cost(cost), 3)
