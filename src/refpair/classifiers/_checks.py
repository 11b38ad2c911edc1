"""Checks of parameters of estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number of Python or numpy; a bool is not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_count(name: str, value: Any, low: int = 1, high: int | None = None) -> None:
    """Refuse what is not a whole number within limits."""
    if not is_integer(value) or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be an integer {limits}, not {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Refuse what is not a finite number above 0."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 0.0 < value < np.inf:
        raise ValueError(f"{name} must be a number above 0, not {value!r}")


def check_between(name: str, value: Any) -> None:
    """Refuse what is not a number between 0 and 1, both left out."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 0.0 < value < 1.0:
        raise ValueError(f"{name} must be a number between 0 and 1, not {value!r}")


def check_amount(name: str, value: Any, allowed: str) -> None:
    """Refuse what is neither None, a whole number of at least 1, nor a share in (0, 1]."""
    if value is None or (is_integer(value) and value >= 1):
        return
    if not isinstance(value, float | np.floating) or not 0.0 < value <= 1.0:
        raise ValueError(f"{name} must be {allowed}, not {value!r}")


def check_running(*, n_jobs: Any, random_state: Any, verbose: Any) -> None:
    """Refuse what is wrong with the parameters that say how to run, which all estimators have."""
    check_count("verbose", int(verbose) if isinstance(verbose, bool) else verbose, low=0)
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be an integer other than 0 or None, not {n_jobs!r}")
    if is_integer(random_state) and 0 <= random_state < 2**32:
        return  # to make a generator of it takes longer than all other checks
    try:
        check_random_state(random_state)
    except ValueError as error:
        raise ValueError(f"random_state must be a seed: {error}") from error
