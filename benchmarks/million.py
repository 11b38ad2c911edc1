"""A million rows on two cores and under 8 GB: how long does it take?

1,000,000 rows × 500 sparse features × 100 labels, shaped like bibtex, 300 bits of the code and trees of
single labels, two threads, in a process that is not given more than 8 GB of address space. Three thousand new
rows are predicted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.common import Results, read_table, records
from benchmarks.scaling import SOURCES
from benchmarks.synthetic import draw_like_bibtex
from refpair import CSRPEClassifier

GIGABYTE = 2**30


def measure(n_rows: int, n_bits: int, gigabytes: int, all_sources: bool = False) -> dict[str, float]:
    """Fit and predict, in this process, which is limited first."""
    import resource  # noqa: PLC0415 - not everywhere

    resource.setrlimit(resource.RLIMIT_AS, (gigabytes * GIGABYTE,) * 2)
    warm = draw_like_bibtex(600, 50, 10)
    CSRPEClassifier(n_bits=20, max_samples=100, n_jobs=2, random_state=0).fit(warm.X, warm.Y).predict(warm.X)
    data, new = draw_like_bibtex(n_rows, 500, 100), draw_like_bibtex(3000, 500, 100, seed=1)
    start = time.perf_counter()
    sources = "auto" if all_sources else SOURCES
    model = CSRPEClassifier("f1", n_bits=n_bits, sources=sources, n_jobs=2, random_state=0)
    model.fit(data.X, data.Y)
    fitted = time.perf_counter()
    score = model.score(new.X, new.Y)
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 2**20
    return {
        "fit": fitted - start,
        "predict": time.perf_counter() - fitted,
        "peak": peak,
        "score": score,
    }


def show() -> str:
    """Say what is stored."""
    (row,) = records(read_table("million.csv"))
    return f"{row['fit']:.0f} seconds on two cores and {row['peak']:.1f} GB, F1 {row['score']:.3f}"


def main() -> None:
    """Measure in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--bits", type=int, default=300)
    parser.add_argument("--gigabytes", type=int, default=8)
    parser.add_argument("--all-sources", action="store_true", help="those of the default")
    given = parser.parse_args()
    how = f"{given.rows}, {given.bits}, {given.gigabytes}, {given.all_sources}"
    call = f"import json; from benchmarks.million import measure; print(json.dumps(measure({how})))"
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True)
    if sys.argv[1:]:  # what is published is the case without options
        print(done.stdout, end="")
        return
    Results("million.csv").add(rows=given.rows, bits=given.bits, **json.loads(done.stdout))
    print(show())


if __name__ == "__main__":
    main()
