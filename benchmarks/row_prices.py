"""What do prices of rows save? Missing a fraud costs its amount, a false alarm costs 5.

The payments are those of ``examples/fraud_costs.py``, whose exact probabilities are known: nobody can pay
less than they do on average. Money is that of 20,000 new payments, each.

    python -m benchmarks.row_prices --sizes 1000 3000 --seeds 10
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from benchmarks.common import Results, markdown_table, read_table, records
from examples.fraud_costs import make_payments, price_of
from refpair import CSRPEClassifier

Floats = npt.NDArray[np.float64]

TABLE = "row_prices.csv"
ALARM = 5.0
N_NEW = 20_000
WAYS = {
    "own": "each row's own prices",
    "mean": "mean prices",
    "forest_own": "forest, each row's own threshold",
    "forest_tuned": "forest, one tuned threshold",
    "exact": "exact probabilities",
}


def exact_probabilities(X: pd.DataFrame) -> Floats:
    """Return the probability that a payment is a fraud, by the densities that `make_payments` draws from."""
    mass = np.zeros((2, len(X)))
    logs = {name: np.log(X[name]) for name in ("amount", "distance")}
    for fraud, refund, abroad in np.ndindex(2, 2, 2):
        likelihood = (0.05, 0.95)[not fraud] * (0.2, 0.8)[not refund] * (0.3, 0.7)[not abroad]
        hours = [stats.norm.pdf(X["hour"] + 24 * day, 13 - 5 * fraud, 4) for day in range(-2, 3)]
        mass[fraud] += np.prod(
            [
                stats.norm.pdf(logs["amount"], 3 + fraud - 0.5 * refund, 0.8),
                np.sum(hours, axis=0),
                stats.norm.pdf(logs["distance"], 1 + 2 * abroad + fraud, 0.8),
                stats.expon.pdf(X["days_since_order"], scale=1 + 12 * refund),
                stats.expon.pdf(X["card_age"], scale=200 if fraud else 900),
            ],
            axis=0,
        ) * likelihood  # fmt: skip
    return np.asarray(mass[1] / mass.sum(axis=0))


def paid(alarms: npt.NDArray[np.bool_], fraud: npt.NDArray[np.bool_], amount: Floats) -> float:
    """Return what a payment costs on average."""
    return float(np.where(fraud, amount * ~alarms, ALARM * alarms).mean())


def best_threshold(p: Floats, fraud: npt.NDArray[np.bool_], amount: Floats) -> float:
    """Return the threshold on probabilities that costs least on these payments."""
    order = np.argsort(-p, kind="stable")
    saved = np.where(fraud, amount, -ALARM)[order].cumsum()
    return float(p[order][saved.argmax()]) if saved.max() > 0 else np.inf


def measure(n_rows: int, seed: int) -> dict[str, float]:
    """Return what a payment costs by each way to decide, and what was expected."""
    X, Y = make_payments(n_rows, 2 * seed)
    X_new, Y_new = make_payments(N_NEW, 2 * seed + 1)
    fraud, fraud_new = (labels["fraud"].to_numpy() == 1 for labels in (Y, Y_new))
    amount, price = X_new["amount"].to_numpy(), price_of(X_new)
    model = CSRPEClassifier(price_of(X), random_state=seed, n_jobs=-1).fit(X, Y)
    forest = CalibratedClassifierCV(
        RandomForestClassifier(200, min_samples_leaf=5, random_state=seed, n_jobs=-1), method="isotonic"
    )
    p = cross_val_predict(forest, X, fraud, cv=5, method="predict_proba")[:, 1]
    p_new = forest.fit(X, fraud).predict_proba(X_new)[:, 1]
    exact = exact_probabilities(X_new)
    alarms = {
        "own": model.decide(X_new, price)["fraud"].to_numpy() == 1,
        "mean": model.predict(X_new)["fraud"].to_numpy() == 1,
        "forest_own": p_new * amount > (1 - p_new) * ALARM,
        "forest_tuned": p_new >= best_threshold(p, fraud, X["amount"].to_numpy()),
        "exact": exact * amount > (1 - exact) * ALARM,
    }
    expected = float(model.expected_cost(X_new, cost=price).mean())
    return {name: paid(found, fraud_new, amount) for name, found in alarms.items()} | {"expected": expected}


def show() -> str:
    """Return a table of what a payment costs, and of the expected cost as a share of the realised one."""
    results = read_table(TABLE)
    results["ratio"] = results["expected"] / results["own"]
    by_size = results.groupby("rows")
    ratios = by_size["ratio"]
    found = by_size.mean().assign(least=ratios.min(), most=ratios.max())
    rows = [
        [
            f"{row['rows']:,}",
            *(f"{row[way]:.3f}" for way in WAYS),
            f"{row['ratio']:.2f} ({row['least']:.2f} to {row['most']:.2f})",
        ]
        for row in records(found)
    ]
    return markdown_table(["training rows", *WAYS.values(), "expected / paid"], rows)


def main() -> None:
    """Measure each size with each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 3000])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--go-on", action="store_true", help="keep what is stored, and measure the rest")
    given = parser.parse_args()
    results = Results(TABLE, go_on=given.go_on)
    for n_rows in given.sizes:
        for seed in range(given.seeds):
            if not results.has(rows=n_rows, seed=seed):
                results.add(rows=n_rows, seed=seed, **measure(n_rows, seed))
    print(show())


if __name__ == "__main__":
    main()
