"""Probabilities of labels of rows, each by a model that was fitted without the row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from refpair._extras import pd
from refpair._progress import progress
from refpair.classifiers._weights import take_rows
from refpair.model_selection import MultilabelStratifiedKFold
from refpair.tables.labels import UNKNOWN, LabelMatrix, with_gaps

__all__ = ["Floats", "cross_fit"]

Floats = npt.NDArray[np.float64]

_NEVER = 1e-6  # no label is thought less likely than this, nor more likely than 1 minus this


def cross_fit(
    model: Any,
    X: Any,
    labels: LabelMatrix,
    names: list[Any],
    *,
    n_folds: int = 5,
    random_state: Any = 0,
    row_weight: Floats | None = None,
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
    row_weight : array of shape (n,), optional
    verbose : int
    """
    few = np.flatnonzero((labels != UNKNOWN).sum(axis=0) < 2 * n_folds)
    if len(few):
        raise ValueError(
            f"label {names[few[0]]} is known in fewer than {2 * n_folds} rows, too few for {n_folds} folds"
        )
    Y = pd.DataFrame(with_gaps(labels), columns=names)
    p = np.empty(labels.shape)
    folds = MultilabelStratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    with progress("cross-fitting", n_folds, verbose=verbose) as advance:
        for train, test in folds.split(None, Y):
            weights = {} if row_weight is None else {"sample_weight": row_weight[train]}
            fitted = clone(model).fit(take_rows(X, train), Y.iloc[train], **weights)
            if not hasattr(fitted, "predict_proba"):
                raise ValueError(f"a {type(model).__name__} has no predict_proba, which is needed here")
            told = fitted.predict_proba(take_rows(X, test))
            if np.shape(told) != (len(test), len(names)):
                raise ValueError("model must be a classifier of this package, or a pipeline that ends in one")
            p[test] = told
            advance(1)
    return np.clip(p, _NEVER, 1.0 - _NEVER), fitted
