"""What results were made with: the machine and the versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

__all__ = ["describe_machine"]

_PACKAGES = ("refpair", "numpy", "scipy", "scikit-learn", "numba")


def describe_machine() -> str:
    """Return the system, the processor and the versions, as a report shows them.

    Examples
    --------
    >>> describe_machine().split(", ")[-1].split()[0]
    'numba'
    """
    n = os.cpu_count() or 1
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return (
        f"{platform.system()} {platform.machine()}, {_processor()}, {n} core{'s' * (n > 1)}; "
        f"Python {platform.python_version()}, {versions}"
    )


def _processor() -> str:
    """Return the name of the processor; Linux has it in a file only."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
