"""Scores as costs report them, with their standard errors: over the rows of one test set, or over splits."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from refpair.costs import Cost
from refpair.tables.labels import LabelMatrix, read_labels

__all__ = [
    "direction_of",
    "flat_from",
    "labels_and_predictions",
    "mean_and_error",
    "rows_of",
    "score_and_error",
    "scores_by_split",
]

Floats = npt.NDArray[np.float64]

_COLUMNS = ["data", "cost", "algorithm", "split", "score"]


def direction_of(greater_is_better: Mapping[str, bool], cost: Hashable) -> bool:
    """Return whether a greater score is a better one for a cost, or say that nobody told.

    Examples
    --------
    >>> direction_of({"f1": True, "rank": False}, "rank")
    False
    """
    name = str(cost)
    if name not in greater_is_better:
        raise ValueError(
            f"greater_is_better must say whether a greater score is better for the cost {cost!r}"
        )
    return greater_is_better[name]


def mean_and_error(values: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the means over the first axis and their standard errors, NaN of a single value.

    Examples
    --------
    >>> mean_and_error([[1.0, 5.0], [3.0, 5.0]])
    (array([2., 5.]), array([1., 0.]))
    """
    array = np.asarray(values, np.float64)
    n = len(array)
    mean = array.mean(axis=0)
    return mean, array.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.nan * mean


def score_and_error(cost: Cost, truths: LabelMatrix, predicted: LabelMatrix) -> tuple[float, float]:
    """Return the score of predictions and its standard error over the rows.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> score_and_error(get_cost("f1"), [[1, 0], [0, 1]], [[1, 0], [1, 0]])
    (0.5, 0.5)
    """
    costs = cost.rows(truths, predicted)
    mean, error = mean_and_error(1.0 - costs if cost.greater_is_better else costs)
    return float(mean), float(error)


def labels_and_predictions(model: Any, X: Any, y: Any) -> tuple[LabelMatrix, LabelMatrix]:
    """Return the true and the predicted labels as 0/1 matrices, of a model of this package or any other."""
    how = getattr(model, "_label_format", None) or read_labels(y, "y")[1]
    return how.read_more(y, "y"), how.read_more(model.predict(X), "the prediction")


def rows_of(results: pd.DataFrame, size: str = "n_bits", **wanted: str) -> pd.DataFrame:
    """Return the rows of results with these values, at least one; they also have a size.

    Examples
    --------
    >>> results = pd.DataFrame([["emotions", "f1", "BR", 1, 0.6, 0]], columns=[*_COLUMNS, "n_bits"])
    >>> rows_of(results, data="scene")
    Traceback (most recent call last):
    ValueError: results have no data 'scene', but 'emotions'
    """
    columns = [*_COLUMNS[:3], size, *_COLUMNS[3:]]
    if missing := [column for column in columns if column not in results.columns]:
        raise ValueError(f"results must have the columns {', '.join(columns)}, but lack {missing}")
    for column, value in wanted.items():
        if value not in set(results[column]):
            known = ", ".join(map(repr, results[column].unique()))
            raise ValueError(f"results have no {column} {value!r}, but {known or 'nothing at all'}")
        results = results[results[column] == value]
    return results


def scores_by_split(rows: pd.DataFrame, by: str, order: Iterable[Any]) -> pd.DataFrame:
    """Return a table of scores, one row for each split that all of them have.

    Parameters
    ----------
    rows : DataFrame
        Results of one data set and cost, each split once for each value of ``by``.
    by : str
        The column whose values become those of the table.
    order : iterable
        These values, in the order of the columns.

    Examples
    --------
    >>> rows = pd.DataFrame({"algorithm": ["A", "A", "B"], "split": [0, 1, 1], "score": [0.1, 0.2, 0.3]})
    >>> scores_by_split(rows, "algorithm", ["A", "B"]).to_dict("index")
    {1: {'A': 0.2, 'B': 0.3}}
    """
    if rows.duplicated([by, "split"]).any():
        raise ValueError(f"results have a split twice for the same {by}: drop the duplicates")
    table = rows.pivot(index="split", columns=by, values="score")[list(order)].dropna()
    if table.empty:
        raise ValueError(f"results have no split that every {by} has: leave some of them out")
    return table


def flat_from(
    n_bits: npt.ArrayLike, means: npt.ArrayLike, errors: npt.ArrayLike, greater_is_better: bool
) -> int:
    """Return the shortest code length from which on longer codes are not worth it.

    That is the first length such that neither its mean nor that of any longer code is worse than the mean of
    the longest code by more than a standard error of the latter, or than 1 % of it, whichever is more. One
    standard error alone would see a slope in tiny but certain differences on large data sets; 1 % alone would
    see one in a single mistake more where there are few. Being better than the longest code is no slope.

    Parameters
    ----------
    n_bits : array-like of int
        The lengths, rising.
    means, errors : array-like of float
        The mean score at each length and its standard error; NaN errors count as zero.
    greater_is_better : bool
        Whether a greater score is a better one.

    Examples
    --------
    >>> flat_from([100, 1000, 3000, 5000], [0.30, 0.40, 0.447, 0.45], [0.002] * 4, greater_is_better=True)
    3000
    """
    lengths, scores = np.asarray(n_bits), np.asarray(means, dtype=np.float64)
    if lengths.ndim != 1 or not len(lengths) or (np.diff(lengths) <= 0).any():
        raise ValueError("n_bits must be at least one length, rising")
    allowed = max(float(np.nan_to_num(np.asarray(errors)[-1])), 0.01 * abs(scores[-1]))
    behind = (scores[-1] - scores) * (1 if greater_is_better else -1)
    short = np.flatnonzero(behind > allowed)
    return int(lengths[short[-1] + 1 if len(short) else 0])
