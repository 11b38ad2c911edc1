"""Costs in files: by name, by prices, or, of a function, its name and what it says of some label vectors."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair.classifiers import CSRPEClassifier
from refpair.costs import Cost, get_cost
from refpair.persistence._codec import Reader, Writer, require

__all__ = ["CostField", "CostNeeded", "Probe", "WrongCost"]

_N_VECTORS = 16
_NEAR = 1e-9  # a function may round otherwise on another machine


class CostNeeded(Exception):
    """A cost is a function, which no file can hold."""


class WrongCost(Exception):
    """The cost that is given is not the one that a model was fitted with."""


class CostField:
    """A cost, as an object or by its name."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        if isinstance(value, str):
            return value
        cost = get_cost(value)
        return {"function": cost.name} if _is_function(cost) else cost.to_dict()

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        if isinstance(stored, str):
            get_cost(stored)  # refuses unknown names
            return stored
        require(isinstance(stored, dict), f"{place} is no cost")
        if "function" not in stored:
            return Cost.from_dict(stored)
        require(stored.keys() == {"function"} and isinstance(stored["function"], str), f"{place} is no cost")
        if reader.cost is None:
            raise CostNeeded(stored["function"])
        return reader.cost


def _is_function(cost: Cost) -> bool:
    try:
        cost.to_dict()
    except ValueError:
        return True
    return False


@dataclass(frozen=True, eq=False)
class Probe:
    """What a model's cost, a function, says: by it the function is known again.

    Attributes
    ----------
    vectors : ndarray of uint8, shape (n, n_labels), or None
    costs : ndarray of float64, shape (n, n), or None
        Of each of these label vectors when each of them is true.
    code_words : str or None
        A digest of the code words of the relevant set: what formats 1 to 3 have instead.
    """

    vectors: npt.NDArray[np.uint8] | None
    costs: npt.NDArray[np.float64] | None
    code_words: str | None = None

    @classmethod
    def of(cls, cost: Cost, n_labels: int) -> Probe | None:
        """Ask a function for the costs of random label vectors; other costs need no probe."""
        if not _is_function(cost):
            return None
        vectors = np.random.default_rng(0).integers(2, size=(_N_VECTORS, n_labels), dtype=np.uint8)
        return cls(vectors, cost.matrix(vectors, vectors))

    def check(self, model: Any) -> None:
        """Raise a WrongCost unless the cost of a model says the same."""
        try:
            same = self._agrees(model)
        except Exception as error:  # of a function that nothing is known of
            raise WrongCost(model.cost_.name) from error
        if not same:
            raise WrongCost(model.cost_.name)

    def _agrees(self, model: Any) -> bool:
        if self.code_words is not None and isinstance(model, CSRPEClassifier):
            words = model.code_.encode(model.relevant_set_)
            return hashlib.sha256(words.tobytes()).hexdigest() == self.code_words
        if self.vectors is None or self.costs is None:
            return False
        found = model.cost_.matrix(self.vectors, self.vectors)
        return found.shape == self.costs.shape and np.allclose(found, self.costs, rtol=_NEAR, atol=_NEAR)
