"""How do time and memory grow with rows, features, labels and bits?

Rows shaped like bibtex (``benchmarks/synthetic.py``); from a middle point one size at a time goes up and
down. The model is of the code and of trees of single labels. Each case is measured in a process of its own,
by one thread, in seconds of the processor. ``--go-on`` keeps what is stored.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common import Results, markdown_table, read_table
from benchmarks.synthetic import draw_like_bibtex
from refpair import CSRPEClassifier
from refpair.classifiers import csrpe

SOURCES = ("code", "labels")
N_NEW = 2000  # rows that are predicted


@dataclass(frozen=True)
class Case:
    """What is fitted."""

    rows: int = 10_000
    features: int = 500
    labels: int = 100
    bits: int = 300


AXES = {
    "rows": (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    "features": (100, 500, 2_000, 10_000),
    "labels": (10, 30, 100, 300, 1_000),
    "bits": (30, 100, 300, 1_000, 3_000),
}
# Of a million rows, 300 bits would take half an hour.
MIDDLE = {"rows": Case(bits=100), "features": Case(), "labels": Case(), "bits": Case()}


def cases_of(axis: str) -> list[Case]:
    """Return the cases of an axis, the smallest first."""
    return [replace(MIDDLE[axis], **{axis: size}) for size in AXES[axis]]


def measure(case: Case) -> dict[str, Any]:
    """Fit and predict one case, in this process."""
    warm = draw_like_bibtex(300, 50, 10)
    CSRPEClassifier(n_bits=20, random_state=0).fit(warm.X, warm.Y).predict(warm.X)
    data = draw_like_bibtex(case.rows, case.features, case.labels)
    new = draw_like_bibtex(N_NEW, case.features, case.labels, seed=1)
    before = _start_of_peak()
    learning = Clock(csrpe, "learn_bits")
    start = time.process_time()
    model = CSRPEClassifier("f1", n_bits=case.bits, sources=SOURCES, random_state=0).fit(data.X, data.Y)
    fitted = time.process_time()
    peak = _peak()
    score = model.score(new.X, new.Y)
    return {
        **asdict(case),
        "n_cells": int(data.X.nnz),
        "n_vectors": len(model.relevant_set_),
        "fit": fitted - start,
        "bits_learnt": learning.seconds,
        "predict": time.process_time() - fitted,
        "memory_before": before,
        "memory": peak,
        "score": score,
    }


class Clock:
    """Adds up what the calls of a function take."""

    def __init__(self, module: Any, name: str) -> None:
        self.seconds, self.function = 0.0, getattr(module, name)
        setattr(module, name, self)

    def __call__(self, *args: Any, **how: Any) -> Any:
        """Call the function."""
        start = time.process_time()
        try:
            return self.function(*args, **how)
        finally:
            self.seconds += time.process_time() - start


def _start_of_peak() -> float:
    """Forget the memory that the process took before; return what it takes now, in MB. Linux alone can."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> float:
    """Return the most memory that this process has taken since, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure_apart(case: Case) -> dict[str, Any]:
    """Measure a case in a process of its own."""
    call = f"import json; from benchmarks.scaling import *; print(json.dumps(measure({case!r})))"
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def exponent(sizes: pd.Series[int], times: pd.Series[float]) -> float:
    """Return the slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def show() -> str:
    """Return a table for each axis, in rows as docs/scale.md has them."""
    found = read_table("scaling.csv")
    rows: list[list[str]] = []
    for axis in AXES:
        own = _of_axis(found, axis)
        name = "rows (100 bits)" if axis == "rows" else axis
        rows.append([f"**{name}**" if rows else name, *(f"{size:,}" for size in own[axis])])
        rows.append(["fit, seconds", *(f"{second:.1f}" for second in own["fit"])])
        rows.append(["memory, MB", *(f"{size:.0f}" for size in own["memory"])])
    width = max(map(len, rows))
    header, *below = [[*row, *[""] * (width - len(row))] for row in rows]
    return markdown_table(header, below)


def show_exponents() -> str:
    """Return as which power of a size the times grow."""
    found = read_table("scaling.csv")
    parts = {"a fit": "fit", "of that, learning bits": "bits_learnt", "predicting": "predict"}
    rows = []
    for name, part in parts.items():
        slopes = [exponent(own[axis], own[part]) for axis in AXES for own in [_of_axis(found, axis)]]
        rows.append([name, *(f"{slope:.2f}".replace("-", "−") for slope in slopes)])
    return markdown_table(["time grows as this power of", *AXES], rows)


def show_predict(bits: int) -> str:
    """Return the seconds that predicting a thousand rows takes with so many bits."""
    found = _of_axis(read_table("scaling.csv"), "bits").set_index("bits")
    return f"{found['predict'][bits] * 1000 / N_NEW:.2f} s"


def _of_axis(found: pd.DataFrame, axis: str) -> pd.DataFrame:
    fixed = {name: size for name, size in asdict(MIDDLE[axis]).items() if name != axis}
    return found[(found[list(fixed)] == pd.Series(fixed)).all(axis=1)].sort_values(axis)


def main() -> None:
    """Measure what is not measured yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--axes", nargs="+", choices=list(AXES), default=list(AXES))
    parser.add_argument("--most", type=int, default=10**9, help="leave out greater sizes")
    parser.add_argument("--go-on", action="store_true", help="keep what is stored")
    given = parser.parse_args()
    results = Results("scaling.csv", go_on=given.go_on)
    for case in (case for axis in given.axes for case in cases_of(axis)):
        if case.rows <= given.most and not results.has(**asdict(case)):
            results.add(**measure_apart(case))
    print(f"{show()}\n\n{show_exponents()}")


if __name__ == "__main__":
    main()
