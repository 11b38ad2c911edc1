import json
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics

from refpair.costs import Cost, CountCost, PerLabelCost, cost_names, get_cost
from refpair.costs import _counts as label_code
from refpair.costs.cost import FunctionCost
from refpair.tables.labels import UNKNOWN
from tests import naive

NAMES = list(naive.COSTS)


def doubled(tp, fp, fn, tn):
    return 2 * (fp + fn)


def first_wrong(Y, Z):
    return Y[:, 0] != Z[:, 0]


def naive_matrix(cost, Y, Z):
    return np.array([[float(cost(y, z)) for z in Z] for y in Y])


def label_matrices(n_labels):
    return arrays(np.uint8, st.tuples(st.integers(1, 6), st.just(n_labels)), elements=st.integers(0, 1))


pairs_of_matrices = st.integers(1, 7).flatmap(lambda k: st.tuples(label_matrices(k), label_matrices(k)))


@pytest.fixture
def some():
    rng = np.random.default_rng(0)
    Y, Z = (rng.random((2, 40, 9)) < 0.3).astype(np.uint8)
    Y[0] = Z[0] = Z[1] = 0
    return Y, Z


# ---- values ----


@pytest.mark.parametrize("n_labels", [1, 2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_named_costs_are_their_definitions_to_the_last_digit(name, n_labels):
    vectors = naive.all_vectors(n_labels)
    expected = naive_matrix(naive.COSTS[name], vectors, vectors)
    np.testing.assert_array_equal(get_cost(name).matrix(vectors, vectors), expected)


@pytest.mark.parametrize(
    ("name", "square"), [("f0.5", Fraction(1, 4)), ("f2", Fraction(4)), ("f0.3", Fraction(9, 100))]
)
def test_f_beta_is_its_definition(name, square):
    vectors = naive.all_vectors(5)
    expected = naive_matrix(lambda y, z: naive.f_beta(y, z, square), vectors, vectors)
    np.testing.assert_allclose(get_cost(name).matrix(vectors, vectors), expected, rtol=1e-15)


@given(pairs_of_matrices, st.data())
@settings(deadline=None)
def test_per_label_is_its_definition(matrices, data):
    Y, Z = matrices
    prices = st.lists(st.integers(0, 50), min_size=Y.shape[1], max_size=Y.shape[1])
    fp, fn = data.draw(prices), data.draw(prices)
    cost = Cost.per_label(false_positive=fp, false_negative=fn)
    expected = naive_matrix(lambda y, z: naive.per_label(y, z, fp, fn), Y, Z)
    np.testing.assert_array_equal(cost.matrix(Y, Z), expected)
    np.testing.assert_array_equal(cost.matrix(sp.csr_array(Y), sp.coo_array(Z)), expected)
    n = min(len(Y), len(Z))
    np.testing.assert_array_equal(cost.rows(Y[:n], Z[:n]), np.diag(expected))
    np.testing.assert_array_equal(cost.rows(sp.csr_array(Y[:n]), Z[:n]), np.diag(expected))


def test_prices_of_one_make_hamming(some):
    np.testing.assert_allclose(
        Cost.per_label().matrix(*some), 9 * get_cost("hamming").matrix(*some), rtol=1e-15
    )


@given(pairs_of_matrices, st.sampled_from(NAMES))
@settings(deadline=None, max_examples=30)
def test_every_form_of_the_labels_gives_the_same_costs(matrices, name):
    Y, Z = matrices
    cost = get_cost(name)
    expected = naive_matrix(naive.COSTS[name], Y, Z)
    n = min(len(Y), len(Z))
    forms = [
        np.asarray,
        sp.csr_array,
        sp.csc_matrix,
        lambda A: A.astype(bool),
        lambda A: A.astype(float),
        np.ndarray.tolist,
    ]
    for left in forms:
        for right in forms:
            np.testing.assert_array_equal(cost.matrix(left(Y), right(Z)), expected)
            np.testing.assert_array_equal(cost.rows(left(Y[:n]), right(Z[:n])), np.diag(expected))


@pytest.mark.parametrize("step", [0, np.inf])
def test_both_sparse_products_agree(some, step, monkeypatch):
    monkeypatch.setattr(label_code, "_SPARSE_STEP", step)
    Y, Z = some
    expected = get_cost("f1").matrix(Y, Z)
    np.testing.assert_array_equal(get_cost("f1").matrix(sp.csr_array(Y), sp.csr_array(Z)), expected)


@pytest.mark.parametrize(
    "cost",
    [get_cost("f1"), Cost.per_label(false_negative=[*range(9)]), Cost.from_function(first_wrong)],
    ids=lambda cost: type(cost).__name__,
)
def test_blocks_do_not_show(some, cost, monkeypatch):
    expected = cost.matrix(*some)
    monkeypatch.setattr(label_code, "_BLOCK", 64)
    np.testing.assert_array_equal(cost.matrix(*some), expected)


def test_a_function_of_the_labels_sees_each_pair(some):
    by_function = Cost.from_function(lambda Y, Z: np.abs(Y - Z).mean(axis=1))
    np.testing.assert_allclose(by_function.matrix(*some), get_cost("hamming").matrix(*some), rtol=1e-15)
    np.testing.assert_allclose(by_function.rows(*some), get_cost("hamming").rows(*some), rtol=1e-15)


def test_a_function_of_the_labels_is_called_on_bounded_blocks(some, monkeypatch):
    monkeypatch.setattr(label_code, "_BLOCK", 90)
    calls = []
    Cost.from_function(lambda Y, Z: calls.append(Y.shape) or np.zeros(len(Y))).matrix(*some)
    assert set(calls) == {(10, 9)}
    assert len(calls) == 160


def test_scores_agree_with_scikit_learn(some):
    scores = {name: get_cost(name).mean(*some) for name in NAMES}
    assert scores["f1"] == pytest.approx(metrics.f1_score(*some, average="samples", zero_division=1))
    assert scores["accuracy"] == pytest.approx(
        metrics.jaccard_score(*some, average="samples", zero_division=1)
    )
    assert scores["hamming"] == pytest.approx(metrics.hamming_loss(*some))
    assert scores["zero_one"] == pytest.approx(metrics.zero_one_loss(*some))
    weights = np.arange(1, len(some[0]) + 1)
    assert get_cost("hamming").mean(*some, weights) == pytest.approx(
        metrics.hamming_loss(*some, sample_weight=weights)
    )
    f2 = metrics.fbeta_score(*some, beta=2, average="samples", zero_division=1)
    assert get_cost("f2").mean(*some) == pytest.approx(f2)


def test_an_empty_prediction_of_an_empty_truth_is_right():
    for name in ["f1", "accuracy", "f0.1", "f3", "hamming", "rank"]:
        assert get_cost(name).rows([[0, 0]], [[0, 0]]) == [0.0]
    for name in ["f1", "accuracy", "f0.1", "f3"]:
        np.testing.assert_array_equal(get_cost(name).rows([[0, 0], [1, 0]], [[0, 1], [0, 0]]), [1.0, 1.0])


def test_costs_may_be_negative():
    gain = Cost.from_counts(lambda tp, fp, fn, tn: fp - 3 * tp, name="gain")
    assert gain.rows([[1, 1, 0]], [[1, 1, 1]]) == [-5.0]


# ---- truths that are not all known ----

truths_and_predictions = st.integers(1, 6).flatmap(
    lambda k: st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            arrays(np.float64, (n, k), elements=st.sampled_from([0.0, 1.0, np.nan])),
            arrays(np.uint8, (n, k), elements=st.integers(0, 1)),
        )
    )
)


