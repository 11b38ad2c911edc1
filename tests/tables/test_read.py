"""Tables of every format: cells as they are, labels by name."""

from __future__ import annotations

import gzip
import io
import sys
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from refpair.tables import Table, read_table

CSV = """\
title,tempo,live,moods,country
"Hey, you",120.5,True,joy|calm,NA
Oh,,False,anger,None
Ah,-3e2,True,joy,DE
"""
nan = np.nan


@pytest.fixture
def csv(tmp_path):
    return write(tmp_path, CSV, "songs.csv")


def write(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def cells(frame: pd.DataFrame) -> dict[str, list]:
    return {name: [None if one != one else one for one in frame[name].tolist()] for name in frame}


def test_cells_are_as_they_are(csv):
    table = read_table(csv, ["moods"], drop=["live"])
    assert repr(table) == "Table('songs.csv': 3 rows, 3 columns, 1 label columns)"
    assert table.folder == csv.parent
    assert isinstance(table.X.index, pd.RangeIndex)
    pd.testing.assert_frame_equal(
        table.X,
        pd.DataFrame(
            {
                "title": ["Hey, you", "Oh", "Ah"],
                "tempo": [120.5, nan, -300],
                "country": ["NA", "None", "DE"],
            }
        ),
    )
    assert table.Y["moods"].tolist() == ["joy|calm", "anger", "joy"]
    assert read_table(csv).Y is None
    assert repr(read_table(csv)).endswith("no labels)")
    assert read_table(csv, "moods").Y.columns.tolist() == ["moods"]
    assert read_table(csv, [" live ", "moods"]).Y.columns.tolist() == ["live", "moods"]


def test_other_ways_to_write_it(tmp_path, csv):
    expected = read_table(csv).X
    frame = expected.assign(moods=[["joy", "calm"], ["anger"], ["joy"]])
    paths = [tmp_path / name for name in ("s.tsv", "s.csv.gz", "s.TSV.gz", "p.csv", "semi.csv")]
    for path, sep in zip(paths, "\t,\t|;", strict=True):
        content = expected.to_csv(sep=sep, index=False).encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    for name, pack in (("s.jsonl", bytes), ("s.ndjson.gz", gzip.compress)):
        content = expected.to_json(orient="records", lines=True)
        paths.append(write(tmp_path, pack(content.encode()), name))
    paths += [tmp_path / "s.parquet", tmp_path / "s.pq"]
    for path in paths[-2:]:
        expected.to_parquet(path)
    for path in paths:
        pd.testing.assert_frame_equal(read_table(path).X, expected, obj=path.name)
    frame.to_parquet(tmp_path / "l.parquet")
    frame.to_json(tmp_path / "l.jsonl", orient="records", lines=True)
    for name in ("l.parquet", "l.jsonl"):
        assert read_table(tmp_path / name, ["moods"]).Y["moods"].tolist() == frame["moods"].tolist()


def test_excel(tmp_path, csv):
    pytest.importorskip("openpyxl")
    expected = read_table(csv).X
    with pd.ExcelWriter(tmp_path / "s.xlsx") as book:
        expected.to_excel(book, sheet_name="first", index=False, startrow=2)
        pd.DataFrame({"other": [1]}).to_excel(book, sheet_name="second", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "s.xlsx").X, expected)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "b"]], "there are no rows below the header in the first sheet"),
        ([["a"], [1], [1, 2]], "row 2: 2 cells, but the header has 1; name all columns"),
        ([["a", "a"], [1, 2]], "2 columns are named 'a'"),
    ],
)
def test_broken_sheets(tmp_path, rows, message):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "s.xlsx")
    with pytest.raises(ValueError, match=rf"s\.xlsx.*{message}"):
        read_table(tmp_path / "s.xlsx")


def test_excel_trouble(tmp_path, monkeypatch):
    path = write(tmp_path, b"PK\3\4no", "s.xlsx")
    with pytest.raises(ValueError, match=r"s\.xlsx: cannot read it as Excel"):
        read_table(path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"s\.xlsx: reading Excel needs .*'refpair\[excel\]'"):
        read_table(path)


