"""What do unknown labels cost? Half of the samples train with labels hidden, the other half is complete.

`30 %` and `70 %` of the labels are hidden at random; with `two thirds of a row`, each sample was asked for a
random third of its labels. As many labels are known if `two thirds of the rows` are hidden as a whole: the
model that learns from the other third is what whole rows are worth. One posterior serves all costs. Compared
are the model with all labels, the same model with unknown labels taken as absent, and binary relevance by
forests that leave out unknown labels: its own answers, and Bayes decisions.

    python -m benchmarks.unknown_labels --sets emotions yeast
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from benchmarks.common import (
    PAPER_SETS,
    Results,
    cost_name,
    half_split,
    heading,
    load,
    markdown_table,
    read_table,
    records,
)
from refpair import BayesDecisionClassifier, BinaryRelevance, CSRPEClassifier, get_cost
from refpair.decision import decide
from refpair.experiments.report.table import show_percent
from refpair.posterior import LabelDistribution

TABLE = "unknown_labels.csv.gz"
COSTS = ("f1", "jaccard", "hamming", "rank")
OURS, ALL, ABSENT, BR, BAYES, CONSTANT = (
    "refpair",
    "all labels",
    "unknown = absent",
    "masked BR",
    "masked BR + Bayes",
    "constant",
)
HIDINGS = ("30 %", "two thirds of a row", "70 %")
JUDGED = HIDINGS[:2]
NONE, WHOLE = "none", "two thirds of the rows"
LEVEL, CLEARLY = 0.0, 0.01

Labels = npt.NDArray[np.float64]


def hide(Y: Labels, hiding: str, seed: int) -> Labels:
    """Return labels with gaps; each label keeps at least one that is known."""
    rng = np.random.default_rng(1000 + seed)
    if hiding == HIDINGS[1]:
        places = rng.random(Y.shape).argsort(axis=1).argsort(axis=1)
        hidden = places >= max(1, round(Y.shape[1] / 3))
    else:
        hidden = rng.random(Y.shape) < float(hiding.removesuffix(" %")) / 100
    for label in np.flatnonzero(hidden.all(axis=0)):
        hidden[rng.integers(len(Y)), label] = False
    return np.where(hidden, np.nan, Y)


def run(names: list[str], splits: list[int], n_jobs: int | None) -> None:
    """Measure what is not stored yet."""
    results = Results(TABLE, go_on=True)
    for name in names:
        data = load(name)
        Y = np.asarray(sp.csr_array(data.Y).toarray(), np.uint8)
        for split in splits:
            train, test = half_split(len(Y), split)

            def model() -> CSRPEClassifier:
                return CSRPEClassifier(n_jobs=n_jobs, random_state=0)

            def masked() -> BayesDecisionClassifier:
                forests = BinaryRelevance("forest", n_jobs=n_jobs, random_state=0)
                return BayesDecisionClassifier(forests, random_state=0)

            for hiding in (NONE, WHOLE, *HIDINGS):
                if results.has(data=name, split=split, hidden=hiding):
                    continue
                rows = train
                if hiding == WHOLE:
                    rows = np.random.default_rng(split).permutation(train)[: round(len(train) / 3)]
                given = Y[rows].astype(np.float64)
                if hiding in (NONE, WHOLE):
                    cases: list[tuple[str, Callable[[], CSRPEClassifier | BayesDecisionClassifier], Labels]]
                    cases = [(ALL if hiding == NONE else OURS, model, given)]
                else:
                    given = hide(given, hiding, split)
                    cases = [
                        (OURS, model, given),
                        (ABSENT, model, np.nan_to_num(given)),
                        (BAYES, masked, given),
                    ]
                found = []
                for who, make, labels in cases:
                    begin = time.process_time()
                    fitted = make().fit(data.X[rows], labels)
                    seconds = time.process_time() - begin
                    for cost in COSTS:
                        answers = fitted.decide(data.X[test], cost)
                        found.append((who, cost, get_cost(cost).mean(Y[test], answers), seconds))
                    if who == BAYES:
                        forests = BinaryRelevance("forest", n_jobs=n_jobs, random_state=0)
                        answers = forests.fit(data.X[train], labels).predict(data.X[test])
                        found += [
                            (BR, cost, get_cost(cost).mean(Y[test], answers), seconds) for cost in COSTS
                        ]
                if hiding == NONE:
                    vectors, counts = np.unique(Y[train], axis=0, return_counts=True)
                    everywhere = LabelDistribution.from_dense(vectors, counts[None])
                    for cost in COSTS:
                        answer = np.repeat(decide(everywhere, get_cost(cost)), len(test), axis=0)
                        found.append((CONSTANT, cost, get_cost(cost).mean(Y[test], answer), 0.0))
                for who, cost, score, seconds in found:
                    results.add(
                        data=name,
                        hidden=hiding,
                        split=split,
                        cost=cost,
                        model=who,
                        score=score,
                        seconds=seconds,
                    )
                print(name, split, hiding, flush=True)


def cells() -> pd.DataFrame:
    """Return the mean scores, a row for each hiding, cost and data set, and what follows from them.

    ``gain`` is over the better of masked binary relevance and unknown = absent, as a part of it; ``kept`` is
    the part of the advantage over the best constant answer that the model with all labels has.
    """
    results = read_table(TABLE)
    means = results.groupby(["hidden", "cost", "data", "model"], sort=False)["score"].mean().unstack()
    complete = means.loc[NONE][[ALL, CONSTANT]]
    shown = means.drop(index=NONE).drop(columns=[ALL, CONSTANT]).join(complete, on=["cost", "data"])
    signs = np.array(
        [1 if get_cost(cost).greater_is_better else -1 for cost in shown.index.get_level_values(1)]
    )
    best = shown[[ABSENT, BR]].mul(signs, axis=0).max(axis=1)
    ours = shown[OURS] * signs
    advantage = (shown[ALL] - shown[CONSTANT]) * signs
    return shown.assign(
        gain=(ours - best) / best.abs(),
        gain_bayes=(ours - shown[BAYES] * signs) / shown[BAYES].abs(),
        kept=(ours - shown[CONSTANT] * signs) / advantage,
    )


def show() -> str:
    """Return a table for each way of hiding and each cost."""
    found = cells().reset_index()
    blocks = []
    columns = [ALL, OURS, ABSENT, BR, BAYES, CONSTANT]
    for hiding in HIDINGS:
        for cost in COSTS:
            rows = [
                [row["data"], *(f"{row[name]:.4g}" for name in columns), show_percent(row["gain"])]
                for row in records(found[(found["hidden"] == hiding) & (found["cost"] == cost)])
            ]
            title = f"## {hiding} hidden: {heading(cost)}"
            blocks.append(f"{title}\n\n{markdown_table(['data', *columns, 'gain'], rows)}")
    return "\n\n".join(blocks)


def show_summary() -> str:
    """Say how often the model is at least as good, what it keeps, and where it loses."""
    found = cells().loc[list(JUDGED)]
    lost = [
        f"{cost_name(row['cost'])} on {row['data']}, {row['hidden']} hidden ({show_percent(row['gain'])})"
        for row in records(found[found["gain"] < -LEVEL])
    ]
    told = []
    for hiding in JUDGED:
        some = found.loc[hiding]
        better, kept = (some["gain"] > CLEARLY).sum(), 100 * some["kept"].mean()
        told.append(
            f"with {hiding} hidden in {(some['gain'] >= -LEVEL).sum()} of {len(some)} cases, "
            f"by more than 1 % in {better}, and keeps {kept:.0f} % of the advantage over the best constant "
            "answer on average"
        )
    return f"{'; '.join(told)}{'. It loses: ' * bool(lost)}{', '.join(lost)}"


def show_whole_rows() -> str:
    """Compare a third of the labels of all rows with all labels of a third of the rows."""
    kept = cells()["kept"]
    some, whole = (kept.loc[hiding] for hiding in (HIDINGS[1], WHOLE))
    told = [
        f"{100 * one.mean():.0f} % on average ({100 * one.median():.0f} % in the median)"
        for one in (some, whole)
    ]
    return " against ".join(told)


def show_times() -> str:
    """Return how many times as long as with all labels the model takes to fit, over the sets."""
    results = read_table(TABLE)
    seconds = results.groupby(["hidden", "data", "model"])["seconds"].mean().unstack()
    complete = seconds.loc[NONE][ALL]
    ratios = {hiding: (seconds.loc[hiding][OURS] / complete).dropna() for hiding in HIDINGS}
    return ", ".join(
        f"×{ratio.median():.2g} with {hiding} hidden (at most ×{ratio.max():.2g}, {ratio.idxmax()})"
        for hiding, ratio in ratios.items()
    )


def main() -> None:
    """Measure what is not stored yet, and show all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(PAPER_SETS))
    parser.add_argument("--splits", nargs="+", type=int, default=[10, 11, 12])
    parser.add_argument("--jobs", type=int)
    given = parser.parse_args()
    run(given.sets, given.splits, given.jobs)
    print(f"{show()}\n\nrefpair is at least as good {show_summary()}. A fit takes {show_times()}.")


if __name__ == "__main__":
    main()
