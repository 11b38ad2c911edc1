"""How do time and memory grow with rows, features, labels and bits?

Rows shaped like bibtex (``benchmarks/synthetic.py``); from a middle point one size at a time goes up and
down. Each case is measured in a process of its own, by one thread, in seconds of the processor, which other
work on the machine disturbs least. Results are kept as they come; what is there is not measured again.
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

from benchmarks.common import Results, print_machine, print_table
from benchmarks.synthetic import draw_like_bibtex
from refpair import CSRPEClassifier
from refpair.classifiers import csrpe

RESULTS = Path(__file__).parent / "results" / "scaling.jsonl"
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
# What the formula in docs/scale.md was not fitted to.
CHECKS = (
    Case(rows=7_395, features=1_836, labels=159, bits=3_000),  # the sizes of bibtex
    Case(rows=50_000, features=1_000, labels=50, bits=500),
    Case(rows=200_000, features=300, labels=200, bits=200),
)
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
    choosing = Clock(csrpe, "choose_posterior")
    start = time.process_time()
    model = CSRPEClassifier("f1", n_bits=case.bits, random_state=0).fit(data.X, data.Y)
    fitted = time.process_time()
    peak = _peak()
    score = model.score(new.X, new.Y)
    return {
        **asdict(case),
        "n_cells": int(data.X.nnz),
        "n_vectors": len(model.relevant_set_),
        "fit": fitted - start,
        "bits_learnt": fitted - start - choosing.seconds,  # and the code drawn
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


def exponent(sizes: list[float], times: list[float]) -> float:
    """Return the slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def main() -> None:
    """Measure what is not measured yet; print a table an axis and the exponents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--axes", nargs="+", choices=list(AXES), default=list(AXES))
    parser.add_argument("--most", type=int, default=10**9, help="leave out greater sizes")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    print_machine()
    results = Results(arguments.results)
    exponents = []
    for axis in arguments.axes:
        cases = [case for case in cases_of(axis) if asdict(case)[axis] <= arguments.most]
        for case in cases:
            if not results.has(**asdict(case)):
                results.add(measure_apart(case))
        found = [next(one for one in results if asdict(case).items() <= one.items()) for case in cases]
        fixed = ", ".join(f"{n} {name}" for name, n in asdict(MIDDLE[axis]).items() if name != axis)
        print(f"\n{fixed}; seconds of one processor, predicting {N_NEW} rows\n")
        print_table(
            [axis, "fit", "of that, bits", "predict", "peak MB", "F1"],
            [
                [
                    one[axis], f"{one['fit']:.1f}", f"{one['bits_learnt']:.1f}", f"{one['predict']:.1f}",
                    f"{one['memory']:.0f}", f"{one['score']:.3f}",
                ]
                for one in found
            ],
        )  # fmt: skip
        sizes = [one[axis] for one in found]
        parts = ("fit", "bits_learnt", "predict")
        exponents.append([axis, *(f"{exponent(sizes, [one[part] for one in found]):.2f}" for part in parts)])
    for case in CHECKS:
        if case.rows <= arguments.most and not results.has(**asdict(case)):
            results.add(measure_apart(case))
    print("\nexponents: time grows as this power of the size\n")
    print_table(["size", "fit", "of that, bits", "predict"], exponents)


if __name__ == "__main__":
    main()
