"""Prices that stand for a measure of a whole table: thresholds from samples that were held out."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.costs import Measure, get_cost
from refpair.decision import decide
from refpair.decision.thresholds import HeldOut
from refpair.posterior import IndependentLabels


def g_mean(tp, fp, fn, tn):
    there, absent = np.maximum(tp + fn, 1e-9), np.maximum(tn + fp, 1e-9)
    return np.sqrt(tp / there * tn / absent)


def price(tp, fp, fn, tn):
    return fp + 3 * fn


def odd(tp, fp, fn, tn):
    """Jump up and down, so that no rule of slopes finds its best threshold."""
    return np.sin(5 * tp) + np.floor(fp) % 2 - fn**2 / 4


MEASURES = {
    f"{average}-{name}": make(function, name, better)
    for (average, make), (name, function, better) in product(
        (("macro", Measure.macro), ("micro", Measure.micro)),
        (
            ("f1", get_cost("macro_f1").function, True),
            ("f2", get_cost("macro_f2").function, True),
            ("jaccard", get_cost("macro_jaccard").function, True),
            ("balanced_accuracy", get_cost("balanced_accuracy").function, True),
            ("g_mean", g_mean, True),
            ("price", price, False),
            ("odd", odd, True),
        ),
    )
}
each_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)

few_values = st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.75, 0.99])  # so that ties are common
chances = few_values | st.floats(1 / 64, 63 / 64, width=16)


@st.composite
def tables(draw, max_labels=3, calibrated=True):
    n, n_labels = draw(st.integers(1, 7)), draw(st.integers(1, max_labels))
    weight = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n))

    def table():
        row = st.lists(chances, min_size=n_labels, max_size=n_labels)
        return np.array(draw(st.lists(row, min_size=n, max_size=n)), np.float16)

    return HeldOut(table(), np.array(weight), table() if calibrated and draw(st.booleans()) else None)


def expected_value(held_out, measure, answers):
    """Return the measure of the expected counts of answers, by the slow and obvious way."""
    p = held_out.probabilities if held_out.calibrated is None else held_out.calibrated
    p, weight = p.astype(float), held_out.weight[:, None]
    z = answers.astype(float)
    counts = [p * z, (1 - p) * z, p * (1 - z), (1 - p) * (1 - z)]
    return measure.of_counts(*((weight * one).sum(axis=0) for one in counts))


def best_value(held_out, measure):
    """Return the best value over all cuts between distinct probabilities of a label, or of all of them."""
    p = held_out.probabilities.astype(float)

    def cuts(values):
        return [-1.0, *np.unique(values)]

    if measure.average == "micro":
        tried = [np.full(p.shape[1], cut) for cut in cuts(p)]
    else:
        tried = [np.array(one) for one in product(*(cuts(label) for label in p.T))]
    return max(measure.sign * expected_value(held_out, measure, p > cut) for cut in tried)


def decided(held_out, measure):
    return decide(IndependentLabels(held_out.probabilities.astype(float)), held_out.prices(measure), n_jobs=1)


def thresholds(held_out, measure):
    false_positive, false_negative = held_out.prices(measure).prices(held_out.probabilities.shape[1])
    return false_positive / (false_positive + false_negative)


@each_measure
@settings(deadline=None, max_examples=60)
@given(held_out=tables())
def test_no_cut_is_better_on_the_samples_themselves(measure, held_out):
    found = measure.sign * expected_value(held_out, measure, decided(held_out, measure))
    assert found == pytest.approx(best_value(held_out, measure), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("beta", [0.5, 1, 2])
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_the_threshold_of_f_is_that_of_its_best_value(average, beta):
    """It is F*/(1 + β²), as is known of measures that are a quotient of linear functions."""
    p = np.random.default_rng(0).beta(0.5, 2, (400, 3)).astype(np.float16)
    held_out, measure = HeldOut(p, np.ones(400)), get_cost(f"{average}_f{beta}")
    at = thresholds(held_out, measure)
    answers = decided(held_out, measure)
    for k in range(3) if average == "macro" else [slice(None)]:
        part = HeldOut(p[:, k].reshape(400, -1), np.ones(400))
        best = expected_value(part, measure, answers[:, k].reshape(400, -1))
        np.testing.assert_allclose(at[k], best / (1 + beta**2), rtol=1e-3)


def test_the_threshold_of_a_price_is_the_one_of_a_single_decision():
    p = np.random.default_rng(0).random((300, 2)).astype(np.float16)
    held_out = HeldOut(p, np.ones(300))
    for measure in (MEASURES["macro-price"], MEASURES["micro-price"]):
        np.testing.assert_allclose(thresholds(held_out, measure), 1 / 4, rtol=1e-3)


@each_measure
@settings(deadline=None, max_examples=30)
@given(held_out=tables())
def test_weights_are_as_good_as_copies(measure, held_out):
    times = (2 * held_out.weight).astype(int)
    again = np.repeat(np.arange(len(times)), times)
    calibrated = None if held_out.calibrated is None else held_out.calibrated[again]
    copies = HeldOut(held_out.probabilities[again], np.ones(len(again)), calibrated)
    weighted = HeldOut(held_out.probabilities, times.astype(float), held_out.calibrated)
    p = IndependentLabels(held_out.probabilities.astype(float))
    found, by_copies = (
        expected_value(weighted, measure, decide(p, one.prices(measure), n_jobs=1))
        for one in (weighted, copies)
    )
    assert found == pytest.approx(by_copies, rel=1e-9, abs=1e-9)


def test_labels_of_a_macro_measure_have_their_own_thresholds_and_of_a_micro_measure_one():
    p = np.column_stack([np.full(50, 0.1), np.linspace(0.2, 0.9, 50)]).astype(np.float16)
    held_out = HeldOut(p, np.ones(50))
    macro, micro = (thresholds(held_out, get_cost(name)) for name in ("macro_f1", "micro_f1"))
    alone = HeldOut(p[:, 1:], np.ones(50))
    assert macro[0] < 0.1 < macro[1]
    assert macro[1] == thresholds(alone, get_cost("macro_f1"))[0]
    assert micro[0] == micro[1]


@each_measure
@pytest.mark.parametrize("value", [0.0, 1e-6, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("n", [1, 4])
def test_probabilities_that_are_all_equal(measure, value, n):
    held_out = HeldOut(np.full((n, 2), value, np.float16), np.ones(n))
    at = thresholds(held_out, measure)
    assert ((at >= 0) & (at <= 1)).all()
    answers = decided(held_out, measure)
    assert (answers == answers[0, 0]).all()
    if value > 0:  # no price makes a decision predict what is impossible
        found = measure.sign * expected_value(held_out, measure, answers)
        assert found == pytest.approx(best_value(held_out, measure), abs=1e-6)


@each_measure
def test_what_a_function_makes_nothing_of_still_has_thresholds(measure):
    flat = Measure(measure.name, True, lambda tp, fp, fn, tn: 0 * tp, measure.average)
    held_out = HeldOut(np.array([[0.2], [0.6]], np.float16), np.ones(2))
    assert 0 <= thresholds(held_out, flat)[0] <= 1


def test_of_cuts_that_are_as_good_the_one_of_fewest_mistakes_counts():
    """Balanced accuracy is 1/2 whether all samples that look alike have the label or none."""
    for chance, there in ((0.9, 1), (0.1, 0)):
        held_out = HeldOut(np.full((5, 1), chance, np.float16), np.ones(5))
        assert (decided(held_out, get_cost("balanced_accuracy")) == there).all()


def test_a_label_that_is_worth_nothing_has_prices_beside_one_that_is():
    p = np.array([[1e-30, 0.5], [1e-30, 0.8]], np.float16)
    fp, fn = HeldOut(p, np.ones(2)).prices(get_cost("macro_f1")).prices(2)
    assert ((fp + fn) > 0).all()


def test_rare_labels_are_there_as_often_as_the_model_says():
    """Three samples have the label; what is best for these three is not looked for."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 20, (1000, 1))
    truths = np.zeros((1000, 1), np.uint8)
    truths[np.argsort(p[:, 0])[:3]] = 1  # the least likely ones
    plain, told = HeldOut.of(p, 1000, None), HeldOut.of(p, 1000, None, truths)
    assert thresholds(plain, get_cost("macro_f1"))[0] > 0.01
    assert 0 < told.calibrated.sum() < 20


