"""The estimators that the tests of BayesDecisionClassifier share."""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from refpair import BayesDecisionClassifier

ESTIMATORS = {
    "forest": RandomForestClassifier(10, random_state=0),
    "small bootstrap": RandomForestClassifier(10, max_samples=0.5, max_depth=3, random_state=0),
    "extra trees": ExtraTreesClassifier(10, min_samples_leaf=3, random_state=0),
    "extra trees, bootstrap": ExtraTreesClassifier(10, bootstrap=True, random_state=0),
    "tree": DecisionTreeClassifier(min_samples_leaf=4, random_state=0),
    "extra tree": ExtraTreeClassifier(max_depth=4, random_state=0),
    "chain": ClassifierChain(LogisticRegression(), order=[2, 0, 3, 1]),
    "short chain": ClassifierChain(LogisticRegression(), order="random", random_state=0),
    "neighbours": KNeighborsClassifier(7),
    "logistic": MultiOutputClassifier(LogisticRegression()),
    "once a label": LogisticRegression(),
    "one against the rest": OneVsRestClassifier(LogisticRegression()),
    "network": MLPClassifier((3,), solver="lbfgs", tol=0.1, random_state=0),
}
FORESTS = [name for name in ESTIMATORS if "tree" in name or "forest" in name or "bootstrap" in name]


def fit(name, X, Y, **parameters):
    n_samples = 10 if name == "short chain" else 100
    estimator = ESTIMATORS[name]
    if name == "chain" and np.shape(Y)[1:] != (4,):
        estimator = ClassifierChain(LogisticRegression())  # the order is one of four labels
    given = {"n_samples": n_samples, "random_state": 0} | parameters
    return BayesDecisionClassifier(estimator, **given).fit(X, Y)
