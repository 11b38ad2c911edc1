"""Rules as they are written on a command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from refpair.decision import AtLeast, AtMost, Exactly, Exclusive, Implies
from refpair.decision.rules import Rule
from refpair.tables._names import unknown_name

_FORMS = (
    "at most 3, at least 1, exactly 2, each also of some labels as in exactly 1 of a,b,c; "
    "one of a,b,c, which is at most one; child -> parent"
)
_SIZES = {"at most": AtMost, "at least": AtLeast, "exactly": Exactly}
_SIZE = re.compile(r"(at most|at least|exactly)\s+(\d+)(?:\s+of\s+(.+))?", re.IGNORECASE | re.DOTALL)
_EXCLUSIVE = re.compile(r"one of\s+(.+)", re.IGNORECASE | re.DOTALL)


def parse_rule(text: str, names: Sequence[str]) -> Rule:
    """Return the rule that a text says, about labels of these names.

    Names may have commas and arrows in them, as long as the text can be read in one way only.

    Examples
    --------
    >>> parse_rule("at most 1 of joy, anger", ["joy", "anger", "calm"])
    AtMost(1, ['joy', 'anger'])
    >>> parse_rule("anger -> joy", ["joy", "anger"])
    Implies('anger', 'joy')
    """
    try:
        return _parse(text.strip(), list(names))
    except ValueError as error:
        raise ValueError(f"--rule {text!r}: {error}") from None


def _parse(text: str, names: list[str]) -> Rule:
    pairs = [(text[: at.start()].strip(), text[at.end() :].strip()) for at in re.finditer("->", text)]
    known = [pair for pair in pairs if set(pair) <= set(names)]
    if len(known) == 1:
        return Implies(*known[0])
    if size := _SIZE.fullmatch(text):
        kind, k, labels = _SIZES[size[1].lower()], int(size[2]), size[3]
        return kind(k) if labels is None else kind(k, _split(labels, names))
    if exclusive := _EXCLUSIVE.fullmatch(text):
        return Exclusive(tuple(_split(exclusive[1], names)))
    if known:
        raise ValueError("it can be read in several ways: use rules= in Python")
    if len(pairs) == 1:
        unknown = [name for name in pairs[0] if name not in names]
        raise ValueError(unknown_name("label", unknown[0], names))
    raise ValueError(f"a rule is one of: {_FORMS}")


def _split(joined: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that are joined by commas, which may be in a name, too."""
    parts, known = joined.split(","), set(names)
    ways: list[list[tuple[str, ...]]] = [[()]]  # to read the first parts, at most two
    for end in range(1, len(parts) + 1):
        found = [
            (*way, name)
            for first in range(end)
            if (name := ",".join(parts[first:end]).strip()) in known
            for way in ways[first]
        ]
        ways.append(found[:2])
    if not ways[-1]:
        unknown = [name for part in parts if (name := part.strip()) not in known]
        raise ValueError(unknown_name("label", (unknown or [joined])[0], names))
    if len(ways[-1]) > 1:
        raise ValueError("its names can be read in several ways: use rules= in Python")
    return ways[-1][0]
