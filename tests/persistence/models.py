"""A small model of every kind, to be saved, damaged and forged."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from refpair import (
    MLECC,
    AtLeast,
    AtMost,
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
    TableVectorizer,
)

METHODS = ("predict", "predict_proba", "expected_cost", "predict_code")

few = Forest(n_trees=2, max_depth=2)
price = Cost.per_label(false_negative=[1, 5, 0.1], name="price")
MODELS = {
    "csrpe-tree": CSRPEClassifier("f1", n_bits=5, max_depth=2, random_state=0),
    "csrpe-named": CSRPEClassifier(price, n_bits=8, max_depth=3, decoder="nearest", random_state=0),
    "csrpe-logistic": CSRPEClassifier("rank", n_bits=5, estimator="logistic", random_state=0),
    "csrpe-sklearn": CSRPEClassifier("f1", n_bits=2, estimator=LogisticRegression(), random_state=0),
    "csrpe-rules": CSRPEClassifier("f1", n_bits=5, rules=[AtMost(3), AtLeast(0, [1, 2])], random_state=0),
    "binary-relevance": BinaryRelevance(few, random_state=0),
    "chain": ChainClassifier("logistic", order=[2, 0, 1], random_state=0),
    "label-powerset": LabelPowerset("logistic", random_state=0),
    "rakel": RAkEL(few, labelset_size=2, random_state=0),
    "mlecc": MLECC("tree", code="hamr", code_length=7, random_state=0),
    "probabilistic-chain": ProbabilisticChain(few, random_state=0),
    "condensed-filter-tree": CondensedFilterTree(few, n_rounds=2, random_state=0),
    "bayes-forest": BayesDecisionClassifier(RandomForestClassifier(2, max_depth=2, random_state=0)),
    "bayes-chain": BayesDecisionClassifier(ClassifierChain(LogisticRegression()), random_state=0),
    "logistic": Logistic(),
    "table": make_pipeline(TableVectorizer(), CSRPEClassifier("f1", n_bits=4, random_state=0)),
    "pipeline": make_pipeline(StandardScaler(), CSRPEClassifier("f1", n_bits=4, random_state=0)),
}


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)).round(1)
    return X, (X[:, :3] + rng.normal(size=(50, 3)) / 2 > 0).astype(np.int64)


def table():
    """Return rows with a column of each kind but images."""
    X, _ = data()
    days = pd.date_range("2024-01-30", periods=len(X)).strftime("%d.%m.%Y")
    return pd.DataFrame(
        {
            "age": np.where(X[:, 0] > 1, np.nan, X[:, 0]),
            "kind": np.where(X[:, 1] > 0, "song", "hymn"),
            "is_new": np.where(X[:, 2] > 0, "yes", "no"),
            "day": days,
            "said": [
                f"it is {'good' if x > 0 else 'bad'} and {'loud' if y > 0 else 'low'}" for x, y, *_ in X
            ],
            "file": [f"{'folk' if x > 0 else 'rock'}-track{i}.ogg" for i, (x, *_) in enumerate(X)],
        }
    )


def rows_for(model):
    """Return rows that a model can be asked about, even if its names were changed."""
    if isinstance(model, Pipeline) and isinstance(model[0], TableVectorizer):
        cells = [1.0, np.nan, 0.0, 2.0]
        return pd.DataFrame(dict.fromkeys(model[0].columns_.index, cells))
    rows = data()[0]
    names = getattr(model, "feature_names_in_", None)
    return rows if names is None else pd.DataFrame(rows, columns=names)


def fitted(name):
    """Return a model, and rows as it takes them."""
    X, Y = data()
    if name == "table":
        X, names = table(), np.array(["joy", "anger", "calm"])
        return MODELS[name].fit(X, pd.Series(["|".join(names[row == 1]) for row in Y], name="moods")), X
    if name.endswith("named"):
        X = pd.DataFrame(X, columns=list("abcd"))
        Y = pd.DataFrame(Y, columns=["joy", "anger", "calm"])
    return MODELS[name].fit(X, Y[:, 0] if name == "logistic" else Y), X
