"""The limit on memory, which libFuzzer cannot set."""

from __future__ import annotations

import resource
from pathlib import Path

from fuzz.limits import MEGABYTES


def limit_memory() -> None:
    """Let no input ask for more than this above what the process has: it gets a MemoryError instead.

    libFuzzer's own limit sees only memory that is in use, not an array of 100 GB that nobody has touched yet.
    """
    limit = _bytes(0) + (MEGABYTES << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def megabytes_in_use() -> int:
    """Return what the process has in memory."""
    return _bytes(1) >> 20


def _bytes(field: int) -> int:
    return int(Path("/proc/self/statm").read_text().split()[field]) * resource.getpagesize()
