"""The limit on memory, which libFuzzer cannot set."""

from __future__ import annotations

import resource
from pathlib import Path

from fuzz.limits import MEGABYTES


def limit_memory() -> None:
    """Let no input ask for more than this above what the process has: it gets a MemoryError instead.

    libFuzzer's own limit sees only memory that is in use, not an array of 100 GB that nobody has touched yet.
    """
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = in_use + (MEGABYTES << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def peak_megabytes() -> int:
    """Return what libFuzzer's limit is compared with: the most memory that the process has had.

    Linux begins with what the process that started it had.
    """
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
