"""Posteriors: distributions over the label vectors of a sample, and how a predicted code becomes one."""

from refpair.posterior.code import CodePosterior, PosteriorSettings
from refpair.posterior.distribution import IndependentLabels, LabelDistribution

__all__ = ["CodePosterior", "IndependentLabels", "LabelDistribution", "PosteriorSettings"]
