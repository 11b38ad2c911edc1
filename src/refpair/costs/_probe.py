"""How a cost that is a Python function is known again: by what it says of some label vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refpair.costs.cost import Cost

_N_VECTORS = 16
_NEAR = 1e-9  # a function may round otherwise on another machine


class OtherCostError(ValueError):
    """A cost is not the one that a model was fitted with."""


def is_function(cost: Cost) -> bool:
    """Whether a cost is a Python function, which no file can hold."""
    try:
        cost.to_dict()
    except ValueError:
        return True
    return False


def probe(cost: Cost, n_labels: int) -> npt.NDArray[np.float64]:
    """Return what a cost says of some label vectors, each of them predicted when each of them is true."""
    numbers = np.arange(_N_VECTORS)[:, None] * (np.arange(n_labels) + 3) ** 2
    vectors = (numbers // 7 % 2).astype(np.uint8)
    if not cost.compares_vectors:
        return np.array([cost.mean(vectors, np.roll(vectors, shift, axis=0)) for shift in range(_N_VECTORS)])
    return cost.matrix(vectors, vectors)


def check_probe(cost: Cost, n_labels: int, said: Any) -> None:
    """Raise an OtherCostError unless a cost says what another one did."""
    try:
        found = probe(cost, n_labels)
        same = found.shape == said.shape and np.allclose(found, said, rtol=_NEAR, atol=_NEAR)
    except Exception as error:  # of a function that nothing is known of
        raise OtherCostError(cost.name) from error
    if not same:
        raise OtherCostError(cost.name)
