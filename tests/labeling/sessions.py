"""Small sessions, and classifiers that learn in no time, for the tests of sessions."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from refpair.active import RandomQuery
from refpair.labeling import Session

LABELS = ["joy", "anger", "calm"]
N_ROWS = 30


def make_rows(n=N_ROWS, seed=0):
    """Return features, and labels that follow from them."""
    X = np.random.default_rng(seed).standard_normal((n, 4))
    return X, (X[:, :3] > 0.2).astype(int)


class Commonest(BaseEstimator):
    """Predicts the labels that more than half of the rows have; knows neither probabilities nor costs."""

    def fit(self, X, Y):
        self.n_rows_ = len(Y)
        self.labels_ = (Y.mean(axis=0) > 0.5).astype(int)
        return self

    def predict(self, X):
        return np.tile(self.labels_, (X.shape[0], 1))


class Costly(Commonest):
    """Knows what its predictions cost, and nothing else."""

    def expected_cost(self, X):
        return np.full(X.shape[0], 0.25)


QUICK = {"estimator": Commonest(), "strategy": RandomQuery(random_state=0)}


def open_quick(path, X=None, labels=LABELS, **options):
    """Open a session whose fits take no time."""
    return Session.open(path, make_rows()[0] if X is None else X, labels, **{**QUICK, **options})
