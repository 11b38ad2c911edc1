"""Pictures of models and results: how long a code pays, which model is best for which cost, calibration.

The classes follow scikit-learn's displays: a class method computes and plots, the object keeps the numbers
and can plot them again. Only plotting needs matplotlib: ``pip install 'refpair[plot]'``.
"""

from refpair.inspection.calibration import CalibrationDisplay
from refpair.inspection.code_length import CodeLengthDisplay
from refpair.inspection.cost_comparison import CostComparisonDisplay

__all__ = ["CalibrationDisplay", "CodeLengthDisplay", "CostComparisonDisplay"]
