"""The classifiers, as scikit-learn estimators."""

from refpair.classifiers.csrpe import CSRPEClassifier

__all__ = ["CSRPEClassifier"]
