"""How results are compared: means with errors and paired t-tests.

Results are a DataFrame with a row for each finished run and the columns ``data``, ``cost``, ``algorithm``,
``split`` and ``score``. Algorithms need not have the same splits: what compares two of them pairs them on the
splits that both have. A *cell* is a cost on a data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtr

from refpair.inspection.scores import direction_of, mean_and_error

__all__ = [
    "Outcome",
    "WinTieLoss",
    "best_or_level",
    "paired_outcome",
    "score_table",
    "shared_means",
    "summarise",
    "win_tie_loss",
]

Floats = npt.NDArray[np.float64]
Outcome = Literal["win", "tie", "loss", "untested"]

_ROUNDING = 1e-12  # the same predictions, added up in another order, differ by less than this share


class WinTieLoss(NamedTuple):
    """How often one algorithm was better than, level with and worse than another; prints as ``9/1/0``.

    Examples
    --------
    >>> print(WinTieLoss(9, 1, 0))
    9/1/0
    """

    win: int
    tie: int
    loss: int

    def __str__(self) -> str:
        return f"{self.win}/{self.tie}/{self.loss}"


def paired_outcome(
    ours: npt.ArrayLike, theirs: npt.ArrayLike, greater_is_better: bool, confidence: float = 0.95
) -> Outcome:
    """Compare two algorithms by their scores on the same splits: a two-sided paired t-test, as in the paper.

    Parameters
    ----------
    ours, theirs : array-like of shape (n_splits,)
        Their scores, split by split.
    greater_is_better : bool
        Whether a greater score is a better one.
    confidence : float, default=0.95
        The confidence below which a difference is a tie.

    Returns
    -------
    "win", "tie", "loss" or "untested"
        A tie as well if there are no differences at all. If all differences are the same and not zero, there
        is nothing random about them: a win or a loss. Fewer than two splits cannot be tested.

    Examples
    --------
    >>> paired_outcome([0.51, 0.62, 0.55], [0.41, 0.50, 0.46], greater_is_better=True)
    'win'
    >>> paired_outcome([0.51, 0.62], [0.41, 0.67], greater_is_better=True)
    'tie'
    """
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"ours and theirs must be scores of the same splits, not of {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("ours and theirs must be finite: leave out the splits that one of them lacks")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    gains = a - b if greater_is_better else b - a
    gains[np.abs(gains) <= _ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0.0
    if len(gains) < 2:
        return "untested"
    if not gains.any():
        return "tie"
    mean, error = mean_and_error(gains)
    if error > 0 and 2 * stdtr(len(gains) - 1, -abs(mean) / error) > 1 - confidence:
        return "tie"
    return "win" if mean > 0 else "loss"


def score_table(results: pd.DataFrame) -> pd.DataFrame:
    """Return the scores by (cost, data, split) in rows and algorithm in columns, in order of appearance.

    Examples
    --------
    >>> row = {"data": "flags", "cost": "f1", "split": 0}
    >>> score_table(pd.DataFrame([row | {"algorithm": "CC", "score": 0.7}]))
    algorithm         CC
    cost data  split
    f1   flags 0     0.7
    """
    keys = ["cost", "data", "split"]
    several = results.duplicated([*keys, "algorithm"])
    if several.any():
        cost, data, split, algorithm = results.loc[several, [*keys, "algorithm"]].iloc[0]
        raise ValueError(
            f"results has several scores of {algorithm} for {cost} on {data}, split {split}: keep one n_bits"
        )
    table = results.pivot(index=keys, columns="algorithm", values="score")
    order = pd.MultiIndex.from_frame(results[keys].drop_duplicates())
    return table.reindex(index=order, columns=pd.Index(results["algorithm"].unique(), name="algorithm"))


def shared_means(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean scores by (cost, data) over the splits that all algorithms of such a cell share.

    Means over different splits differ by the luck of the splits as well. An algorithm without a score in a
    cell is NaN there; all are if they share no split.

    Examples
    --------
    >>> rows = [("flags", "f1", "BR", 0, 0.5), ("flags", "f1", "CC", 0, 0.4), ("flags", "f1", "CC", 1, 0.9)]
    >>> shared_means(pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"]))
    algorithm    BR   CC
    cost data
    f1   flags  0.5  0.4
    """
    scores, cell = score_table(results), ["cost", "data"]
    takes_part = scores.groupby(level=cell, sort=False).transform("count") > 0
    shared = scores[~(scores.isna() & takes_part).any(axis=1)]
    means = shared.groupby(level=cell, sort=False).mean()
    return means.reindex(pd.MultiIndex.from_frame(results[cell].drop_duplicates()))