def test_standard_input(monkeypatch):
    def pipe(content: bytes) -> Table:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return read_table("-", ["joy"])

    for content in (b"a;joy\n1;0\n", b'\xef\xbb\xbf {"a": 1, "joy": 0}\n', gzip.compress(b"a,joy\n1,0\n")):
        table = pipe(content)
        assert (table.name, table.folder) == ("standard input", None)
        assert (cells(table.X), cells(table.Y)) == ({"a": [1]}, {"joy": [0]})
    with pytest.raises(ValueError, match="standard input: unknown column 'joy'; there are 'a', 'b'"):
        pipe(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match="standard input: it is empty"):
        pipe(b"")


# ---- cells ----


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("1\n2", [1, 2]),
        ("1\n\n2", [1, 2]),  # a blank line is no row
        ('1\n""\n2', [1, None, 2]),
        ("1\nNA\n2.5", [1, None, 2.5]),
        ("?\n-\nnull\n7", [None, None, None, 7]),
        ("NA\nNA", ["NA", "NA"]),
        ("NA\nDE", ["NA", "DE"]),
        ("null\nNone\n3", [None, None, 3]),
        ("nan\ntext", ["nan", "text"]),
        ("yes\nno", ["yes", "no"]),
        ("True\nFALSE\ntrue", [True, False, True]),
        ('true \n""\nfalse', [True, None, False]),
        ("true\n1", ["true", "1"]),
        ("inf\n-Infinity\n1e400", [np.inf, -np.inf, np.inf]),
        ("0x1f\n1_0", ["0x1f", "1_0"]),
        ("2024-01-01\n2024-01-02", ["2024-01-01", "2024-01-02"]),
        ("18446744073709551616\n7", [2.0**64, 7.0]),
        ("9" * 500 + "\n-1", [np.inf, -1.0]),
        ('" a "\n"b\nc"', ["a", "b\nc"]),
        ('""\n""', [None, None]),
        ("٣\n4", ["٣", "4"]),
    ],
)
def test_what_texts_stand_for(tmp_path, column, expected):
    found = cells(read_table(write(tmp_path, f"x\n{column}\n")).X)["x"]
    assert found == expected
    assert [isinstance(one, bool) for one in found] == [isinstance(one, bool) for one in expected]


@pytest.mark.parametrize("sep", ";\t|")
def test_decimal_commas(tmp_path, sep):
    text = 'a_b_c_tags\n3,5_3,5_1,5_1,2\n4_x_NA_2,3\n""_3_1,5,6_1\n'
    path = write(tmp_path, text.replace("_", sep))
    table = read_table(path, ["tags"])
    assert table.X["a"].tolist()[:2] == [3.5, 4.0]
    assert table.X["a"].isna().tolist() == [False, False, True]
    assert table.X["b"].tolist() == ["3,5", "x", "3"]
    assert table.X["c"].tolist() == ["1,5", "NA", "1,5,6"]
    assert table.Y["tags"].tolist() == ["1,2", "2,3", "1"]


def test_a_quoted_decimal_comma_in_a_comma_file_is_text(tmp_path):
    assert cells(read_table(write(tmp_path, 'a,b\n"3,5",1\n"4,5",2\n')).X)["a"] == ["3,5", "4,5"]


def test_types_are_the_same_from_every_format(tmp_path):
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, 2, 3], dtype="Int64"),
            "gaps": pd.array([1, None, 3], dtype="Int64"),
            "truth": pd.array([True, None, False], dtype="boolean"),
            "empty": [None, None, None],
            "small": np.array([1, 2, 3], dtype=np.int8),
            "single": np.array([0.5, nan, 2], dtype=np.float32),
            "large": np.array([1, 2, 2**64 - 1], dtype=np.uint64),
            "kind": pd.Categorical(["a", None, "b"]),
            "blanks": [" a", "", "b "],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    one, two, three = (read_table(tmp_path / f"t.{ending}").X for ending in ("csv", "jsonl", "parquet"))
    assert [str(kind) for kind in one.dtypes[:7]] == [
        *("int64", "float64", "object", "float64", "int64", "float64", "float64")
    ]
    assert one["blanks"].dropna().tolist() == ["a", "b"]
    pd.testing.assert_frame_equal(one, two)
    pd.testing.assert_frame_equal(one, three)


