"""Clones of a scikit-learn classifier, one for each of many problems on the same rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._parallel import run_chunks
from refpair.bits.binning import Matrix
from refpair.bits.estimator import seeded_clone
from refpair.bits.problem import chunks_of

__all__ = ["fit_clones"]


def fit_clones(
    estimator: Any,
    X: Matrix,
    targets: npt.NDArray[np.integer[Any]],
    seeds: npt.NDArray[np.uint64],
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Any]:
    """Fit a clone for each problem; all rows count the same, so that it need not take ``sample_weight``.

    Parameters
    ----------
    estimator : classifier
        Where it or a part of it has a ``random_state`` that is None, each clone gets its own.
    X : ndarray or CSR matrix of shape (n, n_features)
    targets : ndarray of int, shape (n, n_problems)
    seeds : ndarray of uint64, shape (n_problems,)
    n_jobs : int, optional
    verbose : int, default=0

    Returns
    -------
    learnt : list
        A fitted classifier for each problem, or the class itself where all rows have the same: many
        classifiers would refuse to learn it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, targets = np.array([[0.0], [1.0], [9.0]]), np.array([[0, 7], [1, 7], [2, 7]])
    >>> several, constant = fit_clones(LogisticRegression(), X, targets, np.uint64([1, 2]))
    >>> several.predict([[8.0]]), constant
    (array([2]), 7)
    """
    fit = partial(_fit_some, estimator, X, targets, seeds)
    chunks = chunks_of(targets.shape[1], 1)
    parts = run_chunks(fit, chunks, n_jobs=n_jobs, verbose=verbose, title="learning")
    return [learnt for part in parts for learnt in part]


def _fit_some(
    estimator: Any,
    X: Matrix,
    targets: npt.NDArray[np.integer[Any]],
    seeds: npt.NDArray[np.uint64],
    problems: slice,
) -> list[Any]:
    """Fit the clones of some problems. Not a closure: other processes are given it."""
    learnt: list[Any] = []
    for problem in range(problems.start, problems.stop):
        target = targets[:, problem]
        if (target == target[0]).all():
            learnt.append(int(target[0]))
        else:
            learnt.append(seeded_clone(estimator, seeds[problem]).fit(X, target))
    return learnt
