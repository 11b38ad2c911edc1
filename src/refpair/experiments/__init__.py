"""Experiments like those of the paper, with any data, cost and algorithm: run, stored, reported."""

from refpair.experiments.settings import QUICK, Settings
from refpair.experiments.study import PAPER_COSTS, Part, Study

__all__ = ["PAPER_COSTS", "QUICK", "Part", "Settings", "Study"]
