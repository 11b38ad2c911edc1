"""How many rows need no person if the recall of a label is promised? Against MAPIE on the same probabilities.

A model is fitted on one half of a data set, the other half is the pool, of which a draw takes a random half
to calibrate by. MAPIE's controller of recall finds a threshold for the probability of a label, by risk
controlling prediction sets (its bounds "wsr", "bernstein" and "hoeffding") or by conformal risk control,
which promises the recall on average over draws and not with confidence. It takes rows that have a label: of
a single one, those that have this label. Rows at or below its threshold are answered "no"; those above are
left to a person. Ours answers "no" likewise, to rows whose best answer that is and that are unlikely enough
to have the label, and "yes" to rows whose best answer is that: no answer of "yes" can miss a label. So rows
that need no person are counted in two ways, with and without those that are answered "yes".

The promises differ: ours is the recall among answered rows alone, of which fewer may be missed the fewer are
answered; MAPIE's is that among all rows, those that are left to a person counting as found. So our test is
also made to keep MAPIE's promise, with MAPIE's thresholds and its answers ("refpair's test"). A promise is
broken if it does not hold in the pool.

MAPIE has an environment of its own: ``--mapie`` is its Python.

    python -m benchmarks.promise_recall emotions yeast enron --mapie PYTHON
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.common import Results, find_data, markdown_table, read_table
from benchmarks.promise import fit_half
from refpair.decision.mean_bounds import mean_is_at_most
from refpair.decision.promises import Promise, find_thresholds
from refpair.tables import TableOptions

TABLE = "promise_recall.csv"
LEVELS, CONFIDENCE, N_DRAWS, N_LABELS = (0.9, 0.95), 0.9, 100, 3
SAME, OURS = "refpair's test", "refpair"
METHODS = ("rcps wsr", "rcps bernstein", "rcps hoeffding", "crc")
_MAPIE = """
import sys
import warnings
import numpy as np
from mapie.risk_control import MultiLabelClassificationController as Controller
warnings.simplefilter("ignore")
asked = np.load(sys.argv[1])
level, confidence = float(sys.argv[3]), float(sys.argv[4])
found = []
for i, p in enumerate(np.split(asked["p"], asked["ends"][:-1])):
    for method in sys.argv[5:]:
        name, _, bound = method.partition(" ")
        how = {"rcps_bound": bound, "confidence_level": confidence} if bound else {}
        controller = Controller(lambda X: X, "recall", name, target_level=level, **how)
        controller._risks = (p[:, None] <= controller.predict_params) * 1.0
        controller.compute_best_predict_param()
        found.append(controller.best_predict_param[0])
        if i == 0:  # the loop over rows and thresholds that takes so long says the same
            controller.calibrate(p[:, None], np.ones((len(p), 1), int))
            assert controller.best_predict_param[0] == found[-1]
