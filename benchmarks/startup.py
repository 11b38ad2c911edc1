"""How long do the import, the first fit, and the first prediction of a saved model take in a new process?

The last two once with no compiled kernels on disk, and once with those that the process before left there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.common import print_machine, print_table

IMPORT = """
import time
start = time.perf_counter()
import refpair
print(time.perf_counter() - start)
"""
START = """
import sys, time
start = time.perf_counter()
import refpair
from refpair.datasets import load_dataset
imported = time.perf_counter() - start
data = load_dataset("digits")
start = time.perf_counter()
"""
END = """
print(imported, time.perf_counter() - start)
"""
FIT = "model = refpair.CSRPEClassifier('f1', n_jobs=2, random_state=0).fit(data.X[:1500], data.Y[:1500])"
PREDICT = "refpair.load(sys.argv[1]).predict(data.X[1500:])"
SAVE = "refpair.save(model, sys.argv[1])"


def seconds_of_import() -> float:
    """Return the median seconds of ``import refpair``, which loads nothing yet, in ten new processes."""
    command = [sys.executable, "-c", IMPORT]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(10)]
    return median(float(run.stdout) for run in runs)


def run(script: str, model: Path, cache: Path) -> tuple[str, str]:
    """Return the seconds of the import and of the script in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", START + script + END, str(model)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    imported, used = map(float, done.stdout.split())
    return f"{imported:.1f}", f"{used:.1f}"


def main() -> None:
    """Fit, then load and predict, each twice in new processes that share a fresh cache of kernels."""
    print_machine()
    print(f"import refpair: {seconds_of_import():.3f} s, median of ten processes\n")
    print("seconds; digits (1500 rows to fit, 297 to predict, 3000 bits, 2 threads)\n")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.refpair")
        run(f"{FIT}\n{SAVE}", model, Path(folder, "other"))
        for what, script in (("first fit", FIT), ("load, first predict", PREDICT)):
            cache = Path(folder, what)
            for kernels in ("compiled", "from the cache"):
                rows.append([what, kernels, *run(script, model, cache)])
    print_table(["", "kernels", "import refpair and its data", "then"], rows)


if __name__ == "__main__":
    main()
