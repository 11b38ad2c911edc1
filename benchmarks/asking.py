"""What does it cost to answer some rows, and to ask a person about others?

A question about a row costs 0.5, 1 or 1.5 times what an answer is expected to cost on average; a question
about a label costs that divided by the number of labels. A person is always right, and what is asked of a
person costs nothing else. Compared are: to ask about rows by their expected cost; to answer all, to ask all,
and to ask about the rows with a label of probability nearest to ½ (the margin), with the threshold that is
best for these very rows; and to ask about labels, one after the other.

With `--speed`, the processor time of `predict_or_ask` is compared with that of `predict`.

    python -m benchmarks.asking flags emotions scene yeast enron medical genbase CAL500 Corel5k bibtex
    python -m benchmarks.asking emotions yeast enron --speed 1000000
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.common import (
    Results,
    cost_name,
    find_data,
    half_split,
    least_time,
    load,
    markdown_table,
    read_table,
    records,
)
from refpair import CSRPEClassifier, get_cost
from refpair.costs import Cost
from refpair.decision import decide
from refpair.decision.ask import ask_labels
from refpair.decision.value import LabelsGiven
from refpair.tables.labels import UNKNOWN

TABLE, SPEED = "asking.csv", "asking_speed.csv"
COSTS, MULTIPLES = ("f1", "hamming", "rank", "zero_one"), (0.5, 1.0, 1.5)
N_BY_LABEL = 500  # rows that are asked about by label
_ROWS_AT_ONCE, _ROWS_BY_LABEL = 50_000, 20_000
LEVEL = 0.95

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def best_by_margin(costs: Floats, margin: Floats, price: float) -> float:
    """Return the mean total if the rows of smallest margin are asked about, as many as are best."""
    spared = costs[np.argsort(margin, kind="stable")].cumsum()
    totals = costs.sum() + price * np.arange(1, len(costs) + 1) - spared
    return float(min(costs.sum(), totals.min()) / len(costs))


def asked_by_label(model: CSRPEClassifier, X: Any, Y: Bytes, cost: Cost, price: float) -> tuple[float, float]:
    """Return the mean total of questions about labels and of answers, and how many questions a row takes."""
    n, n_labels = Y.shape
    prices, total, count = np.full(n_labels, price), 0.0, 0
    for rows, p in model._distributions(model._read_features(X, reset=False), get_cost("zero_one")):
        truths, given = Y[rows], LabelsGiven(p)
        left, observed = np.arange(len(truths)), np.full(truths.shape, UNKNOWN, np.uint8)
        while len(left):
            gain = ask_labels(
                p.taken(left), cost, prices, observed[left], followed=np.zeros(len(left), np.bool_)
            ).gain
            asks = gain.max(axis=1) > 0
            left, label = left[asks], gain[asks].argmax(axis=1)
            observed[left, label] = truths[left, label]
            count += len(left)
        answers = decide(given(np.arange(len(truths)), observed), cost)
        total += float(cost.rows(truths, answers).sum())
    return (total + price * count) / n, count / n


def measure(name: str, split: int, results: Results) -> None:
    """Measure each cost and price on one split of a data set."""
    data = load(name)
    X, Y = data.X, np.asarray(sp.csr_array(data.Y).toarray(), np.uint8)
    train, test = half_split(len(Y), split)
    model = CSRPEClassifier("f1", random_state=split).fit(X[train], Y[train])
    X, Y = X[test], Y[test]
    some, n_labels = slice(0, N_BY_LABEL), Y.shape[1]
    margin = np.abs(model.predict_proba(X) - 0.5).min(axis=1)
    for one in COSTS:
        cost = get_cost(one)
        unit = float(model.expected_cost(X, cost=cost).mean())
        for multiple in MULTIPLES:
            price = multiple * unit
            found = model.predict_or_ask(X, price, cost=cost)
            costs = cost.rows(Y, found.answers)
            of_rows = np.where(found.asked, price, costs)
            by_label = dict.fromkeys(range(n_labels), price / n_labels)
            expected = model.predict_or_ask(X[some], by_label, cost=cost)
            label_total, n_asked = asked_by_label(model, X[some], Y[some], cost, price / n_labels)
            results.add(
                data=name, split=split, rows=len(Y), labels=n_labels, cost=one, multiple=multiple,
                price=price, none=costs.mean(), margin=best_by_margin(costs, margin, price),
                row=of_rows.mean(), row_expected=found.expected_total / len(Y), asked=found.asked.mean(),
                row_some=of_rows[some].mean(), label=label_total,
                label_expected=expected.expected_total / len(Y[some]), label_asked=n_asked,
            )  # fmt: skip
            print(name, split, one, multiple, flush=True)


def cells() -> Any:
    """Return the means over splits, with what the best constant policy costs."""
    found = read_table(TABLE).drop(columns="split")
    keys = ["data", "cost", "multiple"]
    means = found.groupby(keys, sort=False).mean().reset_index()
    constant = means[["price", "none"]].min(axis=1)
    best = np.minimum(constant, means["margin"])
    return means.assign(
        of_constant=means["row"] / constant,
        of_best=means["row"] / best,
        row_ratio=means["row_expected"] / means["row"],
        of_row=means["label"] / means["row_some"],
        label_ratio=means["label_expected"] / means["label"],
    )


def show() -> str:
    """Return a table of totals as parts of others, at the three prices."""
    rows = []
    names = ("of_constant", "of_best", "row_ratio", "of_row", "label_ratio")
    for (data, cost), some in cells().groupby(["data", "cost"], sort=False):
        parts = [" ".join(f"{value:.2f}" for value in some[name]) for name in names]
        rows.append([str(data), cost_name(str(cost)), *parts])
    header = [
        "data", "cost", "rows: of all or none", "of margin, too", "expected / paid",
        "labels: of rows", "expected / paid",
    ]  # fmt: skip
    return markdown_table(header, rows)


def show_summary() -> str:
    """Say how often totals are lower, and how far off the expected ones are."""
    found = cells()
    n_sets = found["data"].nunique()
    lower = found.groupby("data")["of_best"].apply(lambda ratio: (ratio <= LEVEL).mean())
    large = found[found["rows"] > N_BY_LABEL]
    near = ((large["row_ratio"] - 1).abs() <= 0.05).mean()
    wins = found.groupby("data")["of_row"].apply(lambda ratio: (ratio < 1).all())
    return (
        f"asked about by expected cost, rows cost {found['of_constant'].mean():.0%} of the better of asking "
        f"all and none on average, and {found['of_best'].mean():.0%} of the best with the margin; "
        f"{(found['of_best'] <= LEVEL).mean():.0%} of the cases cost at most {LEVEL:.0%} of it, and "
        f"{(lower > 0.5).sum()} of {n_sets} sets do in most. With more than {N_BY_LABEL} rows, the expected "
        f"total is within 5 % of what was paid in {near:.0%} of the cases. Questions about labels cost "
        f"{found['of_row'].mean():.0%} of those about rows on average, and less in all cases on {wins.sum()} "
        f"of {n_sets} sets"
    )


def measure_speed(name: str, n_rows: int, results: Results) -> None:
    """Measure how long predictions and questions take, for rows of a data set over and over."""
    data = load(name)
    Y = np.asarray(sp.csr_array(data.Y).toarray(), np.uint8)
    rows = np.arange(min(n_rows, _ROWS_AT_ONCE)) % data.X.shape[0]
    X, n_calls = data.X[rows], max(1, n_rows // len(rows))
    for cost in COSTS:
        model = CSRPEClassifier(cost, random_state=0, n_jobs=1).fit(data.X, Y)
        price = float(model.expected_cost(X[:1000]).mean())
        by_label = dict.fromkeys(range(Y.shape[1]), price / Y.shape[1])
        some = X[:_ROWS_BY_LABEL]
        calls: dict[str, Callable[[], object]] = {
            "predict": partial(model.predict, X),
            "ask": partial(model.predict_or_ask, X, price),
            "ask_labels": partial(model.predict_or_ask, some, by_label),
        }
        n_times = {"predict": n_calls, "ask": n_calls, "ask_labels": 1}
        times = {way: sum(least_time(call) for _ in range(n_times[way])) for way, call in calls.items()}
        results.add(
            data=name, cost=cost, rows=n_calls * len(rows), rows_by_label=some.shape[0], **times
        )  # fmt: skip


def show_speed() -> str:
    """Return the table of processor times."""
    rows = [
        [
            str(row["data"]), cost_name(str(row["cost"])), f"{row['rows']:,}", f"{row['predict']:.1f}",
            f"{row['ask']:.1f}", f"{row['ask'] / row['predict']:.2f}",
            f"{row['ask_labels'] / row['rows_by_label'] * 1e6:.0f}",
        ]
        for row in records(read_table(SPEED))
    ]  # fmt: skip
    header = [
        "data",
        "cost",
        "rows",
        "predict, s",
        "ask about rows, s",
        "ratio",
        "ask about labels, µs a row",
    ]
    return markdown_table(header, rows)


def main() -> None:
    """Measure what is not stored, and show it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="names of data sets")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--first-split", type=int, default=10)
    parser.add_argument("--speed", type=int, metavar="ROWS", help="measure processor times on so many rows")
    given = parser.parse_args()
    find_data()
    if given.speed:
        speeds = Results(SPEED)
        for name in given.data:
            measure_speed(name, given.speed, speeds)
        print(show_speed())
        return
    results = Results(TABLE, go_on=True)
    for split in range(given.first_split, given.first_split + given.splits):
        for name in given.data:
            if not results.has(data=name, split=split, cost=COSTS[-1], multiple=MULTIPLES[-1]):
                measure(name, split, results)
    print(f"{show()}\n\n{show_summary()}.")


if __name__ == "__main__":
    main()