@pytest.mark.parametrize(
    "cost", [*map(get_cost, NAMES), Cost.from_counts(doubled)], ids=lambda cost: cost.name
)
@given(truths_and_predictions)
@settings(deadline=None)
def test_unknown_truths_are_as_if_the_label_were_not_there(cost, pair):
    Y, Z = pair
    check_unknown(cost, lambda known: cost, Y, Z)


@given(truths_and_predictions, st.data())
@settings(deadline=None)
def test_unknown_truths_have_no_price(pair, data):
    Y, Z = pair
    fp, fn = data.draw(arrays(np.float64, (2, Y.shape[1]), elements=st.integers(0, 9)))
    cost = Cost.per_label(false_positive=fp, false_negative=fn)
    check_unknown(
        cost, lambda known: Cost.per_label(false_positive=fp[known], false_negative=fn[known]), Y, Z
    )


@pytest.mark.parametrize("missing", [None, pd.NA, np.nan])
def test_truths_of_any_type_may_be_unknown(missing):
    Z = [[1, 1], [0, 1]]
    expected = get_cost("f1").rows([[1, np.nan], [0, 1]], Z)
    truths = pd.DataFrame([[1, missing], [0, 1]], dtype=object)
    for Y in (truths, truths.astype("Int64"), truths.astype("boolean"), truths.to_numpy().tolist()):
        np.testing.assert_array_equal(get_cost("f1").rows(Y, Z), expected)
    with pytest.raises(ValueError, match="got values of dtype"):
        get_cost("f1").rows([["a", missing]], [[1, 0]])


