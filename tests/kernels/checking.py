"""A check of large trees: at every node, by sums over its own rows, that the split is the best one."""

from dataclasses import dataclass

import numpy as np

from refpair._kernels.packed import Limits
from refpair.bits.nodes import Trees


@dataclass
class Visit:
    node: int
    rows: np.ndarray
    depth: int


def visits(trees: Trees, tree: int, codes, missing, rows) -> list[Visit]:
    """All nodes of a tree with the training rows that reach them; codes and missing are (n, d)."""
    first, found = int(trees.start[tree]), [Visit(0, rows, 0)]
    for visit in found:
        at = first + visit.node
        f = trees.feature[at]
        if f >= 0:
            left = codes[visit.rows, f] <= trees.threshold[at]
            left[missing[visit.rows, f]] = trees.missing_left[at]
            child = int(trees.left_child[at])
            found.append(Visit(child, visit.rows[left], visit.depth + 1))
            found.append(Visit(child + 1, visit.rows[~left], visit.depth + 1))
    return found


def gains(codes, missing, signed, rows, f, min_samples_leaf) -> np.ndarray:
    """The gains of all allowed splits of a feature, infinite where both sides are pure."""
    here = missing[rows, f]
    bins, n_bins = codes[rows, f][~here], int(codes[:, f].max()) + 1

    def cumulated(values):
        return np.cumsum(np.bincount(bins, values[~here], n_bins))[:-1], values[here].sum()

    (s, s_missing), (w, w_missing) = cumulated(signed[rows]), cumulated(np.abs(signed[rows]))
    n, n_missing = cumulated(np.ones(len(rows)))
    if n_missing:
        # Missing values right, left, or alone.
        s = np.concatenate([s, s + s_missing, [s_missing]])
        w = np.concatenate([w, w + w_missing, [w_missing]])
        n = np.concatenate([n, n + n_missing, [n_missing]])
    S, W, N = signed[rows].sum(), np.abs(signed[rows]).sum(), len(rows)
    allowed = (np.minimum(n, N - n) >= min_samples_leaf) & (w > 0) & (w < W)
    s, w = s[allowed], w[allowed]
    gain = (s * W - S * w) ** 2 / (w * (W - w))
    return np.where((np.abs(s) == w) & (np.abs(S - s) == W - w), np.inf, gain)


def check_nodes(trees: Trees, tree: int, codes, missing, signed, limits: Limits) -> int:
    """Check one tree; return its depth. The signed weights are whole numbers as float64."""
    first, deepest = int(trees.start[tree]), 0
    found = {visit.node: visit for visit in visits(trees, tree, codes, missing, np.flatnonzero(signed))}
    assert sorted(found) == list(range(trees.start[tree + 1] - first))
    for visit in found.values():
        at, rows = first + visit.node, visit.rows
        deepest = max(deepest, visit.depth)
        S, W = signed[rows].sum(), np.abs(signed[rows]).sum()
        assert trees.value[at] == np.float32(S / W)
        pure = abs(S) == W or visit.depth >= limits.max_depth
        best = -1.0
        if not pure:
            of_features = [
                gains(codes, missing, signed, rows, f, limits.min_samples_leaf) for f in range(codes.shape[1])
            ]
            best = max(gain.max(initial=-1.0) for gain in of_features)
        if trees.feature[at] < 0:
            assert best == -1.0, "this leaf could be split"
            continue
        assert not pure, "this node needed no split"
        sides = [found[int(trees.left_child[at]) + side] for side in (0, 1)]
        (s, w), (t, v) = ((signed[side.rows].sum(), np.abs(signed[side.rows]).sum()) for side in sides)
        assert min(len(side.rows) for side in sides) >= limits.min_samples_leaf
        chosen = np.inf if abs(s) == w and abs(t) == v else (s * v - t * w) ** 2 / (w * v)
        np.testing.assert_allclose(chosen, best, rtol=1e-9)
    return deepest
