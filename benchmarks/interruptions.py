"""Does a run that is killed again and again end with the table of one that was left alone?

``refpair compare`` on real data, all algorithms: once undisturbed, then with its process killed (SIGKILL) at
random moments, ten by default, and started again each time. The tables of both are compared to the last bit.
"""

from __future__ import annotations

import argparse
import filecmp
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import load, print_machine
from refpair.experiments.store import Store

TABLES = ("comparison-f1.csv", "comparison-hamming.csv", "ranks.csv", "t-tests-CSRPE-posterior.csv")


def start(data: list[str], splits: int, out: Path) -> subprocess.Popen[bytes]:
    """Start the command as a user would."""
    words = [word for name in data for word in ("--data", name)]
    command = [sys.executable, "-c", "from refpair.cli import main; main()", "compare", *words]
    return subprocess.Popen([*command, "--splits", str(splits), "--out", str(out)], stdout=subprocess.DEVNULL)


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end, which must be a good one."""
    if process.wait():
        sys.exit(f"the command ended with exit code {process.returncode}")


def count_results(out: Path) -> int:
    """Return how many results are stored."""
    if not (out / "store.sqlite").exists():
        return 0
    with Store(out / "store.sqlite") as store:
        return len(store.keys())


def main() -> None:
    """Run, disturb, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=["flags", "emotions"])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in arguments.data:
        load(name)  # also tells the command where the data are
    rng = random.Random(arguments.seed)
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        calm, wild = Path(folder, "calm"), Path(folder, "wild")
        begun = time.perf_counter()
        process = start(arguments.data, arguments.splits, calm)
        while process.poll() is None and not count_results(calm):
            time.sleep(0.1)
        starting = time.perf_counter() - begun
        finish(process)
        working = time.perf_counter() - begun - starting
        print(
            f"undisturbed: {count_results(calm)} results in {working:.0f} s after {starting:.0f} s to start"
        )
        for number in range(1, arguments.kills + 1):
            process = start(arguments.data, arguments.splits, wild)
            moment = rng.uniform(0, starting + 2 * working / arguments.kills)
            try:
                process.wait(moment)
            except subprocess.TimeoutExpired:
                process.kill()
            process.wait()
            print(f"kill {number} after {moment:.1f} s: {count_results(wild)} results")
        finish(start(arguments.data, arguments.splits, wild))
        print(f"at last: {count_results(wild)} results")
        for table in TABLES:
            same = filecmp.cmp(calm / table, wild / table, shallow=False)
            print(f"{table}: {'equal to the last byte' if same else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
