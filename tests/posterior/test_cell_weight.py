"""How much each label of a row counts in calibration, by its prices."""

import numpy as np
import pytest

from refpair import Cost, get_cost
from refpair.posterior.calibrate import cell_weight

PRICES = np.array([[4.0, 0.0], [100.0, 0.0], [1.0, 0.0], [9.0, 0.0]])


@pytest.mark.parametrize("cost", [get_cost("f1"), Cost.per_label(false_negative=[3, 50])], ids=str)
@pytest.mark.parametrize("row_weight", [None, np.array([1.0, 2.0, 0.5, 0.5])], ids=["equal", "weighted"])
def test_without_prices_of_rows_it_is_that_of_the_row(cost, row_weight):
    assert cell_weight(cost, 2, row_weight) is row_weight


def test_it_is_the_square_root_of_the_dearer_mistake():
    found = cell_weight(Cost.per_label(false_negative=PRICES, false_positive=4), 2)
    np.testing.assert_allclose(found[:, 0] / found[0, 0], [1, 5, 1, 1.5])
    np.testing.assert_allclose(found[:, 1], 1, err_msg="false positives cost the same in all rows")
    np.testing.assert_allclose(found.mean(axis=0), 1)


def test_a_row_of_weight_2_counts_as_two():
    weight = np.array([2, 1, 1, 1])
    cost = Cost.per_label(false_negative=PRICES)
    twice = np.repeat(np.arange(4), weight)
    apart = cell_weight(cost.for_rows(twice), 2)
    together = cell_weight(cost, 2, weight.astype(float))
    np.testing.assert_allclose(together[0], apart[:2].sum(axis=0))
    np.testing.assert_allclose(together[1:], apart[2:])


def test_a_label_that_costs_nothing_counts_equally_in_all_rows():
    found = cell_weight(Cost.per_label(false_negative=PRICES, false_positive=PRICES), 2)
    np.testing.assert_array_equal(found[:, 1], 1)


def test_the_scale_of_prices_does_not_matter():
    smallest, largest = (
        cell_weight(Cost.per_label(false_negative=PRICES * by, false_positive=0), 2) for by in (1e-300, 1e98)
    )
    np.testing.assert_allclose(smallest, largest)
