import sys
from importlib import import_module

import pandas as pd
import pytest

import refpair
from refpair import inspection
from refpair.inspection import (
    AskingCurveDisplay,
    CalibrationDisplay,
    CodeLengthDisplay,
    CostComparisonDisplay,
    CostCoverageDisplay,
)
from tests.inspection.results import DIRECTIONS, made_results


def test_the_module_is_imported_without_matplotlib(monkeypatch):
    monkeypatch.setattr(refpair, "inspection", inspection)  # puts it back afterwards
    for name in [name for name in sys.modules if name.startswith("refpair.inspection")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    again = import_module("refpair.inspection")
    assert again is not inspection
    assert set(again.__all__) == {
        "AskingCurveDisplay",
        "CalibrationDisplay",
        "CodeLengthDisplay",
        "CostComparisonDisplay",
        "CostCoverageDisplay",
        "LearningCurveDisplay",
        "suspicious_labels",
    }


def test_plotting_without_matplotlib_names_the_extra(monkeypatch, model, test_rows):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    results = made_results({"BR": {0: 0.5}, "CSRPE-posterior": {0: 0.6}})
    scores = pd.DataFrame({"f1": {"BR": 0.5}})
    for plot in (
        CodeLengthDisplay([1, 2], [0.1, 0.2], name="m", cost_name="f1", greater_is_better=True).plot,
        CalibrationDisplay([0.1], [0.2], [3], name="m").plot,
        CostComparisonDisplay(scores, greater_is_better=DIRECTIONS, name="m").plot,
        AskingCurveDisplay([0.1], [0.2], 0.3).plot,
        lambda: AskingCurveDisplay.from_estimator(model, *test_rows),
        lambda: CodeLengthDisplay.from_estimator(model, *test_rows),
        lambda: CodeLengthDisplay.from_results(results, "emotions", "f1", greater_is_better=DIRECTIONS),
        lambda: CalibrationDisplay.from_estimator(model, *test_rows),
        lambda: CostCoverageDisplay.from_estimator(model, *test_rows),
        lambda: CostCoverageDisplay.from_predictions([0.1], [0.2]),
        lambda: CalibrationDisplay.from_predictions([1, 0], [0.5, 0.5]),
        lambda: CostComparisonDisplay.from_estimators({"m": model}, *test_rows, ["f1"]),
        lambda: CostComparisonDisplay.from_results(results, "emotions", greater_is_better=DIRECTIONS),
    ):
        with pytest.raises(ImportError, match=r"plotting needs matplotlib: pip install 'refpair\[plot\]'"):
            plot()
