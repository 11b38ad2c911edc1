"""Are promises of costs kept, and how many rows can be answered for them?

A model is fitted on one half of a data set; the other half is the pool. Calibration rows are drawn from the
pool, as many as half of it, and thresholds are found as :class:`refpair.CostGuarantee` finds them. They are
drawn in two ways. Drawn with replacement, they are a sample of a population that is known: the pool. A
promise is about the population, so it is broken if the rows of the pool that are answered cost more than was
promised. Drawn without replacement, the other half of the pool is left. Its mean is itself that of a sample,
which is above what was promised more often than the mean of the population is.

What is promised is 0.7, 0.85 and 1 times what all rows of the pool cost. The oracle answers the rows of
lowest expected cost, as many as cost that little in the pool.

    python -m benchmarks.promise emotions yeast enron digits debtags.csv.gz --labels tags --drop package
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.common import Results, cost_name, find_data, half_split, markdown_table, read_table
from refpair import Cost, CSRPEClassifier, get_cost
from refpair.costs.largest import largest_cost
from refpair.decision.promises import Promise, find_thresholds
from refpair.experiments.data import read_numeric
from refpair.tables import TableOptions

TABLE = "promise.csv"
CAPPED = Cost.from_counts(lambda tp, fp, fn, tn: np.minimum(fp + 3 * fn, 6), name="capped")
COSTS = (*map(get_cost, ("f1", "hamming", "jaccard", "rank", "zero_one")), CAPPED)
FACTORS, DELTAS = (0.7, 0.85, 1.0), (0.1, 0.05)
N_DRAWS, MOST_ROWS = 1000, 5000
_ROUNDING = 1e-9

Rows = npt.NDArray[np.intp]
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


class Pool(NamedTuple):
    """What the answers to the rows of a pool cost, and what they are expected to, as parts of the largest."""

    costs: Floats
    expected: Floats

    def promise(self, limit: float, rows: Rows) -> Promise:
        """Return the promise of a limit, to be made by some rows."""
        everywhere = np.ones(len(rows))
        return Promise(limit, self.costs[rows], self.expected[rows], everywhere > 0, everywhere)

    def oracle(self, limit: float) -> float:
        """Return the largest share of rows, in the order of expected costs, that costs at most a limit."""
        order = np.argsort(self.expected, kind="stable")
        means = self.costs[order].cumsum() / np.arange(1, len(order) + 1)
        return float((np.flatnonzero(means <= limit + _ROUNDING).max(initial=-1) + 1) / len(order))


def is_broken(costs: Floats, limit: float) -> bool:
    """Whether rows cost more than a limit; no rows cost nothing."""
    return len(costs) > 0 and float(costs.mean()) > limit + _ROUNDING


def fit_half(path: str, table: TableOptions) -> tuple[CSRPEClassifier, Any, Bytes]:
    """Return a model of one half of a data set, and the features and labels of the other."""
    data = read_numeric(path, table if Path(path).suffix else TableOptions())
    Y = np.asarray(sp.csr_array(data.Y).toarray(), np.uint8)
    train, pool = (half[:MOST_ROWS] for half in half_split(len(Y), 0))
    return CSRPEClassifier("f1", random_state=0).fit(data.X[train], Y[train]), data.X[pool], Y[pool]


def pools(path: str, table: TableOptions) -> Iterator[tuple[str, Pool]]:
    """Yield the pool of each cost: answers are best for it, by the same model."""
    model, X, Y = fit_half(path, table)
    for cost in COSTS:
        largest = largest_cost(cost, Y.shape[1]) if cost is not CAPPED else 6.0
        costs = cost.rows(Y, model.decide(X, cost))
        yield cost.name, Pool(costs / largest, model.expected_cost(X, cost=cost) / largest)


def measure(pool: Pool, limit: float, delta: float) -> dict[str, float]:
    """Return how many promises are broken, and how many rows are answered."""
    n = len(pool.costs)
    broken, of_others, refused, of_pool, coverage = np.zeros((5, N_DRAWS))
    for seed in range(N_DRAWS):
        rng = np.random.default_rng(seed)
        drawn, halves = rng.integers(0, n, n // 2), rng.permutation(n)
        for rows, is_half in ((drawn, False), (halves[: n // 2], True)):
            found = find_thresholds([pool.promise(limit, rows)], delta, rng.permutation(len(rows)))
            answered = pool.expected <= (-np.inf if found is None else found[0])
            if not is_half:
                broken[seed] = is_broken(pool.costs[answered], limit)
                continue
            others = halves[n // 2 :]
            of_pool[seed] = is_broken(pool.costs[answered], limit)
            of_others[seed] = is_broken(pool.costs[others[answered[others]]], limit)
            coverage[seed], refused[seed] = answered.mean(), found is None
    return {
        "broken": broken.mean(),
        "others": of_others.mean(),
        "pool": of_pool.mean(),
        "refused": refused.mean(),
        "coverage": coverage.mean(),
        "oracle": pool.oracle(limit),
    }


def show() -> str:
    """Return the table of broken promises and of answered rows."""
    found = read_table(TABLE)
    found["ratio"] = found["coverage"] / found["oracle"]
    rows = []
    for (data, cost), some in found.groupby(["data", "cost"], sort=False):
        of_tenth = some[some["delta"] == DELTAS[0]]
        rows.append(
            [
                str(data),
                cost_name(str(cost)),
                *(f"{some.loc[some['delta'] == delta, 'broken'].max():.3f}" for delta in DELTAS),
                *(f"{of_tenth[name].max():.3f}" for name in ("others", "pool")),
                *(f"{share:.2f}" for name in ("oracle", "ratio") for share in of_tenth[name]),
            ]
        )
    header = ["data", "cost", *(f"broken, δ = {delta:g}" for delta in DELTAS), "other half", "whole pool"]
    header += [f"oracle, {factor:g}" for factor in FACTORS] + [f"of it, {factor:g}" for factor in FACTORS]
    return markdown_table(header, rows)


def show_summary() -> str:
    """Say how often promises are broken at most, and how many rows are answered."""
    found = read_table(TABLE)
    told = []
    for delta in DELTAS:
        some = found[found["delta"] == delta]
        allowed = delta + 2 * np.sqrt(delta * (1 - delta) / N_DRAWS)
        told.append(
            f"of confidence {1 - delta:g}, {some['broken'].max():.1%} are broken at most, where "
            f"{allowed:.1%} would be within two standard errors; {(some['broken'] > allowed).sum()} of "
            f"{len(some)} cases have more"
        )
    ratio = (
        found.assign(ratio=found["coverage"] / found["oracle"]).groupby("data", sort=False)["ratio"].mean()
    )
    shares = ", ".join(f"{name} {share:.0%}" for name, share in ratio.items())
    return f"{'; '.join(told)}. Of the rows that the oracle answers, there are answered on average: {shares}"


def main() -> None:
    """Measure what is not stored, and show it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="names of data sets, or tables")
    parser.add_argument("--labels", nargs="+")
    parser.add_argument("--drop", nargs="+", default=())
    given = parser.parse_args()
    find_data()
    table = TableOptions(labels=tuple(given.labels or ()) or None, drop=tuple(given.drop))
    results = Results(TABLE, go_on=True)
    for path in given.data:
        name = Path(path).name.partition(".")[0]
        if results.has(data=name, cost=COSTS[-1].name, factor=FACTORS[-1], delta=DELTAS[-1]):
            continue
        for cost, pool in pools(path, table):
            for factor in FACTORS:
                limit = factor * float(pool.costs.mean())
                for delta in DELTAS:
                    case = {"data": name, "cost": cost, "factor": factor, "delta": delta}
                    if not results.has(**case):
                        results.add(**case, **measure(pool, limit, delta))
                        print(*case.values(), flush=True)
    print(f"{show()}\n\n{show_summary()}.")


if __name__ == "__main__":
    main()
