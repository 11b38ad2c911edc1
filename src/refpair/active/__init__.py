"""Active learning: which rows a person should label next."""

from refpair.active.adaptive import AdaptiveActive
from refpair.active.binary_minimization import BinaryMinimization
from refpair.active.mmc import MMC
from refpair.active.random_query import RandomQuery
from refpair.active.spread import SpreadQuery
from refpair.active.uncertainty import CostSensitiveUncertainty

__all__ = [
    "MMC",
    "AdaptiveActive",
    "BinaryMinimization",
    "CostSensitiveUncertainty",
    "RandomQuery",
    "SpreadQuery",
]