def check_unknown(cost, cost_of, Y, Z):
    """Compare costs of rows and their mean with those of each row without its unknown labels."""
    expected = np.full(len(Y), np.nan)
    for i, known in enumerate(~np.isnan(Y)):
        if known.any():
            expected[i] = cost_of(known).rows(Y[i : i + 1, known], Z[i : i + 1, known])[0]
    for truths in (Y, sp.csr_array(Y), sp.coo_array(Y)):
        for predictions in (Z, sp.csr_array(Z)):
            np.testing.assert_array_equal(cost.rows(truths, predictions), expected)
    scored = ~np.isnan(expected)
    if not scored.any():
        with pytest.raises(ValueError, match="Y has no label that is known"):
            cost.mean(Y, Z)
        return
    weights = np.arange(1.0, len(Y) + 1)
    for own in (None, weights):
        mean = np.average(expected[scored], weights=None if own is None else own[scored])
        assert cost.mean(Y, Z, own) == pytest.approx(1 - mean if cost.greater_is_better else mean)
    assert cost._score(np.where(np.isnan(Y), UNKNOWN, Y).astype(np.uint8), Z, None) in (
        cost.mean(Y, Z), 1 - cost.mean(Y, Z), -cost.mean(Y, Z),
    )  # fmt: skip


def test_functions_and_matrices_need_all_labels():
    cost = Cost.from_function(first_wrong)
    np.testing.assert_array_equal(cost.rows([[1, 0], [np.nan, np.nan]], [[0, 0], [0, 0]]), [1.0, np.nan])
    with pytest.raises(
        ValueError, match="'first_wrong' is a function of whole label vectors, and some labels"
    ):
        cost.rows([[1, np.nan]], [[0, 0]])
    with pytest.raises(ValueError, match="Z must be a label matrix of 0 and 1 only"):
        get_cost("f1").rows([[1, 0]], [[np.nan, 0]])
    for wrong in ([[np.inf, np.nan]], [[2.0, np.nan]], np.array([[2, 1]], np.uint8), [["a", np.nan]]):
        with pytest.raises(ValueError, match="Y must be a label matrix of 0 and 1"):
            get_cost("f1").rows(wrong, [[0, 0]])
    with pytest.raises(ValueError, match="not be zero for all rows that have labels that are known"):
        get_cost("f1").mean([[1, 0], [np.nan, np.nan]], [[0, 0], [0, 0]], [0, 1])


# ---- what is refused ----


@pytest.mark.parametrize("method", ["matrix", "rows"])
@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (lambda shape: np.full(shape, np.nan), "'mine' is nan for"),
        (lambda shape: np.full(shape, np.inf), "'mine' is inf for"),
        (lambda shape: np.zeros((7, *shape)), r"'mine' must return an array of shape .*, not \(7, "),
        (lambda shape: 0.0, r"'mine' must return an array of shape .*, not \(\)"),
        (lambda shape: np.full(shape, "dear"), "'mine' must return real numbers, not values of dtype <U4"),
        (
            lambda shape: np.zeros(shape, complex),
            "'mine' must return real numbers, not values of dtype complex",
        ),
        (lambda shape: None, "'mine' must return real numbers, not values of dtype object"),
    ],
)
def test_broken_costs_are_refused_by_name(returned, complaint, method):
    of_counts = Cost.from_counts(lambda tp, fp, fn, tn: returned(tp.shape), name="mine")
    of_labels = Cost.from_function(lambda Y, Z: returned((len(Y),)), name="mine")
    for cost in (of_counts, of_labels):
        with pytest.raises(ValueError, match=complaint):
            getattr(cost, method)([[1, 0], [0, 0]], [[0, 1], [0, 0]])


