"""Files that are broken or made to do harm: a clear error, in a moment, whatever they claim."""

from __future__ import annotations

import gzip
import time
import zipfile

import numpy as np
import pytest

from refpair.datasets.arff import read_arff
from refpair.tables import _source, read_table
from refpair.tables._arff import read_label_names

ARFF = "@attribute n numeric\n@attribute y {0,1}\n@data\n"
BLANKS = " " * 40_000
FEW_SECONDS = 8.0  # each took from half a minute to hours


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: str | bytes):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def quickly():
    started = time.process_time()
    yield
    assert time.process_time() - started < FEW_SECONDS


# ---- ARFF ----


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("row", [f"1{BLANKS}x,1", f"'1'{BLANKS}x,1", f"{{0 1{BLANKS}x,1 1}}"])
def test_a_line_of_blanks_takes_no_time(write, row):
    with pytest.raises(ValueError, match=r"a\.arff, line 4: "):
        read_arff(write("a.arff", f"{ARFF}{row}\n"), ["y"])


@pytest.mark.usefixtures("quickly")
def test_blanks_around_values_are_no_part_of_them(write):
    rows = f"{BLANKS}1{BLANKS},{BLANKS}'1'{BLANKS}\n2 ,0{BLANKS}% comment\n"
    data = read_arff(write("a.arff", ARFF + rows), ["y"])
    np.testing.assert_array_equal(np.hstack([data.X, data.Y]), [[1, 1], [2, 0]])
    data = read_arff(write("a.arff", f"{ARFF}{{0{BLANKS}'1'{BLANKS},1 1{BLANKS}}}\n"), ["y"])
    np.testing.assert_array_equal(np.hstack([data.X.toarray(), data.Y]), [[1, 1]])


@pytest.mark.usefixtures("quickly")
def test_many_columns_of_one_name_take_no_time(write):
    n = 25_000
    text = "@attribute a numeric\n" * n + "@attribute y {0,1}\n@data\n" + "1," * n + "1\n"
    names = read_arff(write("a.arff", text), ["y"]).feature_names
    assert names == ["a", *(f"a#{i}" for i in range(2, n + 1))]


def test_lists_of_values_take_time_in_proportion(write):
    def seconds(n: int) -> float:
        header = "".join(f"@attribute a{i} {{0,{i}}}\n" for i in range(1, n)) + "@attribute y {0,1}\n@data\n"
        path = write("a.arff", header + "0," * (n - 1) + "1\n")
        started = time.process_time()
        assert read_arff(path, ["y"]).X.shape == (1, n - 1)
        return time.process_time() - started

    assert seconds(48_000) < 14 * seconds(8_000)  # six times as long, not 36 times


def test_an_index_of_thousands_of_digits(write):
    with pytest.raises(ValueError, match=r"a\.arff, line 4: index 9+, but indices end at 1"):
        read_arff(write("a.arff", f"{ARFF}{{{'9' * 5000} 1}}\n"), ["y"])


def test_what_sparse_rows_leave_out_must_fit_into_memory(write):
    n = 6_000
    header = "".join(f"@attribute a{i} {{1,0}}\n" for i in range(n)) + "@attribute y {0,1}\n@data\n"
    path = write("a.arff", header + "{}\n" * 100_000)
    with pytest.raises(
        ValueError, match=r"a\.arff: 100,000 rows times 6,000 columns whose first .* are too many"
    ):
        read_arff(path, ["y"])


@pytest.mark.parametrize("encoding", ["none-such", "utf-7", "shift_jis"])
def test_odd_encodings_of_label_files(write, encoding):
    path = write("a.xml", f'<?xml version="1.0" encoding="{encoding}"?><labels><label name="a"/></labels>')
    with pytest.raises(ValueError, match=r"a\.xml: not a valid XML file"):
        read_label_names(path)


# ---- libsvm ----


@pytest.mark.parametrize("index", ["3000000000", "1000000000000", "9" * 30])
def test_an_index_beyond_32_bits(write, index):
    with pytest.raises(ValueError, match=r"a\.svm: cannot read it as libsvm"):
        read_table(write("a.svm", f"1 {index}:1\n"))


@pytest.mark.usefixtures("quickly")
def test_an_index_far_beyond_all_values(write):
    path = write("a.svm", "1 1:1 2000000000:1\n")
    with pytest.raises(ValueError, match=r"a\.svm: the index 2000000000 is far beyond what 2 values need"):
        read_table(path)
    assert read_table(write("a.svm", "1 40000:1\n")).X.shape == (1, 40_000)


@pytest.mark.parametrize("label", ["nan", "inf", "9007199254740993"])
def test_labels_that_are_no_names(write, label):
    with pytest.raises(ValueError, match=r"a\.svm, row 2: .* is no name of a label"):
        read_table(write("a.svm", f"1 1:1\n{label} 1:1\n"))


