"""``--promise`` of ``refpair fit`` and ``evaluate``: how many rows can be answered at a cost."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from refpair import CostGuarantee
from refpair.classifiers._checks import check_positive
from refpair.cli.data import TableModel
from refpair.costs import Cost
from refpair.costs.cost import vector_cost
from refpair.tables import Table

_CONFIDENCE = 0.95


def promising(
    classifier: Any, promise: float | None, confidence: float | None, cost: Cost, seed: int = 0
) -> CostGuarantee | None:
    """Return what makes a promise, if one is wanted; refuse costs and numbers by which there can be none."""
    if promise is None:
        if confidence is not None:
            raise ValueError("--confidence goes with --promise, the cost to promise, as in --promise 0.1")
        return None
    check_positive("--promise", promise)
    vector_cost(cost, "--promise")
    if cost.n_rows is not None:
        raise ValueError("--promise is about new rows, whose prices nobody knows: give prices as numbers")
    found = CostGuarantee(
        classifier, promise, cost=cost, confidence=_CONFIDENCE if confidence is None else confidence,
        random_state=seed,
    )  # fmt: skip
    found._check_parameters()
    return found


def tell_promise(guarantee: CostGuarantee, fitted: TableModel, table: Table, prices: str = "") -> str:
    """Make a promise by rows that the model has not seen, and say what it is and which command keeps it.

    A row is answered if its expected cost is at most a threshold, and asked about by ``--ask`` if it is
    above its price: these are the same rows. `prices` are the options of the cost.
    """
    try:
        guarantee.calibrate(fitted.features(table), table.Y)
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    cost, threshold = guarantee.cost_, guarantee.threshold_["cost"]
    name = f"1 - {cost.name}" if cost.greater_is_better else cost.name
    command = f"refpair predict {shlex.quote(fitted.name)} NEW"
    if prices:
        command += f" {prices}"
    which = "all rows"
    if np.isfinite(threshold):
        which = f"the {guarantee.coverage_:.1%} of rows that are expected to cost at most {threshold:.4g}"
        command += f" --ask {threshold!r} --questions ask.csv"
    return (
        f"promise, with confidence {guarantee.confidence:g}: {name} is at most {guarantee.max_cost:g} on "
        f"average if the model answers {which}\n"
        f"found on {len(table.X):,} rows of {table.name}; for new rows like these:\n{command}"
    )
