"""Pictures of models and results: code lengths, costs, questions, calibration, learning; labels to check.

The classes follow scikit-learn's displays: a class method computes and plots, the object keeps the numbers
and can plot them again. Only plotting needs matplotlib: ``pip install 'refpair[plot]'``.
"""

from refpair.inspection.asking_curve import AskingCurveDisplay
from refpair.inspection.calibration import CalibrationDisplay
from refpair.inspection.cost_comparison import CostComparisonDisplay
from refpair.inspection.cost_coverage import CostCoverageDisplay
from refpair.inspection.curves import CodeLengthDisplay, LearningCurveDisplay
from refpair.inspection.wrong_labels import suspicious_labels

__all__ = [
    "AskingCurveDisplay",
    "CalibrationDisplay",
    "CodeLengthDisplay",
    "CostComparisonDisplay",
    "CostCoverageDisplay",
    "LearningCurveDisplay",
    "suspicious_labels",
]
