"""Prices of labels that differ from row to row, as costs have them."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refpair import Cost, get_cost
from tests import naive

NAMES = ["fraud", "spam", "refund"]
A = np.array([[5.0, 1.0, 2.0], [20.0, 0.0, 3.0]])
Y, Z = [[1, 0, 1], [1, 1, 0]], [[0, 1, 1], [0, 0, 1]]


@st.composite
def priced(draw):
    """Truths and predictions, with prices of each row, or of each row for all labels."""
    n, n_labels = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    labels = arrays(np.uint8, (n, n_labels), elements=st.integers(0, 1))
    prices = [
        draw(arrays(np.float64, (n, draw(st.sampled_from([1, n_labels]))), elements=st.integers(0, 50)))
        for _ in range(2)
    ]
    return draw(labels), draw(labels), *prices


@settings(deadline=None)
@given(priced())
def test_each_row_has_its_own_prices(case):
    truths, predictions, fp, fn = case
    cost = Cost.per_label(false_positive=fp, false_negative=fn)
    of_rows = [np.broadcast_to(prices, truths.shape).tolist() for prices in (fp, fn)]
    pairs = zip(truths.tolist(), predictions.tolist(), *of_rows, strict=True)
    expected = [float(naive.per_label(*row)) for row in pairs]
    assert cost.n_rows == len(truths)
    assert cost.rows(truths, predictions).tolist() == expected
    assert cost.mean(truths, predictions) == pytest.approx(np.mean(expected))
    some = np.arange(len(truths))[::-2]
    assert (
        cost.for_rows(some).rows(truths[some], predictions[some]).tolist()
        == np.array(expected)[some].tolist()
    )
    assert cost.for_rows(slice(1, None)).n_rows == len(truths) - 1


def test_the_forms_of_prices():
    expected = Cost.per_label(false_negative=A)
    frame = pd.DataFrame(A, columns=NAMES, index=[7, 3])
    for prices in (
        A.tolist(),
        A.astype(np.float32),
        frame,
        frame[NAMES[::-1]],
        pl.DataFrame(A, schema=NAMES),
        {"fraud": [5, 20], "spam": pd.Series([1, 0]), "refund": A[:, 2]},
    ):
        cost = Cost.per_label(false_negative=prices).for_labels(NAMES)
        assert cost == expected
        assert hash(cost) == hash(expected)
        assert len({cost, expected}) == 1
    mixed = Cost.per_label(false_negative={"fraud": [5, 20], "spam": 4}, default=7)
    assert mixed.for_labels(NAMES).rows(Y, Z).tolist() == [5 + 1, 20 + 4 + 1]
    assert mixed.for_labels(NAMES) == Cost.per_label(false_negative=[[5, 4, 7], [20, 4, 7]])
    assert mixed != Cost.per_label(false_negative={"fraud": [5, 20], "spam": 4}, default=8)


def test_the_dimension_decides_what_prices_are_of():
    square = [1.0, 2.0]
    assert Cost.per_label(false_negative=square).n_rows is None
    assert Cost.per_label(false_negative=pd.Series(square)).n_rows is None
    by_row = Cost.per_label(false_negative=np.array(square)[:, None])
    assert by_row.n_rows == 2
    assert by_row.rows([[1, 1], [1, 1]], [[0, 0], [0, 1]]).tolist() == [2, 2]
    assert Cost.per_label(false_negative=square).rows([[1, 1], [1, 1]], [[0, 0], [0, 1]]).tolist() == [3, 1]


def test_prices_by_name_find_the_columns_of_tables():
    cost = Cost.per_label(false_negative={"spam": [4, 6]})
    frame = pd.DataFrame(Y, columns=NAMES)
    assert cost.rows(frame, Z).tolist() == [1 + 1, 6 + 1 + 1]
    with pytest.raises(ValueError, match="prices by label name, and these labels have no names"):
        cost.rows(Y, Z)
    with pytest.raises(ValueError, match="unknown label 'spam'; did you mean 'spams'"):
        cost.for_labels(["spams", "fraud"])


def test_unknown_truths_have_no_price():
    cost = Cost.per_label(false_negative=[*A, [9, 9, 9]])
    gaps = [[np.nan, 0, 1], [np.nan] * 3, [1, np.nan, np.nan]]
    np.testing.assert_array_equal(cost.rows(gaps, [[0, 1, 1], [0, 0, 0], [0, 0, 0]]), [1, np.nan, 9])


def test_the_mean_prices():
    cost = Cost.per_label(false_negative=A, false_positive=[[1], [3]], name="money")
    mean = cost.with_mean_prices()
    assert mean == Cost.per_label(false_negative=[12.5, 0.5, 2.5], false_positive=2, name="money")
    assert cost.with_mean_prices([3, 1]).false_positive == 1.5
    assert mean.with_mean_prices() is mean
    assert get_cost("f1").with_mean_prices() is get_cost("f1")
    named = Cost.per_label(false_negative={"spam": [4, 6]}, default=2).with_mean_prices()
    assert named == Cost.per_label(false_negative={"spam": 5}, default=2)
    with pytest.raises(ValueError, match="no rows"):
        cost.for_rows(slice(0, 0)).with_mean_prices()


def test_prices_of_rows_are_short_and_do_not_change():
    given = A.copy()
    cost = Cost.per_label(false_negative=given)
    given[:] = 0
    for copy in (cost, deepcopy(cost), pickle.loads(pickle.dumps(cost))):
        assert copy == Cost.per_label(false_negative=A)
        with pytest.raises(ValueError, match="read-only"):
            copy.false_negative.array[0, 0] = 1
    assert repr(cost) == "Cost.per_label(false_positive=1.0, false_negative=<prices of 2 rows>)"
    named = Cost.per_label(false_negative={"spam": [4, 6]}, default=2)
    assert repr(named).endswith("false_negative=<prices of 2 rows>, default=2.0)")


def test_what_has_no_rows_is_refused():
    cost = Cost.per_label(false_negative=A, name="money")
    with pytest.raises(ValueError, match=r"'money' has prices of 2 rows, and a matrix .* use rows\(Y, Z\)"):
        cost.matrix(Y, Z)
    for method in (cost.rows, cost.mean):
        with pytest.raises(ValueError, match="'money' has prices of 2 rows, and here are 1"):
            method(Y[:1], Z[:1])
        with pytest.raises(ValueError, match="'money' has prices of 2 rows, and here are 1"):
            method([[np.nan, 1, 0]], Z[:1])
    with pytest.raises(ValueError, match="has 3 prices in each row for 2 labels"):
        cost.for_labels(["a", "b"])
    with pytest.raises(ValueError, match=r"prices of rows are not stored; .*\.with_mean_prices\(\) can be"):
        cost.to_dict()
    with pytest.raises(ValueError, match="false_positive has prices of 1 rows, and false_negative of 2"):
        Cost.per_label(false_positive=A[:1], false_negative=A)
    with pytest.raises(ValueError, match=r"a price for each row is an array of shape \(n, 1\)"):
        Cost.per_label(false_negative=[1, 2, 3, 4, 5]).rows(Y, Z)


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ([[1, 2], [3, np.nan]], "false_negative: the price of label 1 in row 1 is nan: make it finite"),
        ([[1], [-2]], "the price of all labels in row 1 is -2.0"),
        ({"fraud": [1, 2, np.inf], "spam": 1}, "the price of label 'fraud' in row 2 is inf"),
        (pd.DataFrame({"spam": [1.0, None]}), "the price of label 'spam' in row 1 is nan"),
        (pd.DataFrame({"spam": [1, None]}, dtype="Int64"), "in row 1 is nan|NA"),
        (np.ma.masked_equal([[1.0, 2.0]], 2.0), "the price of label 1 in row 0 is nan"),
        ([[1e101]], "at most 1e[+]100"),
        ([["a", "b"]], "prices must be numbers, not values of dtype <U1"),
        ([[None, {}]], "false_negative: "),
        ([[10**400]], "false_negative: "),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "needs a name of its own"),
        ({"fraud": [1, 2], "spam": [1, 2, 3]}, "label 'fraud' has prices of 2 rows, and 'spam' of 3"),
        ({"fraud": [[1], [2]]}, r"one for each row, not shape \(2, 1\)"),
        (np.ones((2, 0)), r"not \(2, 0\)"),
        (np.ones((2, 2, 2)), "false_negative must be one price or one for each label"),
    ],
    ids=str,
)
def test_what_is_no_price_is_named_by_row_and_label(prices, message):
    with pytest.raises(ValueError, match=message):
        Cost.per_label(false_negative=prices)


@pytest.mark.parametrize("stored", [[[0.5, 1.0]], [["fraud", [1, 2]]]])
def test_stored_costs_have_no_rows(stored):
    with pytest.raises(ValueError, match="a stored cost has one price for each label"):
        Cost.from_dict({"name": "a", "false_negative": stored})
