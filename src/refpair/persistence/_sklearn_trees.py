"""Trees of scikit-learn as arrays, and back.

The compiled tree follows the indices of its nodes without a check, and even while it is put together it
does not check the sizes that it is given. Hence it is put together here, of arrays that were checked before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree._tree import Tree

from refpair._saved import depths_of, require, require_one_parent

_MOST_FEATURES, _MOST_CLASSES = 1 << 31, 1 << 20
_NO_CHILD = -1
_WHOLE = ("left_child", "right_child", "feature", "n_node_samples", "missing_go_to_left")
_REAL = ("threshold", "impurity", "weighted_n_node_samples")


def take_tree(tree: Tree) -> dict[str, Any]:
    """Return a tree as numbers and arrays."""
    state = tree.__getstate__()
    count = int(tree.node_count)
    nodes = state["nodes"][:count]
    if set(nodes.dtype.names) != {*_WHOLE, *_REAL}:
        raise ValueError(f"the trees of this scikit-learn have {nodes.dtype.names}, which cannot be saved")
    return {
        "n_features": int(tree.n_features),
        "n_classes": np.asarray(tree.n_classes, np.int64),
        "max_depth": int(tree.max_depth),
        "values": np.asarray(state["values"][:count]),
        "whole": np.array([nodes[name] for name in _WHOLE], np.int64),
        "real": np.array([nodes[name] for name in _REAL], np.float64),
    }


def make_tree(stored: Any, n_features: Any) -> Tree:
    """Return the tree of an estimator of so many features, or raise a ValueError that says what is wrong."""
    names = {"n_features", "n_classes", "max_depth", "values", "whole", "real"}
    require(isinstance(stored, dict) and stored.keys() == names, "a tree lacks some of its parts")
    require(type(n_features) is int and 0 < n_features < _MOST_FEATURES, "a tree does not tell its features")
    require(stored["n_features"] == n_features, "a tree has other features than its estimator")
    depth = stored["max_depth"]
    require(type(depth) is int, "a tree has no depth")
    n_classes = _array(stored["n_classes"], np.int64, 1)
    fine = 0 < len(n_classes) <= _MOST_CLASSES and n_classes.min() >= 1 and n_classes.max() <= _MOST_CLASSES
    require(fine, "a tree has no classes")
    whole, real = _array(stored["whole"], np.int64, 2), _array(stored["real"], np.float64, 2)
    count = whole.shape[1]
    fits = whole.shape == (len(_WHOLE), count) and real.shape == (len(_REAL), count)
    require(fits, "the nodes of a tree have a wrong shape")
    values = _array(stored["values"], np.float64, 3)
    expected = (count, len(n_classes), int(n_classes.max()))
    require(values.shape == expected, "the values of a tree have a wrong shape")
    require(np.isfinite(values).all(), "the value of a node is not a number")
    columns = dict(zip((*_WHOLE, *_REAL), (*whole, *real), strict=True))
    # The way of a row is written where there is room for this depth.
    require(_check_nodes(columns, n_features) == depth, "a tree has another depth")
    tree = Tree(n_features, n_classes.astype(np.intp), len(n_classes))
    nodes = np.zeros(count, tree.__getstate__()["nodes"].dtype)
    for name, column in columns.items():
        nodes[name] = column
    tree.__setstate__({"max_depth": depth, "node_count": count, "nodes": nodes, "values": values})
    return tree


def _array(stored: Any, dtype: type, ndim: int) -> npt.NDArray[Any]:
    is_array = type(stored) is np.ndarray and stored.dtype == dtype and stored.ndim == ndim
    require(is_array, "a tree is not made of arrays of numbers")
    return np.ascontiguousarray(stored)


def _check_nodes(nodes: dict[str, npt.NDArray[Any]], n_features: int) -> int:
    """Check that every way down ends, and asks only for features that exist; return how long they are."""
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    require(len(left) > 0, "a tree has no nodes")
    is_leaf = left == _NO_CHILD
    require((is_leaf == (right == _NO_CHILD)).all(), "a node has a single child")
    inner = np.flatnonzero(~is_leaf)
    for child in (left[inner], right[inner]):
        require((child > inner).all(), "a child comes before its parent")
        require((child < len(left)).all(), "a child lies outside its tree")
    asked = feature[inner]
    require(((asked >= 0) & (asked < n_features)).all(), "a node asks for no feature")
    missing = nodes["missing_go_to_left"]
    require(((missing >= 0) & (missing <= 1)).all(), "a node sends missing values nowhere")
    require_one_parent(left[inner], right[inner])
    return int(depths_of(inner, left[inner], right[inner], len(left)).max())
