"""Any data, written as ARFF by a plain writer, come back as they were."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.datasets.arff import read_arff

texts = st.text(st.characters(codec="utf-8"), max_size=6)
floats = st.floats(allow_nan=False, allow_infinity=False)
ESCAPES = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "%": "\\%"}


def quote(text: str, mark: str) -> str:
    if mark == "" and re.fullmatch(r"[A-Za-z0-9_.+-]+", text):
        return text
    mark = mark or "'"
    return mark + "".join(ESCAPES.get(letter, letter) for letter in text) + mark


@st.composite
def tables(draw):
    """Columns as (name, declared values or None) and rows of cells: a number, a value or None."""
    names = draw(st.lists(texts.filter(bool), min_size=2, max_size=6, unique=True))
    labels = draw(st.lists(st.sampled_from(names), min_size=1, max_size=len(names) - 1, unique=True))
    whole = st.integers(-5, 10).map(str)
    columns = []
    for name in names:
        values = st.none() | st.lists(st.one_of(whole, texts), min_size=1, max_size=4, unique=True)
        values = st.permutations(["0", "1"]) if name in labels else values
        columns.append((name, draw(values)))
    cells = []
    for name, values in columns:
        filled = floats if values is None else st.sampled_from(values)
        cells.append(filled if name in labels else st.none() | filled)
    return columns, labels, draw(st.lists(st.tuples(*cells), min_size=1, max_size=5))


def expected(values, cell) -> float:
    if cell is None:
        return np.nan
    if values is None:
        return cell
    is_whole = all(re.fullmatch(r"[+-]?[0-9]+", value) for value in values)
    return int(cell) if is_whole else values.index(cell)


def write(columns, rows, marks, is_sparse: bool) -> str:
    def cell_text(values, cell) -> str:
        if cell is None:
            return "?"
        return repr(cell) if values is None else quote(cell, next(marks))

    lines = ["@relation 'round trip'"]
    for name, values in columns:
        kind = "numeric" if values is None else "{" + ", ".join(quote(v, next(marks)) for v in values) + "}"
        lines.append(f"@attribute {quote(name, next(marks))} {kind}")
    lines.append("@data")
    for row in rows:
        pairs = [(values, cell) for (_, values), cell in zip(columns, row, strict=True)]
        if is_sparse:
            left_out = [cell == (0 if values is None else values[0]) for values, cell in pairs]
            entries = [f"{i} {cell_text(*pair)}" for i, pair in enumerate(pairs) if not left_out[i]]
            lines.append("{" + ",".join(entries) + "}")
        else:
            lines.append(",".join(cell_text(*pair) for pair in pairs))
    return "\n".join(lines) + "\n"


@settings(max_examples=150, deadline=None)
@given(table=tables(), marks=st.lists(st.sampled_from(["", "'", '"']), min_size=1), is_sparse=st.booleans())
def test_round_trip(table, marks, is_sparse):
    columns, labels, rows = table
    endless = (mark for _ in iter(int, 1) for mark in marks)
    with TemporaryDirectory() as folder:
        path = Path(folder, "set.arff")
        path.write_bytes(write(columns, rows, endless, is_sparse).encode())
        data = read_arff(path, labels)
    matrix = np.array(
        [[expected(v, cell) for (_, v), cell in zip(columns, row, strict=True)] for row in rows], float
    )
    names = [name for name, _ in columns]
    features = [i for i, name in enumerate(names) if name not in labels]
    assert data.feature_names == [names[i] for i in features]
    assert data.label_names == labels
    np.testing.assert_array_equal(data.Y, matrix[:, [names.index(label) for label in labels]])
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    np.testing.assert_array_equal(X, matrix[:, features])
