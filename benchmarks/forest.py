"""Do `fit` and `predict` take longer than those of scikit-learn's random forest?

The forest is ``RandomForestClassifier(n_estimators=500)``, multi-output, on dense float32; refpair's model is
``CSRPEClassifier("f1")`` with its defaults. Both have one thread. They learn one half of a data set, and
answer for one row, for 100 and for all of the other half; seconds of the processor.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

from benchmarks.common import (
    PAPER_SETS,
    Results,
    dense_float32,
    half_split,
    least_time,
    load,
    markdown_table,
    read_table,
    records,
)
from refpair import CSRPEClassifier

_TOO_LONG = ("Corel5k", "bibtex")  # for a benchmark of some minutes
_REPEATS = {1: 20, 100: 7}  # of more rows, 3


def measure(name: str) -> Iterator[dict[str, Any]]:
    """Yield what fitting and predicting take on one data set."""
    data = load(name)
    train, test = half_split(len(data.Y), 0)
    dense, dense_test = dense_float32(data.X[train]), dense_float32(data.X[test])
    forest = RandomForestClassifier(500, random_state=0)
    model = CSRPEClassifier("f1", random_state=0)
    model.fit(data.X[train], data.Y[train])  # compiles
    theirs = least_time(partial(forest.fit, dense, data.Y[train]))
    ours = least_time(partial(model.fit, data.X[train], data.Y[train]))
    yield {"data": name, "task": "fit", "rows": len(train), "forest": theirs, "refpair": ours}
    for task, n in {"predict 1": 1, "predict 100": 100, "predict all": len(test)}.items():
        some, dense_some = data.X[test[:n]], dense_test[:n]
        repeats = _REPEATS.get(n, 3)
        model.predict(some)  # compiles
        ours = least_time(partial(model.predict, some), repeats)
        theirs = least_time(partial(forest.predict, dense_some), repeats)
        yield {"data": name, "task": task, "rows": some.shape[0], "forest": theirs, "refpair": ours}


def show() -> str:
    """Return a table of what is stored: a row for each data set."""
    found = read_table("forest.csv")
    ratio = found.assign(ratio=found["forest"] / found["refpair"])
    tasks = list(dict.fromkeys(found["task"]))
    rows = []
    for data, own in ratio.groupby("data", sort=False):
        by_task = own.set_index("task")
        fit = by_task.loc["fit"]
        times = [f"{fit['forest']:.2f}", f"{fit['refpair']:.2f}"]
        rows.append([data, fit["rows"], *times, *(f"×{by_task.loc[task, 'ratio']:.2g}" for task in tasks)])
    named = ["fit", "predict 1 row", "100 rows", "all rows"]
    return markdown_table(["data", "rows", "forest's fit, s", "refpair's fit, s", *named], rows)


def show_summary() -> str:
    """Return the least and the greatest ratio of fitting, and of predicting all rows."""
    found = read_table("forest.csv")
    ratio = (found["forest"] / found["refpair"]).groupby(found["task"])
    told = [f"{ratio.min()[task]:.1f} to {ratio.max()[task]:.1f} times" for task in ("fit", "predict all")]
    return f"a fit is {told[0]} as fast, predicting half of a set {told[1]}"


def show_latency() -> str:
    """Return the least and the greatest time of predicting one row."""
    found = read_table("forest.csv")
    times = 1000 * found.loc[found["task"] == "predict 1", "refpair"]
    return f"{times.min():.1f} to {times.max():.1f} ms"


def show_losses() -> str:
    """Say where the forest is faster."""
    found = read_table("forest.csv")
    slower = found[found["forest"] < found["refpair"]]
    fits, answers = (slower[slower["task"].eq("fit") == is_fit] for is_fit in (True, False))
    n_sets = found["data"].nunique()
    return (
        f"The forest fits faster on {_count(fits)} of {n_sets} sets{_list(fits)}, and predicts faster in "
        f"{_count(answers)} of {int((found['task'] != 'fit').sum())} cases{_list(answers)}."
    )


def _count(cases: pd.DataFrame) -> str:
    return str(len(cases)) if len(cases) else "none"


def _list(cases: pd.DataFrame) -> str:
    named = [
        row["data"] if row["task"] == "fit" else f"{row['data']}, {row['task'].removeprefix('predict ')}"
        for row in records(cases)
    ]
    return f" ({'; '.join(named)})" if named else ""


def main() -> None:
    """Measure each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", nargs="+", default=[*(n for n in PAPER_SETS if n not in _TOO_LONG), "digits"]
    )
    given = parser.parse_args()
    results = Results("forest.csv")
    with threadpool_limits(1):
        for name in given.data:
            for row in measure(name):
                results.add(**row)
    print(f"{show()}\n\n{show_losses()}")


if __name__ == "__main__":
    main()
