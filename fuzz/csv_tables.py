"""CSV and TSV files, gzipped ones too: any bytes, and tables that must come back as they were."""

from __future__ import annotations

import csv
import gzip
import io
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.choices import Choices
from fuzz.scratch import check_table, result_or_refusal, scratch_folder
from refpair.tables import read_table

INSTRUMENTED = (
    "refpair.tables._formats", "refpair.tables._source", "refpair.tables._cells",
    "refpair.tables._names", "refpair.tables.read",
)  # fmt: skip
_TABLE = b'title,tempo,live,joy,anger\n"Hey, you",120.5,True,1,false\nOh,,False,0,TRUE\n'
SEEDS = (
    b"\0" + _TABLE,
    b"\0joy;a;b\n1;2,5;x|y\n0;3,5;NA\n",
    b"\0joy,a\r\n1,2\r\n0,99999999999999999999\r\n",
    b"\0\xef\xbb\xbfjoy, b ,\n1,2,3\n",
    b"\0joy:a:b\n1:2:3\n",
    b"\0joy\nfree text, with commas\n",
    b"\1" + _TABLE.replace(b",", b"\t"),
    b"\2" + gzip.compress(_TABLE, mtime=0),
    b"\2" + gzip.compress(b"joy" + b",a" * 300 + b"\n" + b"1" * 300, mtime=0),
    b"\3" + bytes(range(120)),
    b"\3" + bytes(range(255, 100, -1)),
)
WORDS = (
    "joy", "title", "anger", ",", ";", "|", ":", "\t", "\n", "\r", "\r\n", '"', '""', "true", "FALSE", "nan",
    "NA", "inf", "-inf", "1e400", "99999999999999999999", "0x1f", "1_0", "3,5", "Unnamed: 0", "2024-01-01",
    "1+2j", "\ufeff", "\0", "\x1f",
)  # fmt: skip


def check(data: bytes) -> None:
    """Let the first byte say what the rest is: a file of one of three endings, or choices that make one."""
    endings = {b"\0": "csv", b"\1": "tsv", b"\2": "csv.gz"}
    with scratch_folder() as folder:
        ending = endings.get(data[:1])
        path = folder / f"songs.{ending or 'csv'}"
        if ending:
            path.write_bytes(data[1:])
            _check_file(path)
        else:
            _check_made(Choices(data[1:]), path)


def _check_file(path: Path) -> None:
    # One way to read it for each input, by its size: pandas is slow.
    ways: tuple[dict[str, Any], ...] = (
        {"labels": ["joy"]},
        {"drop": ["title"]},
        {"sep": ";"},
        {"encoding": "latin-1"},
    )
    options = ways[path.stat().st_size % len(ways)]
    table = result_or_refusal(partial(read_table, path, **options), path)
    if table is not None:
        check_table(table)
        assert table.name == path.name


def _check_made(choices: Choices, path: Path) -> None:
    """Write a table, read it, compare; then damage the file and read it again."""
    sep = choices.one_of(",;\t|")
    names = ["joy", *(f"x{choices.text().strip()}{i}" for i in range(1 + choices.below(4)))]
    truths = choices.one_of((("0", "1"), ("false", "TRUE"), ("False", "True"), ("0.0", "1")))
    missing = choices.one_of(("", "NA", "null"))
    rows, expected = [], []
    for _ in range(1 + choices.below(5)):
        label = choices.below(2)
        numbers = [np.nan if choices.rarely() else choices.number() for _ in names[1:]]
        rows.append([truths[label], *(missing if np.isnan(number) else repr(number) for number in numbers)])
        expected.append([label, *numbers])
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n", delimiter=sep, quoting=csv.QUOTE_ALL).writerow(names)
    csv.writer(file, lineterminator="\n", delimiter=sep).writerows(rows)
    content = file.getvalue().encode("utf-8", "replace")
    path.write_bytes(content)
    if b"\0" not in content:
        table = read_table(path, ["joy"])
        check_table(table)
        assert table.Y is not None
        assert list(table.X) == names[1:]
        values = np.array(expected)
        np.testing.assert_array_equal(table.Y["joy"].astype(float), values[:, 0])
        for place, name in enumerate(table.X, start=1):
            if not np.isnan(values[:, place]).all():  # all missing: it may be text
                np.testing.assert_array_equal(table.X[name].astype(float), values[:, place])
    path.write_bytes(choices.damage(content))
    _check_file(path)
