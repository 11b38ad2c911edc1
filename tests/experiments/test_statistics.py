"""Means, tests, ranks and flat curves."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from refpair.experiments.statistics import (
    WinTieLoss,
    average_ranks,
    best_or_level,
    cell_ranks,
    critical_difference,
    friedman,
    paired_outcome,
    score_table,
    shared_means,
    win_tie_loss,
)
from refpair.inspection._display import flat_from, mean_and_error
from tests.experiments.fake import make_results

SCORES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=12)


def frame(scores, cost="f1", data="flags"):
    """Return results of one cell from a dict of scores by split."""
    rows = [(data, cost, a, split, x) for a, by_split in scores.items() for split, x in by_split.items()]
    return pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])


@st.composite
def some_results(draw):
    """Draw results of up to four algorithms of which some lack some splits; scores are often equal."""
    rows = []
    for data in ("flags", "yeast", "scene")[: draw(st.integers(1, 3))]:
        for cost in ("f1", "rank")[: draw(st.integers(1, 2))]:
            for algorithm in ("BR", "CC", "PCC", "CFT")[: draw(st.integers(2, 4))]:
                for split in draw(st.sets(st.integers(0, 4), min_size=1)):
                    rows.append((data, cost, algorithm, split, draw(st.integers(0, 6)) / 8))
    return pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])


# ---- means and pairs ----


def test_means_and_errors():
    values = np.random.default_rng(0).random(7)
    assert mean_and_error(values) == pytest.approx((values.mean(), stats.sem(values)))


@given(SCORES, st.booleans())
def test_the_t_test_is_that_of_scipy(pairs, up):
    a, b = np.array(pairs, dtype=float).T
    differences = a - b
    expected = "tie"
    if differences.std() > 0:
        test = stats.ttest_rel(a, b)
        if test.pvalue <= 0.05:
            expected = "win" if (test.statistic > 0) == up else "loss"
    elif differences[0]:
        expected = "win" if (differences[0] > 0) == up else "loss"
    assert paired_outcome(a, b, up) == expected


@given(SCORES, st.booleans())
def test_one_wins_what_the_other_loses(pairs, up):
    a, b = np.array(pairs, dtype=float).T / 7
    turned = {"win": "loss", "tie": "tie", "loss": "win"}
    assert (
        paired_outcome(a, b, up) == turned[paired_outcome(b, a, up)] == turned[paired_outcome(a, b, not up)]
    )


def test_pairs_that_are_no_sample():
    assert paired_outcome([], [], True) == paired_outcome([1.0], [0.0], True) == "untested"
    assert (
        paired_outcome([0.3, 0.3, 0.5], [0.1 + 0.2] * 2 + [0.5], True) == "tie"
    )  # rounding is no difference
    assert paired_outcome([0.5, 0.75], [0.25, 0.5], True) == "win"
    assert paired_outcome([0.5, 0.75], [0.25, 0.5], False) == "loss"


# ---- wins over all cells ----


@given(some_results())
@settings(max_examples=20, deadline=None)
def test_wins_are_the_losses_of_the_other(results):
    names = results["algorithm"].unique()
    tables = {name: win_tie_loss(results, name) for name in names}
    for one in names:
        for other in names[names != one]:
            for cost in tables[one].index:
                win, tie, loss = tables[one].loc[cost, other]
                assert tables[other].loc[cost, one] == (loss, tie, win)
            *costs, total = tables[one][other]
            assert total == tuple(np.sum(costs, axis=0))


def test_only_common_splits_count():
    ours = {0: 0.5, 1: 0.6, 2: 0.7, 3: 0.0, 4: 0.0}
    theirs = {0: 0.4, 1: 0.5, 2: 0.6, 7: 1.0, 8: 1.0}
    table = win_tie_loss(frame({"ours": ours, "theirs": theirs, "other": {9: 0.1}}), "ours")
    assert table.map(str).to_dict("list") == {"theirs": ["1/0/0"] * 2, "other": ["0/0/0"] * 2}
    assert isinstance(table.loc["f1", "theirs"], WinTieLoss)


def test_a_single_common_split_is_no_tie():
    results = frame({"ours": {0: 0.5, 1: 0.6}, "theirs": {1: 0.7, 2: 0.8}, "third": {1: 0.5}})
    assert set(win_tie_loss(results, "ours").map(str).loc["total"]) == {"0/0/0"}
    verdicts = {name: best_or_level(results, name)["verdict"].item() for name in ("ours", "theirs")}
    assert verdicts == {"ours": "untested", "theirs": "best"}


@given(some_results())
@settings(max_examples=20, deadline=None)
def test_shared_means_are_over_the_splits_of_all_that_take_part(results):
    means = shared_means(results)
    assert list(means.index) == list(results[["cost", "data"]].drop_duplicates().itertuples(index=False))
    for (cost, data), row in means.iterrows():
        cell = results[(results["cost"] == cost) & (results["data"] == data)]
        splits = set.intersection(*(set(rows["split"]) for _, rows in cell.groupby("algorithm")))
        expected = cell[cell["split"].isin(splits)].groupby("algorithm")["score"].mean()
        pd.testing.assert_series_equal(row.dropna().sort_index(), expected, check_names=False)


def test_costs_are_in_order_of_appearance_and_have_directions():
    rank = frame({"a": {0: 2.0, 1: 2.5}, "b": {0: 1.0, 1: 1.5}}, cost="rank")
    f1 = frame({"a": {0: 0.2, 1: 0.25}, "b": {0: 0.1, 1: 0.15}})
    table = win_tie_loss(pd.concat([rank, f1]), "a")
    assert list(table.index) == ["rank", "f1", "total"]
    assert list(map(str, table["b"])) == ["0/0/1", "1/0/0", "1/0/1"]
    with pytest.raises(ValueError, match="unknown cost 'rnk'"):
        win_tie_loss(rank.assign(cost="rnk"), "a")
    with pytest.raises(ValueError, match="ours must be one of a, b, not 'c'"):
        win_tie_loss(rank, "c")


def test_a_score_must_be_the_only_one():
    results = frame({"a": {0: 0.2}})
    with pytest.raises(ValueError, match="several scores of a for f1 on flags, split 0: keep one n_bits"):
        score_table(pd.concat([results, results]))


def test_best_level_or_worse():
    best = {s: 0.5 + 0.1 * s for s in range(4)}
    noise = [0.1, -0.12, 0.06, -0.03]
    level = {s: best[s] - 0.01 + noise[s] for s in best}
    worse = {s: best[s] - 0.1 + 0.001 * s for s in best}
    results = pd.concat(
        [frame({"best": best, "level": level, "worse": worse}), frame({"level": {0: 1}}, data="x")]
    )
    verdicts = {name: best_or_level(results, name) for name in ("best", "level", "worse")}
    assert [tuple(table.loc[("f1", "flags")]) for table in verdicts.values()] == [
        ("best", ()),
        ("level", ()),
        ("worse", ("best",)),
    ]
    assert list(verdicts["level"].index) == [("f1", "flags")]  # alone on x


def test_means_that_differ_by_rounding_are_equally_good():
    results = frame({"up": {0: 0.1, 1: 0.2, 2: 0.3}, "down": {0: 0.3, 1: 0.2, 2: 0.1}})
    assert np.mean([0.1, 0.2, 0.3]) != np.mean([0.3, 0.2, 0.1])
    for name in ("up", "down"):
        assert best_or_level(results, name)["verdict"].item() == "best"
        assert average_ranks(results)[name] == 1.5


# ---- ranks ----


@given(some_results())
@settings(max_examples=20, deadline=None)
def test_ranks_of_a_cell_add_up(results):
    ranks = cell_ranks(results)
    n = results["algorithm"].nunique()
    np.testing.assert_allclose(ranks.sum(axis=1), n * (n + 1) / 2)
    if len(ranks):
        assert average_ranks(results).is_monotonic_increasing


def test_ranks_are_of_means_over_the_splits_all_have():
    scores = {"a": {0: 0.9, 1: 0.1}, "b": {0: 0.8, 5: 1.0}, "c": {0: 0.8}}
    cells = pd.concat([frame(scores), frame({"a": {0: 0.1}, "b": {0: 0.9}}, data="of two only")])
    assert cell_ranks(cells).loc[("f1", "flags")].to_dict() == {"a": 1.0, "b": 2.5, "c": 2.5}
    assert len(cell_ranks(cells)) == 1
    assert cell_ranks(frame(scores, cost="rank")).iloc[0].to_dict() == {"a": 3.0, "b": 1.5, "c": 1.5}


def test_friedman_is_that_of_scipy():
    results = make_results(
        ["yeast", "flags", "scene", "emotions"], ["f1"], algorithms=("BR", "CC", "PCC", "CFT")
    )
    means = results.groupby(["cost", "data", "algorithm"])["score"].mean().unstack()
    assert friedman(results) == pytest.approx(stats.friedmanchisquare(*means.to_numpy().T).pvalue)
    assert friedman(results.assign(score=1.0)) == 1.0
    assert np.isnan(friedman(results[results["algorithm"].isin(["BR", "CC"])]))


def test_critical_differences_are_those_of_the_published_table():
    """Table 5 (a) of Demšar, JMLR 2006."""
    published = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
    for k, q in published.items():
        assert critical_difference(k, 14) == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), rel=4e-4)


# ---- flat curves ----


def test_where_a_curve_is_flat():
    bits = [100, 1000, 3000, 5000]
    assert flat_from(bits, [0.3, 0.4, 0.45, 0.5], [0.001] * 4, True) == 5000
    assert flat_from(bits, [0.3, 0.497, 0.4, 0.5], [0.001] * 4, True) == 5000  # it dips
    assert flat_from(bits, [0.3, 0.496, 0.498, 0.5], [0.0] * 4, True) == 1000  # within 1 %
    assert flat_from(bits, [0.3, 0.45, 0.498, 0.5], [0.0, 0.0, 0.0, 0.06], True) == 1000  # within an error
    assert flat_from(bits, [0.3, 0.45, 0.498, 0.5], [np.nan] * 4, True) == 3000
    assert (
        flat_from(bits, [0.3, 0.4, 0.5, 0.5], [0.0] * 4, False) == 100
    )  # lower is better: no slope to climb
    assert flat_from([7], [0.3], [np.nan], True) == 7
    with pytest.raises(ValueError, match="n_bits must be at least one length, rising"):
        flat_from([3, 2], [1, 1], [0, 0], True)
