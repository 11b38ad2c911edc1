"""A cost and models of a user's own, quick enough for tests."""

from __future__ import annotations

import os
import time

import numpy as np
from sklearn.base import BaseEstimator

from refpair import Cost

misses = Cost.from_counts(lambda tp, fp, fn, tn: fn, name="misses")


def first_label(Y, Z):
    return Y[:, 0] != Z[:, 0]


def broken(Y, Z):
    raise RuntimeError(f"boom with {Y.shape[1]} labels")


class Constant(BaseEstimator):
    """Predicts as many labels as a random number says."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, Y):
        self.n_ = np.random.default_rng(self.random_state).integers(Y.shape[1] + 1)
        self.n_labels_ = Y.shape[1]
        return self

    def predict(self, X):
        return np.tile(np.arange(self.n_labels_) < self.n_, (X.shape[0], 1)).astype(int)


class Slow(Constant):
    """Sleeps for as long as the environment says: a run that is killed must not end before."""

    def fit(self, X, Y):
        time.sleep(float(os.environ.get("SLOW_SECONDS", "0.15")))
        return super().fit(X, Y)


class Aware(Constant):
    """Is told the cost, and needs another fit for another one."""

    def __init__(self, cost=None, random_state=None):
        super().__init__(random_state)
        self.cost = cost

    def fit(self, X, Y):
        super().fit(X, Y)
        self.n_ = 0 if self.cost.name == "misses" else self.n_labels_
        return self


class Decided(Constant):
    def decide(self):
        raise AssertionError("this is not for costs")


class Failing(Constant):
    def fit(self, X, Y):
        raise RuntimeError(f"no idea with seed {self.random_state}")


not_callable = 3
