"""Labels that are probably wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples, check_consistent_length

from refpair._cross_fitting import Bytes, Floats, cross_fit, given_others
from refpair._extras import is_dataframe, is_series, pd
from refpair.classifiers._checks import check_count
from refpair.costs import Cost, get_cost
from refpair.tables._cells import dense
from refpair.tables.labels import UNKNOWN, label_format_of, read_labels, with_gaps

__all__ = ["suspicious_labels"]

Places = npt.NDArray[np.intp]

_SUREST = 0.1  # share of cells in which the model is surest, by which the rates of mistakes are found
_ALIKE, _MOST_WRONG = 100.0, 0.45  # cells that say the two rates are one; and what a rate is at most
_UNLIKELY = 0.001  # the least probability that is believed


def suspicious_labels(
    model: Any, X: Any, Y: Any, *, n_folds: int = 5, random_state: Any = 0, verbose: int = 0
) -> pd.DataFrame:
    """List all known labels of rows, those that are most probably wrong first.

    A cell is suspicious if the row's features and its other labels, as they are given, speak against it.

    Parameters
    ----------
    model : classifier or pipeline
        One with ``predict_proba``. It is cloned, and need not be fitted.
    X : array, sparse matrix or DataFrame of shape (n, n_features)
    Y : labels in any form that classifiers take
        Unknown ones (NaN) are never listed; `model` must be able to learn from them.
    n_folds : int, default=5
        Each row is judged by a model that was fitted to the rows of the other folds.
    random_state : int, RandomState or None, default=0
        Draws the folds.
    verbose : int, default=0
        1 shows progress bars.

    Returns
    -------
    table : DataFrame
        A line for each known cell: ``row`` (its index in a DataFrame, else its position), ``label``,
        ``given`` (0 or 1), ``wrong``, the probability that the label is wrong, and ``cost``, what the given
        labels of the row cost if it is, and all others are right. The cost is the model's own, or Hamming
        loss if it has none.

    Notes
    -----
    The model is fitted `n_folds` times for probabilities p(y_k | x) out of sample. From these and the other
    labels of the row, a logistic regression and a forest for each label tell p(y_k | x, y_1, …) without
    y_k, again out of sample: what labels say of each other is learned directly, which needs no label vector
    to occur twice. The two are averaged as log odds.

    Given labels are the true ones but for mistakes, absent labels given as present at a rate e₁ and present
    ones as absent at e₀. The rates are those among the tenth of the absent and of the present ones of which
    the model is surest. So p = (1 − e₀) p* + e₁ (1 − p*) for the probability p* that the true label is
    there, and the given label is wrong with probability e₁ (1 − p*) / p if it is there, and
    e₀ p* / (1 − p) if not.

    Examples
    --------
    >>> from refpair import BinaryRelevance
    >>> from refpair.datasets import load_dataset
    >>> from refpair.inspection import suspicious_labels
    >>> digits = load_dataset("digits")
    >>> X, Y = digits.X[:600], digits.Y[:600].copy()
    >>> Y[60, 2] = 1 - Y[60, 2]  # a mistake
    >>> found = suspicious_labels(BinaryRelevance("forest", random_state=0), X, Y)
    >>> [60, 2, 1] in found[["row", "label", "given"]].head(3).to_numpy().tolist()  # of 6,000 cells
    True
    """
    check_count("n_folds", n_folds, low=2)
    check_consistent_length(X, Y)
    labels, form = read_labels(Y, may_miss=True)
    labels = dense(labels)
    names = form.label_names
    p, fitted = cross_fit(
        model, X, labels, names, n_folds=n_folds, random_state=random_state, verbose=verbose
    )
    p = given_others(labels, p, n_folds=n_folds, verbose=verbose)
    wrong, cost = chance_of_mistake(labels, p), _costs(labels, _cost_of(fitted))
    row, label = most_suspicious(labels, p, wrong)
    index = X.index if is_dataframe(X) else Y.index if is_dataframe(Y) or is_series(Y) else None
    return pd.DataFrame(
        {
            "row": np.arange(_num_samples(X))[row] if index is None else index[row],
            "label": np.array(names, dtype=object)[label],
            "given": labels[row, label],
            "wrong": wrong[row, label],
            "cost": cost[row, label],
        }
    ).infer_objects()


def most_suspicious(labels: Bytes, p: Floats, wrong: Floats) -> tuple[Places, Places]:
    """Return rows and labels of known cells, the most suspicious first; those that tie by `p`."""
    row, label = np.nonzero(labels != UNKNOWN)
    against = np.where(labels == 1, 1.0 - p, p)
    order = np.lexsort((-against[row, label], -wrong[row, label]))
    return row[order], label[order]


def chance_of_mistake(labels: Bytes, p: Floats) -> Floats:
    """Return the probability that given labels are wrong, by the probabilities that they are given."""
    known = labels != UNKNOWN
    by_chance = labels[known][np.argsort(p[known], kind="stable")]
    n_there = int(by_chance.sum())
    n_low, n_high = (int(_SUREST * n) for n in (len(by_chance) - n_there, n_there))
    found = np.array([by_chance[:n_low].sum(), n_high - by_chance[len(by_chance) - n_high :].sum()], float)
    seen = np.array([n_low, n_high], float)
    both = (found.sum() + 1.0) / (seen.sum() + 2.0)
    false_there, false_absent = np.minimum((found + _ALIKE * both) / (seen + _ALIKE), _MOST_WRONG)
    return posterior_of_mistake(labels, p, false_there, false_absent)


def posterior_of_mistake(labels: Bytes, p: Floats, false_there: float, false_absent: float) -> Floats:
    """Return the probability of a mistake if labels are given wrongly at these rates."""
    there = np.clip((p - false_there) / (1.0 - false_there - false_absent), _UNLIKELY, 1.0 - _UNLIKELY)
    mistaken = np.where(labels == 1, false_there * (1.0 - there), false_absent * there)
    right = np.where(labels == 1, (1.0 - false_absent) * there, (1.0 - false_there) * (1.0 - there))
    return np.asarray(mistaken / (mistaken + right))


def _cost_of(fitted: Any) -> Cost:
    while label_format_of(fitted) is not None and not hasattr(fitted, "_label_format"):
        fitted = fitted[-1] if hasattr(fitted, "steps") else fitted.best_estimator_
    cost: Cost = fitted.cost_ if hasattr(fitted, "cost") else get_cost("hamming")
    return cost if cost.compares_vectors else get_cost("hamming")


def _costs(labels: Bytes, cost: Cost) -> Floats:
    """Return what the labels of a row cost if one of them is wrong, for each label."""
    answers = np.where(labels == UNKNOWN, 0, labels).astype(np.uint8)
    costs = np.empty(labels.shape)
    for k in range(labels.shape[1]):
        flipped = labels.copy()
        flipped[:, k] = 1 - answers[:, k]
        costs[:, k] = cost.rows(with_gaps(flipped), answers)
    return costs
