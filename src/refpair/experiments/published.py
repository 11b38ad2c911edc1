"""The numbers that the paper prints: its tables of scores, of t-tests and of the relevant set."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from refpair.experiments.statistics import WinTieLoss

# The paper's tables; what it calls accuracy is jaccard.
_PUBLISHED: dict[str, Any] = json.loads(
    files("refpair.experiments").joinpath("published.json").read_text(encoding="utf-8")
)
PAPER_DATA = tuple(_PUBLISHED["comparison"]["f1"])
# The column of F1 has a rank loss here, that of rank loss repeats the F1 score of enron.
_MISPRINTED = {("f1", "emotions"), ("rank", "emotions")}


def paper_table(cost: str, data: str, algorithm: str) -> tuple[float, float] | None:
    """Return a mean and its standard error of the paper's main table, or None if it has none."""
    return _find("comparison", cost, data, algorithm)


def paper_outcomes(cost: str, algorithm: str) -> WinTieLoss | None:
    """Return how often the paper's CSRPE wins by t-tests under a cost, or in "total", or None if unknown."""
    found = _PUBLISHED["outcomes"].get(cost, {}).get(algorithm)
    return found and WinTieLoss(*found)


def paper_relevant_set(cost: str, data: str, algorithm: str) -> tuple[float, float] | None:
    """Return the same of the paper's table of the relevant set, without its two misprints."""
    return None if (cost, data) in _MISPRINTED else _find("relevant_set", cost, data, algorithm)


def _find(table: str, cost: str, data: str, algorithm: str) -> tuple[float, float] | None:
    # The same method with either decoder; the paper has only the nearest code word.
    name = algorithm.removesuffix("-nearest").removesuffix("-posterior")
    found = _PUBLISHED[table].get(cost, {}).get(data, {}).get(name)
    return found and tuple(found)
