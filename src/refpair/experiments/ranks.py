"""Mean ranks of algorithms over all costs and data sets, and whether they differ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from refpair.experiments.statistics import shared_means
from refpair.inspection.scores import direction_of

__all__ = ["average_ranks", "cell_ranks", "critical_difference", "friedman"]


def cell_ranks(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> pd.DataFrame:
    """Rank the algorithms in each cell that all of them have, by the means over the splits they share.

    Parameters
    ----------
    results, greater_is_better
        As in :func:`refpair.experiments.statistics.win_tie_loss`.

    Returns
    -------
    DataFrame
        A row for each (cost, data), a column for each algorithm; 1 is the best, equal means share the mean of
        their ranks.

    Examples
    --------
    >>> rows = [("flags", "f1", "BR", 0, 0.1), ("flags", "f1", "CC", 0, 0.3)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> cell_ranks(results, {"f1": True})
    algorithm    BR   CC
    cost data
    f1   flags  2.0  1.0
    """
    means = shared_means(results).dropna()
    signs = [-1.0 if direction_of(greater_is_better, cost) else 1.0 for cost, _ in means.index]
    return means.mul(signs, axis=0).rank(axis=1)


def average_ranks(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> pd.Series[float]:
    """Return the mean of :func:`cell_ranks` for each algorithm, the best first; NaN if they share no cell.

    Examples
    --------
    >>> rows = [("flags", "f1", "BR", 0, 0.1), ("flags", "f1", "CC", 0, 0.3)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> average_ranks(results, {"f1": True}).to_dict()
    {'CC': 1.0, 'BR': 2.0}
    """
    return cell_ranks(results, greater_is_better).mean().sort_values(kind="stable")


def friedman(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> float:
    """Return the p value of Friedman's test that all algorithms are alike.

    It is NaN for fewer than three algorithms or two cells, which the test is not made for.

    Examples
    --------
    >>> scores = {"BR": 0.1, "CC": 0.3, "PCC": 0.4}
    >>> rows = [(d, "f1", a, 0, x) for d in ("flags", "yeast", "scene") for a, x in scores.items()]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> round(friedman(results, {"f1": True}), 3)
    0.05
    """
    ranks = cell_ranks(results, greater_is_better).to_numpy()
    if ranks.shape[0] < 2 or ranks.shape[1] < 3:
        return np.nan
    if (ranks == ranks[0, 0]).all():  # 0/0 otherwise: nobody ever differs
        return 1.0
    return float(stats.friedmanchisquare(*ranks.T).pvalue)


def critical_difference(n_algorithms: int, n_cells: int, confidence: float = 0.95) -> float:
    """Return how far apart two mean ranks must be to differ, by Nemenyi's test (Demšar, JMLR 2006).

    Examples
    --------
    >>> round(critical_difference(n_algorithms=8, n_cells=40), 2)
    1.66
    """
    if n_algorithms < 2 or n_cells < 1:
        raise ValueError(
            f"n_algorithms must be 2 or more and n_cells 1 or more, got {n_algorithms}, {n_cells}"
        )
    q = stats.studentized_range.ppf(confidence, n_algorithms, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_cells)))