def test_the_samples_stand_for_a_table_of_another_size():
    p = np.random.default_rng(0).random((30, 2))
    held_out = HeldOut.of(p, 900, np.arange(1.0, 31.0))
    assert held_out.weight.sum() == pytest.approx(900)
    assert held_out.weight[29] == pytest.approx(30 * held_out.weight[0])
    # A price of a hundred mistakes more is as good as reached by a larger table only.
    hundred = Measure.micro(lambda tp, fp, fn, tn: np.where(tp >= 100, tp - fp, -fp), "hundred")
    few, many = HeldOut.of(p, 30, None), HeldOut.of(p, 900, None)
    assert decided(few, hundred).sum() == 0
    assert decided(many, hundred).sum() > 0


def test_of_many_labels_fewer_samples_are_kept():
    held_out = HeldOut.of(np.full((1000, 30_000), 0.25), 5000, None)
    assert held_out.probabilities.nbytes < 13e6
    assert held_out.weight.sum() == pytest.approx(5000)


@pytest.mark.parametrize(
    ("probabilities", "weight", "calibrated"),
    [
        ([[2.0]], [1.0], None),
        ([[-0.1]], [1.0], None),
        ([[np.nan]], [1.0], None),
        ([[0.5]], [1.0], [[np.nan]]),
        ([[0.5]], [1.0], [[0.5], [0.5]]),
        ([[0.5]], [1.0, 1.0], None),
        ([0.5], [1.0], None),
        (np.empty((0, 2)), [], None),
        ([[0.5]], [0.0], None),
        ([[0.5]], [-1.0], None),
        ([[0.5]], [np.inf], None),
        ([[0.5]], [np.nan], None),
    ],
)
def test_what_is_no_table_of_samples_is_refused(probabilities, weight, calibrated):
    more = None if calibrated is None else np.array(calibrated, np.float16)
    with pytest.raises(ValueError, match="samples that were held out"):
        HeldOut(np.array(probabilities, np.float16), np.array(weight, float), more)


def test_errors_of_functions_name_the_measure_and_the_counts():
    held_out = HeldOut(np.full((4, 1), 0.5, np.float16), np.ones(4))
    with pytest.raises(ValueError, match=r"the cost 'precision' is nan for tp=0, fp=0, fn=2, tn=2"):
        held_out.prices(Measure.macro(lambda tp, fp, fn, tn: tp / (tp + fp), "precision"))
