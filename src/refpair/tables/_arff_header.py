"""The header of an ARFF file, what its columns are called and may hold; and how a line parts into cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ._names import TableError

_SINGLE = r"'((?:[^'\\]|\\.)*)'"
_DOUBLE = r'"((?:[^"\\]|\\.)*)"'
QUOTED = f"(?:{_SINGLE}|{_DOUBLE})"
COMMENT = r"(?:%.*)?$"

_KEYWORD = re.compile(r"@(relation|attribute|data)(?=\s|$|%)", re.IGNORECASE)
_NAME = re.compile(rf"\s+(?:{QUOTED}|([^\s{{'\"%][^\s{{]*))\s*")
BRACES = re.compile(rf"\{{((?:{QUOTED}|[^'\"}}%])*)\}}\s*{COMMENT}")
# A bare value goes up to the separator, blanks and all: a pattern that left them out would try each of them
# as the end, and a line of 100,000 blanks would take minutes.
_CELL = re.compile(rf"\s*(?:{QUOTED}\s*(?=[,%]|$)|([^,%]*))(?:(,)|{COMMENT})")
_WORD = re.compile(rf"(?:{QUOTED}|([^\s,'\"%][^\s,%]*)|(%.*))(?=[\s%]|$)\s*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_INTEGER = re.compile(r"[+-]?\d+")
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}

Cell = tuple[str, bool]  # the text of a value and whether it was in quotes: a bare ? is a missing value


class LineError(TableError):
    """Something in a line cannot be read."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message, f"line {line}")


@dataclass(frozen=True)
class Attribute:
    """A column: numeric when ``values`` is None, else nominal; ``kind`` is the type as written."""

    name: str
    kind: str
    line: int
    values: tuple[str, ...] | None = None
    codes: dict[str, float] = field(default_factory=dict)
    allowed: frozenset[float] = frozenset()
    is_integer: bool = False

    @property
    def is_number(self) -> bool:
        """Whether the cells read as numbers, which is what the fast readers need."""
        return self.kind == "numeric" or self.is_integer

    @property
    def is_readable(self) -> bool:
        """Whether the type is one that turns into a number; text and dates do not."""
        return self.kind in ("numeric", "nominal")

    def code_of_text(self, text: str) -> float:
        """Return the number of a text in a column of texts; 0 stands for what sparse rows leave out."""
        return self.codes.setdefault(text, float(len(self.codes) + 1))


def _resolve(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped[1:], 16)) if len(escaped) > 1 else _CONTROL.get(escaped, escaped)


def cell_of(single: str | None, double: str | None, bare: str | None) -> Cell:
    """Make a cell of the three groups that a match of a quoted or a bare value has."""
    quoted = single if single is not None else double
    return (_ESCAPE.sub(_resolve, quoted), True) if quoted is not None else ((bare or "").strip(), False)


def split_cells(text: str, expected: int | None = None) -> list[Cell] | None:
    """Split at commas, or at blanks where commas do not give the expected number, as bare values have blanks.

    None if the text has an open quote or something behind a closing one.
    """
    cells = _at_commas(text)
    if cells is not None and (len(cells) == expected if expected else len(cells) > 1):
        return cells
    words = _at_blanks(text)
    return words if words is not None and expected in (None, len(words)) else cells


def _at_commas(text: str) -> list[Cell] | None:
    cells: list[Cell] = []
    position, more = 0, True
    while more:
        match = _CELL.match(text, position)
        if match is None:
            return None
        cell = cell_of(match[1], match[2], match[3])
        if not cell[1] and cell[0][:1] in ("'", '"'):
            return None
        cells.append(cell)
        position, more = match.end(), match[4] is not None
    return cells


def _at_blanks(text: str) -> list[Cell] | None:
    cells: list[Cell] = []
    text = text.strip()
    position = 0
    while position < len(text):
        match = _WORD.match(text, position)
        if match is None:
            return None
        if match[4] is None:
            cells.append(cell_of(match[1], match[2], match[3]))
        position = match.end()
    return cells


def read_header(lines: Sequence[str]) -> tuple[list[Attribute], int]:
    """Read the attributes and the number of lines up to and including ``@data``."""
    attributes: list[Attribute] = []
    for number, line in enumerate(map(str.strip, lines), start=1):
        if not line or line.startswith("%"):
            continue
        match = _KEYWORD.match(line)
        if match is None:
            raise LineError(number, f"expected @relation, @attribute or @data, got {line[:40]!r}")
        keyword = match[1].lower()
        if keyword == "attribute":
            attributes.append(_attribute(line[match.end() :], number))
        elif keyword == "data":
            if not attributes:
                raise LineError(number, "@data comes before any @attribute; is the header missing?")
            return attributes, number
    raise LineError(len(lines), "the file ends before @data; is it a whole ARFF file?")


def _attribute(text: str, line: int) -> Attribute:
    match = _NAME.match(text)
    if match is None:
        raise LineError(line, "expected @attribute <name> <type>; quote a name that holds blanks")
    name, kind = cell_of(match[1], match[2], match[3])[0], text[match.end() :]
    if not kind.startswith("{"):
        word = kind.split("%")[0].strip().lower().split(" ")[0]
        if not word:
            raise LineError(line, f"attribute {name!r} has no type; add numeric or {{0,1}}")
        return Attribute(name, "numeric" if word in ("numeric", "real", "integer") else word, line)

    inside = BRACES.fullmatch(kind)
    cells = split_cells(inside[1]) if inside and inside[1].strip() else None
    if cells is None:
        raise LineError(
            line,
            f"cannot read the values of {name!r}; close quotes and braces, and quote a value that holds %",
        )
    values = tuple(value for value, _ in cells)
    if len(set(values)) < len(values):
        raise LineError(line, f"attribute {name!r} lists a value twice; remove one")
    numbers = [float(value) for value in values if _INTEGER.fullmatch(value)]
    # {1, 01} are two values but one number: such a list is text as far as codes go.
    is_integer = len(set(numbers)) == len(values)
    codes = numbers if is_integer else range(len(values))
    code_of = dict(zip(values, map(float, codes), strict=True))
    return Attribute(name, "nominal", line, values, code_of, frozenset(code_of.values()), is_integer)
