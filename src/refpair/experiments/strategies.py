"""The strategies of active learning by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from refpair.active import (
    MMC,
    AdaptiveActive,
    BayesRisk,
    BinaryMinimization,
    CostSensitiveUncertainty,
    RandomQuery,
    RepresentativeUncertainty,
    SpreadQuery,
)
from refpair.active._strategy import QueryStrategy
from refpair.classifiers import Logistic
from refpair.costs import Cost
from refpair.experiments.algorithms import call_with
from refpair.experiments.names import import_object, is_own
from refpair.tables._names import unknown_name

__all__ = ["DEFAULT_STRATEGY", "STRATEGIES", "Situation", "find_strategy"]

DEFAULT_STRATEGY = "representative"
_ADAPTIVE_ROWS = 10  # that tie are looked at for each β: all would take hours


@dataclass(frozen=True, eq=False)
class Situation:
    """What a strategy is made for.

    Attributes
    ----------
    cost : Cost
    estimator : multi-label classifier
        The one that is to be improved.
    learner : Logistic
        With the parameters that were chosen on the first labels.
    n_bits : int
        The length of codes.
    random_state : int
    """

    cost: Cost
    estimator: Any
    learner: Logistic
    n_bits: int
    random_state: int


Make = Callable[[Situation], QueryStrategy]


def _uncertainty(part: Any) -> Make:
    def make(s: Situation) -> QueryStrategy:
        return CostSensitiveUncertainty(
            s.cost,
            estimator=s.estimator,
            n_bits=s.n_bits,
            bit_estimator=s.learner,
            part=part,
            random_state=s.random_state,
        )

    return make


def _representative(s: Situation) -> QueryStrategy:
    return RepresentativeUncertainty(
        s.cost, estimator=s.estimator, n_bits=s.n_bits, bit_estimator=s.learner, random_state=s.random_state
    )


def _adaptive(s: Situation) -> QueryStrategy:
    return AdaptiveActive(s.learner, max_looked_at=_ADAPTIVE_ROWS, random_state=s.random_state)


STRATEGIES: dict[str, Make] = {
    "random": lambda s: RandomQuery(random_state=s.random_state),
    "spread": lambda s: SpreadQuery(random_state=s.random_state),
    "BinMin": lambda s: BinaryMinimization(s.learner, random_state=s.random_state),
    "MMC": lambda s: MMC(s.learner, random_state=s.random_state),
    "adaptive": _adaptive,
    "risk": lambda s: BayesRisk(s.cost, estimator=s.estimator, random_state=s.random_state),
    "CSRPE": _uncertainty("both"),
    "CSRPE-estimation": _uncertainty("estimation"),
    "CSRPE-utility": _uncertainty("utility"),
    DEFAULT_STRATEGY: _representative,
}


def find_strategy(name: str) -> Make:
    """Return a strategy by its name, or one of the user's own.

    ``module:name`` is a class or a function that returns a query strategy. It is given the arguments `cost`,
    `estimator`, `learner`, `n_bits` and `random_state` if it has them.

    Examples
    --------
    >>> find_strategy("MCC")
    Traceback (most recent call last):
    ValueError: unknown strategy 'MCC'; did you mean 'MMC'? One of your own is module:name
    """
    if not is_own(name):
        if name not in STRATEGIES:
            text = unknown_name("strategy", name, STRATEGIES)
            raise ValueError(f"{text if text[-1] == '?' else f'{text}.'} One of your own is module:name")
        return STRATEGIES[name]
    make = import_object(name)
    if not callable(make):
        raise ValueError(f"{name} is no class and no function that returns a strategy")
    return lambda s: call_with(make, **{field: getattr(s, field) for field in s.__dataclass_fields__})
