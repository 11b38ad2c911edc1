"""Costs that users get wrong: the error names the cost, and nothing of theirs is written to."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from refpair import CSRPEClassifier
from refpair.costs import Cost, get_cost

Y, Z = np.array([[1, 0], [0, 0]]), np.array([[0, 1], [0, 0]])


def both_kinds(returned):
    """Make a cost of counts and one of labels that return what they are told."""
    return (
        Cost.from_counts(lambda tp, fp, fn, tn: returned(tp.shape), name="mine"),
        Cost.from_function(lambda Y, Z: returned((len(Y),)), name="mine"),
    )


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (lambda shape: [[1.0], [1.0, 2.0]], "'mine' must return an array of shape"),
        (lambda shape: np.full(shape, 1e101), "'mine' is 1e.101 for .*: make it .* at most 1e.100"),
        (lambda shape: np.full(shape, -1e300), "'mine' is -1e.300 for"),
        (lambda shape: np.full(shape, np.inf, np.float16), "'mine' is inf for"),
        (lambda shape: np.full(shape, np.longdouble("1e4000")), "'mine' is 1e.4000 for|'mine' is inf for"),
        (lambda shape: np.ma.masked_array(np.ones(shape), mask=True), "'mine' is nan for"),
        (lambda shape: np.ma.masked_array(np.ones(shape, int), mask=True), "'mine' is nan for"),
        (lambda shape: sp.csr_array(np.eye(2)), "'mine' must return real numbers"),
    ],
)
def test_what_is_no_cost_is_refused_by_name(returned, complaint):
    for cost in both_kinds(returned):
        for method in (cost.matrix, cost.rows, cost.mean):
            with pytest.raises(ValueError, match=complaint):
                method(Y, Z)


def test_the_largest_costs_have_a_mean():
    for cost in both_kinds(lambda shape: np.full(shape, 1e100)):
        assert cost.mean(Y, Z) == pytest.approx(1e100)
    assert Cost.per_label(false_positive=1e100).mean(Y, Z) == pytest.approx(5e99)


def test_results_are_not_the_array_that_a_function_keeps():
    kept = np.zeros(2)
    cost = Cost.from_function(lambda Y, Z: kept)
    rows = cost.rows(Y, Z)
    kept[:] = 7
    assert rows.tolist() == [0.0, 0.0]
    rows[:] = 5
    assert kept.tolist() == [7.0, 7.0]
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    assert Cost.from_function(lambda Y, Z: fixed).rows(Y, Z).flags.writeable


@pytest.mark.parametrize("place", [0, 1])
def test_functions_that_write_to_what_they_get_are_told(place):
    def write(*arguments):
        arguments[place][...] = 7
        return np.zeros(len(arguments[0]))

    def add(*arguments):
        total = arguments[place]
        total += 1
        return total.sum(axis=tuple(range(1, total.ndim)))

    truths, predictions = Y.astype(np.uint8), sp.csr_array(Z)
    for function in (write, add):
        for cost in (Cost.from_function(function, "mine"), Cost.from_counts(function, "mine")):
            for method in (cost.rows, cost.matrix, cost.mean):
                with pytest.raises(ValueError, match="the cost 'mine' writes into an array that it is given"):
                    method(truths, predictions)
    np.testing.assert_array_equal(truths, Y)
    np.testing.assert_array_equal(predictions.toarray(), Z)


def test_a_function_may_return_what_it_gets():
    for cost in (Cost.from_counts(lambda tp, fp, fn, tn: fp), Cost.from_function(lambda Y, Z: Z[:, 1])):
        assert cost.rows(Y, Z).tolist() == [1.0, 0.0]
        assert cost.rows(Y, Z).flags.writeable
        assert cost.matrix(Y, Z).tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_a_model_is_told_of_a_cost_that_writes():
    def swap(tp, fp, fn, tn):
        fp += fn
        return fp / (fp + tp + 1)

    with pytest.raises(ValueError, match="'swap' writes into"):
        CSRPEClassifier(Cost.from_counts(swap), n_bits=4).fit(np.eye(4), np.eye(4, dtype=int))


@pytest.mark.parametrize("error", [KeyError("mine"), ValueError("mine"), ZeroDivisionError("mine")])
def test_errors_of_functions_reach_the_user_as_they_are(error):
    def fail(*arguments):
        raise error

    for cost in (Cost.from_function(fail), Cost.from_counts(fail)):
        for method in (cost.matrix, cost.rows, cost.mean):
            with pytest.raises(type(error)) as caught:
                method(Y, Z)
            assert caught.value is error


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        ([[0], [0, 1]], "Y must be a label matrix with rows of one length"),
        (np.ma.masked_array(Y, mask=Y == 0), "Y must be a label matrix of 0 and 1 only, without masked"),
    ],
)
def test_what_are_no_labels_is_refused_by_name(labels, complaint):
    with pytest.raises(ValueError, match=complaint):
        get_cost("f1").matrix(labels, Z)


@pytest.mark.parametrize(
    "name", ["f1_0", "f 1", "f1 ", "f٢", "f+2", "f-1", "f", "fnan", "finf", "f1e400", "f0"]
)
def test_names_that_only_look_like_f_beta(name):
    with pytest.raises(ValueError, match="unknown cost"):
        get_cost(name)


@pytest.mark.parametrize("name", ["f2", "f2.", "f.5", "f1e-5", "f12.25", "f1E2"])
def test_names_of_f_beta(name):
    assert get_cost(name) == Cost.f_beta(float(name[1:]))


@pytest.mark.parametrize("beta", ["2", None, [1], 1j, 10**400, 1e200], ids=lambda beta: f"{beta!r:.20}")
def test_beta_must_be_a_number(beta):
    with pytest.raises(ValueError, match="beta must be a finite number above zero"):
        Cost.f_beta(beta)


@pytest.mark.parametrize(
    "prices",
    ["dear", "5", None, 1j, np.array([1j]), [1.0, [2.0]], 10**400, 1e101, np.longdouble("1e4000")],
    ids=lambda prices: f"{prices!r:.20}",
)
def test_prices_that_are_none(prices):
    with pytest.raises(ValueError, match="false_positive must be one price or one for each label"):
        Cost.per_label(false_positive=prices)


def test_prices_by_name_name_a_label():
    with pytest.raises(ValueError, match="false_positive must name a label, or be one price for all"):
        Cost.per_label(false_positive={})


@pytest.mark.parametrize(
    "stored",
    [
        None,
        [],
        "f1",
        {},
        {"false_positive": 1},
        {"name": "f1", "colour": "red"},
        {"name": 5},
        {"name": ["f1"]},
        {"name": {}, "false_positive": 1},
        {"name": "a", "false_positive": 10**400},
        {"name": "a", "false_positive": {"b": 1}},
    ],
)
def test_stored_costs_that_are_none(stored):
    with pytest.raises(ValueError, match=r"stored cost|false_positive must be"):
        Cost.from_dict(stored)


def test_a_cost_needs_a_function_and_a_name():
    for make in (Cost.from_counts, Cost.from_function):
        with pytest.raises(TypeError, match="f must be a function, not int"):
            make(5)
        with pytest.raises(TypeError, match="name must be a string, not int"):
            make(len, name=5)
    with pytest.raises(TypeError, match="name must be a string, not list"):
        Cost.per_label(name=[])
