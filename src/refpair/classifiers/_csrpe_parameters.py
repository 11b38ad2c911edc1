"""Parameters of CSRPEClassifier: checks, which name the parameter and what it may be, and what "auto" is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refpair.classifiers._bit_learners import check_bit_learner
from refpair.classifiers._parameters import check_amount, check_count, check_running
from refpair.costs import Cost

if TYPE_CHECKING:
    from refpair.classifiers.csrpe import CSRPEClassifier

__all__ = ["bag_size", "check_csrpe_parameters"]

# Shares of the rows. Of many rows, fewer out-of-bag bits each are enough to choose by, and larger bags help.
_BAG, _LARGE_BAG, _MANY_ROWS = 0.632, 0.8, 2000
_LARGEST_BAG = 100_000  # rows: of a million, a tenth is better than most of them, and much faster

_TREE_ONLY = {"max_depth": "auto", "min_samples_leaf": 1, "max_features": "auto", "max_bins": 64}


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


def bag_size(n_rows: int) -> int | float:
    """Return how many rows, or which share of them, a bit of a posterior learns from.

    Examples
    --------
    >>> bag_size(1000), bag_size(10_000), bag_size(1_000_000)
    (0.632, 0.8, 100000)
    """
    if n_rows < _MANY_ROWS:
        return _BAG
    return _LARGE_BAG if _LARGE_BAG * n_rows <= _LARGEST_BAG else _LARGEST_BAG


def _check_learner(model: CSRPEClassifier) -> None:
    check_bit_learner(model.estimator)
    if isinstance(model.estimator, str) and model.estimator == "tree":
        return
    for name, default in _TREE_ONLY.items():
        if getattr(model, name) != default:
            raise ValueError(f'{name} belongs to estimator="tree": set it on the estimator itself instead')
