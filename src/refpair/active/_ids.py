"""What rows are called: by the user, never by their positions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

__all__ = ["Id", "Rows", "digest", "id_key", "id_of_key"]

Id = str | int


def id_key(one: object) -> str:
    """Return an id as it is stored: as JSON, so that 1 and "1" stay apart.

    Examples
    --------
    >>> id_key("Hey"), id_key(7)
    ('"Hey"', '7')
    """
    if isinstance(one, str):
        key = json.dumps(one, ensure_ascii=False)
        try:
            key.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the id {one!r} has characters that no file can hold; rename it") from None
        return key
    if isinstance(one, int | np.integer) and not isinstance(one, bool):
        return str(int(one))
    raise ValueError(f"an id must be a str or an int, not {one!r}; for others, give ids=[str(one) for …]")


def id_of_key(key: str) -> Id:
    """Return the id of what is stored.

    Examples
    --------
    >>> id_of_key('"Hey"'), id_of_key("7")
    ('Hey', 7)
    """
    found = json.loads(key)
    assert isinstance(found, str | int)
    return found


def digest(keys: Iterable[str]) -> str:
    """Return a few characters that stand for these keys."""
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:16]


class Rows:
    """The rows of a session.

    Parameters
    ----------
    ids : sequence of str or int, or None
        None if it is not known which rows there are: any id may be one, then.

    Attributes
    ----------
    ids : list of str or int
    keys : list of str
        The ids as they are stored.
    places : dict of str to int
        Where each row is.

    Examples
    --------
    >>> rows = Rows(["Hey", 7])
    >>> rows.keys_of([7]), rows.places
    (['7'], {'"Hey"': 0, '7': 1})
    >>> list(rows.ranked([1]))
    ['7', '"Hey"']
    """

    def __init__(self, ids: Sequence[Id] | None) -> None:
        self.are_known = ids is not None
        self.ids = list(ids or [])
        self.keys = [id_key(one) for one in self.ids]
        self.places = {key: place for place, key in enumerate(self.keys)}

    def keys_of(self, ids: Iterable[Id]) -> list[str]:
        """Return ids as they are stored, and refuse those of no row."""
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            raise ValueError(f"ids must be a list of ids: [{ids!r}]")
        keys = [id_key(one) for one in ids]
        for key in keys:
            if key not in self:
                raise ValueError(f"there is no row with the id {id_of_key(key)!r}")
        return keys

    def __contains__(self, key: str) -> bool:
        return not self.are_known or key in self.places

    def ranked(self, order: Iterable[int]) -> Iterator[str]:
        """Yield the keys of the rows at these places, then those of all others."""
        first = list(order)
        yield from (self.keys[place] for place in first)
        ranked = set(first)
        yield from (key for place, key in enumerate(self.keys) if place not in ranked)
