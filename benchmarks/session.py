"""How many answers does a labelling session need for what 500 random ones give?

Pictures of digits, 1,000 of 3,000 held out. A session asks for 5 rows at a time, and its F1 on the pictures
held out is compared with that of a session that asks at random. Run it with
``python -m benchmarks.session [--seeds 5]``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from refpair import get_cost
from refpair.active import RandomQuery
from refpair.datasets import load_dataset
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


def main() -> None:
    """Print a row for each seed, and the mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    n_seeds = parser.parse_args().seeds
    print(f"| seed | random, {RANDOM} | session, {ASKED} | enough | seconds |\n|---|---|---|---|---|")
    ends = []
    for seed in range(n_seeds):
        begin = time.perf_counter()
        baseline = curve(seed, RANDOM, EACH, at_random=True)[RANDOM]
        scores = curve(seed, ASKED, BATCH, at_random=False)
        enough = next((str(n) for n, score in scores.items() if score >= baseline), f"more than {ASKED}")
        ends.append((baseline, scores[ASKED]))
        seconds = time.perf_counter() - begin
        print(f"| {seed} | {baseline:.3f} | {scores[ASKED]:.3f} | {enough} | {seconds:.0f} |", flush=True)
    baseline, score = np.mean(ends, axis=0)
    print(f"| mean | {baseline:.4f} | {score:.4f} | | |")


if __name__ == "__main__":
    main()
