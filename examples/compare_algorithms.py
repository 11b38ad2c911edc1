"""Compare eight algorithms on one table, under two costs."""

import pandas as pd

from refpair import (
    MLECC,
    BinaryRelevance,
    ChainClassifier,
    CondensedFilterTree,
    CSRPEClassifier,
    LabelPowerset,
    ProbabilisticChain,
    RAkEL,
    get_cost,
)
from refpair.datasets import load_dataset


def main() -> None:
    """Fit them all, the last three once for each cost, and print a table."""
    digits = load_dataset("digits")
    X = pd.DataFrame(digits.X, columns=digits.feature_names)
    Y = pd.DataFrame(digits.Y, columns=digits.label_names)
    train, test = slice(0, 500), slice(500, None)
    costs = {name: get_cost(name) for name in ("f1", "rank")}

    blind = [BinaryRelevance(), ChainClassifier(), LabelPowerset(), RAkEL(), MLECC(code="hamr")]
    aware = [ProbabilisticChain(), CondensedFilterTree(), CSRPEClassifier(n_bits=1000)]
    scores = {}
    for model in blind:
        answers = model.set_params(random_state=0).fit(X[train], Y[train]).predict(X[test])
        scores[type(model).__name__] = {name: cost.mean(Y[test], answers) for name, cost in costs.items()}
    for model in aware:
        scores[type(model).__name__] = {
            name: cost.mean(
                Y[test], model.set_params(cost=cost, random_state=0).fit(X[train], Y[train]).predict(X[test])
            )
            for name, cost in costs.items()
        }
    print(pd.DataFrame(scores).T.to_string(float_format="{:.3f}".format))
    print("f1: higher is better; rank: lower is better")


if __name__ == "__main__":
    main()
