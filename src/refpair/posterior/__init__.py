"""What a row's label vector may be: distributions over label vectors, to be decided on by a cost."""

from refpair.posterior.distribution import LabelDistribution
from refpair.posterior.independent import IndependentLabels

__all__ = ["IndependentLabels", "LabelDistribution"]
