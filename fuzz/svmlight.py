"""libsvm files: any bytes, and rows that must come back as they were."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from fuzz.choices import Choices
from fuzz.scratch import check_table, result_or_refusal, scratch_folder
from refpair.tables import read_table

INSTRUMENTED = ("refpair.tables._formats", "refpair.tables._source", "refpair.tables.read")
SEEDS = (
    b"\x001,3 1:0.5 4:2\n 2:1 # no labels\n10 1:1\n",
    b"\x000 0:1 7:1e-3\n1 qid:3 2:-1\n",
    b"\x002.5,-1 3:nan\n\n1 1000000000000:1\n",
    b"\x001 99999999:1\n",
    b"\1" + bytes(range(100)),
    b"\1" + bytes(range(255, 150, -1)),
)
WORDS = (
    "1:", "0:", ":1", "1,2", "qid:", "#", " ", "\t", "\n", "\r", "nan", "inf", "-1", "1e300",
    "1000000000000:1", "2147483647:1", "2147483648:1", "99999999:1", "4294967296:1", "0.5",
)  # fmt: skip


def check(data: bytes) -> None:
    """Let the first byte say what the rest is: a file, or choices that make one."""
    with scratch_folder() as folder:
        path = folder / "songs.svm"
        if data[:1] == b"\0":
            path.write_bytes(data[1:])
            _check_file(path)
        else:
            _check_made(Choices(data[1:]), path)


def _check_file(path: Path) -> None:
    table = result_or_refusal(partial(read_table, path), path)
    if table is not None:
        check_table(table)
        assert table.Y is None or table.Y.any(axis=0).all(), "there is a label that no row has"
    table = result_or_refusal(partial(read_table, path, ["1", "2"], drop=["1"]), path)
    if table is not None:
        check_table(table)
        assert table.Y is not None
        assert list(table.Y) == ["1", "2"]


def _check_made(choices: Choices, path: Path) -> None:
    """Write rows, read them, compare; then damage the file and read it again."""
    first, width = choices.below(2), 1 + choices.below(9)
    lines, X, Y = [], [], []
    for _ in range(1 + choices.below(6)):
        values = [choices.number() if choices.flag() else 0.0 for _ in range(width)]
        labels = [bool(choices.below(2)) for _ in range(3)]
        entries = [f"{first + i}:{value!r}" for i, value in enumerate(values) if value or i in (0, width - 1)]
        lines.append(f"{','.join(str(k) for k, on in enumerate(labels) if on)} {' '.join(entries)}")
        X.append(values)
        Y.append(labels)
    content = "\n".join(lines).encode()
    path.write_bytes(content)
    table = read_table(path, ["0", "1", "2"])
    check_table(table)
    assert list(table.X) == [str(first + i) for i in range(width)]
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.Y, Y)
    path.write_bytes(choices.damage(content))
    _check_file(path)
