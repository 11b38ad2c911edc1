"""Yes and no, however a column writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["is_empty", "is_present", "not_a_truth", "truth_values"]

_WORDS = (("0", "1"), ("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("0.0", "1.0"), ("-1", "1"))


def truth_values(column: Iterable[Any]) -> list[Any] | None:
    """Return how a column says that a label is absent and present, or None if it says something else.

    Examples
    --------
    >>> truth_values(["no", "yes", "no"]), truth_values([True, False]), truth_values(["joy", "calm"])
    (['no', 'yes'], [False, True], None)
    """
    written = {_word(cell): cell for cell in column}
    for words in _WORDS:
        if written and written.keys() <= set(words):
            return [_spelled(written, words, i) for i in (0, 1)]
    return None


def is_present(cell: Any, values: list[Any]) -> bool:
    """Whether a cell says that a label is present, by what :func:`truth_values` found."""
    return _word(cell) == _word(values[1])


def not_a_truth(column: Iterable[Any]) -> int:
    """Return the place of the first cell that, with those before it, does not say yes or no."""
    seen: set[str | None] = set()
    for place, word in enumerate(map(_word, column)):
        if word not in seen:
            seen.add(word)
            if not any(seen <= set(words) for words in _WORDS):
                return place
    raise ValueError("all cells say yes or no")


def is_empty(cell: Any) -> bool:
    """Whether a cell is missing; a list is not, even if nothing is in it."""
    return cell is None or (pd.api.types.is_scalar(cell) and bool(pd.isna(cell)))


def _word(cell: Any) -> str | None:
    """Return a cell as a word in small letters; 1 and 1.0 are "1", True is "true"."""
    if isinstance(cell, str):
        return cell.strip().lower()
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    is_number = isinstance(cell, int | float | np.integer | np.floating)
    return str(int(cell)) if is_number and cell in (-1, 0, 1) else None


def _spelled(written: dict[Any, Any], words: tuple[str, str], which: int) -> Any:
    """Return a word as the column spells it; one that does not occur, as the other one is spelled."""
    if words[which] in written:
        found = written[words[which]]
        return found.item() if isinstance(found, np.generic) else found
    other = next(iter(written.values()))
    if isinstance(other, str):
        same = str.upper if other.isupper() else str.title if other.istitle() else str
        return same(words[which])
    return which == 1 if isinstance(other, bool | np.bool_) else int(words[which])
