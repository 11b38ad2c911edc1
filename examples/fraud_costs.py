"""Prices: missing a fraud costs 50, checking an honest payment costs 1."""

import numpy as np
import pandas as pd

from refpair import Cost, CSRPEClassifier


def make_payments(n_rows: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make payments; each may be a fraud, a refund and from abroad, also several at once."""
    rng = np.random.default_rng(seed)
    labels = pd.DataFrame(
        {
            "fraud": rng.random(n_rows) < 0.05,
            "refund": rng.random(n_rows) < 0.2,
            "abroad": rng.random(n_rows) < 0.3,
        }
    )
    fraud, refund, abroad = (labels[name].to_numpy() for name in labels)
    features = pd.DataFrame(
        {
            "amount": np.exp(rng.normal(3 + fraud - 0.5 * refund, 0.8)),
            "hour": rng.normal(13 - 5 * fraud, 4) % 24,
            "distance": np.exp(rng.normal(1 + 2 * abroad + fraud, 0.8)),
            "days_since_order": rng.exponential(1 + 12 * refund),
            "card_age": rng.exponential(np.where(fraud, 200, 900)),
        }
    )
    return features, labels.astype(int)


def main() -> None:
    """Compare a model fitted for equal prices with one fitted for the true prices."""
    X, Y = make_payments(3000, seed=0)
    X_new, Y_new = make_payments(3000, seed=1)
    price = Cost.per_label(false_negative=[50, 1, 1], false_positive=1)  # in the order of the columns of Y
    fraud = Y_new["fraud"] == 1
    for name, cost in {"equal prices": "hamming", "true prices": price}.items():
        model = CSRPEClassifier(cost, random_state=0, n_jobs=-1).fit(X, Y)
        answer = model.predict(X_new)
        named = answer["fraud"] == 1
        print(f"{name:20}{(fraud & ~named).sum():4} of {fraud.sum()} frauds missed,", end="")
        print(f"{(named & ~fraud).sum():5} false alarms, {price.mean(Y_new, answer):.2f} a payment")
    print("expected without labels:", model.expected_cost(X_new).mean().round(2))


if __name__ == "__main__":
    main()
