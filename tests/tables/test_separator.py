"""The separator is found by the header and the rows, or the table is refused."""

from __future__ import annotations

import pytest

from refpair.tables import read_table


@pytest.fixture
def columns(tmp_path):
    def columns(text: str, name: str = "t.csv", **options) -> list[str]:
        path = tmp_path / name
        path.write_text(text, newline="")
        return list(read_table(path, **options).X)

    return columns


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_each_usual_one(columns, sep, end):
    assert columns(end.join([sep.join("abc"), sep.join("123"), sep.join("456")])) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('package,depends,tags\nx,"a, b | c",p|q\ny,d | e; f,p|q|r\n', ["package", "depends", "tags"]),
        ("a;b;c\n3,5;1,0;2,5\n4,5;1,5;2,0\n", ["a", "b", "c"]),
        ('"a;x","b"\n1,2\n', ["a;x", "b"]),
        ("price, eur;name, first;x\n3,5;a;1\n2;b;2\n", ["price, eur", "name, first", "x"]),
        ("a,b|c\n1,x|y\n2,z\n", ["a", "b|c"]),
        ("price, eur\tname\n3,5\tx\n", ["price, eur", "name"]),
        ('a,b\n"1;2\n3;4",5\n', ["a", "b"]),
        ("a,b\n1,2\n", ["a", "b"]),
        (f'a,b\n{"x" * 200_000},"y;z"\n1,2\n', ["a", "b"]),
        ("text\n" + "word " * 60_000 + "\n", ["text"]),
    ],
)
def test_what_else_is_in_cells(columns, text, expected):
    assert columns(text) == expected


def test_tables_of_one_column(columns):
    for text in (
        "joy\n1\n0\n",
        'text\n"Hey, you"\n"a, b, c"\n',
        "text\nHey, you\nBye, now\n",
        "text\nHey,you\nsome words; and, more,of them\nplain\n",
        "time\n12:30:00\n12:31:00\n",
        "address\nhttp://a.org/b\nhttp://c.org/d\n",
        "note: text\nthis: that\nhere: there\n",
        "free text\nhello world\ngood bye\n",
    ):
        assert len(columns(text)) == 1


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a:b:c\n1:2:3\n4:5:6\n", {}, "it has one column, but ':' parts all its rows into 3; give --sep ':'"),
        ("a:b:c\n", {}, "it has one column, but ':' parts all its rows into 3"),
        ("a^b\n1^2\n", {}, r"but '\^' parts all its rows into 2; give --sep '\^'"),
        ("a b c\n1 2 3\n4   5 6\n", {}, "blanks part all its rows into 3; give --sep ' '"),
        ("x\n1,2\n3,4\n", {}, "the header has one name, but ',' parts all rows into 2 cells; name all"),
        ("x\n1\t2\n", {}, r"the header has one name, but '\\t' parts all rows into 2 cells"),
        ("a,b,c\n1;2;3\n4;5;6\n", {}, "the header has 3 columns if ',' parts them, but rows have one cell"),
        ("a,b\n1,2\n", {"sep": ";"}, "it has one column, but ',' parts all its rows into 2; give --sep ','"),
        ("a\tb\n1\t2\n", {"sep": ","}, "parts all its rows into 2; give --sep tab"),
        ("a,b\n1,2\n", {"sep": ",,"}, "the separator ',,' is not one character"),
        ("a,b\n1,2\n", {"sep": "x"}, "the separator 'x' is not one character such as"),
        ("a,b\n1,2\n", {"sep": '"'}, "is not one character"),
    ],
)
def test_a_missed_separator_is_refused(columns, text, options, message):
    with pytest.raises(ValueError, match=message):
        columns(text, **options)


@pytest.mark.parametrize(
    ("text", "sep"),
    [
        ("a:b\n1:2\n", ":"),
        ("a b\n1   2\n", " "),
        ("a\tb\n1\t2\n", "tab"),
        ("a\tb\n1\t2\n", "\\t"),
        ("a,x;b\n1;2\n", ";"),
    ],
)
def test_a_given_one(columns, text, sep):
    assert len(columns(text, sep=sep)) == 2


def test_the_name_says_tab(columns):
    assert columns("a,b,c\td\n1,2,3\t4\n", "t.tsv") == ["a,b,c", "d"]
    assert columns("a,b,c\td\n1,2,3\t4\n", "t.csv") == ["a", "b", "c\td"]
    assert columns("a;b\n1;2\n", "t.tsv") == ["a", "b"]


def test_a_table_of_one_column_may_have_another_separator(tmp_path):
    (tmp_path / "songs.csv").write_text("title mood\nHey joy\nOh calm\n")
    with pytest.raises(ValueError, match=r"unknown column 'mood'.*The file has one column.*--sep"):
        read_table(tmp_path / "songs.csv", ["mood"])
    (tmp_path / "songs.csv").write_text("title#mood\nHey#joy\nOh#calm\n")
    with pytest.raises(ValueError, match="it has one column, but '#' parts all its rows into 2"):
        read_table(tmp_path / "songs.csv", ["mood"])
