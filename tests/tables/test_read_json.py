"""JSON lines: rows that leave out names, lists in cells, and lines that are no rows."""

from __future__ import annotations

import numpy as np
import pytest

from refpair.tables import read_table


@pytest.fixture
def read(tmp_path):
    def read(text: str, **options):
        path = tmp_path / "t.jsonl"
        path.write_text(text, encoding="utf-8")
        return read_table(path, **options)

    return read


def test_names_that_rows_leave_out_are_missing(read):
    X = read('{"a": 1, " b ": "x"}\n\n{"c": [1, 2], "a": null}\n').X
    assert list(X) == ["a", "b", "c"]
    np.testing.assert_array_equal(X["a"], [1, np.nan])
    assert X["c"].isna().tolist() == [True, False]
    assert X["c"][1] == [1, 2]


def test_empty_lists_stay_lists(read):
    assert read('{"x": 1, "tags": []}\n{"x": 2, "tags": ["a", "b"]}\n').X["tags"].tolist() == [[], ["a", "b"]]


def test_odd_numbers(read):
    X = read(
        '{"a": NaN, "b": 1e400, "c": 123456789012345678901234567890}\n{"a": 1, "b": -Infinity, "c": 1}\n'
    ).X
    np.testing.assert_array_equal(X, [[np.nan, np.inf, 1.2345678901234568e29], [1, -np.inf, 1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no rows; each line is an object"),
        ("{}\n{}\n", "its rows are empty"),
        ('{"a": 1}\n{"a": 2\n', r"line 2: cannot read it as JSON \(Expecting"),
        ("[1]\n", "line 1: it is no object"),
        ('{"a": 1, "a": 2}\n', "line 1: .*a name comes twice"),
        ('{"a": 1, " a": 2}\n', "2 columns are named 'a'"),
        ('{"a": 1}\n{"a": {"b": 2}}\n', "column 'a', row 2: a cell cannot be dict"),
        ('{"a": "\\ud800"}\n', "line 1: cannot read it as JSON .*surrogates"),
        ("[" * 100_000 + "\n", "line 1: cannot read it as JSON .*recursion"),
        ('{"a": ' + "9" * 5000 + "}\n", "line 1: cannot read it as JSON .*limit"),
    ],
)
def test_lines_that_are_no_rows(read, text, message):
    with pytest.raises(ValueError, match=rf"t\.jsonl.*{message}"):
        read(text)


def test_a_single_value_among_lists_is_a_list_of_one(tmp_path):
    (tmp_path / "songs.jsonl").write_text('{"tags": ["joy", "calm"]}\n{"tags": "joy"}\n{"tags": null}\n')
    tags = read_table(tmp_path / "songs.jsonl").X["tags"]
    assert tags[:2].tolist() == [["joy", "calm"], ["joy"]]
    assert tags.isna().tolist() == [False, False, True]
