"""Tables as files: every format, and back."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.tables import read_table, write_table
from refpair.tables.write import check_table_path, csv_text

ENDINGS = ["csv", "tsv", "csv.gz", "jsonl", "parquet"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read(tmp_path, ending):
    frame = pd.DataFrame(
        {
            "text": ["a, b\t", 'say "x"', "two\nlines; |", "r\rn"],
            "number": [0.1, np.nan, -1e300, 3],
            "whole": [1, 2, 3, 4],
            "truth": [True, False, True, True],
            "country": ["NA", None, "None", "null"],
        }
    )
    path = tmp_path / f"t.{ending}"
    write_table(frame, path)
    pd.testing.assert_frame_equal(
        read_table(path).X, frame.assign(text=frame["text"].str.strip()), check_dtype=False
    )
    assert sorted(tmp_path.iterdir()) == [path]


def test_lists(tmp_path):
    frame = pd.DataFrame({"x": [1, 2, 3], "tags": [["a", "b"], [], ("c",)]})
    assert csv_text(frame) == "x,tags\n1,a|b\n2,\n3,c\n"
    for ending in ("jsonl", "parquet"):
        write_table(frame.iloc[:2], tmp_path / f"t.{ending}")
        assert read_table(tmp_path / f"t.{ending}").X["tags"].tolist() == [["a", "b"], []]


def test_mixed_columns_and_times(tmp_path):
    frame = pd.DataFrame(
        {
            "id": np.array([1, "x", None], dtype=object),
            "large": np.array([2**70, 1, 2], dtype=object),
            "sparse": pd.arrays.SparseArray([0.0, 1.0, 0.0]),
            "at": pd.to_datetime(["2024-01-01", None, "2024-01-02"]),
            "Int": pd.array([1, None, 0], dtype="Int8"),
        }
    )
    for ending in ENDINGS:
        write_table(frame, tmp_path / f"t.{ending}")
        X = read_table(tmp_path / f"t.{ending}").X
        assert X["id"].tolist()[:2] == ["1", "x"]
        assert float(X["large"][0]) == 2.0**70
        assert X["sparse"].tolist() == [0, 1, 0]
        assert str(X["at"][2])[:10] == "2024-01-02"
        assert X["at"].isna().tolist() == [False, True, False]
        assert X["Int"].isna().tolist() == [False, True, False]


def test_gzip_has_no_time(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == b"a\n1\n"


def test_a_table_without_rows(tmp_path):
    write_table(pd.DataFrame({"a": [], "b": []}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a,b\n"


def test_paths_that_no_table_can_be_written_to(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"t\.xls: the name of a table ends in \.csv, .* or \.parquet"):
        check_table_path(tmp_path / "t.xls")
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        write_table(pd.DataFrame(), tmp_path / "no" / "t.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"t\.parquet: writing Parquet needs .*'refpair\[parquet\]'"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@st.composite
def frames(draw):
    """Columns of texts, numbers and truths, with gaps; at least one cell of a text column is a plain word."""
    n_rows = draw(st.integers(1, 5))
    columns = {}
    for place in range(draw(st.integers(2, 5))):  # a single name may look like several
        filled = draw(st.sampled_from(["text", "float", "int", "bool"]))
        cell = {
            "text": words.map(str.strip).map(lambda text: text or None),
            "float": st.floats(allow_nan=False, allow_infinity=False) | st.none(),
            "int": st.integers(-(2**63), 2**63 - 1),
            "bool": st.booleans(),
        }[filled]
        cells = draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
        if filled == "text":
            cells[draw(st.integers(0, n_rows - 1))] = "word"
        if filled == "float":
            cells[0] = 0.5
            cells = np.array(cells, dtype=float)
        columns[f"c{place}{draw(words.map(str.strip))}"] = pd.Series(cells)
    return pd.DataFrame({name: column.where(column.notna(), np.nan) for name, column in columns.items()})


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(frame=frames())
def test_any_table_is_the_same_in_every_format(tmp_path_factory, frame):
    folder = tmp_path_factory.mktemp("any")
    paths = [folder / f"t.{ending}" for ending in ENDINGS]
    for path in paths:
        write_table(frame, path)
    for name, sep in (("semicolon", ";"), ("pipe", "|")):
        paths.append(folder / f"{name}.csv")
        paths[-1].write_bytes(csv_text(frame, sep).encode())
    for path in paths:
        pd.testing.assert_frame_equal(read_table(path).X, frame, obj=path.name)


FORMULAS = [
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=", "-", "+49 30 1234", "-1.5.2", "--1",
    "=cmd|' /C calc'!A0", "\uff1d1+1", "-inf", "+1e", "-1,5",
]  # fmt: skip
NO_FORMULAS = ["", "a=b", " =1", "'=1", "-1.5", "+3", "-.5", "-5.", "-1e-7", "+1E+300", "x", "1-1", '"=1"']


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_no_cell_is_a_formula_in_a_spreadsheet(tmp_path, ending):
    cells = [*FORMULAS, *NO_FORMULAS]
    numbers = -np.arange(1.0, len(cells) + 1)
    frame = pd.DataFrame(
        {
            "=name": cells,
            "kind": pd.Categorical(cells),
            "text": pd.array(cells, "string"),
            "list": [[cell, "x"] for cell in cells],
            "number": numbers,
            "both": [*cells[:-1], -1.5],
            "sparse": pd.arrays.SparseArray(numbers),
            -7: numbers.astype(int),
        }
    )
    path = tmp_path / f"a.{ending}"
    write_table(frame, path, for_spreadsheets=True)
    sep = "\t" if ending == "tsv" else ","
    found = pd.read_csv(path, sep=sep, dtype=str, keep_default_na=False)
    expected = [f"'{cell}" for cell in FORMULAS] + NO_FORMULAS
    assert list(found.columns) == ["'=name", "kind", "text", "list", "number", "both", "sparse", "-7"]
    for name in ("'=name", "kind", "text"):
        assert found[name].tolist() == expected
    assert found["both"].tolist() == [*expected[:-1], "-1.5"]
    signs = tuple(cell[0] for cell in FORMULAS)
    joined = [f"{cell}|x" for cell in cells]  # no number any more
    assert found["list"].tolist() == [f"'{cell}" if cell.startswith(signs) else cell for cell in joined]
    for name in ("number", "sparse", "-7"):
        assert found[name].astype(float).tolist() == numbers.tolist()
    write_table(frame, path)  # which is the default
    assert pd.read_csv(path, sep=sep, dtype=str, keep_default_na=False)["=name"].tolist() == cells


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_what_no_spreadsheet_opens_has_no_form_for_it(tmp_path, ending):
    with pytest.raises(ValueError, match=r"for spreadsheets, choose a name that ends in \.csv or \.tsv"):
        write_table(pd.DataFrame({"a": ["=1"]}), tmp_path / f"a.{ending}", for_spreadsheets=True)


def test_missing_cells_stay_empty_for_spreadsheets():
    frame = pd.DataFrame({"a": ["=1", None, np.nan], "b": pd.array([1, None, -2], "Int8")})
    assert csv_text(frame, for_spreadsheets=True) == "a,b\n'=1,1\n,\n,-2\n"
