"""Run the speed and memory benchmarks, or those named: ``python -m benchmarks bits forest``."""

from __future__ import annotations

import importlib
import sys

QUICK = ("bits", "decoding", "predict", "forest", "startup", "memory")
LONG = (
    "variants",
    "competitor_speed",
    "interruptions",
    "published",
    "active",
    "session",
    "scaling",
    "splits",
    "million",
    "files",
    "cluster",
)


def main() -> None:
    """Run each in turn, with its own default options."""
    names = sys.argv[1:] or QUICK
    unknown = sorted(set(names) - {*QUICK, *LONG})
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; there are {', '.join((*QUICK, *LONG))}")
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n## {name}\n\n{module.__doc__}")
        sys.argv[1:] = []
        module.main()


if __name__ == "__main__":
    main()
