"""How large is a model in a file, and how soon is it loaded? bibtex, 3000 bits."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import best_time, load, print_machine, print_table
from refpair import CSRPEClassifier, save
from refpair import load as load_model
from refpair.bits.trees import TreeBank


def measure_loading(path: str, warm: str) -> None:
    """Print how long it takes to load a model, once another one was: kernels and packages are there then."""
    load_model(warm)
    start = time.perf_counter()
    load_model(path)
    print(time.perf_counter() - start)


def measure(n_bits: int, depth: str | None) -> list[object]:
    """Return the row of one model."""
    data = load("bibtex")
    how: dict[str, Any] = {"n_jobs": 2, "random_state": 0, "max_depth": depth}
    small = CSRPEClassifier("f1", n_bits=20, **how).fit(data.X[:200], data.Y[:200])
    model = CSRPEClassifier("f1", n_bits=n_bits, **how).fit(data.X, data.Y)
    with tempfile.TemporaryDirectory() as folder:
        path, warm = Path(folder, "model"), Path(folder, "warm")
        save(small, warm)
        saving = best_time(lambda: save(model, path), 3)
        call = f"from benchmarks.files import measure_loading; measure_loading({str(path)!r}, {str(warm)!r})"
        done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True)
        size = path.stat().st_size / 1e6
    assert isinstance(model.bits_, TreeBank)
    nodes = len(model.bits_.trees_.feature)
    return [n_bits, depth, f"{nodes:,}", f"{size:.1f}", f"{saving:.2f}", f"{float(done.stdout):.2f}"]


def main() -> None:
    """Print a row for trees as they are chosen, and one for trees that are never cut."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bits", type=int, default=3000)
    arguments = parser.parse_args()
    print_machine()
    rows = [measure(arguments.bits, depth) for depth in ("auto", None)]
    print_table(["bits", "max_depth", "nodes", "MB", "save, s", "load, s"], rows)


if __name__ == "__main__":
    main()
