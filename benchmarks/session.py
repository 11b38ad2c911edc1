"""How many answers does a labeling session need for what 500 random ones give?

Pictures of digits, 1,000 of 3,000 held out. A session asks for 5 rows at a time, and its F1 on the pictures
held out is compared with that of a session that asks at random. "As good after" is after how many of these
answers, in steps of 50, it is as good. A draw takes two minutes.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import Results, markdown_table, read_table, records
from refpair import get_cost
from refpair.active import RandomQuery
from refpair.datasets import load_dataset
from refpair.experiments.report.table import show_number
from refpair.labeling import Session

RANDOM, ASKED, BATCH, EACH = 500, 250, 5, 50


def curve(seed: int, n: int, batch: int, at_random: bool) -> dict[int, float]:
    """Return the F1 on the pictures held out after so many answers."""
    digits = load_dataset("digits")
    held_out = np.random.default_rng(seed).permutation(len(digits.X))[:1000]
    predicted = [f"{label}_predicted" for label in digits.label_names]
    scores: dict[int, float] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Session.open(
            Path(folder, "digits.sqlite"),
            X=digits.X,
            labels=digits.label_names,
            cost="f1",
            strategy=RandomQuery(random_state=seed) if at_random else None,
            random_state=seed,
        ) as session,
    ):
        session.skip(held_out.tolist())  # is not asked for, but predicted
        while session.n_answered < n:
            rows = session.ask(batch)
            session.tell(rows, digits.Y[np.asarray(rows, int)])
            if session.n_answered % EACH == 0:
                answers = session.table().loc[held_out, predicted].to_numpy()
                scores[session.n_answered] = get_cost("f1").mean(digits.Y[held_out], answers)
    return scores


def show_mean(column: str) -> str:
    """Return the mean F1 of the session, or of random answers."""
    return show_number(read_table("session.csv")[column].mean(), 3)


def show() -> str:
    """Return the table of what is stored."""
    rows = [
        [
            row["seed"],
            f"{row['random']:.3f}",
            f"{row['session']:.3f}",
            str(row["enough"]).removesuffix(".0").replace("nan", "–"),
        ]
        for row in records(read_table("session.csv"))
    ]
    return markdown_table(["seed", f"random, {RANDOM}", f"session, {ASKED}", "as good after"], rows)


def main() -> None:
    """Measure each draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    results = Results("session.csv")
    for seed in range(parser.parse_args().seeds):
        baseline = curve(seed, RANDOM, EACH, at_random=True)[RANDOM]
        scores = curve(seed, ASKED, BATCH, at_random=False)
        enough = next((n for n, score in scores.items() if score >= baseline), None)
        results.add(seed=seed, random=baseline, session=scores[ASKED], enough=enough)
    print(f"session {show_mean('session')}, random {show_mean('random')}\n\n{show()}")


if __name__ == "__main__":
    main()