np.save(sys.argv[2], np.reshape(found, (-1, len(sys.argv) - 5)))
"""

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def ask_mapie(python: str, drawn: list[Floats], level: float) -> Floats:
    """Return the thresholds that MAPIE finds by probabilities of rows with the label, a row for each draw."""
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder, "asked.npz"), Path(folder, "told.npy")
        np.savez(asked, p=np.concatenate(drawn), ends=np.cumsum([len(p) for p in drawn]))
        words = [python, "-c", _MAPIE, str(asked), str(told), str(level), str(CONFIDENCE), *METHODS]
        subprocess.run(words, check=True, capture_output=True)
        return np.asarray(np.load(told))


def tested_threshold(p: Floats, level: float) -> float:
    """Return the largest threshold, of those that MAPIE tries, up to which few enough rows are missed."""
    found = -1.0
    for at in np.arange(0.0, 1.0, 0.01):
        if not mean_is_at_most((p <= at).astype(np.float64), 1.0 - level, 1.0 - CONFIDENCE):
            break
        found = float(at)
    return found


def measure(python: str, p: Floats, there: Bools, yes: Bools, level: float) -> list[dict[str, float | str]]:
    """Return for each method how many rows need no person, and how often the promise is broken."""
    n = len(p)
    drawn = [np.random.default_rng(seed).permutation(n)[: n // 2] for seed in range(N_DRAWS)]
    of_label = [p[rows[there[rows]]] for rows in drawn]
    tested = [tested_threshold(one, level) for one in of_label]
    thresholds = np.column_stack([tested, ask_mapie(python, of_label, level)])
    score, found = np.where(yes, 0.0, p), []
    for method, of_draws in zip((SAME, *METHODS), thresholds.T, strict=True):
        broken = [(p[there] > at).mean() < level for at in of_draws]
        no = np.mean([(p <= at).mean() for at in of_draws])
        found.append({"method": method, "no": no, "all": no, "broken": np.mean(broken)})
    ours = []
    for seed, rows in enumerate(drawn):
        promise = Promise(1.0 - level, np.where(yes[rows], 0.0, 1.0), score[rows], there[rows], p[rows])
        order = np.random.default_rng([seed, 1]).permutation(len(rows))
        at = find_thresholds([promise], 1.0 - CONFIDENCE, order)
        answered = score <= (-np.inf if at is None else at[0])
        found_there = yes[answered & there]
        is_broken = len(found_there) > 0 and found_there.mean() < level
        ours.append([(answered & ~yes).mean(), answered.mean(), is_broken])
    no, every, is_broken = np.mean(ours, axis=0)
    return [{"method": OURS, "no": no, "all": every, "broken": is_broken}, *found]


def show() -> str:
    """Return the table of rows that need no person."""
    found = read_table(TABLE)
    rows = []
    for (data, label, level), some in found.groupby(["data", "label", "level"], sort=False):
        of = some.set_index("method")
        shares = [f"{of['all'][OURS]:.2f}", *(f"{of['no'][name]:.2f}" for name in (OURS, SAME, *METHODS))]
        broken = [f"{of['broken'][name]:.2f}" for name in (OURS, SAME, METHODS[0], METHODS[-1])]
        rows.append([data, label, f"{level:g}", f"{of['there'].iloc[0]:.2f}", *shares, *broken])
    header = ["data", "label", "recall", "have it", "refpair, all", "refpair, no", SAME]
    header += [f"MAPIE {name}" for name in METHODS]
    header += [f"broken: {name}" for name in (OURS, SAME, f"MAPIE {METHODS[0]}", "MAPIE crc")]
    return markdown_table(header, rows)


def show_summary() -> str:
    """Say how often as many rows need no person."""
    found = read_table(TABLE)
    every, no, broken = (
        found.pivot_table(name, ["data", "label", "level"], "method") for name in ("all", "no", "broken")
    )
    n, bounds = len(no), list(METHODS[:-1])

    def at_least(ours: Any, theirs: Any) -> int:
        return int((ours >= theirs).sum())

    best, wsr, bernstein, hoeffding = no[bounds].max(axis=1), *(no[name] for name in bounds)
    return (
        f"All rows that are answered are at least as many as the rows below the best threshold of MAPIE's "
        f"bounds in {at_least(every[OURS], best)} of {n} cases, answers of no alone in "
        f"{at_least(no[OURS], best)}. With MAPIE's promise, our test covers at least as many rows as the "
        f"bound of Bernstein in {at_least(no[SAME], bernstein)}, of Hoeffding in "
        f'{at_least(no[SAME], hoeffding)}, and as its default, "wsr", in {at_least(no[SAME], wsr)}; but that '
        f"one breaks up to {broken[METHODS[0]].max():.0%} of its promises, where {1 - CONFIDENCE:.0%} may "
        f"be broken, and our test up to {broken[SAME].max():.0%}"
    )


def main() -> None:
    """Measure what is not stored, and show it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="names of data sets")
    parser.add_argument("--mapie", required=True, metavar="PYTHON")
    given = parser.parse_args()
    find_data()
    results = Results(TABLE, go_on=True)
    for name in given.data:
        if results.has(data=name):
            continue
        model, X, Y = fit_half(name, TableOptions())
        p, answers = model.predict_proba(X), model.decide(X, "hamming")
        for label in np.argsort(-Y.sum(axis=0), kind="stable")[:N_LABELS]:
            there, yes = Y[:, label] == 1, np.asarray(answers)[:, label] == 1
            for level in LEVELS:
                for row in measure(given.mapie, p[:, label], there, yes, level):
                    results.add(data=name, label=int(label), level=level, there=there.mean(), **row)
            print(name, label, flush=True)
    print(f"{show()}\n\n{show_summary()}.")


if __name__ == "__main__":
    main()
