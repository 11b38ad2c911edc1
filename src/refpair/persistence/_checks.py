"""What must hold of the arrays of a model before kernels that check nothing may follow their indices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair.bits.binning import Bins
from refpair.bits.trees import Trees

__all__ = ["check_bins", "check_dtypes", "check_trees", "require"]

_MAX_EDGES = 254  # a bin is a byte, and 255 stands for a missing value


def require(condition: object, what: str) -> None:
    """Raise a ValueError that says what is wrong unless the condition holds."""
    if not condition:
        raise ValueError(what)


def check_dtypes(
    arrays: Mapping[str, npt.NDArray[Any]], dtypes: Mapping[str, str], optional: Collection[str]
) -> dict[str, npt.NDArray[Any]]:
    """Return copies in the machine's byte order, if all arrays are there, known and of their dtype."""
    for name in dtypes.keys() - set(optional):
        require(name in arrays, f"{name} is missing")
    for name, array in arrays.items():
        require(name in dtypes, f"{name!r} does not belong here")
        require(array.dtype == np.dtype(dtypes[name]), f"{name} holds {array.dtype}")
        if array.dtype == bool:
            require(array.view(np.uint8).max(initial=0) <= 1, f"{name} holds more than true and false")
    # Copies that may be written to: for others, numba would compile all kernels once more.
    return {name: np.array(array, array.dtype.newbyteorder("=")) for name, array in arrays.items()}


def check_bins(bins: Bins, n_features: int) -> None:
    """Check that each feature has its edges, and no more than a byte can tell apart."""
    start = bins.edge_start
    require(bins.edges.ndim == bins.has_missing.ndim == 1, "the bins have a wrong shape")
    require(len(bins.has_missing) == n_features, "the bins are not those of the features")
    require(start.shape == (n_features + 1,), "the bins have a wrong shape")
    # By comparing neighbours: differences of broken numbers could wrap around and look fine.
    ascends = start[0] == 0 and start[-1] == len(bins.edges) and (start[1:] >= start[:-1]).all()
    require(
        ascends and np.diff(start).max(initial=0) <= _MAX_EDGES, "the bins have too many or too few edges"
    )
    require(np.isfinite(bins.edges).all(), "an edge of a bin is not a number")


def check_trees(trees: Trees, n_trees: int, n_features: int) -> None:
    """Check that every way down a tree ends, within this tree, and asks only for features that exist."""
    start, n_nodes = trees.start, trees.feature.size
    nodes = (trees.feature, trees.threshold, trees.missing_left, trees.left_child, trees.value)
    require(all(array.shape == (n_nodes,) for array in nodes), "the trees have a wrong shape")
    require(start.shape == (n_trees + 1,), "there is not one tree for each bit")
    ascends = start[0] == 0 and start[-1] == n_nodes and (start[1:] > start[:-1]).all()
    require(ascends, "the trees do not follow one another")
    require(np.isfinite(trees.value).all(), "the value of a node is not a number")
    if n_nodes == 0:
        return
    require(trees.feature.min() >= -1 and trees.feature.max() < n_features, "a node asks for no feature")
    inner = np.flatnonzero(trees.feature >= 0)
    sizes = np.diff(start)
    place = inner - np.repeat(start[:-1], sizes)[inner]
    left = trees.left_child[inner].astype(np.int64)
    # Children after their parents: then no way down comes back to where it was.
    require((left > place).all(), "a child comes before its parent")
    require((left + 1 < np.repeat(sizes, sizes)[inner]).all(), "a child lies outside its tree")
