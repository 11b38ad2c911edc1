"""What columns are found to be, and what overrules it."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from refpair import TableVectorizer
from refpair.tables.columns import find_kinds

nan = np.nan


def kind_of(values, name="x"):
    return find_kinds(pd.DataFrame({name: values}))[name].kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2, 3], "number"),
        ([3, 1, 2], "number"),
        ([1, nan, 1], "number"),  # the gap tells something
        ([1, 2, 3], "ignored"),  # row numbers
        ([7, 7, 7], "ignored"),
        ([nan, nan], "ignored"),
        ([np.inf, np.inf], "ignored"),
        (pd.array([1, None, 3], "Int64"), "number"),
        (pd.to_timedelta([1, None, 3], unit="s"), "number"),
        ([True, False, True], "boolean"),
        (pd.Series([True, None, False], dtype=object), "boolean"),
        (pd.array([True, None, False], "boolean"), "boolean"),
        (["yes", "no", None], "boolean"),
        (["T", "F", "T"], "boolean"),
        (["0", "1", "1"], "boolean"),
        (pd.to_datetime(["2024-01-01", None]), "date"),
        ([datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 3)], "date"),
        (["2024-01-01", "2024-01-02", "2024-03-01"], "date"),
        (["2024-01-01", "2024-01-02"], "ignored"),  # too few to be sure
        (["a", "b"] * 3, "category"),
        ([f"v{i % 50}" for i in range(500)], "category"),
        ([f"v{i % 50}" for i in range(499)], "string"),
        (pd.Categorical(["x", "y", "z"]), "category"),
        (pd.Categorical([1, 2, 2]), "category"),
        ([1, "a", 1, "a", 2.5, 2.5], "category"),
        ([[1], [1], {"a": 2}, {"a": 2}], "category"),
        (["a", "b", "c"], "ignored"),
        ([f"x{i}@mail.org" for i in range(40)], "ignored"),
        ([f"{i * 7919:032x}" for i in range(40)], "ignored"),
        (["lib-json", "lib-xml", "json-tools", "xml-tools", "python-json"], "string"),
        (["one word more", "two words", "x"], "text"),
        (["今天天气很好", "我很生气", "我很高兴"], "text"),
        (["วันนี้อากาศดี", "ฉันโกรธ", "ฉันมีความสุข"], "text"),
        ([1, "some words", None, "and others"], "text"),
        ([1 + 2j, 3j, 4j], "ignored"),
        ([" ", "", None], "ignored"),
        (["a.png", "b.png", "c d.png"], "ignored"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(values) == kind


def test_names_of_ids():
    assert kind_of([17, 3, 9], "age") == "number"
    for name in ("id", "song_id", "UUID", "Unnamed: 0"):
        assert kind_of([17, 3, 9], name) == "ignored"
    assert kind_of([17, 3, 9, 9], "id") == "number"


def test_the_reasons_are_told():
    table = pd.DataFrame(
        {
            "n": [1.5, nan, 2],
            "same": [1, 1, 1],
            "none": [None] * 3,
            "id": ["a1", "b2", "c3"],
            "live": ["yes", "no", "yes"],
            "hue": pd.Categorical(["red", "blue", "red"]),
            "said": ["so good", "so bad", " "],
        }
    )
    columns = TableVectorizer({"hue": "category", "n": "number"}).fit(table).columns_
    assert columns["kind"].tolist() == [
        "number", "ignored", "ignored", "ignored", "boolean", "category", "text",
    ]  # fmt: skip
    assert columns["why"].tolist() == [
        "as asked for",
        "all values are the same",
        "no values",
        "ids: different in each row, and without parts that recur",
        "no or yes",
        "as asked for",
        "strings of several words",
    ]
    assert columns["missing"].tolist() == [1, 0, 3, 0, 0, 0, 1]
    assert columns["features"].tolist() == [2, 0, 0, 0, 1, 2, 2]


FRAME = pd.DataFrame(
    {"n": [5, 2, 3], "t": ["1", "x", "y"], "c": [1, 1, 1], "d": ["2024-01-01", "2024-02-01", None]}
)


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"sex": "number"}, "kinds: unknown column 'sex'; there are 'n', 't', 'c', 'd'"),
        ({"n": "numbr"}, "kinds: unknown kind 'numbr'; did you mean 'number'"),
        ({"t": "number"}, r"column 't' must hold numbers, and row 2 is 'x'; .* or fit with another kind"),
        ({"t": "boolean"}, "column 't' cannot be a boolean: .* yes or no, .*choose another kind"),
        ({"t": "date"}, "column 't' cannot be a date: .* such as 2024-03-01 .*choose another kind"),
        ({"n": "date"}, "column 'n' cannot be a date"),
        ({"n": "image"}, "column 'n' cannot be an image: it holds numbers.*'number'"),
        ({"t": "image"}, "column 't' cannot be an image without a folder"),
        (
            dict.fromkeys(("n", "t", "d"), "ignored"),
            r"nothing to learn from in 4 columns and 3 rows \(n, t, d: as asked for; c: all values are the s",
        ),
    ],
)
def test_kinds_that_cannot_be(kinds, message):
    with pytest.raises(ValueError, match=message):
        TableVectorizer(kinds).fit(FRAME)


@pytest.mark.parametrize(
    ("kinds", "names"),
    [
        ({"n": "category"}, ["n = 2", "n = 3", "n = 5"]),
        ({"c": "number"}, ["c"]),
        ({"c": "category"}, ["c = 1"]),
        ({"c": "boolean"}, ["c"]),
        ({"t": "category"}, ["t = 1", "t = x", "t = y"]),
        ({"t": "text"}, ["t: characters 1", "t: characters x", "t: characters y"]),
        ({"d": "date"}, ["d: days since the first", "d: month", "d: weekday", "d is missing"]),
    ],
)
def test_kinds_can_be_chosen(kinds, names):
    others = dict.fromkeys(FRAME.columns.difference(list(kinds)), "ignored")
    vectorizer = TableVectorizer({**others, **kinds}).fit(FRAME)
    assert vectorizer.get_feature_names_out().tolist() == names
    assert vectorizer.columns_.loc[list(kinds), "why"].tolist() == ["as asked for"]


def test_numbers_that_are_written_as_text():
    frame = pd.DataFrame({"n": ["1", " 2.5", None, "inf", "nan", ""]})
    vectorizer = TableVectorizer({"n": "number"}).fit(frame)
    X = np.asarray(vectorizer.transform(frame))
    assert (X[:, 1] > 0).tolist() == [False, False, True, False, False, True]
    assert np.isfinite(X).all()


def test_kinds_of_arrays():
    X = np.array([[1.0, 0], [2, 1], [1, 0], [2, 5]])
    vectorizer = TableVectorizer({"x0": "category", "x1": "ignored"}).fit(X)
    assert vectorizer.get_feature_names_out().tolist() == ["x0 = 1", "x0 = 2"]
    with pytest.raises(ValueError, match="unknown kind 'nosuch'"):
        TableVectorizer({"x0": "nosuch"}).fit(X)
    with pytest.raises(ValueError, match="unknown column 'y'"):
        TableVectorizer({"y": "number"}).fit(X)