def summarise(results: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the ``mean`` score, its ``error`` and the number of ``splits`` of each group of results.

    Examples
    --------
    >>> results = pd.DataFrame({"algorithm": ["BR", "BR", "CC"], "score": [0.5, 0.7, 0.8]})
    >>> summarise(results, ["algorithm"])
               mean  error  splits
    algorithm
    BR          0.6    0.1       2
    CC          0.8    NaN       1
    """
    scores = results.groupby(list(by), sort=False)["score"]
    return pd.DataFrame({"mean": scores.mean(), "error": scores.sem(), "splits": scores.count()})


def win_tie_loss(results: pd.DataFrame, ours: str, greater_is_better: Mapping[str, bool]) -> pd.DataFrame:
    """Count the cells in which one algorithm is better than, level with and worse than each other one.

    Parameters
    ----------
    results : DataFrame
        As in the description of this module.
    ours : str
        The algorithm that wins or loses.
    greater_is_better : mapping of str to bool
        For each cost.

    Returns
    -------
    DataFrame of WinTieLoss
        A row for each cost in order of appearance and one for the ``total``, a column for each other
        algorithm. Cells in which two algorithms have fewer than two splits in common do not count.

    Examples
    --------
    >>> scores = {"BR": [0.1, 0.2], "CC": [0.3, 0.5]}
    >>> rows = [("flags", "f1", a, s, x[s]) for a, x in scores.items() for s in (0, 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> win_tie_loss(results, "CC", {"f1": True}).map(str)
              BR
    f1     0/1/0
    total  0/1/0
    """
    costs = [str(cost) for cost in results["cost"].unique()]
    others = [str(name) for name in results["algorithm"].unique() if name != ours]
    counts = {(cost, other): [0, 0, 0] for cost in [*costs, "total"] for other in others}
    for cost, _, pairs in _paired_cells(results, ours):
        for other, pair in pairs.items():
            outcome = paired_outcome(*pair, direction_of(greater_is_better, cost))
            if outcome != "untested":
                which = WinTieLoss._fields.index(outcome)
                counts[cost, other][which] += 1
                counts["total", other][which] += 1
    cells = {
        other: pd.Series([WinTieLoss(*counts[cost, other]) for cost in [*costs, "total"]], dtype=object)
        for other in others
    }
    return pd.DataFrame(cells, index=range(len(costs) + 1)).set_axis([*costs, "total"], axis=0)


def best_or_level(results: pd.DataFrame, ours: str, greater_is_better: Mapping[str, bool]) -> pd.DataFrame:
    """Say for each cell whether one algorithm is the best there is, level with the best, or worse.

    Parameters
    ----------
    results, ours, greater_is_better
        As in :func:`win_tie_loss`.

    Returns
    -------
    DataFrame
        A row for each (cost, data) that ``ours`` shares with another algorithm. ``verdict`` is "best" if no
        other has a better mean on the splits both have; "level" if :func:`paired_outcome` finds no loss
        against those that have; "worse" if it finds one. If there is no loss, but some of those that have a
        better mean share a single split, "untested". ``loses_to`` is a tuple of whom it loses to.

    Examples
    --------
    >>> scores = {"BR": [0.1, 0.2], "CC": [0.3, 0.5]}
    >>> rows = [("flags", "f1", a, s, x[s]) for a, x in scores.items() for s in (0, 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> best_or_level(results, "BR", {"f1": True})
               verdict loses_to
    cost data
    f1   flags   level       ()
    """
    found = []
    for cost, data, pairs in _paired_cells(results, ours):
        up = direction_of(greater_is_better, cost)
        ahead = {other: (b.mean() - a.mean()) * (1 if up else -1) for other, (a, b) in pairs.items()}
        better = [other for other in pairs if ahead[other] > 0]
        outcomes = {other: paired_outcome(*pairs[other], up) for other in better}
        lost = tuple(other for other in better if outcomes[other] == "loss")
        untested = "untested" in outcomes.values()
        verdict = "worse" if lost else "untested" if untested else "level" if better else "best"
        if pairs:
            found.append((cost, data, verdict, lost))
    return pd.DataFrame(found, columns=["cost", "data", "verdict", "loses_to"]).set_index(["cost", "data"])


def _paired_cells(
    results: pd.DataFrame, ours: str
) -> Iterator[tuple[str, str, dict[str, tuple[Floats, Floats]]]]:
    """Yield the cost, the data, and our scores with those of each algorithm that has some of our splits."""
    scores = score_table(results)
    if ours not in scores.columns:
        raise ValueError(f"ours must be one of {', '.join(map(str, scores.columns))}, not {ours!r}")
    others = [name for name in scores.columns if name != ours]
    for (cost, data), cell in scores.groupby(level=["cost", "data"], sort=False):
        own, pairs = cell[ours].to_numpy(), {}
        for other, theirs in zip(others, cell[others].to_numpy().T, strict=True):
            both = ~(np.isnan(own) | np.isnan(theirs))
            if both.any():
                pairs[str(other)] = own[both], theirs[both]
        yield str(cost), str(data), pairs