def test_a_division_by_zero_is_reported_with_its_counts():
    precision = Cost.from_counts(lambda tp, fp, fn, tn: fp / (tp + fp), name="precision")
    with pytest.raises(ValueError, match="'precision' is nan for tp=0, fp=0, fn=1, tn=1: make it a finite"):
        precision.rows([[1, 0]], [[0, 0]])


@pytest.mark.parametrize(
    ("Y", "complaint"),
    [
        ([[0, 2]], "Y must be a label matrix of 0 and 1 only"),
        ([[0, -1]], "Y must be a label matrix of 0 and 1 only"),
        (np.array([[0, 200]], np.uint8), "Y must be a label matrix of 0 and 1 only"),
        ([[0, 0.5]], "Y must be a label matrix of 0 and 1 only"),
        ([[0, np.nan]], "Y must be a label matrix of 0 and 1 only"),
        (sp.csr_array([[0, 2]]), "Y must be a label matrix of 0 and 1 only"),
        (sp.csr_array(([1, 1], ([0, 0], [1, 1])), shape=(1, 2)), "Y must be a label matrix of 0 and 1 only"),
        ([0, 1], r"Y must be a label matrix of shape \(n, n_labels\), got shape \(2,\)"),
        (np.empty((3, 0)), r"Y must be a label matrix of shape \(n, n_labels\), got shape \(3, 0\)"),
        ([["a", "b"]], "Y must be a label matrix of 0 and 1, got values of dtype <U1"),
        ([[0, 1, 0]], r"Y has 3 labels \(columns\) and Z has 2"),
    ],
)
def test_wrong_labels_are_refused_by_name(Y, complaint):
    with pytest.raises(ValueError, match=complaint):
        get_cost("f1").matrix(Y, [[0, 1]])
    with pytest.raises(
        ValueError, match=complaint.replace("Y", "Z") if "columns" not in complaint else "Y has 2"
    ):
        get_cost("f1").matrix([[0, 1]], Y)