def test_texts_and_numbers_in_one_column_are_texts(tmp_path):
    lines = '{"a": 1, "b": true}\n{"a": "x", "b": 0}\n{"b": 2.5}\n'
    table = read_table(write(tmp_path, lines, "t.jsonl"))
    assert table.X["a"].tolist()[:2] == ["1", "x"]
    assert table.X["a"].isna().tolist() == [False, False, True]
    assert table.X["b"].tolist() == ["True", "0", "2.5"]


def test_dates_and_decimals_of_parquet(tmp_path):
    days = [date(2024, 1, 1), None]
    frame = pd.DataFrame(
        {"day": days, "time": [datetime(2024, 1, 1, 12), None], "price": [Decimal("1.5"), None]}
    )
    frame["far"] = [date(9999, 1, 1), None]
    frame.to_parquet(tmp_path / "t.parquet")
    X = read_table(tmp_path / "t.parquet").X
    assert pd.api.types.is_datetime64_any_dtype(X["day"])
    assert X["time"][0] == pd.Timestamp("2024-01-01 12:00")
    assert X["price"].dtype == np.float64
    assert str(X["far"][0])[:10] == "9999-01-01"
    assert X.isna().iloc[1].all()


def test_a_named_index_of_parquet_is_a_column(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="id"))
    frame.to_parquet(tmp_path / "t.parquet")
    assert sorted(read_table(tmp_path / "t.parquet").X) == ["a", "id"]
    frame.rename_axis(None).to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").X) == ["a"]


