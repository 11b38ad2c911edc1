"""How much each label of a row counts in calibration, where rows have prices of their own.

Calibrated probabilities are right on average over the rows that have the same one. If prices go with the
features, as amounts do, the dear ones of these rows may have the label more often than the cheap ones, and
expected costs are too low. So labels count by the square root of what a mistake costs in their row. By the
full price, a few dear rows would decide everything.
"""

from __future__ import annotations

import numpy as np

from refpair.costs import Cost, PerLabelCost
from refpair.posterior.distribution import Floats


def cell_weight(cost: Cost, n_labels: int, row_weight: Floats | None = None) -> Floats | None:
    """Return how often each label of a row counts; the labels of a row count the same without prices of rows.

    Parameters
    ----------
    cost : Cost
        In which these rows may have prices of their own.
    n_labels : int
    row_weight : array of shape (n,), optional
        How often each row counts, whatever its prices.

    Returns
    -------
    weights : array of shape (n, n_labels)
        All labels count equally in total. Where rows have no prices of their own, it is `row_weight`.

    Examples
    --------
    >>> from refpair import Cost
    >>> cell_weight(Cost.per_label(false_negative=[[4], [100], [4]]), 1)
    array([[0.42857143],
           [2.14285714],
           [0.42857143]])
    """
    if not isinstance(cost, PerLabelCost) or cost.n_rows is None:
        return row_weight
    weight = np.sqrt(np.maximum(*cost.prices(n_labels)))
    mean = np.average(weight, axis=0, weights=row_weight)
    weight = np.where(mean > 0, weight, 1.0) / np.where(mean > 0, mean, 1.0)  # a label may cost nothing
    return weight if row_weight is None else weight * row_weight[:, None]
