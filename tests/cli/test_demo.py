"""``refpair demo``."""

from __future__ import annotations

from functools import partial

import pytest
from sklearn.ensemble import RandomForestClassifier

from refpair import Cost, CSRPEClassifier, get_cost
from refpair.cli import demo as demo_module
from refpair.datasets import load_dataset
from tests.cli.running import works


def test_demo_shows_what_it_has_computed(monkeypatch):
    small = partial(CSRPEClassifier, n_bits=60)
    monkeypatch.setattr(demo_module, "N_BITS", 60)
    monkeypatch.setattr(demo_module, "N_TREES", 5)
    printed = works("demo")
    lines = [line.split("│") for line in printed.splitlines() if "│" in line]
    rows = {line[1].strip(): [cell.strip() for cell in line[2:4]] for line in lines}

    digits = load_dataset("digits")
    train, test = slice(0, 1500), slice(1500, None)
    f1, price = get_cost("f1"), Cost.per_label(false_positive=3)
    models = {
        "CSRPE for F1": small(f1, random_state=0),
        "CSRPE for price": small(price, random_state=0),
        "random forest (5 trees)": RandomForestClassifier(5, random_state=0),
    }
    predicted = {
        name: model.fit(digits.X[train], digits.Y[train]).predict(digits.X[test])
        for name, model in models.items()
    }
    expected = {name: [] for name in models}
    for cost, best in ((f1, max), (price, min)):
        scores = {name: cost.mean(digits.Y[test], Z) for name, Z in predicted.items()}
        for name, score in scores.items():
            mark = " *" if score == best(scores.values()) else ""
            expected[name].append(f"{score:.3f}{mark}")
    assert rows == expected
    assert ("By F1, CSRPE for F1 comes first" in printed) == expected["CSRPE for F1"][0].endswith("*")


def test_the_verdict_admits_defeat_and_a_draw():
    def result(name, made_for, f1):
        return demo_module.Result(name, made_for, {"F1": f1, "price": 1.0}, 1.0)

    for other in (0.9, 0.8):
        assert demo_module.verdict([result("A", "F1", 0.8), result("B", None, other)]) == [
            f"By F1, A does not come first: 0.800, and B has {other:.3f}."
        ]
    assert demo_module.verdict([result("A", "F1", 0.8), result("B", None, 0.7)]) == [
        "By F1, A comes first: 0.800, then B with 0.700."
    ]


@pytest.mark.slow
def test_in_the_demo_each_model_wins_by_its_own_cost():
    printed = works("demo")
    assert "By F1, CSRPE for F1 comes first" in printed
    assert "By price, CSRPE for price comes first" in printed
