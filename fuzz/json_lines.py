"""JSON lines, gzipped ones too: any bytes, and rows that must come back as they were."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

from fuzz.choices import Choices
from fuzz.scratch import check_table, result_or_refusal, scratch_folder
from refpair.tables import read_table

INSTRUMENTED = (
    "refpair.tables._formats", "refpair.tables._source", "refpair.tables._cells", "refpair.tables._names",
    "refpair.tables.read",
)  # fmt: skip
_ROWS = b'{"title": "Hey", "tempo": 120.5, "joy": true, "tags": ["a", "b"]}\n{"joy": null, "tempo": 3}\n'
SEEDS = (
    b"\0" + _ROWS,
    b'\0{"a": {"b": 1}}\n',
    b'\0{"a": "\\ud800", "a": 1}\n\n[1]\n',
    b"\0\xef\xbb\xbf" + _ROWS.replace(b"\n", b"\r\n"),
    b"\0" + b"[" * 2000,
    b"\1" + gzip.compress(_ROWS, mtime=0),
    b"\2" + bytes(range(120)),
    b"\2" + bytes(range(255, 100, -1)),
)
WORDS = (
    '{"', '": ', "null", "true", "false", "NaN", "-Infinity", "1e400", "99999999999999999999", "[]", '["a"]',
    "{}", '"joy"', '"tags"', "\\ud800", "\\u0000", "\n", "\r", ",", "}", '" joy "', "\ufeff", "\0", "\u2028",
)  # fmt: skip


def check(data: bytes) -> None:
    """Let the first byte say what the rest is: a file, packed or not, or choices that make one."""
    kind = data[:1]
    with scratch_folder() as folder:
        path = folder / ("songs.jsonl.gz" if kind == b"\1" else "songs.jsonl")
        if kind in (b"\0", b"\1"):
            path.write_bytes(data[1:])
            _check_file(path)
        else:
            _check_made(Choices(data[1:]), path)


def _check_file(path: Path) -> None:
    labels = ["joy"] if path.stat().st_size % 2 else None
    table = result_or_refusal(partial(read_table, path, labels), path)
    if table is not None:
        check_table(table)
        assert table.name == path.name


def _check_made(choices: Choices, path: Path) -> None:
    """Write rows of texts, numbers and lists, read them, compare; then damage the file and read it again."""
    names = ["number", "text", "list"]
    rows: list[dict[str, Any]] = []
    for _ in range(1 + choices.below(5)):
        cells = [
            choices.number(),
            f"x{choices.text().strip()}",
            [choices.text() for _ in range(choices.below(3))],
        ]
        rows.append(
            {name: None if choices.rarely() else cell for name, cell in zip(names, cells, strict=True)}
        )
    content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(content)
    table = read_table(path)
    check_table(table)
    assert list(table.X) == names
    for name in names:
        found = table.X[name].tolist()
        expected = [row[name] for row in rows]
        assert [None if cell != cell else cell for cell in found] == expected
    path.write_bytes(choices.damage(content))
    _check_file(path)
