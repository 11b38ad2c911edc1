"""The paper's experiments, and others like them: any data, any cost, any algorithm; run, kept, reported."""

from refpair.experiments.settings import QUICK, Settings
from refpair.experiments.study import PAPER_COSTS, Part, Study

__all__ = ["PAPER_COSTS", "QUICK", "Part", "Settings", "Study"]
