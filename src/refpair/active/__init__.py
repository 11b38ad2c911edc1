"""Active learning: which rows a person should label next (section 4 of the paper)."""

from refpair.active._strategy import RandomQuery, SpreadQuery, SubSampled
from refpair.active.binary_relevance import MMC, AdaptiveActive, BinaryMinimization
from refpair.active.simulation import learning_curve
from refpair.active.stopping import Budget, LowGain, Round, StablePredictions, reason_to_stop
from refpair.active.uncertainty import BayesRisk, CostSensitiveUncertainty, RepresentativeUncertainty

__all__ = [
    "MMC",
    "AdaptiveActive",
    "BayesRisk",
    "BinaryMinimization",
    "Budget",
    "CostSensitiveUncertainty",
    "LowGain",
    "RandomQuery",
    "RepresentativeUncertainty",
    "Round",
    "SpreadQuery",
    "StablePredictions",
    "SubSampled",
    "learning_curve",
    "reason_to_stop",
]
