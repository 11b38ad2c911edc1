"""Prices of rows: missing a fraud costs its amount, checking an honest payment costs 5."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

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


def price_of(X: pd.DataFrame) -> Cost:
    """Return what mistakes cost in these payments; refunds and countries cost nothing."""
    free = {"refund": 0, "abroad": 0}
    return Cost.per_label(false_negative={"fraud": X["amount"], **free}, false_positive={"fraud": 5, **free})


def alarms_of_a_forest(X: pd.DataFrame, fraud: pd.Series, X_new: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Compare probabilities of a calibrated forest with the threshold that is best on the training rows."""
    forest = CalibratedClassifierCV(
        RandomForestClassifier(100, min_samples_leaf=5, random_state=0, n_jobs=-1)
    )
    p = cross_val_predict(forest, X, fraud, cv=5, method="predict_proba")[:, 1]
    thresholds = np.quantile(p, np.linspace(0, 1, 201))
    paid = [np.where(p > t, 5 * (fraud == 0), X["amount"] * fraud).sum() for t in thresholds]
    return np.asarray(forest.fit(X, fraud).predict_proba(X_new)[:, 1] > thresholds[np.argmin(paid)])


def main() -> None:
    """Compare what answers cost: for the row's own prices, for mean prices, and with one threshold."""
    X, Y = make_payments(5000, seed=0)
    X_new, Y_new = make_payments(20_000, seed=1)
    price = price_of(X_new)
    model = CSRPEClassifier(price_of(X), random_state=0, n_jobs=-1).fit(X, Y)
    answers = {"each row's own prices": model.decide(X_new, price), "mean prices": model.predict(X_new)}
    alarms = alarms_of_a_forest(X, Y["fraud"], X_new)
    answers["forest with a tuned threshold"] = Y_new.assign(fraud=alarms.astype(int))
    for name, answer in answers.items():
        wrong = Y_new["fraud"] != answer["fraud"]
        missed, false = (wrong & (Y_new["fraud"] == label) for label in (1, 0))
        print(f"{name:31}{missed.sum():3} frauds missed,{false.sum():4} false alarms,", end="")
        print(f"{price.mean(Y_new, answer):6.2f} a payment")
    print("expected without labels:", model.expected_cost(X_new, cost=price).mean().round(2))


if __name__ == "__main__":
    main()
