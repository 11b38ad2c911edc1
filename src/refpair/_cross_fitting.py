"""Probabilities of labels of rows, by what was fitted without them: by features, and by the other labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from refpair._extras import pd
from refpair._progress import progress
from refpair.classifiers._weights import take_rows
from refpair.model_selection import MultilabelStratifiedKFold
from refpair.tables.labels import UNKNOWN, LabelMatrix, with_gaps

__all__ = ["Bytes", "Floats", "cross_fit", "given_others"]

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

_STRENGTH = 0.1  # C of logistic regressions
_OF_ODDS = 3.0  # times the odds by the model: the regression pulls these less towards 0 than other weights
_TREES, _LEAF = 100, 5
_NEIGHBORS = 50  # other labels that may tell something of one
_MOST_ODDS = 8.0
_LEAST = 0.005  # share of a forest's votes
_NEVER = 1e-6  # no label is thought less likely than this, nor more likely than 1 minus this


def cross_fit(
    model: Any,
    X: Any,
    labels: LabelMatrix,
    names: list[Any],
    *,
    n_folds: int = 5,
    random_state: Any = 0,
    verbose: int = 0,
) -> tuple[Floats, Any]:
    """Return the probability of each label by clones of a model, and the last of the clones.

    Parameters
    ----------
    model : classifier or pipeline
    X : rows
    labels : array of shape (n, n_labels)
        0, 1 and UNKNOWN.
    names : list
        Those of the labels.
    n_folds : int
    random_state : int, RandomState or None
        Shuffles the rows.
    verbose : int
    """
    few = np.flatnonzero((labels != UNKNOWN).sum(axis=0) < 2 * n_folds)
    if len(few):
        raise ValueError(
            f"label {names[few[0]]} is known in fewer than {2 * n_folds} rows, too few for {n_folds} folds: "
            "fill in more of it, leave it out, or use fewer folds"
        )
    Y = pd.DataFrame(with_gaps(labels), columns=names)
    p = np.empty(labels.shape)
    folds = MultilabelStratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    with progress("cross-fitting", n_folds, verbose=verbose) as advance:
        for train, test in folds.split(None, Y):
            fitted = clone(model).fit(take_rows(X, train), Y.iloc[train])
            if not hasattr(fitted, "predict_proba"):
                raise ValueError(f"a {type(model).__name__} has no predict_proba, which is needed here")
            told = fitted.predict_proba(take_rows(X, test))
            if np.shape(told) != (len(test), len(names)):
                raise ValueError("model must be a classifier of this package, or a pipeline that ends in one")
            p[test] = told
            advance(1)
    return np.clip(p, _NEVER, 1.0 - _NEVER), fitted


def given_others(labels: Bytes, p: Floats, *, n_folds: int = 5, verbose: int = 0) -> Floats:
    """Return the probability of each label given the row's other labels, too; of unknown ones `p` counts."""
    n, n_labels = labels.shape
    known = labels != UNKNOWN
    odds = np.clip(logit(p), -_MOST_ODDS, _MOST_ODDS)
    filled = np.where(known, labels, p)
    rest = filled - p
    together = np.abs(rest.T @ rest) / np.maximum(np.sqrt(np.outer(*[(rest**2).sum(axis=0)] * 2)), 1e-12)
    found = odds.copy()
    fold = np.random.default_rng(0).permutation(n) % n_folds
    with progress("labels given the others", n_labels, verbose=verbose) as advance:
        for k in range(n_labels):
            others = np.delete(np.arange(n_labels), k)
            near = others[np.argsort(-together[k, others], kind="stable")[:_NEIGHBORS]]
            size = np.round(filled[:, others].sum(axis=1, keepdims=True))
            linear = np.hstack([_OF_ODDS * odds[:, [k]], filled[:, near], size == np.arange(3)])
            rows, y = np.flatnonzero(known[:, k]), labels[known[:, k], k]
            if 0 < y.sum() < len(y):
                by_line = _line(linear[rows], y, fold[rows], odds[rows, k])
                trees = np.hstack([odds[:, [k, *near]], filled[:, near]])
                found[rows, k] = (by_line + _forest(trees[rows], y)) / 2.0
            advance(1)
    return np.asarray(expit(np.clip(found, -2 * _MOST_ODDS, 2 * _MOST_ODDS)))


def _line(features: Floats, y: Bytes, fold: npt.NDArray[np.int64], odds: Floats) -> Floats:
    """Return log odds by logistic regressions, each fitted to the other folds."""
    found = odds.copy()
    for one in np.unique(fold):
        train, test = fold != one, fold == one
        if 0 < y[train].sum() < train.sum():
            regression = LogisticRegression(C=_STRENGTH, max_iter=200).fit(features[train], y[train])
            found[test] = regression.decision_function(features[test])
    return found


def _forest(features: Floats, y: Bytes) -> Floats:
    """Return log odds by a forest out of bag."""
    forest = ExtraTreesClassifier(
        _TREES, min_samples_leaf=_LEAF, bootstrap=True, oob_score=True, random_state=0
    )
    votes = forest.fit(features, y).oob_decision_function_[:, 1]
    return np.asarray(logit(np.clip(votes, _LEAST, 1.0 - _LEAST)))
