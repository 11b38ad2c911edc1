"""Simulations of active learning: what is run, stored and told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multioutput import MultiOutputClassifier

from refpair import BinaryRelevance, Logistic, get_cost
from refpair.active import RandomQuery, learning_curve
from refpair.datasets.digits import make_overlaid_digits
from refpair.experiments import Part, Settings, Study
from refpair.experiments.report.studies import areas_under_curves, simulate_section
from refpair.experiments.settings import Simulation, half_split
from refpair.experiments.simulation import (
    STRATEGIES,
    StrategyContext,
    choose_c,
    find_strategy,
    scale_features,
)

SMALL = Settings(max_rows=80, simulation=Simulation(n_start=10, n_queries=12, test_each=5, n_bits=30))


class Last:
    """A strategy of a user's own."""

    def query(self, X, Y, batch_size=1):
        return np.flatnonzero(np.isnan(Y).any(axis=1))[-batch_size:]


def make_last(n_bits):
    assert n_bits == 30
    return Last()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    part = Part("simulate", 2, algorithms=("random", "BinMin", f"{__name__}:make_last"))
    made = Study(tmp_path_factory.mktemp("study"), [part], ["digits"], ["f1", "hamming"], settings=SMALL)
    assert made.run() == []
    return made


@pytest.mark.slow
def test_all_points_of_all_curves_are_stored(study):
    results = study.results("simulate")
    assert study.count() == (48, 48)  # 3 strategies, 2 costs, 2 runs, 4 points
    assert sorted(results["n_labeled"].unique()) == [10, 15, 20, 22]
    pd.testing.assert_frame_equal(results[study.planned("simulate").columns], study.planned("simulate"))
    assert results["chosen"].str.fullmatch(r'\{"C": \d+\.\d+\}').all()
    one_c = results.groupby(["cost", "split"])["chosen"].nunique()  # whatever the strategy
    assert (one_c == 1).all()


@pytest.mark.slow
def test_a_curve_is_that_of_the_function(study):
    digits = make_overlaid_digits()
    pool, test = half_split(len(digits.Y), 1, 80)
    X, X_test = scale_features(digits.X[pool], digits.X[test])
    Y, Y_test = digits.Y[pool], digits.Y[test]
    C = choose_c(X[:10], Y[:10], get_cost("f1"), 1)
    curve = learning_curve(
        RandomQuery(random_state=1), BinaryRelevance(Logistic(C, tol=1e-3)), X, Y, X_test, Y_test,
        start=range(10), n_queries=12, test_each=5,
    )  # fmt: skip
    results = study.results("simulate")
    own = results[(results["algorithm"] == "random") & (results["cost"] == "f1") & (results["split"] == 1)]
    assert own["score"].tolist() == curve["score"].tolist()


def test_a_report_says_who_is_better_than_random(study):
    page = study.report("refpair simulate").read_text()
    assert "Active learning" in page
    assert '<th scope="col">better than random</th>' in page
    assert "12 rows asked for, 1 at a time, after 10 at random" in page
    assert "Milliseconds a query" in page
    written = {path.name for path in study.folder.iterdir()}
    assert {"areas-f1.csv", "areas-hamming.tex", "times-simulate.csv"} <= written
    assert (study.folder / "figures" / "learning-curves-f1.svg").exists()


def test_all_strategies_can_be_made_and_asked():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 3)), np.full((30, 2), np.nan)
    Y[:10] = rng.integers(0, 2, (10, 2))
    logistic = Logistic(10.0)
    context = StrategyContext(get_cost("f1"), BinaryRelevance(logistic), logistic, 20, 0)
    for name in STRATEGIES:
        assert find_strategy(name)(context).query(X, Y)[0] >= 10


def make_regressions(cost, random_state):
    assert (cost.name, random_state) == ("f1", 0)
    return BinaryRelevance("logistic")


def test_the_classifier_can_be_the_users_own(tmp_path):
    own = replace(SMALL.simulation, classifier=f"{__name__}:make_regressions")
    settings = replace(SMALL, simulation=own)
    study = Study(
        tmp_path, [Part("simulate", 1, algorithms=("random",))], ["digits"], ["f1"], settings=settings
    )
    assert study.run() == []
    assert "the classifier is tests." in settings.describe(["simulate"])
    wrong = replace(SMALL, simulation=replace(own, classifier="knn"))
    with pytest.raises(ValueError, match=r"unknown classifier 'knn'.*BR.*module:name"):
        Study(tmp_path, [Part("simulate", 1)], ["digits"], ["f1"], settings=wrong)


def test_unknown_strategies_are_told(tmp_path):
    with pytest.raises(ValueError, match="unknown strategy 'binmin'; did you mean 'BinMin'"):
        Study(tmp_path, [Part("simulate", 1, algorithms=("binmin",))], ["digits"])
    with pytest.raises(ValueError, match="is no class and no function that returns a strategy"):
        find_strategy("math:pi")