def test_labels_must_fit_into_memory(write):
    names = ",".join(map(str, range(20_000)))
    path = write("a.svm", f"{names} 1:1\n" + "0 1:1\n" * 100_000)
    with pytest.raises(ValueError, match=r"a\.svm: 100,001 rows times 20,000 labels are too many"):
        read_table(path)


# ---- CSV ----


def test_broken_gzip_blocks(write):
    content = bytearray(gzip.compress(b"a,joy\n1,1\n" * 50, mtime=0))
    content[20:24] = b"\x00\xff\xff\x13"
    with pytest.raises(ValueError, match=r"a\.csv\.gz: it is not a whole \.gz file"):
        read_table(write("a.csv.gz", bytes(content)), ["joy"])


@pytest.mark.usefixtures("quickly")
def test_a_million_columns_in_a_kilobyte(write):
    commas = b"," * 1_000_000
    path = write("a.csv.gz", gzip.compress(b"joy" + commas + b"\n1" + commas + b"\n"))
    with pytest.raises(ValueError, match=r"a\.csv\.gz: 1,000,001 columns are too many for a file of"):
        read_table(path, ["joy"])


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz", "a.svm.gz", "a.arff.gz"])
def test_packed_files_may_not_grow_without_bounds(write, name):
    path = write(name, gzip.compress(b"a,joy\n" + b"1,1\n" * 12_000_000))
    with pytest.raises(ValueError, match=rf"{name}: it would grow more than 200 times"):
        read_table(path)


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_rows_that_leave_out_nearly_all_cells(write, name):
    if name == "a.csv":
        content = ",".join(f"a{i}" for i in range(50_000)) + "\n" + "1,2\n" * 50_000
    else:
        content = "".join(f'{{"a{i}": 1}}\n' for i in range(20_000))
    with pytest.raises(ValueError, match=rf"{name}: [0-9,]+ rows times [0-9,]+ columns are too many for"):
        read_table(write(name, content))


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("cell", ["1" * 3_000_000 + "x", " " * 3_000_000 + "x", "," * 9_000])
def test_long_cells_take_no_time(write, cell):
    X = read_table(write("a.csv", f"a;b\n{cell};1\n")).X
    assert X.iloc[0].tolist() == [cell.strip(), 1]


@pytest.mark.usefixtures("quickly")
def test_many_quotes_take_no_time(write):
    with pytest.raises(ValueError, match=r"a\.csv, row 1: a quote is not closed"):
        read_table(write("a.csv", "a;b\n" + '"' * 3_000_001 + ";1\n"))


# ---- Parquet and Excel ----


def test_parquet_of_one_value_many_times(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": pa.nulls(20_000_000)}), tmp_path / "a.parquet", row_group_size=20_000_000)
    monkeypatch.setattr(
        _source, "_MAX_CELLS_PER_BYTE", 1
    )  # pyarrow writes up to 600 cells a byte, others more
    with pytest.raises(ValueError, match=r"a\.parquet: 20,000,000 rows times 1 columns are too many"):
        read_table(tmp_path / "a.parquet")


def excel(path, rows: str):
    """Write an Excel file whose sheet has this XML for its rows."""
    pytest.importorskip("openpyxl").Workbook().save(path)
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    start, end = (parts[sheet].index(tag) for tag in ("<sheetData", "<pageMargins"))
    parts[sheet] = f"{parts[sheet][:start]}<sheetData>{rows}</sheetData>{parts[sheet][end:]}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


def test_an_excel_file_that_grows(tmp_path):
    cell = '<c r="A1" t="inlineStr"><is><t>' + "a" * 60_000_000 + "</t></is></c>"
    path = excel(tmp_path / "a.xlsx", f'<row r="1">{cell}</row>')
    with pytest.raises(ValueError, match=r"a\.xlsx: it would grow more than 200 times"):
        read_table(path)


@pytest.mark.usefixtures("quickly")
def test_an_excel_file_with_a_row_far_away(tmp_path):
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="999999999"><c r="A999999999"><v>1</v></c></row>'
    with pytest.raises(ValueError, match=r"a\.xlsx: cannot read it as Excel \(it has more rows than Excel"):
        read_table(excel(tmp_path / "a.xlsx", rows))


@pytest.mark.usefixtures("quickly")
def test_an_excel_file_with_a_column_far_away_in_each_row(tmp_path):
    rows = "".join(f'<row r="{i}"><c r="XFD{i}"><v>{i}</v></c></row>' for i in range(1, 3000))
    with pytest.raises(ValueError, match=r"a\.xlsx: .* columns are too many"):
        read_table(excel(tmp_path / "a.xlsx", rows))
