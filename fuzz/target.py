"""What a module must have to be a target."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Sequence
from typing import Protocol, cast

TARGETS = ("arff", "csv_tables", "json_lines", "svmlight", "model_files", "costs")


class Target(Protocol):
    """A module that checks one input at a time."""

    INSTRUMENTED: Sequence[str]
    """The modules whose branches guide the search."""
    SEEDS: Sequence[bytes]
    """Inputs to start from."""
    WORDS: Sequence[str]
    """What the format is made of."""
    CHECKS_BOUNDS: bool
    """Whether half of the inputs are for kernels that check each index; most targets do without the name."""

    def check(self, data: bytes, /) -> None:
        """Raise if this input does what none may do."""


def load_target(name: str) -> Target:
    """Import a target by its name here, or by the dotted name of any module."""
    module = importlib.import_module(name if "." in name else f"fuzz.{name}")
    return cast(Target, module)


def warm_up(target: Target) -> None:
    """Check all seeds: what is imported, compiled or started at first use is not the fault of an input."""
    for seed in target.SEEDS:
        with contextlib.suppress(Exception):  # it fails again as an input, and is written down then
            target.check(seed)
