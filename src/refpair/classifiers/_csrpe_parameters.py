"""Checks of the parameters of CSRPEClassifier; the errors name the parameter and what it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from refpair.classifiers._parameters import check_amount, check_count, check_running
from refpair.classifiers.logistic import Logistic
from refpair.costs import Cost

if TYPE_CHECKING:
    from refpair.classifiers.csrpe import CSRPEClassifier

__all__ = ["as_bit_learner", "check_csrpe_parameters", "is_estimator"]

_TREE_ONLY = {"max_depth": "auto", "min_samples_leaf": 1, "max_features": "auto", "max_bins": 64}


def is_estimator(learner: Any) -> bool:
    """Whether a learner is an estimator of scikit-learn's kind, not a class of them."""
    return hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type)


def check_csrpe_parameters(model: CSRPEClassifier) -> None:
    """Refuse bad parameters, naming them and what they may be."""
    if not isinstance(model.cost, str | Cost) and not callable(model.cost):
        raise ValueError(f"cost must be a name, a Cost or a function, not {model.cost!r}")
    check_count("n_bits", model.n_bits)
    check_count("min_samples_leaf", model.min_samples_leaf)
    check_count("max_bins", model.max_bins, low=2, high=255)
    check_running(n_jobs=model.n_jobs, random_state=model.random_state, verbose=model.verbose)
    if model.max_depth is not None and model.max_depth != "auto":
        check_count("max_depth", model.max_depth)
    if model.max_features not in ("auto", "sqrt", "log2"):
        check_amount(
            "max_features", model.max_features, 'a number, a share in (0, 1], "auto", "sqrt", "log2" or None'
        )
    if model.max_samples != "auto":
        check_amount("max_samples", model.max_samples, 'a number, a share in (0, 1], "auto" or None')
    if model.pairs not in ("auto", "uniform", "density", "mixed", "observed"):
        raise ValueError(
            f'pairs must be "auto", "uniform", "density", "mixed" or "observed", not {model.pairs!r}'
        )
    if model.decoder not in ("posterior", "nearest"):
        raise ValueError(f'decoder must be "posterior" or "nearest", not {model.decoder!r}')
    _check_learner(model)


def as_bit_learner(learner: Any) -> Any:
    """Return what the name "logistic" stands for; any other learner as it is.

    Examples
    --------
    >>> as_bit_learner("logistic"), as_bit_learner("tree")
    (Logistic(), 'tree')
    """
    return Logistic() if isinstance(learner, str) and learner == "logistic" else learner


def _check_learner(model: CSRPEClassifier) -> None:
    learner = as_bit_learner(model.learner)
    if isinstance(learner, str) and learner == "tree":
        return
    if not is_estimator(learner) or not is_classifier(learner):
        raise ValueError(
            f'learner must be "tree", "logistic" or a scikit-learn classifier, not {model.learner!r}'
        )
    if isinstance(learner, Logistic):
        learner.check()
    if not has_fit_parameter(learner, "sample_weight"):
        raise ValueError(f"learner must take sample_weight in fit, which {learner!r} does not")
    for name, default in _TREE_ONLY.items():
        if getattr(model, name) != default:
            raise ValueError(f'{name} belongs to learner="tree": set it on the learner itself instead')
