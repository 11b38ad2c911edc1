"""Make the files of the present format that are kept as fixtures: ``python -m tests.persistence.make_files``.

Files of a released format are never made again: see files/README.md.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain

from refpair import (
    MLECC,
    BayesDecisionClassifier,
    BinaryRelevance,
    ChainClassifier,
    CondensedFilterTree,
    Cost,
    CSRPEClassifier,
    Forest,
    LabelPowerset,
    Logistic,
    ProbabilisticChain,
    RAkEL,
    save,
)

FOLDER = Path(__file__).parent / "files"
FORMAT = 4
METHODS = ("predict", "predict_proba", "expected_cost", "predict_code")

few = Forest(n_trees=2, max_depth=2)
price = Cost.per_label(false_negative=[1, 5, 0.1], name="price")
MODELS = {
    "csrpe-tree": CSRPEClassifier("f1", n_bits=5, max_depth=2, random_state=0),
    "csrpe-named": CSRPEClassifier(price, n_bits=8, max_depth=3, decoder="nearest", random_state=0),
    "csrpe-logistic": CSRPEClassifier("rank", n_bits=5, learner="logistic", random_state=0),
    "csrpe-sklearn": CSRPEClassifier("f1", n_bits=2, learner=LogisticRegression(), random_state=0),
    "binary-relevance": BinaryRelevance(few, random_state=0),
    "chain": ChainClassifier("logistic", order=[2, 0, 1], random_state=0),
    "label-powerset": LabelPowerset("logistic", random_state=0),
    "rakel": RAkEL(few, labelset_size=2, random_state=0),
    "mlecc": MLECC("tree", code="bch", code_length=7, random_state=0),
    "probabilistic-chain": ProbabilisticChain(few, random_state=0),
    "condensed-filter-tree": CondensedFilterTree(few, n_rounds=2, random_state=0),
    "bayes-forest": BayesDecisionClassifier(RandomForestClassifier(2, max_depth=2, random_state=0)),
    "bayes-chain": BayesDecisionClassifier(ClassifierChain(LogisticRegression()), random_state=0),
    "logistic": Logistic(),
}


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)).round(1)
    return X, (X[:, :3] + rng.normal(size=(50, 3)) / 2 > 0).astype(np.int64)


def answers(model, rows):
    return {
        method: np.asarray(getattr(model, method)(rows)).tolist()
        for method in METHODS
        if hasattr(model, method)
    }


def main():
    X, Y = data()
    for name, model in MODELS.items():
        rows, features, labels = X[:6], X, Y
        if name.endswith("named"):
            features, labels = (
                pd.DataFrame(X, columns=list("abcd")),
                pd.DataFrame(Y, columns=["joy", "anger", "calm"]),
            )
            rows = features[:6]
        model.fit(features, labels[:, 0] if name == "logistic" else labels)
        save(model, FOLDER / f"format-{FORMAT}-{name}.refpair")
        said = {"rows": X[:6].tolist(), **answers(model, rows)}
        (FOLDER / f"format-{FORMAT}-{name}.json").write_text(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
