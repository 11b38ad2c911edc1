"""What learns the bits of a code."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from refpair.bits.estimator import EstimatorBank
from refpair.bits.logistic import LogisticBank
from refpair.bits.problem import BitLearner, BitProblems
from refpair.bits.trees import TreeBank
from refpair.classifiers._base_learners import as_base_learner
from refpair.classifiers.base_estimators import Logistic

_TOL = 1e-2  # of logistic regressions: the signs of thousands of bits need no more
# Shares of the samples. Of many, fewer out-of-bag bits each are enough to choose by, and larger bags help.
_BAG, _LARGE_BAG, _MANY_ROWS = 0.632, 0.8, 2000
_LARGEST_BAG = 100_000  # samples: of a million, a tenth is better than most of them, and much faster
_MOST_VOTES = 100  # bits for a single label: a forest for it that is large enough
_VOTES_A_BIT = 2  # at most, of all labels for a bit of the code


def check_bit_learner(learner: Any) -> None:
    """Refuse what is neither a name nor a classifier that takes weights."""
    if isinstance(learner, str) and learner == "tree":
        return
    found = as_base_learner(learner)
    if isinstance(found, Logistic):
        found.check()
        return
    if isinstance(found, type) or not hasattr(found, "__sklearn_tags__") or not is_classifier(found):
        raise ValueError(
            f'estimator must be "tree", "logistic" or a scikit-learn classifier, not {learner!r}'
        )
    if not has_fit_parameter(found, "sample_weight"):
        raise ValueError(f"estimator must take sample_weight in fit, which {found!r} does not")


def make_bank(learner: Any, *, of_trees: dict[str, Any] | None = None, **how: Any) -> BitLearner:
    """Return a bank that learns bits by a learner; `of_trees` are parameters of a tree bank alone."""
    if isinstance(learner, str) and learner == "tree":
        return TreeBank(**(of_trees or {}), **how)
    found = as_base_learner(learner)
    if isinstance(found, Logistic):
        return LogisticBank(**found.bank_parameters(_TOL), **how)
    return EstimatorBank(found, **how)


def learn_bits(
    learner: Any, of_trees: dict[str, Any], how: dict[str, Any], X: Any, problems: BitProblems
) -> BitLearner:
    """Learn bits by a learner; ``max_samples="auto"`` goes by the number of samples."""
    n, max_samples = X.shape[0], how["max_samples"]
    if max_samples == "auto":
        larger = _LARGE_BAG if _LARGE_BAG * n <= _LARGEST_BAG else _LARGEST_BAG
        max_samples = _BAG if n < _MANY_ROWS else larger
    return make_bank(learner, of_trees=of_trees, **how | {"max_samples": max_samples}).fit(X, problems)


def count_votes(n_bits: int, n_labels: int) -> int:
    """Return how many bits of its own each label has beside a code: 100 of 6 labels for 3,000 bits, say."""
    return max(min(_VOTES_A_BIT * n_bits // n_labels, _MOST_VOTES), 1)
