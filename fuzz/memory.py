"""The limit on memory, which libFuzzer cannot set."""

from __future__ import annotations

import resource
from pathlib import Path

from fuzz.limits import MEGABYTES


def limit_memory() -> None:
    """Let no input ask for more than this above what the process has: it gets a MemoryError instead.

    libFuzzer's own limit sees only memory that is in use, not an array of 100 GB that nobody has touched yet.
    """
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (MEGABYTES << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