def test_duplicate_entries_are_summed_without_touching_the_input():
    twice = sp.csr_array((np.array([1, -1, 1]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    assert get_cost("hamming").rows(twice, [[1, 0]]) == [0.0]
    assert twice.nnz == 3


def test_rows_must_match():
    with pytest.raises(ValueError, match="Y has 1 rows and Z has 2"):
        get_cost("f1").rows([[0, 1]], [[0, 1], [1, 1]])
    with pytest.raises(ValueError, match="Y has no rows"):
        get_cost("f1").mean(np.empty((0, 2)), np.empty((0, 2)))
    for weights, message in [
        ([1.0, 2.0, 3.0], r"one number for each of 2 rows; its shape is \(3,\)"),
        ([1.0, -1.0], "not negative"),
        ([1.0, np.nan], "finite"),
        ([0.0, 0.0], "not zero for all rows"),
    ]:
        with pytest.raises(ValueError, match=f"sample_weight must .*{message}"):
            get_cost("f1").mean(np.eye(2), np.eye(2), weights)


@pytest.mark.parametrize("prices", [[-1, 1], [np.nan, 1], [np.inf, 1], [[[1, 1]]]])
def test_prices_must_be_prices(prices):
    with pytest.raises(ValueError, match="false_negative must be one price or one for each label"):
        Cost.per_label(false_negative=prices)


def test_prices_must_be_one_for_each_label():
    cost = Cost.per_label(false_negative=[1, 2, 3], name="fraud")
    for method in (cost.matrix, cost.rows):
        with pytest.raises(ValueError, match="false_negative of the cost 'fraud' has 3 prices for 2 labels"):
            method([[0, 1]], [[0, 1]])


@pytest.mark.parametrize("beta", [0, -1, np.inf, np.nan, 1e-200])
def test_beta_must_be_above_zero(beta):
    with pytest.raises(ValueError, match="beta must be a finite number above zero"):
        Cost.f_beta(beta)


# ---- lookup, identity, storage ----


def test_lookup():
    found = {name: get_cost(name).name for name in cost_names()}
    assert {name for name in found if found[name] == name} >= {*NAMES[:4], "jaccard", "macro_f1", "micro_f1"}
    assert [found[name] for name in ("accuracy", "f1_samples", "f1_macro", "jaccard_micro")] == [
        "jaccard", "f1", "macro_f1", "micro_jaccard"
    ]  # fmt: skip
    assert get_cost("jaccard") is get_cost("accuracy")
    assert get_cost("f1") == Cost.f_beta(1)
    assert get_cost("f1.0") == get_cost("f1")
    assert get_cost("f0.5") == Cost.f_beta(0.5) != get_cost("f2")
    assert get_cost(get_cost("rank")) is get_cost("rank")
    by_function = get_cost(first_wrong)
    assert isinstance(by_function, FunctionCost)
    assert by_function.name == "first_wrong"


@pytest.mark.parametrize(
    ("name", "nearest"), [("haming", "hamming"), ("zeroone", "zero_one"), ("F1", "f1"), ("jacard", "jaccard")]
)
def test_an_unknown_name_gets_a_hint(name, nearest):
    with pytest.raises(
        ValueError, match=f"unknown cost '{name}', did you mean '{nearest}'. Known: hamming, .*f<beta>"
    ):
        get_cost(name)


def test_a_name_like_no_other_gets_no_hint():
    with pytest.raises(ValueError, match=r"unknown cost 'nme'\. Known: hamming, "):
        get_cost("nme")


def test_only_names_costs_and_functions_are_costs():
    with pytest.raises(TypeError, match="not int"):
        get_cost(1)


def test_what_is_better():
    assert [get_cost(name).greater_is_better for name in NAMES] == [False, False, False, True, True]
    reported = Cost.from_counts(lambda tp, fp, fn, tn: fp / (tp + fp + fn + tn), greater_is_better=True)
    assert reported.mean([[0, 0, 0, 0]], [[1, 0, 0, 0]]) == 0.75


STORABLE = [
    *(get_cost(name) for name in NAMES),
    Cost.f_beta(2),
    Cost.f_beta(1 / 3),
    Cost.f_beta(1e-5),
    Cost.per_label(false_positive=2, false_negative=0.5),
    Cost.per_label(false_positive=[1, 2], false_negative=[0.1, 50], name="fraud"),
]


@pytest.mark.parametrize("cost", STORABLE, ids=repr)
def test_built_in_costs_can_be_stored(cost):
    for copy in (
        Cost.from_dict(json.loads(json.dumps(cost.to_dict()))),
        pickle.loads(pickle.dumps(cost)),
    ):
        assert copy == cost
        assert hash(copy) == hash(cost)
        assert copy.name == cost.name
        np.testing.assert_array_equal(
            copy.matrix([[0, 1]], [[1, 1], [1, 0]]), cost.matrix([[0, 1]], [[1, 1], [1, 0]])
        )
    assert sum(cost == other for other in STORABLE) == 1


@pytest.mark.parametrize("cost", [c for c in STORABLE if c.name != "fraud"], ids=repr)
def test_a_repr_makes_the_cost(cost):
    assert eval(repr(cost)) == cost


@pytest.mark.parametrize(
    "cost", [Cost.from_counts(doubled, name="f1"), Cost.from_counts(doubled), get_cost(first_wrong)]
)
def test_functions_cannot_be_stored(cost):
    with pytest.raises(
        ValueError, match=f"the cost '{cost.name}' is a Python function.*pass cost= when loading"
    ):
        cost.to_dict()
    assert pickle.loads(pickle.dumps(cost)) == cost


def test_reprs_of_functions_name_them():
    assert repr(Cost.from_counts(doubled, name="twice")) == "Cost.from_counts(doubled, name='twice')"
    assert repr(get_cost(first_wrong)) == "Cost.from_function(first_wrong, name='first_wrong')"


def test_costs_are_immutable():
    for cost in (get_cost("f1"), Cost.per_label(), get_cost(first_wrong)):
        with pytest.raises(FrozenInstanceError):
            cost.name = "other"


def test_the_kind_of_a_cost_is_its_class():
    assert isinstance(get_cost("rank"), CountCost)
    assert get_cost("rank").counts(np.array(1.0), np.array(2.0), np.array(3.0), np.array(4.0)) == 13.0
    cost = Cost.per_label(false_positive=2, false_negative=[1, 50])
    assert isinstance(cost, PerLabelCost)
    assert (cost.false_positive, cost.false_negative) == (2.0, (1.0, 50.0))
