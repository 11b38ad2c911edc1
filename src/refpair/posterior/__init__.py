"""Posteriors: distributions over the label vectors of a sample."""

from refpair.posterior.distribution import IndependentLabels, LabelDistribution

__all__ = ["IndependentLabels", "LabelDistribution"]
