"""How results are compared: means with errors, paired t-tests, mean ranks.

Results are a DataFrame with a row for each finished run and the columns ``data``, ``cost``, ``algorithm``,
``split`` and ``score``. Algorithms need not have the same splits: what compares two of them pairs them on the
splits that both have. A *cell* is a cost on a data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.special import stdtr

from refpair._extras import pd
from refpair.experiments.names import greater_is_better
from refpair.inspection._display import mean_and_error

Floats = npt.NDArray[np.float64]
Outcome = Literal["win", "tie", "loss", "untested"]

_CONFIDENCE = 0.95
_ROUNDING = 1e-12  # the same predictions, added up in another order, differ by less than this share


class WinTieLoss(NamedTuple):
    """How often one algorithm was better than, level with and worse than another; prints as ``9/1/0``."""

    win: int
    tie: int
    loss: int

    def __str__(self) -> str:
        return f"{self.win}/{self.tie}/{self.loss}"


def paired_outcome(ours: npt.ArrayLike, theirs: npt.ArrayLike, greater_is_better: bool) -> Outcome:
    """Compare two algorithms by their scores on the same splits: a two-sided paired t-test, as in the paper.

    A tie as well if there are no differences at all. If all differences are the same and not zero, there is
    nothing random about them: a win or a loss. Fewer than two splits cannot be tested.
    """
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    gains = a - b if greater_is_better else b - a
    gains[np.abs(gains) <= _ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0.0
    if len(gains) < 2:
        return "untested"
    if not gains.any():
        return "tie"
    mean, error = mean_and_error(gains)
    if error > 0 and 2 * stdtr(len(gains) - 1, -abs(mean) / error) > 1 - _CONFIDENCE:
        return "tie"
    return "win" if mean > 0 else "loss"


def score_table(results: pd.DataFrame) -> pd.DataFrame:
    """Return the scores by (cost, data, split) in rows and algorithm in columns, in order of appearance."""
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
    """
    scores, cell = score_table(results), ["cost", "data"]
    takes_part = scores.groupby(level=cell, sort=False).transform("count") > 0
    shared = scores[~(scores.isna() & takes_part).any(axis=1)]
    means = shared.groupby(level=cell, sort=False).mean().round(12)  # less is rounding
    return means.reindex(pd.MultiIndex.from_frame(results[cell].drop_duplicates()))


def summarise(results: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the ``mean`` score, its ``error`` and the number of ``splits`` of each group of results."""
    scores = results.groupby(list(by), sort=False)["score"]
    return pd.DataFrame({"mean": scores.mean(), "error": scores.sem(), "splits": scores.count()})


def win_tie_loss(results: pd.DataFrame, ours: str) -> pd.DataFrame:
    """Count the cells that one algorithm wins, ties and loses, by cost and in ``total``, against each other.

    Cells in which two algorithms have fewer than two splits in common do not count.
    """
    costs = [str(cost) for cost in results["cost"].unique()]
    others = [str(name) for name in results["algorithm"].unique() if name != ours]
    counts = {(cost, other): [0, 0, 0] for cost in [*costs, "total"] for other in others}
    for cost, _, pairs in _paired_cells(results, ours):
        for other, pair in pairs.items():
            outcome = paired_outcome(*pair, greater_is_better(cost))
            if outcome != "untested":
                which = WinTieLoss._fields.index(outcome)
                counts[cost, other][which] += 1
                counts["total", other][which] += 1
    cells = {
        other: pd.Series([WinTieLoss(*counts[cost, other]) for cost in [*costs, "total"]], dtype=object)
        for other in others
    }
    return pd.DataFrame(cells, index=range(len(costs) + 1)).set_axis([*costs, "total"], axis=0)


def best_or_level(results: pd.DataFrame, ours: str) -> pd.DataFrame:
    """Say for each cell whether one algorithm is the best, level with it, or worse, and whom it loses to.

    "best" if no other has a better mean on the splits both have; "level" if none of those that have wins by
    :func:`paired_outcome`, "untested" if some of them share a single split; "worse" otherwise.
    """
    found = []
    for cost, data, pairs in _paired_cells(results, ours):
        up = greater_is_better(cost)
        ahead = {other: (b.mean() - a.mean()) * (1 if up else -1) for other, (a, b) in pairs.items()}
        better = [other for other in pairs if ahead[other] > _ROUNDING * abs(pairs[other][1].mean())]
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


def code_length_curve(results: pd.DataFrame, cost: str, data: str, algorithm: str) -> pd.DataFrame:
    """Return ``mean`` and ``error`` by code length, over the splits that all lengths have."""
    here = (results["cost"] == cost) & (results["data"] == data) & (results["algorithm"] == algorithm)
    scores = results[here & (results["n_bits"] > 0)]
    lengths_of_split = scores.groupby("split")["n_bits"].transform("nunique")
    common = scores[lengths_of_split == scores["n_bits"].nunique()]
    return summarise(common.sort_values("n_bits"), ["n_bits"])


def cell_ranks(results: pd.DataFrame) -> pd.DataFrame:
    """Rank the algorithms in each cell that all of them have, by :func:`shared_means`; 1 is the best."""
    means = shared_means(results).dropna()
    signs = [-1.0 if greater_is_better(cost) else 1.0 for cost, _ in means.index]
    return means.mul(signs, axis=0).rank(axis=1)


def average_ranks(results: pd.DataFrame) -> pd.Series[float]:
    """Return the mean of :func:`cell_ranks` for each algorithm, the best first; NaN if they share no cell."""
    return cell_ranks(results).mean().sort_values(kind="stable")


def friedman(results: pd.DataFrame) -> float:
    """Return the p value of Friedman's test that all are alike; NaN if there are too few to test."""
    ranks = cell_ranks(results).to_numpy()
    if ranks.shape[0] < 2 or ranks.shape[1] < 3:
        return np.nan
    if (ranks == ranks[0, 0]).all():  # 0/0 otherwise: nobody ever differs
        return 1.0
    return float(stats.friedmanchisquare(*ranks.T).pvalue)


def critical_difference(n_algorithms: int, n_cells: int) -> float:
    """Return how far apart two mean ranks must be to differ, by Nemenyi's test (Demšar, JMLR 2006)."""
    q = stats.studentized_range.ppf(_CONFIDENCE, n_algorithms, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_cells)))
