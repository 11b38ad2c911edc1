"""Send binned rows down the trees."""

import numba

from refpair._kernels.binning import MISSING


@numba.njit(cache=True, nogil=True)
def leaf_values(codes, tree_start, feature, threshold, missing_left, left_child, value, out):
    """Write the value of the leaf that each row reaches in each tree to ``out[row, tree]``.

    Trees are the outer loop: a tree's nodes stay in the fast cache while a block of rows passes through it.
    """
    for tree in range(tree_start.shape[0] - 1):
        root = tree_start[tree]
        for row in range(codes.shape[0]):
            node = root
            while feature[node] >= 0:
                code = codes[row, feature[node]]
                goes_left = missing_left[node] if code == MISSING else code <= threshold[node]
                node = root + left_child[node] + (not goes_left)
            out[row, tree] = value[node]


@numba.njit(cache=True, nogil=True)
def leaf_signs(codes, tree_start, feature, threshold, missing_left, left_child, value, out):
    """Write +1 where the value of the leaf is positive, else −1; otherwise as :func:`leaf_values`."""
    for tree in range(tree_start.shape[0] - 1):
        root = tree_start[tree]
        for row in range(codes.shape[0]):
            node = root
            while feature[node] >= 0:
                code = codes[row, feature[node]]
                goes_left = missing_left[node] if code == MISSING else code <= threshold[node]
                node = root + left_child[node] + (not goes_left)
            out[row, tree] = 1 if value[node] > 0 else -1
