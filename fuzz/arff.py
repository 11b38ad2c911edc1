"""ARFF files and the XML files beside them: any bytes, and tables that must come back as they were."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np

from fuzz.choices import Choices
from fuzz.scratch import check_data, check_table, result_or_refusal, scratch_folder
from refpair.datasets.arff import read_arff
from refpair.tables import _arff as rows_code
from refpair.tables import read_table
from refpair.tables._arff import read_label_names

INSTRUMENTED = (
    "refpair.datasets.arff", "refpair.tables._arff", "refpair.tables._arff_header", "refpair.tables.read",
)  # fmt: skip
_HEADER = b"@relation r\n@attribute x numeric\n@attribute 'a b' {0,2,\"c\"}\n@attribute joy {0,1}\n@data\n"
_XML = b'<?xml version="1.0" encoding="utf-8"?><labels><label name="joy"><label name="x"/></label></labels>'
SEEDS = (
    b"\0" + _HEADER + b"1.5,2,1\n?,'c',0 % end\n",
    b"\0" + _HEADER + b"{0 1,2 1}\n{}\n{1 c}\n",
    b"\0@attribute n real\n@attribute joy {1,0}\n@attribute n integer\n@data\n1 0 2\n3\t1 4\n",
    b"\0@attribute t string\n@attribute joy {0,1}\n@data\n'a\\'b',1\n",
    b"\1" + _XML,
    b"\1<!DOCTYPE l [<!ENTITY a 'joy'>]><l xmlns='u'><label name='&a;'/></l>",
    b"\2" + bytes(range(120)),
    b"\2" + bytes(range(255, 100, -1)),
)
WORDS = (
    "@attribute", "@relation", "@data", "numeric", "real", "integer", "string", "date", "{0,1}", "{1,0}",
    "joy", "'", '"', "\\", "\\u0041", "%", "?", "{}", "{0 1}", ",", "\t", "\r", "1e5", "nan", "inf", "1_0",
    "'?'", "#2", "<label name=", "/>", "encoding=", "utf-16", "utf-7", "&#0;", "<!ENTITY", "xmlns=",
)  # fmt: skip


def check(data: bytes) -> None:
    """Let the first byte say what the rest is: a file, an XML file, or choices that make a table."""
    kind, rest = data[:1], data[1:]
    with scratch_folder() as folder:
        path = folder / "songs.arff"
        if kind == b"\0":
            path.write_bytes(rest)
            _check_file(path)
        elif kind == b"\1":
            path = path.with_suffix(".xml")
            path.write_bytes(rest)
            names = result_or_refusal(partial(read_label_names, path), path)
            assert names is None or (names and len(set(names)) == len(names))
        else:
            _check_made(Choices(rest), path)


def _check_file(path: Path) -> None:
    data = result_or_refusal(partial(read_arff, path, ["joy"]), path)
    if data is not None:
        check_data(data)
        _check_fast_is_careful(path)
    table = result_or_refusal(partial(read_table, path, ["joy"]), path)
    if table is not None:
        check_table(table)
    assert data is None or table is None or list(table.X) == [name.strip() for name in data.feature_names]


def _check_fast_is_careful(path: Path) -> None:
    """Read the rows cell by cell, too: what the bulk readers make of a file must be the same."""
    fast = rows_code._fast_dense, rows_code._fast_sparse
    try:
        by_bulk = read_arff(path, ["joy"]).X
        rows_code._fast_dense = rows_code._fast_sparse = lambda texts, attributes: None
        by_cell = read_arff(path, ["joy"]).X
    finally:
        rows_code._fast_dense, rows_code._fast_sparse = fast
    assert type(by_bulk) is type(by_cell)
    if isinstance(by_bulk, np.ndarray):
        np.testing.assert_array_equal(by_bulk, by_cell)
    else:
        np.testing.assert_array_equal(by_bulk.toarray(), by_cell.toarray())


def _check_made(choices: Choices, path: Path) -> None:
    """Write a table, read it, compare; then damage the file and read it again."""
    columns: list[tuple[str, list[str] | None]] = [("joy", ["0", "1"] if choices.flag() else ["1", "0"])]
    for i in range(choices.below(4)):
        values = [f"{v}{choices.text()}" if choices.flag() else str(v) for v in range(1 + choices.below(4))]
        columns.append((choices.text() + str(i), values if choices.flag() else None))
    is_sparse = choices.flag()
    lines = [f"@attribute {_quoted(name)} {_type_of(values)}" for name, values in columns] + ["@data"]
    expected = []
    for _ in range(1 + choices.below(5)):
        cells, numbers = zip(*(_cell(choices, name, values) for name, values in columns), strict=True)
        expected.append(numbers)
        listed = ",".join(f"{i} {cell}" for i, cell in enumerate(cells)) if is_sparse else ",".join(cells)
        lines.append(f"{{{listed}}}" if is_sparse else listed)
    content = "\n".join(lines).encode("utf-8", "replace")
    path.write_bytes(content)
    data = read_arff(path, ["joy"])
    check_data(data)
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    assert data.feature_names == [name for name, _ in columns[1:]]
    np.testing.assert_array_equal(np.hstack([data.Y, X]), np.array(expected, dtype=float))
    path.write_bytes(choices.damage(content))
    _check_file(path)


def _type_of(values: list[str] | None) -> str:
    return "numeric" if values is None else "{" + ",".join(map(_quoted, values)) + "}"


def _cell(choices: Choices, name: str, values: list[str] | None) -> tuple[str, float]:
    """Choose a cell: its text and the number it stands for."""
    if name != "joy" and choices.rarely():
        return "?", np.nan
    if values is None:
        number = choices.number()
        return repr(number), number
    place = choices.below(len(values))
    is_whole = all(re.fullmatch(r"[+-]?\d+", value) for value in values)
    distinct = is_whole and len({float(value) for value in values}) == len(values)
    return _quoted(values[place]), float(values[place]) if distinct else float(place)


def _quoted(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_.+-]+", text):
        return text
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "%": "\\%"}
    return "'" + "".join(escapes.get(letter, letter) for letter in text) + "'"
