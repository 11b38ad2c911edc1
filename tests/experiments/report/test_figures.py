"""The figures of a report."""

import sys
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from refpair.experiments.report.figures import (
    code_length_figure,
    comparison_figure,
    critical_difference_diagram,
    figure_svg,
    learning_curve_figure,
)
from tests.experiments.fake import ALGORITHMS, make_results

RANKS = pd.Series({"PCC": 2.0, "BR": 3.4, "CSRPE-posterior": 1.2, "CC": 3.5})


def horizontal_bars(axes):
    """Return the ends of the thick lines."""
    return [tuple(line.get_xdata()) for line in axes.lines if line.get_linewidth() > 3]


def test_bars_join_what_does_not_differ():
    (axes,) = critical_difference_diagram(RANKS, 1.45).axes
    expected = [(1.16, 2.04), (1.96, 3.44), (3.36, 3.54)]  # a little longer than they are
    assert horizontal_bars(axes) == [pytest.approx(ends) for ends in expected]
    assert horizontal_bars(critical_difference_diagram(RANKS, 0.05).axes[0]) == []
    (all_alike,) = horizontal_bars(critical_difference_diagram(RANKS, 9.0).axes[0])
    assert all_alike == pytest.approx((1.16, 3.54))
    assert "1 is the best" in axes.get_title()


def test_all_names_are_in_the_diagram():
    texts = [text.get_text() for text in critical_difference_diagram(RANKS, 1.0).axes[0].texts]
    for name, rank in RANKS.items():
        assert any(name in text and f"{rank:.2f}" in text for text in texts)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_no_name_is_cut_off(n):
    ranks = pd.Series({f"{name}{'W' * 12}": float(i) for i, name in enumerate("ABCDEFGH"[:n], start=1)})
    figure = critical_difference_diagram(ranks, 1.5)
    figure.draw_without_rendering()  # lays it out
    names = [text for text in figure.axes[0].texts if "W" in text.get_text()]
    assert len(names) == n
    for text in [*names, figure.axes[0].title]:
        box = text.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1, text
    (axes,) = figure.axes
    assert axes.get_window_extent().width > 0.4 * figure.bbox.width, "the line of ranks has room too"


def test_a_panel_for_each_data_set():
    results = make_results(
        ["flags", "yeast", "scene"], ["f1"], ("CSRPE-nearest", "CSRPE-posterior"), lengths=(100, 3000)
    )
    figure = code_length_figure(results, "f1")
    assert [axes.get_title() for axes in figure.axes] == ["yeast", "flags", "scene"]
    for axes in figure.axes:
        curves = [line for line in axes.lines if list(line.get_xdata()) == [100, 3000]]
        assert len(curves) == 2
        assert len(axes.collections) == 2  # the bands
        assert [3000, 3000] in [list(line.get_xdata()) for line in axes.lines]
    assert [text.get_text() for text in figure.legends[0].texts] == ["CSRPE-nearest", "CSRPE-posterior"]
    one_split = code_length_figure(results[results["split"] == 0], "f1")
    assert len(one_split.axes[0].collections) == 0


def test_a_panel_for_each_cost():
    figure = comparison_figure(make_results(["flags", "yeast"]))
    titles = ["F1 score ↑", "Accuracy (Jaccard) ↑", "Hamming loss ↓", "Rank loss ↓"]
    assert [axes.get_title() for axes in figure.axes] == titles
    for axes in figure.axes:
        assert [line.get_label() for line in axes.lines] == list(ALGORITHMS)
        assert min(line.get_xdata().min() for line in axes.lines) == 0.0  # the best


def places(results):
    """Return how far right each algorithm is drawn in the first panel."""
    axes = comparison_figure(results).axes[0]
    return {line.get_label(): list(line.get_xdata()) for line in axes.lines}


def test_only_splits_that_all_share_are_drawn():
    results = make_results(["flags"], ["f1"], ["BR", "CC"], n_splits=2)
    results["score"] = [0.5, 0.0, 0.4, 0.9]
    assert places(results[results.index != 1]) == {"BR": [0.0], "CC": [pytest.approx(20.0)]}
    assert np.isnan(list(places(results.iloc[[0, 3]]).values())).all()


def test_a_best_mean_of_zero():
    results = make_results(["flags"], ["hamming"], ["BR", "CC", "PCC"], n_splits=1)
    drawn = places(results.assign(score=[0.0, 0.0, 0.1]))
    assert drawn["BR"] == drawn["CC"] == [0.0]
    assert np.isnan(drawn["PCC"]).all()


def test_the_same_data_give_the_same_file():
    results = make_results(["flags"], ["f1", "rank"])

    def svg(name):
        return figure_svg(lambda: comparison_figure(results), name)

    assert svg("one") == svg("one")
    assert svg("one").replace("one-", "two-") == svg("two")
    root = ElementTree.fromstring(svg("one"))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert ids
    assert all(name.startswith("one-") for name in ids)
    assert "<dc:date>" not in svg("one")


def test_names_are_not_formulas():
    results = make_results(["flags"], ["f1"], ["BR", "CC"]).replace({"flags": "a$_^{$b"})
    assert figure_svg(lambda: comparison_figure(results), "x").startswith("<svg")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"plotting needs matplotlib: pip install 'refpair\[plot\]'"):
        critical_difference_diagram(RANKS, 1.0)
    with pytest.raises(ImportError, match="plotting needs matplotlib"):
        figure_svg(lambda: critical_difference_diagram(RANKS, 1.0), "ranks")


def test_bands_are_of_the_default_and_of_random_queries():
    names = ("random", "MMC", "representative")
    results = make_results(["flags"], ["f1"], names).drop(columns="n_bits")
    results = pd.concat([results.assign(n_labeled=n, score=results["score"] + n / 100) for n in (20, 25, 30)])
    axes = learning_curve_figure(results, "f1").axes[0]
    assert len(axes.lines) == 3
    assert len(axes.collections) == 2
