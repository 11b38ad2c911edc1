"""The classifiers, as scikit-learn estimators."""

from refpair.classifiers.bayes_decision import BayesDecisionClassifier
from refpair.classifiers.csrpe import CSRPEClassifier

__all__ = ["BayesDecisionClassifier", "CSRPEClassifier"]
