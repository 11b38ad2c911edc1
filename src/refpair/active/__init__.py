"""Active learning: which rows a person should label next (section 4 of the paper)."""

from refpair.active._cells import Cells
from refpair.active._pool import Pool
from refpair.active._strategy import LearningStrategy, QueryStrategy
from refpair.active.adaptive import AdaptiveActive
from refpair.active.bayes_risk import BayesRisk
from refpair.active.binary_minimization import BinaryMinimization
from refpair.active.mmc import MMC
from refpair.active.random_query import RandomQuery
from refpair.active.representative import RepresentativeUncertainty
from refpair.active.simulation import learning_curve
from refpair.active.spread import SpreadQuery
from refpair.active.stopping import Budget, LowGain, Round, StablePredictions, reason_to_stop
from refpair.active.sub_sampled import SubSampled
from refpair.active.uncertainty import CostSensitiveUncertainty

__all__ = [
    "MMC",
    "AdaptiveActive",
    "BayesRisk",
    "BinaryMinimization",
    "Budget",
    "Cells",
    "CostSensitiveUncertainty",
    "LearningStrategy",
    "LowGain",
    "Pool",
    "QueryStrategy",
    "RandomQuery",
    "RepresentativeUncertainty",
    "Round",
    "SpreadQuery",
    "StablePredictions",
    "SubSampled",
    "learning_curve",
    "reason_to_stop",
]