def test_bytes_are_no_cells(tmp_path):
    pd.DataFrame({"a": [None, b"x"]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet: column 'a', row 2: a cell cannot be bytes"):
        read_table(tmp_path / "t.parquet")


def test_parquet_trouble(tmp_path, monkeypatch):
    path = write(tmp_path, "not parquet", "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet: cannot read it as Parquet"):
        read_table(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"pip install 'refpair\[parquet\]'"):
        read_table(path)


# ---- encodings ----


def test_byte_order_mark_and_blanks_in_the_header(tmp_path):
    path = write(tmp_path, b'\xef\xbb\xbfa, b ," c",joy\n1, 2, "x, y",1\n')
    assert cells(read_table(path).X) == {"a": [1], "b": [2], "c": ["x, y"], "joy": [1]}
    assert read_table(path, encoding="UTF8").X.columns[0] == "a"


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.arff", "t.jsonl"])
def test_other_encodings_must_be_named(tmp_path, name):
    text = {
        "arff": "@attribute größe real\n@attribute y {0,1}\n@data\n1,0\n",
        "jsonl": '{"größe": 1, "y": 0}\n',
    }.get(name.split(".")[1], "größe,y\n1,0\n")
    content = text.encode("latin-1")
    path = write(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
    with pytest.raises(
        ValueError, match=rf"{name}: it is not UTF-8 \(byte 0xf6 in line 1\); give --encoding latin-1, say"
    ):
        read_table(path)
    assert cells(read_table(path, encoding="latin-1").X) == {"größe": [1], "y": [0]}
    with pytest.raises(ValueError, match=f"{name}: the encoding 'latin-99' is unknown"):
        read_table(path, encoding="latin-99")
    with pytest.raises(ValueError, match=f"{name}: it is not ascii"):
        read_table(path, encoding="ascii")


def test_the_line_of_the_first_bad_byte(tmp_path):
    path = write(tmp_path, b"a,b\n1,x\n2,caf\xe9\n")
    with pytest.raises(ValueError, match=r"is not UTF-8 \(byte 0xe9 in line 3\)"):
        read_table(path)
    with pytest.raises(ValueError, match=r"is not UTF-8 \(byte 0xc3 in line 2\)"):
        read_table(write(tmp_path, b"a,b\n1,\xc3"))
    with pytest.raises(ValueError, match=r"byte 0x00 in line 2\); is it a table\?"):
        read_table(write(tmp_path, b"a,b\n\0,1\n"))


def test_utf_16(tmp_path):
    path = write(tmp_path, "a;b\n1;ä\n".encode("utf-16"))
    with pytest.raises(ValueError, match="give --encoding utf-16"):
        read_table(path)
    assert cells(read_table(path, encoding="utf-16").X) == {"a": [1], "b": ["ä"]}


# ---- names and shape ----


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (CSV, {"labels": ["mods"]}, "unknown column 'mods'; did you mean 'moods'"),
        (CSV, {"drop": ["titel"]}, "unknown column 'titel'; did you mean 'title'"),
        (CSV, {"labels": ["moods", "moods"]}, "the label 'moods' is named twice; remove one"),
        (CSV, {"drop": ["live", "live"]}, "the column to drop 'live' is named twice"),
        (CSV, {"labels": ["moods"], "drop": ["moods"]}, "'moods' is named as a label and to be dropped"),
        ("a,joy,a\n1,1,2\n", {}, "2 columns are named 'a'; rename all but one"),
        ("a,joy, a \n1,1,2\n", {}, "2 columns are named 'a'"),
        ("a,joy\n", {}, "no rows below the header"),
        ("", {}, "it is empty; the first line names the columns"),
        ("\n \n", {}, "it is empty"),
        ("a,joy\n1,1,5\n1,0,5\n", {}, "line 2: 3 cells, but the header has 2; name all columns, or"),
        ("a,joy\n0,1,5\n1,0,5\n", {}, "line 2: 3 cells, but the header has 2"),
        ("a,joy\n1,1\n1,0,5\n", {}, r"t\.csv, line 3: 3 cells, but the header has 2"),
        ('a,joy\n1,1\n"x,1\n2,2\n', {}, r"row 2: a quote is not closed"),
        ("joy\n1\n", {"labels": ["joy"]}, "no columns are left besides labels and dropped ones"),
    ],
)
def test_errors(tmp_path, text, options, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(tmp_path, text), **options)


def test_columns_without_a_name(tmp_path):
    path = write(tmp_path, ",a,joy\n0,1,1\n")
    assert list(read_table(path).X) == ["Unnamed: 0", "a", "joy"]
    assert list(read_table(path, drop=["Unnamed: 0"]).X) == ["a", "joy"]


def test_rows_may_leave_out_their_last_cells(tmp_path):
    found = cells(read_table(write(tmp_path, "a,b,c\n1,2,3\n1\n")).X)
    assert found == {"a": [1, 1], "b": [2, None], "c": [3, None]}


@pytest.mark.parametrize("content", [b"plain", gzip.compress(CSV.encode(), mtime=0)[:-20]])
@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz", "t.svm.gz", "t.arff.gz"])
def test_broken_gzip(tmp_path, content, name):
    with pytest.raises(ValueError, match=rf"{name}: it is not a whole \.gz file"):
        read_table(write(tmp_path, content, name))


def test_unknown_ending(tmp_path):
    with pytest.raises(ValueError, match=r"known endings are \.csv, .*\.parquet.*\.xlsx, \.arff, \.svm"):
        read_table(write(tmp_path, "", "t.xls"))
    with pytest.raises(ValueError, match=r"t\.parquet\.gz: parquet files are packed already"):
        read_table(write(tmp_path, "", "t.parquet.gz"))
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "t.csv")
    with pytest.raises(IsADirectoryError):
        read_table(tmp_path)


@pytest.mark.parametrize("numbers", [["007", "12"], ["007", ""], ["0012", "0x"]])
def test_zeros_before_a_number_are_part_of_a_name(tmp_path, numbers):
    path = tmp_path / "clients.csv"
    path.write_text("client,day\n" + "".join(f"{number},{day}\n" for day, number in enumerate(numbers)))
    frame = read_table(path).X
    assert frame["client"].fillna("").tolist() == numbers
    assert frame["day"].tolist() == [0, 1]


def test_zeros_that_are_numbers_stay_numbers(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("size,when\n0,01.02.2024\n10,02.02.2024\n0,03.02.2024\n")
    assert read_table(path).X["size"].tolist() == [0, 10, 0]
