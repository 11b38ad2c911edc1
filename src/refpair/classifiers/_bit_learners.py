"""What learns the bits of a code, given by name or as a classifier."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from refpair.bits import BitLearner, EstimatorBank, LogisticBank, TreeBank
from refpair.classifiers.base_estimators import Logistic

__all__ = ["as_bit_learner", "check_bit_learner", "is_estimator", "make_bank"]

_TOL = 1e-2  # of logistic regressions: the signs of thousands of bits need no more


def is_estimator(learner: Any) -> bool:
    """Whether a learner is an estimator of scikit-learn's kind, not a class of them."""
    return hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type)


def as_bit_learner(learner: Any) -> Any:
    """Return what the name "logistic" stands for; any other learner as it is.

    Examples
    --------
    >>> as_bit_learner("logistic"), as_bit_learner("tree")
    (Logistic(), 'tree')
    """
    return Logistic() if isinstance(learner, str) and learner == "logistic" else learner


def check_bit_learner(learner: Any) -> None:
    """Refuse what is neither a name nor a classifier that takes weights."""
    found = as_bit_learner(learner)
    if isinstance(found, str) and found == "tree":
        return
    if isinstance(found, Logistic):
        found.check()
        return
    if not is_estimator(found) or not is_classifier(found):
        raise ValueError(
            f'estimator must be "tree", "logistic" or a scikit-learn classifier, not {learner!r}'
        )
    if not has_fit_parameter(found, "sample_weight"):
        raise ValueError(f"estimator must take sample_weight in fit, which {found!r} does not")


def make_bank(learner: Any, *, of_trees: dict[str, Any] | None = None, **how: Any) -> BitLearner:
    """Return a bank that learns bits by a learner.

    Parameters
    ----------
    learner : "tree", "logistic" or classifier
    of_trees : dict, optional
        Parameters of a :class:`TreeBank` alone.
    **how
        Parameters that all banks have.

    Examples
    --------
    >>> make_bank("logistic", n_jobs=2).C
    1.0
    """
    found = as_bit_learner(learner)
    if isinstance(found, str):
        return TreeBank(**(of_trees or {}), **how)
    if isinstance(found, Logistic):
        return LogisticBank(**found.bank_parameters(_TOL), **how)
    return EstimatorBank(found, **how)
