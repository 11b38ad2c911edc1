"""Names of columns: cleaned, looked up, and what to say of one that is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches


def clean_names(names: Iterable[object]) -> list[str]:
    """Return names as texts without blanks around them; columns without a name get their place."""
    texts = ("" if name is None else str(name).strip() for name in names)
    return [text or f"Unnamed: {i}" for i, text in enumerate(texts)]


def check_unique(source: str, names: Iterable[str]) -> None:
    """Refuse names that several columns have."""
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"{source}: {times} columns are named {name!r}; rename all but one")


def check_known(source: str, names: Sequence[str], known: Collection[str]) -> None:
    """Refuse names that no column has."""
    there = set(known)
    for name in names:
        if name not in there:
            raise ValueError(f"{source}: {unknown_name('column', name, known)}")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, with the names it may have meant.

    >>> unknown_name("column", "angr", ["joy", "anger"])
    "unknown column 'angr'; did you mean 'anger'?"
    """
    known = list(known)
    small = {one.lower(): one for one in known}
    near = get_close_matches(name, known) or [small[one] for one in get_close_matches(name.lower(), small)]
    near = near or [one for one in known if one.lower().startswith(name.lower())][:3]
    if near:
        return f"unknown {kind} {name!r}; did you mean {' or '.join(map(repr, near))}?"
    listed = ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")
    return f"unknown {kind} {name!r}; there are {listed or 'none'}"
