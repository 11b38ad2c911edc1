"""How long does the first fit in a new process take, with and without compiled kernels on disk?"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks.common import print_machine, print_table

SCRIPT = """
import time
start = time.perf_counter()
from refpair import CSRPEClassifier
from refpair.datasets import load_dataset
imported = time.perf_counter()
data = load_dataset("digits")
begin = time.perf_counter()
CSRPEClassifier("f1", n_jobs=2, random_state=0).fit(data.X[:1500], data.Y[:1500])
print(imported - start, time.perf_counter() - begin)
"""


def main() -> None:
    """Fit twice in new processes that share a fresh cache of kernels."""
    print_machine()
    print("seconds; digits (1500 rows, 3000 bits, 2 threads)\n")
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for what in ("kernels compiled", "kernels from the cache"):
            done = subprocess.run(
                [sys.executable, "-c", SCRIPT],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                capture_output=True,
                text=True,
                check=True,
            )
            imported, fitted = map(float, done.stdout.split())
            rows.append([what, f"{imported:.1f}", f"{fitted:.1f}"])
    print_table(["", "import refpair", "first fit"], rows)


if __name__ == "__main__":
    main()
