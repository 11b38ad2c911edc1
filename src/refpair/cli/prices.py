"""Prices that stand in a column of the table: what a mistake costs in each row."""

from __future__ import annotations

import shlex

import numpy as np
import numpy.typing as npt

from refpair._extras import pd
from refpair.costs import Cost
from refpair.tables import Table
from refpair.tables._names import unknown_name


def price_column(option: str, name: str, labels: list[str], table: Table) -> npt.NDArray[np.float64]:
    """Return the prices in a column of a table, one for each row; refuse what is none by its row."""
    if name in labels:
        raise ValueError(f"{option}: {name!r} is a label; a price is a number or another column")
    if name not in table.X.columns:
        known = unknown_name("column", name, list(table.X.columns))
        raise ValueError(f"{option}: {name!r} is neither a number nor a column of {table.name}: {known}")
    cells = table.X[name]
    prices = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~(np.isfinite(prices) & (prices >= 0)))
    if len(wrong):
        at = wrong[0]
        row = at + 1 if isinstance(table.X.index, pd.RangeIndex) else table.X.index[at]
        what = "empty" if pd.isna(cells.iloc[at]) else repr(str(cells.iloc[at]))
        raise ValueError(
            f"{table.name}, row {row}: column {name!r} is {what}, and {option} needs a number from 0 up there"
        )
    return prices


def check_label(option: str, label: str, price: str, labels: list[str], table: Table | None) -> None:
    """Refuse a price of what is no label; say so if a label and a column were mixed up."""
    if label in labels:
        return
    if table is not None and label in table.X.columns and price in labels:
        raise ValueError(
            f"{option}: {label!r} is a column and {price!r} a label; did you mean {price}={label}?"
        )
    raise ValueError(f"{option}: {unknown_name('label', label, labels)}")


def options_again(false_positive: list[str] | None, false_negative: list[str] | None) -> str:
    """Return the options of prices as they are typed."""
    both = (("--false-positive", false_positive), ("--false-negative", false_negative))
    return " ".join(f"{option} {shlex.quote(price)}" for option, prices in both for price in prices or ())


def tell_paid(
    cost: Cost,
    truth: npt.NDArray[np.floating] | npt.NDArray[np.uint8],
    predicted: npt.NDArray[np.uint8],
    expected: npt.NDArray[np.float64],
) -> str:
    """Say what the answers cost, and were expected to, on the rows of which all labels are known."""
    known = ~np.isnan(truth).any(axis=1)
    if not known.any():
        return "by these prices: all labels are known in no row"
    paid = cost.rows(truth, predicted)[known]
    left_out = f", of the {known.sum():,} rows of which all labels are known" * (not known.all())
    told = (f"{costs.sum():,.2f} in all, {costs.mean():,.4f} a row" for costs in (paid, expected[known]))
    return f"by these prices{left_out}: paid {next(told)}; expected {next(told)}"
