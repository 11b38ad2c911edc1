"""Active learning in a program: ask for the most informative rows, and stop by a rule."""

import numpy as np

from refpair import BinaryRelevance, get_cost
from refpair.active import (
    Budget,
    RandomQuery,
    RepresentativeUncertainty,
    Round,
    StablePredictions,
    reason_to_stop,
)
from refpair.datasets import load_dataset


def main() -> None:
    """Label with two strategies until a rule says stop."""
    digits = load_dataset("digits")
    X, truth = digits.X[:1500] / 16, digits.Y[:1500]
    X_test, Y_test = digits.X[1500:] / 16, digits.Y[1500:]
    f1 = get_cost("f1")
    rules = [Budget(200), StablePredictions("f1", tolerance=0.01, n_rounds=10)]
    for strategy in (RandomQuery(random_state=0), RepresentativeUncertainty(cost="f1", random_state=0)):
        Y = np.full(truth.shape, np.nan)  # nothing is known
        rounds: list[Round] = []
        scores = []
        while not (reason := reason_to_stop(rules, rounds)):
            rows = strategy.query(X, Y, batch_size=20)
            Y[rows] = truth[rows]  # here a person would answer
            known = ~np.isnan(Y).any(axis=1)
            model = BinaryRelevance("logistic").fit(X[known], truth[known])
            predicted = model.predict(X_test)
            rounds.append(Round(n_labeled=int(known.sum()), predictions=predicted))
            scores.append(f1.mean(Y_test, predicted))
        print(type(strategy).__name__)
        print("  F1 after 20, 40, 60, … labels:", " ".join(f"{score:.2f}" for score in scores))
        print("  " + reason)


if __name__ == "__main__":
    main()
