"""How long do the first fit, and the first prediction of a saved model, take in a new process?

Once with no compiled kernels on disk, and once with those that the process before has left there: pictures of
digits, 1,500 rows to fit and 1,500 to predict, one thread; seconds of the processor.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import Results, markdown_table, read_table, records

START = """
import sys, time
start = time.process_time()
import refpair
from refpair.datasets import load_dataset
imported = time.process_time() - start
data = load_dataset("digits")
start = time.process_time()
"""
END = """
print(imported, time.process_time() - start)
"""
FIT = "model = refpair.CSRPEClassifier('f1', random_state=0).fit(data.X[:1500], data.Y[:1500])"
PREDICT = "refpair.load(sys.argv[1]).predict(data.X[1500:])"
SAVE = "refpair.save(model, sys.argv[1])"


def run(script: str, model: Path, cache: Path) -> tuple[float, float]:
    """Return the seconds of the import and of the script in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", START + script + END, str(model)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    imported, used = map(float, done.stdout.split())
    return imported, used


def show() -> str:
    """Return the table of what is stored."""
    found = read_table("startup.csv")
    rows = [
        [row["what"], row["kernels"], f"{row['import_seconds']:.1f}", f"{row['seconds']:.1f}"]
        for row in records(found)
    ]
    return markdown_table(["", "kernels", "import refpair, s", "then, s"], rows)


def show_compiling(what: str) -> str:
    """Return how many seconds compiling adds to a first call."""
    seconds = read_table("startup.csv").set_index(["what", "kernels"])["seconds"]
    return f"{seconds[what, 'compiled'] - seconds[what, 'from the cache']:.0f} s"


def main() -> None:
    """Fit, then load and predict, each twice in new processes that share a fresh cache of kernels."""
    results = Results("startup.csv")
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.refpair")
        run(f"{FIT}\n{SAVE}", model, Path(folder, "other"))
        for what, script in (("first fit", FIT), ("load, first predict", PREDICT)):
            cache = Path(folder, what)
            for kernels in ("compiled", "from the cache"):
                imported, used = run(script, model, cache)
                results.add(what=what, kernels=kernels, import_seconds=imported, seconds=used)
    print(show())


if __name__ == "__main__":
    main()
