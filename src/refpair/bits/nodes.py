"""Trees as flat arrays: their nodes, and what the leaves say beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from refpair._kernels.binning import MISSING
from refpair._kernels.walk import MOST_NODES, ClassCounts, Nodes, pack_nodes
from refpair._saved import Savable, depths_of, require, require_one_parent, starts_in_order


@dataclass(frozen=True, eq=False)
class _FlatTrees(Savable):
    """Many binary trees, their nodes in flat arrays, one tree after the other; see `Nodes`."""

    start: npt.NDArray[np.int64]
    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.uint8]
    missing_left: npt.NDArray[np.bool_]
    left_child: npt.NDArray[np.int32]

    @property
    def nodes(self) -> Nodes:
        """The nodes as kernels take them."""
        return Nodes(self.start, self.feature, self.threshold, self.missing_left, self.left_child)

    def __len__(self) -> int:
        return len(self.start) - 1

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Lay several banks one after the other."""
        joined = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)
        }
        for name in joined.keys() & {"start", "count_start"}:  # which count the cells of others
            offsets = np.cumsum([0, *(getattr(part, name)[-1] for part in parts)])
            moved = [getattr(part, name)[:-1] + at for part, at in zip(parts, offsets[:-1], strict=True)]
            joined[name] = np.concatenate([*moved, offsets[-1:]])
        return cls(**joined)

    def _check_saved(self) -> None:
        """Check that every way down a tree ends, within this tree, and that none meets another."""
        nodes, start = self.nodes[1:], self.start
        require(all(array.shape == (self.feature.size,) for array in nodes), "the trees have a wrong shape")
        require(starts_in_order(start, len(self.feature)), "the trees do not follow one another")
        require(self.feature.min(initial=-1) >= -1, "a node asks for no feature")
        require(self.threshold.max(initial=0) < MISSING, "a node has a threshold that no bin is above")
        require(len(self.feature) < MOST_NODES, "there are too many nodes")
        inner = np.flatnonzero(self.feature >= 0)
        sizes = np.diff(start)
        tree = np.repeat(np.arange(len(sizes)), sizes)[inner]
        left = self.left_child[inner].astype(np.int64)
        # Children after their parents: then no way down comes back to where it was.
        require((left > inner - start[tree]).all(), "a child comes before its parent")
        require((left + 1 < sizes[tree]).all(), "a child lies outside its tree")
        require_one_parent(start[tree] + left, start[tree] + left + 1)

    def _work(self, *, exact: bool) -> int:
        """Return how long the ways down all trees are."""
        if not exact:
            return len(self.feature)
        inner = np.flatnonzero(self.feature >= 0)
        left = np.repeat(self.start[:-1], np.diff(self.start))[inner] + self.left_child[inner]
        depth = depths_of(inner, left, left + 1, len(self.feature))
        return int(np.maximum.reduceat(depth + 1, self.start[:-1]).sum())


@dataclass(frozen=True, eq=False)
class Trees(_FlatTrees):
    """Trees of bits.

    The value of a node is the mean of ±1 over its training rows by weight; its sign is the predicted bit.
    """

    value: npt.NDArray[np.float32]

    @cached_property
    def words(self) -> npt.NDArray[np.uint64]:
        """The nodes as predictions take them, made when they are first asked for."""
        return pack_nodes(self.nodes)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # without the words

    def cut(self, depth: int) -> Trees:
        """Return the trees cut off at a depth: a node there is a leaf, and answers by its own value."""
        root = np.repeat(self.start[:-1], np.diff(self.start))  # of the tree that a node is in
        level, kept = self.start[:-1], [self.start[:-1]]
        for _ in range(depth):
            inner = level[self.feature[level] >= 0]
            left = root[inner] + self.left_child[inner]
            level = np.concatenate([left, left + 1])
            kept.append(level)
        nodes = np.sort(np.concatenate(kept))
        place = np.zeros(len(self.feature), np.int64)
        place[nodes] = np.arange(len(nodes))
        feature = self.feature.copy()
        feature[level] = -1
        is_inner = feature[nodes] >= 0
        left = np.where(is_inner, place[root[nodes] + self.left_child[nodes]] - place[root[nodes]], 0)
        start = np.append(place[self.start[:-1]], len(nodes))
        return replace(self._some(nodes, start), feature=feature[nodes], left_child=left.astype(np.int32))

    def take(self, trees: npt.NDArray[np.intp]) -> Trees:
        """Return some of the trees."""
        sizes = np.diff(self.start)[trees]
        start = np.concatenate([[0], np.cumsum(sizes)])
        return self._some(np.arange(start[-1]) + np.repeat(self.start[trees] - start[:-1], sizes), start)

    def _some(self, nodes: npt.NDArray[np.int64], start: npt.NDArray[np.int64]) -> Trees:
        return Trees(start, *(getattr(self, field.name)[nodes] for field in fields(self)[1:]))

    def _check_saved(self) -> None:
        super()._check_saved()
        require(self.value.shape == self.feature.shape, "the trees have a wrong shape")
        require((np.abs(self.value) <= 1.0).all(), "the value of a node is not from -1 to 1")


@dataclass(frozen=True, eq=False)
class ClassTrees(_FlatTrees):
    """Trees of several classes, and how many training rows of which classes each leaf holds.

    Those of a node begin at its `count_start`; inner nodes have none. Rows of weights that are not whole are
    counted in parts of the mean weight (see `in_whole_copies`).
    """

    count_start: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]

    @property
    def held(self) -> ClassCounts:
        """What leaves hold, as kernels take it."""
        return ClassCounts(self.count_start, self.classes, self.counts)

    def _check_saved(self) -> None:
        super()._check_saved()
        same = self.classes.ndim == 1 and self.counts.shape == self.classes.shape
        require(same and self.count_start.shape == (self.feature.size + 1,), "the leaves have a wrong shape")
        ascends = starts_in_order(self.count_start, self.classes.size, may_be_empty=True)
        holds = ascends and (np.diff(self.count_start)[self.feature < 0] > 0).all()
        require(holds, "a leaf has no classes")
        require(self.counts.min(initial=1) >= 1, "a class of a leaf has no rows")