@pytest.mark.slow
def test_more_queries_than_rows_end_with_all_rows(tmp_path):
    settings = Settings(max_rows=30, simulation=Simulation(n_start=10, n_queries=40, test_each=10))
    part = Part("simulate", 1, algorithms=("random",))
    study = Study(tmp_path, [part], ["digits"], ["f1"], settings=settings)
    study.run()
    results = study.results("simulate")
    assert results["n_labeled"].tolist() == [10, 20, 30, 40, 50]
    assert results["score"].iloc[1:].nunique() == 1  # 15 rows, all labeled


@pytest.mark.slow
def test_csrpe_as_the_classifier(tmp_path):
    simulation = Simulation(n_start=15, n_queries=2, n_bits=40, classifier="CSRPE")
    part = Part("simulate", 1, algorithms=("random", "representative"))
    settings = Settings(max_rows=60, simulation=simulation)
    study = Study(tmp_path, [part], ["digits"], ["f1"], settings=settings)
    assert study.run() == []
    assert study.results("simulate")["score"].between(0.1, 0.9).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_features_are_scaled_without_the_other_half(sparse):
    rng = np.random.default_rng(0)
    X, other = rng.random((20, 4)) * [1, 10, 100, 0], rng.random((5, 4))
    X[0, 0] = 0 if sparse else np.nan
    given = (sp.csr_array(X), sp.csr_array(other)) if sparse else (X, other)
    scaled, test = scale_features(*given)
    dense = scaled.toarray() if sparse else scaled
    assert (dense**2).sum(axis=1).mean() == pytest.approx(1.0)
    assert np.isfinite(dense).all()
    assert sp.issparse(test) == sparse


@pytest.mark.parametrize("cost", ["f1", "hamming"])
def test_c_is_the_cheapest_in_the_folds(cost):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    Y = (X[:, :2] + rng.standard_normal((20, 2)) > 0.8).astype(int)
    costs = {}
    for C in (0.1, 1.0, 10.0, 100.0, 1e3, 1e4):
        model = MultiOutputClassifier(LogisticRegression(C=C))
        predicted = cross_val_predict(model, X, Y, cv=KFold(5, shuffle=True, random_state=7))
        costs[C] = get_cost(cost).rows(Y, predicted).mean()
    assert choose_c(X, Y, get_cost(cost), 7) == min(costs, key=costs.get)
    assert choose_c(X[:1], Y[:1], get_cost(cost), 0) == 100.0


# ---- the report ----


def made(heights, data="flags", cost="f1", n_runs=3):
    rows = [
        (data, cost, name, n, run, height + n / 1000 + run / 100)
        for name, height in heights.items()
        for run in range(n_runs)
        for n in (20, 30, 50)
    ]
    columns = ["data", "cost", "algorithm", "n_labeled", "split", "score"]
    return pd.DataFrame(rows, columns=columns).assign(seconds_search=0.1, seconds_fit=0.2, chosen="{}")


def test_areas():
    areas = areas_under_curves(made({"MMC": 0.5}, n_runs=2))
    np.testing.assert_allclose(areas["score"], [0.5 + 0.035, 0.51 + 0.035], atol=0.002)
    expected = (10 * 0.025 + 20 * 0.04) / 30
    assert areas["score"][0] == pytest.approx(0.5 + expected)
    cut = made({"MMC": 0.5}, n_runs=2)[:-1]  # a curve that is not finished
    assert areas_under_curves(cut)["split"].tolist() == [0]


def test_what_a_report_says_of_strategies():
    up = made({"random": 0.5, "MMC": 0.4, "representative": 0.6})
    down = made({"random": 0.5, "MMC": 0.3, "representative": 0.6}, cost="hamming")
    section = simulate_section(pd.concat([up, down]))
    shown = section.tables[0].shown
    assert shown.index.tolist() == ["representative", "random", "MMC"]
    columns = ["panels", "best", "better than random", "wins/ties/losses"]
    assert shown.loc["representative", columns].tolist() == ["2", "1", "1", "1/0/1"]
    assert shown.loc["MMC", columns].tolist() == ["2", "1", "1", "1/0/1"]
    assert shown.loc["random"].tolist() == ["2", "0", "–", "–", "–"]
    gains = section.tables[0].values.set_index("strategy")["mean gain"]
    assert gains["MMC"] > 0 > gains["random"] - 1e-9
    assert [part.heading for part in section.parts][-2:] == ["Tests", "Times and parameters"]
    alone = simulate_section(made({"MMC": 0.4})).tables[0].shown
    assert alone.to_dict("index") == {"MMC": {"panels": "1", "best": "1"}}
    one_run = simulate_section(made({"random": 0.5, "MMC": 0.6}, n_runs=1)).tables[0].shown
    assert one_run.loc["MMC", columns].tolist() == ["1", "1", "1", "0/0/0"]
    assert simulate_section(up[:0]).text == "There are no results yet."
