"""Fuzz all targets or one of them; see the package for how."""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from fuzz.memory import limit_memory
from fuzz.session import CORPUS, FOUND, Outcome, bounds_checks, run_session
from fuzz.target import TARGETS, load_target, warm_up

RUNS = 100_000


def main() -> int:
    """Return 0 if all is clean."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("target", nargs="?", help=f"one of {', '.join(TARGETS)}; by default all of them")
    parser.add_argument("input", nargs="?", type=Path, help="repeat this input and nothing else")
    parser.add_argument(
        "--runs", type=int, default=RUNS, help="inputs for each target (default: %(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time (default: %(default)s)")
    parser.add_argument(
        "--check-bounds", action="store_true", help="repeat the input with kernels that check each index"
    )
    parser.add_argument("--seed", type=int, help="of the random numbers, by default the clock")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where inputs are kept between sessions")
    parser.add_argument("--found", type=Path, default=FOUND, help="where inputs that fail are written")
    options = parser.parse_args()
    if options.target is not None and options.target not in TARGETS and "." not in options.target:
        parser.error(f"no target is called {options.target!r}; there are {', '.join(TARGETS)}")
    if options.input is not None:
        if options.check_bounds and "NUMBA_BOUNDSCHECK" not in os.environ:
            os.execve(
                sys.executable, [sys.executable, "-m", "fuzz", *sys.argv[1:]], os.environ | bounds_checks()
            )
        target = load_target(options.target)
        warm_up(target)
        limit_memory()
        target.check(options.input.read_bytes())
        print(f"{options.target}: this input passes")
        return 0
    if find_spec("atheris") is None:
        print("fuzzing needs atheris, which is there for Linux: pip install atheris", file=sys.stderr)
        return 2

    def session(name: str, n_inputs: int, checks_bounds: bool) -> Outcome:
        where = (options.corpus, options.found, options.seed)
        outcome = run_session(name, n_inputs, *where, checks_bounds=checks_bounds)
        print(outcome, flush=True)
        return outcome

    sessions = []
    for name in [options.target] if options.target else TARGETS:
        both = getattr(load_target(name), "CHECKS_BOUNDS", False)
        ways = (False, True) if both else (False,)
        sessions += [(name, options.runs // len(ways), checks_bounds) for checks_bounds in ways]
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(session, *zip(*sessions, strict=True)))
    failed = [outcome for outcome in outcomes if not outcome.is_clean]
    for outcome in failed:
        print(f"\n{outcome.how_to_repeat()}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
