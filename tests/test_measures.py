"""Measures of a whole table: macro- and micro-averages of functions of counts."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, f1_score, fbeta_score, jaccard_score

from refpair import BinaryRelevance, CSRPEClassifier
from refpair.costs import Cost, Measure, cost_names, get_cost
from refpair.costs._counts import LARGEST_COST

NAN = np.nan
AVERAGES = ("macro", "micro")
NAMED = [f"{average}_{name}" for name in ("f1", "jaccard") for average in AVERAGES] + ["balanced_accuracy"]


def of_scikit_learn(name, Y, Z, sample_weight=None):
    """Return what scikit-learn says, of each label for itself where it has no average."""
    how = {"sample_weight": sample_weight, "zero_division": 0}
    if name == "balanced_accuracy":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of labels that all rows have, or none
            return np.mean(
                [
                    balanced_accuracy_score(y, z, sample_weight=sample_weight)
                    for y, z in zip(Y.T, Z.T, strict=True)
                ]
            )
    average, score = name.split("_")
    if Y.shape[1] == 1:  # scikit-learn takes a column as classes 0 and 1
        Y, Z, how["labels"] = Y.ravel(), Z.ravel(), [1]
    if score == "jaccard":
        return jaccard_score(Y, Z, average=average, **how)
    return fbeta_score(Y, Z, beta=float(score[1:]), average=average, **how)


@st.composite
def pairs(draw, most_labels=4):
    n, n_labels = draw(st.integers(1, 6)), draw(st.integers(1, most_labels))
    matrix = st.lists(
        st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels), min_size=n, max_size=n
    )
    weight = st.lists(st.sampled_from([0.25, 1.0, 3.0]), min_size=n, max_size=n)
    return np.array(draw(matrix)), np.array(draw(matrix)), np.array(draw(weight))


@pytest.mark.parametrize("name", [*NAMED, "macro_f2", "micro_f0.5"])
@settings(deadline=None, max_examples=40)
@given(case=pairs())
def test_they_are_those_of_scikit_learn(name, case):
    Y, Z, weight = case
    cost = get_cost(name)
    assert cost.mean(Y, Z) == pytest.approx(of_scikit_learn(name, Y, Z), abs=1e-12)
    expected = pytest.approx(of_scikit_learn(name, Y, Z, weight), abs=1e-12)
    assert cost.mean(Y, Z, sample_weight=weight) == expected
    assert cost.mean(sp.csr_array(Y), sp.csc_array(Z), weight) == expected
    frames = pd.DataFrame(Y), pd.DataFrame(Z).astype(bool)
    assert cost.mean(*frames, weight) == expected


@pytest.mark.parametrize("name", NAMED)
@settings(deadline=None, max_examples=40)
@given(case=pairs(), data=st.data())
def test_cells_that_are_unknown_do_not_count(name, case, data):
    Y, Z, weight = case
    cells = st.lists(st.booleans(), min_size=Y.size, max_size=Y.size)
    known = np.array(data.draw(cells)).reshape(Y.shape)
    given_labels = np.where(known, Y.astype(float), NAN)
    cost = get_cost(name)
    if not known.any():
        with pytest.raises(ValueError, match="Y has no label that is known: there is nothing to score"):
            cost.mean(given_labels, Z)
        return
    counts = []
    for k in np.flatnonzero(known.any(axis=0)):
        y, z, w = (one[known[:, k]] for one in (Y[:, k], Z[:, k], weight))
        counts.append([(w * both).sum() for both in (y * z, (1 - y) * z, y * (1 - z), (1 - y) * (1 - z))])
    expected = pytest.approx(cost.of_counts(*np.array(counts).T), abs=1e-12)
    assert cost.mean(given_labels, Z, weight) == expected
    assert cost.mean(sp.csr_array(given_labels), Z, weight) == expected
    assert cost.mean(pd.DataFrame(given_labels).convert_dtypes(), Z, weight) == expected


def test_a_macro_measure_is_a_mean_and_a_micro_measure_of_sums():
    def g(tp, fp, fn, tn):
        return tp + 10 * fp + 100 * fn + 1000 * tn**2

    Y, Z = [[1, 0], [1, 1], [0, 1]], [[1, 0], [0, 0], [0, 1]]
    assert Measure.macro(g).mean(Y, Z) == 1101
    assert Measure.micro(g).mean(Y, Z) == 2 + 200 + 1000 * 4
    assert Measure.macro(g).of_counts([1, 1], [0, 0], [1, 1], [1, 1]) == 1101


def test_rounding_makes_no_count_negative():
    """0.1 + 0.2 − 0.3 is not 0, and a root of what is below 0 is no number."""
    root = Measure.macro(lambda tp, fp, fn, tn: np.sqrt(fp) + np.sqrt(fn) + np.sqrt(tn), "root")
    assert root.of_counts([0.3], [-5e-17], [0.0], [-1e-13]) == 0
    weight = np.array([0.1, 0.2, 0.3, 0.7, 1e-9])
    for Y in (np.ones((5, 1)), np.zeros((5, 1))):
        assert np.isfinite(root.mean(Y, Y, weight))


@pytest.mark.parametrize("name", [*NAMED, "macro_f2", "micro_f0.5", "macro_f1.5e1"])
def test_names_and_copies(name):
    cost = get_cost(name)
    assert isinstance(cost, Measure)
    assert cost.name.startswith(name[:5])
    assert (cost.greater_is_better, cost.sign, cost.compares_vectors) == (True, 1, False)
    assert repr(cost) == f"get_cost({cost.name!r})"
    copies = (
        get_cost(cost.name), pickle.loads(pickle.dumps(cost)), Cost.from_dict(cost.to_dict()),
        clone(CSRPEClassifier(cost)).cost, eval(repr(cost)),
    )  # fmt: skip
    assert {cost, *copies} == {cost}
    assert cost != get_cost("f1")
    assert cost.for_labels("ab") is cost.for_rows(slice(2)) is cost.with_mean_prices() is cost


def test_scikit_learns_names_are_known():
    for name in ("f1", "jaccard"):
        for average in AVERAGES:
            assert get_cost(f"{name}_{average}") is get_cost(f"{average}_{name}")
            assert f"{name}_{average}" in cost_names()


@pytest.mark.parametrize(
    "name", ["macro_f", "macro_f0", "macro_f-1", "micro_fnan", "macro_rank", "weighted_f1", "Macro_F1 ", ""]
)
def test_other_names_are_unknown(name):
    with pytest.raises(ValueError, match=r"unknown cost .*macro_f<beta>, micro_f<beta>"):
        get_cost(name)


@pytest.mark.parametrize("name", ["f1macro", "macro-f1", "macro f1", "Macro_F1"])
def test_a_near_name_is_proposed(name):
    with pytest.raises(ValueError, match=r"did you mean '(macro_f1|f1_macro)'"):
        get_cost(name)


def half(tp, fp, fn, tn):
    return (fp + fn) / 2


def test_functions_of_ones_own():
    cost = Measure.micro(half, greater_is_better=False)
    assert (cost.name, cost.greater_is_better, cost.sign) == ("half", False, -1)
    assert repr(cost) == "Measure.micro(half, name='half')"
    assert cost == pickle.loads(pickle.dumps(cost)) == Measure.micro(half, "half", False)
    assert hash(cost) == hash(Measure.micro(half, "half", False))
    assert cost not in {Measure.macro(half, "half", False), Measure.micro(half), get_cost("macro_f1")}
    with pytest.raises(ValueError, match="'half' is a Python function"):
        cost.to_dict()
    model = BinaryRelevance("tree", random_state=0).fit([[0.0], [1.0]] * 5, [[0], [1]] * 5)
    assert cost.scorer()(model, [[0.0], [1.0]], [[1], [0]]) == -1
    assert get_cost("macro_f1").scorer()(model, [[0.0], [1.0]], [[0], [1]]) == 1


def test_a_function_with_the_name_of_another_is_not_that_one():
    cost = Measure.macro(half, "macro_f1")
    assert cost != get_cost("macro_f1")
    assert "half" in repr(cost)
    with pytest.raises(ValueError, match="is a Python function"):
        cost.to_dict()


def write(tp, fp, fn, tn):
    fp += fn
    return fp


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda tp, fp, fn, tn: tp / (tp + fp), "is nan for tp=0, fp=0, fn=1, tn=1: make it a finite number"),
        (lambda tp, fp, fn, tn: 1 / tp, "is inf for tp=0, fp=0, fn=1, tn=1"),
        (lambda tp, fp, fn, tn: tp + 2 * LARGEST_COST, "is 2e+100 for tp=0"),
        (lambda tp, fp, fn, tn: tp.sum(), r"must return an array of shape \(2,\), not \(\)"),
        (lambda tp, fp, fn, tn: tp[1:], r"must return an array of shape \(2,\), not \(1,\)"),
        (lambda tp, fp, fn, tn: None, "must return real numbers"),
        (lambda tp, fp, fn, tn: tp * 1j, "must return real numbers"),
        (lambda tp, fp, fn, tn: [[1], [1, 2]], "must return an array"),
        (write, "writes into an array that it is given"),
    ],
)
def test_what_a_function_may_not_do(function, message):
    with pytest.raises(ValueError, match=f"the cost 'own' .*{message}".replace("+", r"\+")):
        Measure.macro(function, "own").mean([[1, 1], [0, 0]], [[0, 1], [0, 0]])


@pytest.mark.parametrize("make", [Measure.macro, Measure.micro])
@pytest.mark.parametrize("given", ["f1", 3, None, get_cost("f1")])
def test_what_is_no_function_is_refused(make, given):
    with pytest.raises(TypeError, match=r"g must be a function g\(tp, fp, fn, tn\), not"):
        make(given)


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match='average must be "macro" or "micro", not \'weighted\''):
        Measure("x", True, half, "weighted")
    with pytest.raises(TypeError, match="name must be a string, not int"):
        Measure.macro(half, name=3)


@pytest.mark.parametrize("given", [Measure, Cost])
def test_a_class_is_no_cost(given):
    with pytest.raises(TypeError, match=f"not the class {given.__name__}"):
        get_cost(given)
    with pytest.raises(ValueError, match="cost must be a name, a Cost or a function, not <class"):
        CSRPEClassifier(given).fit([[0], [1]], [[0], [1]])


def test_no_row_has_a_cost():
    cost = get_cost("macro_f1")
    for method in (cost.rows, cost.matrix):
        with pytest.raises(ValueError, match=r"a measure of a whole table.*mean\(Y, Z\) returns its value"):
            method([[1, 0]], [[1, 0]])


@pytest.mark.parametrize(
    ("Y", "Z", "weight", "message"),
    [
        ([[1, 0], [0, 1]], [[1, 0]], None, "Y has 2 rows and Z has 1"),
        ([[1, 0]], [[1]], None, "Y has 2 labels"),
        ([1, 0], [1, 0], None, "label matrix of shape"),
        ([[2, 0]], [[1, 0]], None, "Y"),
        ([[1, 0]], [[NAN, 0]], None, "Z"),
        ([[1, 0]], [[1, 0]], [0.0], "sample_weight must be finite, not negative, and not zero for all rows"),
        ([[1, 0]], [[1, 0]], [1.0, 2.0], "sample_weight must hold one number for each of 1 rows"),
        (np.empty((0, 2)), np.empty((0, 2)), None, "nothing to score|not zero for all"),
    ],
)
def test_wrong_labels_are_refused(Y, Z, weight, message):
    with pytest.raises(ValueError, match=message):
        get_cost("micro_f1").mean(Y, Z, weight)


def test_what_is_predicted_nowhere_and_is_nowhere():
    Y, Z = [[0, 1], [0, 0]], [[0, 1], [0, 0]]
    found = {name: get_cost(name).mean(Y, Z) for name in NAMED}
    assert found == {
        "macro_f1": 0.5, "macro_jaccard": 0.5, "micro_f1": 1, "micro_jaccard": 1, "balanced_accuracy": 1,
    }  # fmt: skip
    assert f1_score(Y, Z, average="macro", zero_division=0) == 0.5
