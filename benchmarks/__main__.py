"""Measure the speed anew, or what is named: ``python -m benchmarks bits forest``."""

from __future__ import annotations

import runpy
import sys

QUICK = ("bits", "forest", "startup")


def main() -> None:
    """Run each in turn, with its own default options."""
    names, sys.argv[1:] = sys.argv[1:] or QUICK, []
    for name in names:
        print(f"\n## {name}\n")
        runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
