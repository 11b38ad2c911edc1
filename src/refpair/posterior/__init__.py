"""Posteriors: distributions over the label vectors of a row, and how a predicted code becomes one."""

from refpair.posterior.anchors import Anchors
from refpair.posterior.calibration import LogOddsLine
from refpair.posterior.code_posterior import CodePosterior, label_probabilities
from refpair.posterior.distribution import LabelDistribution
from refpair.posterior.independent import IndependentLabels
from refpair.posterior.reading import AnchorKind, Reader, Reading

__all__ = [
    "AnchorKind",
    "Anchors",
    "CodePosterior",
    "IndependentLabels",
    "LabelDistribution",
    "LogOddsLine",
    "Reader",
    "Reading",
    "label_probabilities",
]
