"""``refpair demo``."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from refpair import BayesDecisionClassifier, Cost, CSRPEClassifier, get_cost
from refpair.cli import demo as demo_module
from refpair.cli.thresholds import ForestWithThresholds, tune_thresholds
from refpair.datasets import load_dataset
from tests.cli.running import works
from tests.pages import ROOT, blocks_of

PRICE = Cost.per_label(false_positive=3)


@pytest.mark.slow
def test_demo_shows_what_it_has_computed(monkeypatch):
    monkeypatch.setattr(demo_module, "N_BITS", 60)
    monkeypatch.setattr(demo_module, "N_TREES", 5)
    printed = works("demo")
    lines = [line.split("│") for line in printed.splitlines() if "│" in line]
    rows = {line[1].strip(): [cell.strip() for cell in line[2:4]] for line in lines}

    digits = load_dataset("digits")
    train, test = slice(0, 1500), slice(1500, None)
    forest = RandomForestClassifier(5, random_state=0)
    costs = {"F1": get_cost("f1"), "price": PRICE}
    models = {
        "random forest": forest,
        **{
            f"forest, thresholds for {name}": ForestWithThresholds(forest, cost)
            for name, cost in costs.items()
        },
        **{
            f"forest, Bayes decisions for {name}": BayesDecisionClassifier(forest, cost=cost, random_state=0)
            for name, cost in costs.items()
        },
        **{
            f"CSRPE for {name}": CSRPEClassifier(cost, n_bits=60, random_state=0)
            for name, cost in costs.items()
        },
    }
    predicted = {
        name: model.fit(digits.X[train], digits.Y[train]).predict(digits.X[test])
        for name, model in models.items()
    }
    expected = {name: [] for name in models}
    for cost, best in ((costs["F1"], max), (PRICE, min)):
        scores = {name: cost.mean(digits.Y[test], Z) for name, Z in predicted.items()}
        for name, score in scores.items():
            mark = " *" if score == best(scores.values()) else ""
            expected[name].append(f"{score:.3f}{mark}")
    assert rows == expected
    assert ("By F1, CSRPE for F1 comes first" in printed) == expected["CSRPE for F1"][0].endswith("*")


def _result(name, f1):
    costs = 1 - np.array(f1)
    return demo_module.Result(name, {"F1": np.mean(f1), "price": 1.0}, {"F1": costs}, 1.0)


def test_the_verdict_admits_defeat_a_draw_and_chance():
    def verdict(*f1):
        return demo_module.verdict(
            "F1", "A", [_result(name, one) for name, one in zip("ABC", f1, strict=True)]
        )

    low, high = [0.6, 0.7, 0.6, 0.7], [0.8, 0.8, 0.9, 0.9]
    assert verdict(high, low, low) == (
        "By F1, A comes first: 0.850, then B with 0.650.\nThey differ by 0.200 ± 0.035."
    )
    assert verdict(low, low, high) == (
        "By F1, A does not come first: 0.650, and C has 0.850.\nThey differ by 0.200 ± 0.035."
    )
    assert verdict(low, low, low) == (
        "By F1, A does not come first: 0.650, and B has 0.650.\nThey differ by 0.000 ± 0.000; "
        "that is within chance."
    )
    assert "comes first: 0.675, then B with 0.650" in (close := verdict([0.8, 0.5, 0.8, 0.6], low, low))
    assert close.endswith("that is within chance.")


@pytest.mark.parametrize("cost", [get_cost("hamming"), PRICE], ids=["hamming", "price"])
def test_thresholds_are_the_best_ones_of_each_label_where_the_cost_adds_up(cost):
    rng = np.random.default_rng(0)
    p = rng.random((80, 4))
    truths = (rng.random(p.shape) < p**2).astype(np.uint8)
    found = tune_thresholds(p, truths, cost)
    for label in range(4):

        def paid(threshold, label=label):
            answers = truths.copy()
            answers[:, label] = p[:, label] >= threshold
            return cost.rows(truths, answers).mean()

        assert paid(found[label]) == pytest.approx(min(paid(one / 100) for one in range(1, 100)))


def test_no_single_threshold_can_be_changed_for_the_better():
    rng = np.random.default_rng(1)
    p = rng.random((60, 5))
    truths = (rng.random(p.shape) < p * np.linspace(0.3, 1, 5)).astype(np.uint8)
    cost = get_cost("f1")
    found = tune_thresholds(p, truths, cost)
    least = cost.rows(truths, p >= found).mean()
    for label in range(5):
        for one in range(1, 100):
            tried = found.copy()
            tried[label] = one / 100
            assert cost.rows(truths, p >= tried).mean() >= least
    assert least < min(cost.rows(truths, p >= one / 100).mean() for one in range(1, 100))


def test_thresholds_come_from_rows_that_the_forest_has_not_seen():
    rng = np.random.default_rng(0)
    X, Y = rng.random((200, 5)), (rng.random((200, 3)) < 0.3).astype(np.uint8)  # nothing to learn
    forest = RandomForestClassifier(20, random_state=0, bootstrap=False)
    model = ForestWithThresholds(forest, get_cost("hamming")).fit(X, Y)
    known = np.column_stack([p[:, 1] for p in model.forest_.predict_proba(X)])
    assert get_cost("hamming").mean(Y, known >= 0.5) == 0  # by what it has seen any would do
    assert (model.thresholds_ > 0.5).all()
    assert (model.predict(X) == (known >= model.thresholds_)).all()


def test_in_the_demo_each_model_wins_by_its_own_cost():
    (shown,) = (block.text for block in blocks_of(ROOT / "README.md") if "$ refpair demo\n" in block.text)
    assert "By F1, CSRPE for F1 comes first" in shown  # tests/test_docs.py compares what it prints
    assert "By price, CSRPE for price comes first" in shown
    assert "within chance" not in shown
