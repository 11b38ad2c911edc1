"""Growing trees from a test: every form of the features, the packed weights, and walks down the result."""

from unittest.mock import patch

import numpy as np
import scipy.sparse as sp

from refpair._kernels import packed
from refpair._kernels.grow import grow_trees, n_copies_of
from refpair._kernels.packed import Limits, field_widths
from refpair.bits import binning
from refpair.bits.binning import Bins, bin_for_training, find_bins
from refpair.bits.nodes import Trees
from tests import naive
from tests.kernels.calling import from_python

NO_LIMIT = 2**31 - 1
pack_row_weights, signed_sum = map(from_python, (packed.pack_row_weights, packed.signed_sum))


def forms_of(X, bins: Bins) -> dict:
    """The same bins as dense features, as sparse ones by common bin, and as sparse ones of a CSR matrix."""
    with patch.object(binning, "SPARSE_BELOW", 0.0):
        dense = bin_for_training(X, bins)
    with patch.object(binning, "SPARSE_BELOW", 2.0):
        return {
            "dense": dense,
            "sparse": bin_for_training(X, bins),
            "csr": bin_for_training(sp.csr_array(X), bins),
        }


def limits_for(X, *, weight_bits=None, max_depth=None, min_samples_leaf=1, row_weight=()) -> Limits:
    wide, count_bits = field_widths(n_copies_of(np.float64(row_weight), len(X)), min_samples_leaf)
    return Limits(max_depth or NO_LIMIT, min_samples_leaf, weight_bits or wide, count_bits)


def grow(
    features,
    differences,
    limits: Limits,
    *,
    seeds=None,
    n_sampled=None,
    n_features=None,
    max_features=None,
    row_weight=(),
):
    """Trees for the columns of differences, given by row."""
    n_rows, n_trees = differences.shape
    allowed = np.full(n_trees, n_features or len(features.n_bins), np.int64)
    seeds = np.arange(n_trees, dtype=np.uint64) * np.uint64(7919) if seeds is None else np.uint64(seeds)
    nodes, value = grow_trees(
        features,
        allowed,
        np.full(n_trees, max_features or allowed, np.int64),
        np.arange(n_rows, dtype=np.int32),
        np.ascontiguousarray(differences.T, dtype=np.float64),
        n_rows if n_sampled is None else n_sampled,
        seeds,
        limits,
        np.float64(row_weight),
    )
    return Trees(*nodes, value)


def grow_all_forms(
    X,
    differences,
    *,
    max_bins=64,
    seeds=None,
    n_sampled=None,
    n_features=None,
    max_features=None,
    row_weight=(),
    **limits,
):
    """Trees that dense and sparse features agree on, array for array."""
    limits = limits_for(X, row_weight=row_weight, **limits)
    options = {
        "seeds": seeds, "n_sampled": n_sampled, "n_features": n_features, "max_features": max_features,
        "row_weight": row_weight,
    }  # fmt: skip
    bins = find_bins(X, max_bins, np.float64(row_weight) if len(row_weight) else None)
    grown = {
        name: grow(features, differences, limits, **options) for name, features in forms_of(X, bins).items()
    }
    trees = grown["dense"]
    for name in ("sparse", "csr"):
        for field in vars(trees):
            np.testing.assert_array_equal(
                getattr(grown[name], field), getattr(trees, field), err_msg=f"{field} of {name}"
            )
    return trees


def integer_weights(differences, rows, limits: Limits, row_weight=()) -> list[int]:
    """The signed integers that the kernels make of one column of differences; 0 where a row is left out."""
    n = len(differences)
    values, kept = np.zeros(n, np.int64), np.empty(n, np.int32)
    n_kept = pack_row_weights(
        np.float64(differences),
        np.arange(n, dtype=np.int32),
        np.float64(row_weight),
        np.int32(rows),
        limits.weight_bits,
        limits.count_bits,
        values,
        kept,
    )
    signed = [0] * n
    for row in kept[:n_kept]:
        signed[row] = int(signed_sum(values[row], limits.weight_bits, limits.count_bits))
    return signed


def naive_codes(X, max_bins: int, copies=None) -> list[list[int | None]]:
    edges = [naive.bin_edges([float(v) for v in column], max_bins, copies) for column in X.T]
    return [[naive.bin_of(v, e) for v, e in zip(row, edges, strict=True)] for row in X.tolist()]


def assert_same_tree(trees: Trees, tree: int, expected: naive.Node) -> None:
    first, seen = int(trees.start[tree]), set()

    def compare(node: int, twin: naive.Node) -> None:
        seen.add(node)
        at = first + node
        assert trees.value[at] == np.float32(float(twin.value))
        assert trees.feature[at] == twin.feature
        if twin.children is not None:
            assert trees.threshold[at] == twin.threshold
            assert trees.missing_left[at] == twin.missing_left
            for child, child_twin in enumerate(twin.children):
                compare(int(trees.left_child[at]) + child, child_twin)

    compare(0, expected)
    assert seen == set(range(int(trees.start[tree + 1]) - first))
