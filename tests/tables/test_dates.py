"""Dates in their usual forms."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from refpair import TableVectorizer
from refpair.tables._encoders import date_format, date_parts, read_dates

DAYS = pd.Series(pd.to_datetime(["2023-12-25", "2024-02-29", "2024-11-03"]))
FORMS = {
    "2006-01-02": "%Y-%m-%d",
    "ISO with time": "%Y-%m-%dT%H:%M:%S",
    "ISO with a zone": "%Y-%m-%d %H:%M:%S+00:00",
    "German": "%d.%m.%Y",
    "German with time": "%d.%m.%Y %H:%M",
    "American": "%m/%d/%Y",
    "American with time": "%m/%d/%Y %I:%M %p",
    "British": "%d/%m/%Y",
    "Japanese": "%Y/%m/%d",
    "short": "%d.%m.%y",
    "names": "%d %b %Y",
    "long names": "%B %d, %Y",
    "mail": "%a, %d %b %Y %H:%M:%S +0000",
}


@pytest.mark.parametrize("form", FORMS)
def test_usual_forms(form):
    column = pd.Series([*DAYS.dt.strftime(FORMS[form]), None, " "])
    found = date_format(column)
    assert found is not None
    read = read_dates(column, found)
    assert read[:3].tolist() == DAYS.tolist()
    assert read[3:].isna().all()


@pytest.mark.parametrize(
    "values",
    [
        ["1.5", "2.5", "3.5"],
        ["12-34", "56-78", "90-12"],
        ["2024-01-01", "2024-01-02", "soon"],
        ["31.02.2024", "01.02.2024", "02.02.2024"],
        ["10.0.0.1", "10.0.0.2", "192.168.0.1"],
        ["030-123456", "040-98765", "089-5555"],
        ["2024", "2023", "2022"],
        ["v1.2.3", "v1.2.4", "v2.0.0"],
        ["1.2.3", "1.2.4", "2.0.0"],
    ],
)
def test_what_is_no_date(values):
    assert date_format(pd.Series(values)) is None


def test_parts_of_dates():
    times = pd.Series(pd.to_datetime(["2024-01-01 06:30", "2024-01-03 00:00", None]))
    parts = date_parts(times, times.min())
    np.testing.assert_allclose(parts[0], [0, 2024, 1, 0, 6.5])
    np.testing.assert_allclose(parts[1], [1.7291666667, 2024, 1, 2, 0])
    assert np.isnan(parts[2]).all()


def vectorized(values):
    vectorizer = TableVectorizer({"day": "date"}).fit(pd.DataFrame({"day": values}))
    return vectorizer, lambda values: np.asarray(vectorizer.transform(pd.DataFrame({"day": values})))


def test_only_parts_that_differ_are_features():
    vectorizer, _ = vectorized(["2024-03-01", "2024-03-02", "2024-03-04"])
    assert vectorizer.get_feature_names_out().tolist() == ["day: days since the first", "day: weekday"]
    vectorizer, _ = vectorized(["2024-03-01", "2024-03-01"])
    assert vectorizer.get_feature_names_out().tolist() == ["day: days since the first"]


@pytest.mark.parametrize("form", ["times", "dates", "objects", "ISO", "zone"])
def test_tables_write_the_same_dates_in_several_ways(form):
    written = {
        "times": DAYS,
        "dates": pd.Series([day.date() for day in DAYS], dtype=object),
        "objects": pd.Series([day.to_pydatetime() for day in DAYS], dtype=object),
        "ISO": DAYS.dt.strftime("%Y-%m-%d"),
        "zone": DAYS.dt.tz_localize("UTC"),
    }
    _, transform = vectorized(written[form])
    expected = transform(written[form])
    assert expected.any()
    for values in written.values():
        np.testing.assert_allclose(transform(values), expected)
    _, german = vectorized(DAYS.dt.strftime("%d.%m.%Y"))
    np.testing.assert_allclose(german(written["dates"]), expected)


def test_dates_that_were_never_seen_and_what_is_none():
    vectorizer, transform = vectorized(["2024-01-01", "2024-05-01", None])
    names = vectorizer.get_feature_names_out().tolist()
    X = transform(["1999-12-31", "2077-01-01", "soon", None, "2024-01-01"])
    assert np.isfinite(X).all()
    days = X[:, names.index("day: days since the first")]
    assert days[0] < days[4] < days[1]
    assert (X[:, names.index("day is missing")] > 0).tolist() == [False, False, False, True, False]


@pytest.mark.parametrize(
    "values",
    [
        ["0001-01-01", "9999-12-31", "2024-01-01"],
        [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31), None],
        ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00+05:00", "2024-02-01T00:00:00-03:00"],
    ],
)
def test_far_dates_and_zones(values):
    _, transform = vectorized(values)
    X = transform(values)
    assert np.isfinite(X).all()
    assert (X[0] != X[1]).any()
