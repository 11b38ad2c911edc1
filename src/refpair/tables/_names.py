"""Names of columns, cleaned, looked up and told; and errors that name the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches


class TableError(ValueError):
    """Something in a file, or a line or row of it, cannot be read; `naming` adds what the file is called."""

    def __init__(self, message: str, where: str = "", *, source: str = "") -> None:
        super().__init__(f"{source}, {where}: {message}" if where else f"{source}: {message}")


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Put what a file is called before the errors of those who read it."""
    try:
        yield
    except TableError as error:
        raise ValueError(f"{source}{error}") from error


def clean_names(names: Iterable[object]) -> list[str]:
    """Return names as texts without blanks around them, all different; one that is empty gets its place."""
    texts = ("" if name is None else str(name).strip() for name in names)
    cleaned = [text or f"Unnamed: {i}" for i, text in enumerate(texts)]
    check_unique(cleaned)
    return cleaned


def check_unique(names: Iterable[str], source: str = "") -> None:
    """Refuse names that several columns have."""
    for name, times in Counter(names).items():
        if times > 1:
            raise TableError(f"{times} columns are named {name!r}; rename all but one", source=source)


def check_known(names: Sequence[str], known: Collection[str], source: str = "") -> None:
    """Refuse names that no column has."""
    there = set(known)
    for name in names:
        if name not in there:
            raise TableError(unknown_name("column", name, known), source=source)


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, with the names it may have meant."""
    known = list(known)
    small = {one.lower(): one for one in known}
    near = get_close_matches(name, known) or [small[one] for one in get_close_matches(name.lower(), small)]
    near = near or [one for one in known if one.lower().startswith(name.lower())][:3]
    if near:
        return f"unknown {kind} {name!r}; did you mean {' or '.join(map(repr, near))}?"
    listed = ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")
    return f"unknown {kind} {name!r}; there are {listed or 'none'}"
