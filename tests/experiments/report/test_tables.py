"""Tables of results, and how they are written."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refpair.experiments.published import PAPER_DATA, paper_outcomes
from refpair.experiments.report.comparison import (
    against_paper_table,
    comparison_table,
    outcome_table,
    paper_counts,
    rank_table,
    summary_table,
    verdict_table,
)
from refpair.experiments.report.sections import parameter_table, times_table, total_seconds
from refpair.experiments.report.studies import (
    code_length_table,
    compare_extended_sets,
    flat_lengths,
    relevant_set_table,
)
from refpair.experiments.report.table import (
    ResultTable,
    decimals_for,
    in_order,
    show_mean,
    show_number,
    show_percent,
    show_time,
)
from refpair.experiments.statistics import WinTieLoss, code_length_curve
from tests.experiments.fake import ALGORITHMS, GREATER, LENGTHS, make_results

OWN_COST = "tests.experiments.own:misses"
EXTENDED = ("CSRPE-nearest", "CSRPE-ext-nearest", "CSRPE-posterior", "CSRPE-ext-posterior")


def made(*cells, **columns):
    """Return results from (data, algorithm, split, score)."""
    frame = pd.DataFrame(cells, columns=["data", "algorithm", "split", "score"])
    return frame.assign(**{"cost": "f1", "n_bits": 0} | columns)


def table_of(shown, style=None):
    return ResultTable("name", "A title", "A note.", shown.reset_index(), shown, style)


def bold(table):
    """Return which cells are bold."""
    return table.style.map(lambda style: "bold" in style)


def read_csv(table):
    return pd.read_csv(io.StringIO(table.to_csv()))


# ---- writing ----


def test_names_are_escaped():
    nasty = "<b>a_b|c & $5^2~%#{}\\"
    table = table_of(pd.DataFrame({nasty: ["±1"]}, index=pd.Index([nasty], name="data")))
    assert "<b>" not in table.to_html()
    assert table.to_html().count("&lt;b&gt;a_b|c &amp; $5^2~%#{}\\") == 2
    escaped = r"\textless{}b\textgreater{}a\_b|c \& \$5\textasciicircum{}2\textasciitilde{}\%\#\{\}"
    assert rf"{escaped}\textbackslash{{}} & $\pm$1 \\" in table.to_latex()
    head, _, row = table.to_markdown().splitlines()
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in (head, row)] == [3, 3]


def test_styles():
    shown = pd.DataFrame({"a": ["1", "2"], "b": ["3", "4"]}, index=pd.Index(["x", "y"], name="data"))
    table = table_of(shown, pd.DataFrame({"a": ["good", ""], "b": ["", "bad bold"]}, index=shown.index))
    assert '<td class="good">1</td><td>3</td>' in table.to_html()
    assert '<td>2</td><td class="bad bold">4</td>' in table.to_html()
    assert table.to_markdown().splitlines()[-1] == "| y | 2 | **4** |"
    assert r"y & 2 & \textbf{4} \\" in table.to_latex()
    assert r"\begin{tabular}{lrr}" in table.to_latex()


# ---- numbers ----


@given(st.floats(1e-4, 2000), st.floats(1e-6, 0.3))
def test_digits_are_neither_too_few_nor_too_many(mean, share):
    error = mean * share
    text = show_mean(mean, error, decimals_for([mean], [error]))
    shown_mean, shown_error = map(float, text.split(" ± "))
    allowed = max(error / 10, mean / 1000, 0.5e-6)  # six decimals at most
    assert abs(shown_mean - mean) <= allowed
    assert len(text) <= 20
    assert abs(shown_error - error) <= allowed


def test_an_order_for_known_names_first():
    assert in_order(["z", "emotions", "a", "Corel5k", "z"]) == ["Corel5k", "emotions", "z", "a"]
    assert in_order(reversed(ALGORITHMS)) == list(ALGORITHMS)


def test_how_numbers_are_shown():
    assert [show_number(*n) for n in ((0.24553, 4), (490.17, 1), (-0.5, 2))] == [".2455", "490.2", "−.50"]
    assert show_mean(0.24553, float("nan"), 4) == ".2455"
    assert [show_percent(share) for share in (0.0241, -0.1, 0.0)] == ["+2.4 %", "−10.0 %", "0.0 %"]
    shown = [show_time(seconds) for seconds in (0.041, 7.31, 95, 4000, 400000)]
    assert shown == ["0.04 s", "7.3 s", "95 s", "67 min", "111.1 h"]


# ---- scores ----


def test_the_comparison_has_all_means_and_the_best_in_bold():
    results = make_results(n_splits=4, seed=3)
    for cost, up in GREATER.items():
        table = comparison_table(results.sample(frac=1, random_state=0), cost)
        assert list(table.shown.index) == list(PAPER_DATA)
        assert list(table.shown.columns) == list(ALGORITHMS)
        values = read_csv(table).set_index(["data", "algorithm"])
        scores = results[results["cost"] == cost].groupby(["data", "algorithm"])["score"]
        pd.testing.assert_series_equal(values["mean"].sort_index(), scores.mean(), check_names=False)
        pd.testing.assert_series_equal(values["error"].sort_index(), scores.sem(), check_names=False)
        means = scores.mean().unstack()
        best = means.idxmax(axis=1) if up else means.idxmin(axis=1)
        assert bold(table).sum(axis=1).eq(1).all()
        assert all(bold(table).loc[data, best[data]] for data in PAPER_DATA)


def test_equal_means_are_all_bold_and_missing_ones_are_not():
    results = made(("x", "BR", 0, 0.5), ("x", "CC", 0, 0.5), ("x", "PCC", 0, 0.4999), ("y", "PCC", 0, 0.1))
    table = comparison_table(results, "f1")
    assert bold(table).to_numpy().tolist() == [[True, True, False], [False, False, False]]  # one stands alone
    assert table.shown.loc["y"].tolist() == ["–", "–", ".1000"]
    assert "random half splits: 1. Bold" in table.note


def test_bold_is_by_the_splits_that_a_row_shares():
    lucky = [("x", "CC", 0, 0.4), ("x", "CC", 1, 0.9), ("x", "BR", 0, 0.5)]
    apart = [("y", "BR", 0, 0.5), ("y", "CC", 1, 0.6)]
    table = comparison_table(made(*lucky, *apart), "f1")
    assert bold(table).to_dict("index") == {"x": {"BR": True, "CC": False}, "y": {"BR": False, "CC": False}}
    assert table.shown.loc["x", "CC"] == ".65 ± .25"  # over all of its own
    assert "random half splits: 1 to 2. Bold: " in table.note
    assert "the splits that all its algorithms have" in table.note


def test_digits_are_the_same_in_a_row():
    table = comparison_table(make_results(), "rank")
    for _, row in table.shown.iterrows():
        assert len({len(cell.split(" ")[0].partition(".")[2]) for cell in row}) == 1


def test_the_difference_from_the_paper_is_better_if_positive():
    scores = [(name, split, 0.7 + 0.0001 * split) for name in ("BR", "mine:Model") for split in (0, 1, 2)]
    results = made(*(("flags", *row) for row in scores), ("birds", "BR", 0, 0.5))
    table = against_paper_table(results, "f1")
    assert table.shown.to_dict() == {"BR": {"flags": "+0.7 %"}}
    assert not bold(table).any(axis=None)
    values = read_csv(table)
    assert values[["paper", "paper_error", "splits"]].iloc[0].tolist() == [0.6954, 0.0045, 3]
    assert values["here"].iloc[0] == pytest.approx(0.7001)
    assert values["difference"].iloc[0] == pytest.approx(0.7001 / 0.6954 - 1)
    worse = against_paper_table(results.assign(cost="hamming"), "hamming")
    assert worse.shown.to_dict() == {"BR": {"flags": "−170.2 %"}}
    assert bold(worse).all(axis=None)
    assert worse.style.loc["flags", "BR"] == "bad bold"
    assert against_paper_table(results.assign(cost=OWN_COST), OWN_COST) is None


# ---- tests ----


def test_outcomes_stand_beside_the_papers_if_on_all_its_data():
    table = outcome_table(make_results(["yeast", "scene"]), "CSRPE-posterior")
    assert list(table.shown.columns) == list(ALGORITHMS[:-1])
    assert table.shown.loc["F1 score ↑", "PCC"] == "2/0/0"
    assert read_csv(table)[["win", "tie", "loss"]].sum(axis=1).tolist() == [2, 2, 2, 2, 8] * 7
    table = outcome_table(make_results(), "CSRPE-posterior")
    assert table.shown.loc["total", "PCC"].endswith(" (22/7/11)")
    assert table.shown.loc["F1 score ↑", "PCC"].endswith(" (9/0/1)")
    assert "(" not in table.shown.loc["total", "CSRPE-nearest"]
    assert read_csv(table)["paper_win"].isna().sum() == 5


def test_the_papers_total_is_of_the_costs_shown():
    results = make_results(costs=["f1", "rank"], n_splits=2)
    table = outcome_table(results, "CSRPE-nearest")
    papers = [paper_outcomes(cost, "PCC") for cost in ("f1", "rank")]
    expected = WinTieLoss(*np.sum(papers, axis=0))
    assert table.shown.loc["total", "PCC"].endswith(f" ({expected})")
    own = pd.concat([results, results[results["cost"] == "f1"].assign(cost=OWN_COST)])
    table = outcome_table(own, "CSRPE-nearest")
    assert "(" in table.shown.loc["F1 score ↑", "PCC"]
    assert "(" not in table.shown.loc["total", "PCC"]
    more_data = pd.concat([results, results[results["data"] == "yeast"].assign(data="birds")])
    less_data = results[results["data"] != "yeast"]
    for other, ours in ((more_data, "CSRPE-nearest"), (less_data, "CSRPE-nearest"), (results, "BR")):
        table = outcome_table(other, ours)
        assert not table.shown.map(lambda cell: "(" in cell).any(axis=None)
        assert "paper" not in table.note


def test_the_papers_counts_add_up():
    results = make_results(n_splits=2)
    totals = {
        name: total for name, total in paper_counts(results, "CSRPE-nearest").items() if name[0] == "total"
    }
    assert len(totals) == 6
    assert all(total == paper_outcomes(*name) for name, total in totals.items())


def test_the_papers_counts_stand_only_beside_as_many_tests():
    results = make_results(n_splits=2)
    on_yeast = (results["data"] == "yeast") & (results["cost"] == "f1")
    results = results[~(on_yeast & (results["algorithm"] == "PCC") & (results["split"] == 1))]
    table = outcome_table(results, "CSRPE-nearest")
    assert (table.shown["PCC"].str.contains("\\(") == [False, True, True, True, False]).all()
    assert table.shown["BR"].str.contains("\\(").all()


def test_what_a_single_split_cannot_test():
    cells = [("x", "BR", 0, 0.5), ("x", "CC", 0, 0.6), ("x", "CC", 1, 0.6), ("x", "PCC", 1, 0.5)]
    cells += [("x", "PCC", 2, 0.5), ("x", "CC", 2, 0.6)]
    table = outcome_table(made(*cells), "CC")
    assert table.shown.loc["total"].to_dict() == {"BR": "–", "PCC": "1/0/0"}
    assert verdict_table(made(*cells), "BR") is None
    assert outcome_table(made(*cells), "BR") is None
    both = made(*cells, ("y", "BR", 0, 0.5), ("y", "BR", 1, 0.6), ("y", "CC", 0, 0.5), ("y", "CC", 1, 0.7))
    shown = verdict_table(both, "BR").shown
    assert shown.to_dict() == {"F1 score ↑": {"x": "not tested", "y": "level"}}


def test_where_one_is_the_best():
    cells = [("x", a, s, x + 0.01 * s) for a, x in {"BR": 0.5, "CC": 0.6, "PCC": 0.7}.items() for s in (0, 1)]
    for ours, expected in {"PCC": "best", "CC": "PCC", "BR": "CC, PCC"}.items():
        table = verdict_table(made(*cells), ours)
        assert table.shown.to_dict() == {"F1 score ↑": {"x": expected}}
        assert bold(table).to_numpy().item() == (expected != "best")


def test_ranks():
    table = rank_table(make_results())
    values = read_csv(table)
    assert values["all"].is_monotonic_increasing
    np.testing.assert_allclose(values.drop(columns="algorithm").sum(), 8 * 9 / 2)
    assert bold(table)["all"].iloc[0]
    assert not bold(table)["all"].iloc[-1]
    assert "cells that all algorithms have: 40." in table.note
    assert "Costs on the same data set are not independent" in table.note
    few = rank_table(make_results(["yeast"], ["f1"]))
    assert "cells that all algorithms have: 1." in few.note
    assert "So few can tell nothing" in few.note
    assert not bold(few).any(axis=None)


def test_the_summary_has_what_the_other_tables_have():
    results = make_results(["yeast", "scene", "Corel5k"], n_ours=8)
    table = summary_table(results)
    values = read_csv(table).set_index("algorithm")
    assert list(values.index) == list(ALGORITHMS)
    assert table.shown["splits"].tolist() == ["5"] * 6 + ["8"] * 2
    assert (values[["best", "level", "worse", "untested"]].sum(axis=1) == values["cells"]).all()
    assert (values["cells"] == 12).all()
    competitors = results[results["algorithm"] != "CSRPE-nearest"]
    totals = outcome_table(competitors, "CSRPE-posterior").values
    counted = totals[totals["cost"] == "total"][["win", "tie", "loss"]].sum()
    assert values.loc["CSRPE-posterior", ["win", "tie", "loss"]].tolist() == counted.tolist()
    verdicts = verdict_table(competitors, "CSRPE-posterior").values["verdict"]
    assert values.loc["CSRPE-posterior", "best"] == (verdicts == "best").sum()
    ranks = rank_table(results).values.set_index("algorithm")["all"]
    pd.testing.assert_series_equal(values["mean_rank"], ranks[values.index], check_names=False)
    beside = pd.concat([against_paper_table(results, cost).values for cost in GREATER])
    assert values.loc["BR", "from_paper"] == pytest.approx(
        beside.loc[beside["algorithm"] == "BR", "difference"].median()
    )
    own = summary_table(make_results(["birds"], ["f1"], ["mine:Model"], n_splits=1)).shown
    assert own.iloc[0].tolist() == ["1", "0", "0", "0", "0", "0", "–", "1.00", "–"]


# ---- what running took ----


def test_times():
    rows = [("flags", "f1", "BR", 0, 2.0, 0.5, 0.1), ("flags", "rank", "BR", 0, 2.0, 0.7, 0.3)]
    names = ["data", "cost", "algorithm", "split", "seconds_search", "seconds_fit", "seconds_predict"]
    results = pd.DataFrame(rows, columns=names)
    table = times_table(results, "relevant-set")
    assert table.name == "times-relevant-set"
    assert table.shown["BR"].to_dict() == {"flags": "2.0 + .60 + .20", "all runs": "3.6 s"}
    assert total_seconds(results)["BR"] == pytest.approx(2.0 + 1.2 + 0.4)  # one search for both costs
    both = pd.concat([results, results.assign(algorithm="ext", seconds_fit=0.9, seconds_predict=0.2)])
    assert total_seconds(both).to_dict() == pytest.approx({"BR": 3.6, "ext": 0.9 + 0.2})  # and for both
    assert read_csv(table)["runs"].item() == 2


def test_parameters():
    chosen = ['{"max_depth": 6}', '{"max_depth": 6, "anchors": "rows"}', '{"max_depth": null}', "{}"]
    results = pd.DataFrame({"data": "flags", "algorithm": ["BR", "BR", "BR", "CC"], "chosen": chosen})
    shown = parameter_table(results).shown["flags"].to_dict()
    assert shown == {"BR anchors": "rows", "BR max_depth": "6 (67 %)"}
    assert parameter_table(results[3:]) is None
    results["chosen"] = ['{"temperature": Infinity}', *['{"temperature": null}'] * 2, "{}"]
    assert parameter_table(results).shown.to_dict() == {"flags": {"BR temperature": "none (67 %)"}}
    assert "Infinity" in parameter_table(results).to_csv()


def test_parameters_that_nobody_searched():
    results = pd.DataFrame({"data": ["x", "x", "y"], "algorithm": "BR", "chosen": '{"max_depth": 6}'})
    assert parameter_table(results) is None
    results["chosen"] = ['{"max_depth": 6}', '{"max_depth": 6}', '{"max_depth": null}']
    assert parameter_table(results) is None


def test_parameters_are_shown_briefly():
    chosen = ['{"estimator__max_features": 0.3333333333333333}', '{"estimator__max_features": "sqrt"}']
    table = parameter_table(pd.DataFrame({"data": "x", "algorithm": "BR", "chosen": chosen}))
    assert table.shown["x"].to_dict() == {"BR max_features": "0.333 (50 %)"}
    assert "0.3333333333333333" in table.to_csv()


def test_a_parameter_with_many_values():
    chosen = [f'{{"temperature": {value}}}' for value in (1, 1, 2, 3, 4)]
    results = pd.DataFrame({"data": "x", "algorithm": "BR", "chosen": chosen})
    assert parameter_table(results).shown["x"].tolist() == ["4 values"]
    assert parameter_table(results[:4]).shown["x"].tolist() == ["1 (50 %)"]


# ---- code length ----


def test_curves_are_over_the_splits_all_lengths_have():
    cells = [("x", "CSRPE-nearest", s, 0.1 * s) for s in range(3)]
    results = pd.concat([made(*cells, n_bits=300), made(*cells[:2], n_bits=100), made(*cells, n_bits=0)])
    curve = code_length_curve(results, "f1", "x", "CSRPE-nearest")
    assert curve.index.tolist() == [100, 300]
    assert curve["mean"].tolist() == pytest.approx([0.05, 0.05])


def test_code_lengths():
    results = make_results(
        ["flags", "yeast"], algorithms=("CSRPE-nearest", "CSRPE-posterior"), lengths=LENGTHS
    )
    table = code_length_table(results, "f1")
    assert list(table.shown.columns) == [*map(str, LENGTHS), "flat from"]
    assert list(table.shown.index) == ["yeast nearest", "yeast posterior", "flags nearest", "flags posterior"]
    flat = flat_lengths(results)
    assert len(flat) == 4 * 2 * 2
    assert set(table.shown["flat from"]) <= set(map(str, flat["flat_from"]))
    assert len(read_csv(table)) == 4 * len(LENGTHS)
    many = make_results(["flags"], ["f1"], ["CSRPE-nearest"], lengths=range(100, 5100, 100))
    columns = code_length_table(many, "f1").shown.columns
    assert len(columns) == 11
    assert list(columns[[0, -2]]) == ["100", "5000"]
    assert code_length_table(make_results(algorithms=["BR"]), "f1") is None


# ---- relevant set ----


def test_relevant_sets():
    results = make_results(["scene", "emotions", "birds"], algorithms=EXTENDED)
    cases = compare_extended_sets(results)
    assert len(cases) == 3 * 4 * 2
    case = next(c for c in cases if c[:3] == ("rank", "scene", "posterior"))
    here = results[(results["cost"] == "rank") & (results["data"] == "scene")].groupby("algorithm")["score"]
    plain, extended = here.mean()[["CSRPE-posterior", "CSRPE-ext-posterior"]]
    assert case.gain == pytest.approx((plain - extended) / plain)  # lower is better
    table = relevant_set_table(results, "f1")
    assert table.shown.shape == (3, 9)
    assert table.shown.loc["scene", "paper ext"] == ".7913 ± .0014"
    assert table.shown.loc["emotions", "paper"] == "–"  # what is printed there is no F1 score
    assert set(table.style.drop(columns=["nearest gain", "posterior gain"]).stack()) == {""}


def test_a_gain_over_nothing():
    scores = {"x": (0.0, 0.0), "y": (0.0, 0.1), "z": (0.1, 0.0)}
    names = ("CSRPE-nearest", "CSRPE-ext-nearest")
    results = made(
        *((data, *row) for data in scores for row in zip(names, (0, 0), scores[data], strict=True))
    )
    gains = relevant_set_table(results, "f1").shown["gain"].to_dict()
    assert gains == {"x": "0.0 %", "y": "–", "z": "−100.0 %"}
    assert {case.outcome for case in compare_extended_sets(results)} == {"untested"}


def test_a_relevant_set_with_half_of_the_results():
    results = make_results(["scene", "yeast"], algorithms=EXTENDED)
    lacking = results["algorithm"].str.contains("posterior") & (results["data"] == "yeast")
    table = relevant_set_table(results[~lacking], "f1")
    assert table.shown.loc["yeast", "posterior"] == "–"
    assert relevant_set_table(results[results["algorithm"] == "CSRPE-nearest"], "f1") is None
    own = relevant_set_table(
        results.assign(cost=OWN_COST, data="x").drop_duplicates(["algorithm", "split"]),
        OWN_COST,
    )
    assert "paper" not in own.shown
