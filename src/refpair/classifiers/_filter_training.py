"""What the levels of a condensed filter tree learn from: nodes on key paths, and what becomes of them.

Labels stand here in the order of the chain. A *path* says what the first labels are; a *node* is a training
row with a path, which leads it to a level; its *completion* is the label vector that comes out if the levels
from there on set the other labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from refpair._parallel import run_chunks
from refpair.bits.problem import chunks_of
from refpair.classifiers._filter_levels import Levels, bit_of

__all__ = ["KeyPaths", "gains_apart", "train_round", "train_round_apart"]

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_PATHS = 4096  # that one thread follows at a time; a level is asked again about one in ten or so
_ROWS = 512  # that one thread predicts at a time: their features and a level's trees stay in cache
_NOISE = 1e-12  # costs that differ by no more than this part of themselves are the same but for rounding


@dataclass(frozen=True, eq=False)
class KeyPaths:
    """The paths that examples are taken from, sorted by row, then by label.

    All paths of a row that begin alike thus stand side by side.

    Attributes
    ----------
    row : ndarray of int64, shape (n_paths,)
        Which training row a path belongs to.
    paths : ndarray of uint8, shape (n_paths, n_labels)
        Distinct within a row.
    count : ndarray of int64, shape (n_paths,)
        In how many rounds the path was found.
    """

    row: Rows
    paths: Bytes
    count: Rows

    @classmethod
    def of_truth(cls, truth: Bytes) -> Self:
        """Return the paths of the first round.

        Examples
        --------
        >>> keys = KeyPaths.of_truth(np.uint8([[1, 0], [0, 1]])).plus(np.uint8([[1, 1], [0, 1]]))
        >>> keys.row, keys.count
        (array([0, 0, 1]), array([1, 1, 2]))
        >>> keys.first_of_nodes(1), keys.first_of_nodes(2)  # the two paths of the first row part at label 1
        (array([0, 2]), array([0, 1, 2]))
        """
        return cls(np.arange(len(truth)), truth, np.ones(len(truth), np.int64))

    def plus(self, paths: Bytes) -> Self:
        """Return the paths with one more for each training row."""
        row = np.concatenate([self.row, np.arange(len(paths))])
        all_paths = np.concatenate([self.paths, paths])
        count = np.concatenate([self.count, np.ones(len(paths), np.int64)])
        keys = np.hstack([row.astype(">i8")[:, None].view(np.uint8), np.packbits(all_paths, axis=1)])
        as_items = keys.view(f"V{keys.shape[1]}").ravel()
        _, first, place = np.unique(as_items, return_index=True, return_inverse=True)
        total = np.bincount(place, weights=count).astype(np.int64)
        return type(self)(row[first], all_paths[first], total)

    def first_of_nodes(self, level: int) -> Rows:
        """Return for each node of a level its first path: where a row or its first labels are new."""
        return np.flatnonzero(self._new_from <= level)

    @cached_property
    def _new_from(self) -> Rows:
        """Where each path parts from the one before: the level from which on it has nodes of its own."""
        new_row = self.row[1:] != self.row[:-1]
        parts_at = (self.paths[1:] != self.paths[:-1]).argmax(axis=1) + 1  # paths of a row are distinct
        return np.concatenate([[0], np.where(new_row, 0, parts_at)])


def train_round(
    levels: Levels,
    keys: KeyPaths,
    cost_of: Callable[[Rows, Bytes], Floats],
    *,
    draft: bool,
    n_jobs: int | None,
    after_level: Callable[[], None],
) -> Bytes:
    """Train all levels, from the last one up, and return what they then predict for the training rows.

    Parameters
    ----------
    levels : Levels
    keys : KeyPaths
    cost_of : callable
        ``cost_of(row, vectors)`` gives the costs of predicting label vectors for training rows.
    draft : bool
        Whether another round will follow.
    n_jobs : int, optional
    after_level : callable
        Told when a level is done.

    Returns
    -------
    predicted : ndarray of uint8, shape (n_rows, n_labels)

    Notes
    -----
    Of the two nodes below a node, one at least is on a key path. Its completion is known from the level
    below, where both ways were tried. The completion of the other node differs from it in this label, and
    most levels below do not look at it: only those that do are asked again, and those that look at a label
    which they have changed, and so on. On the data set CAL500 a level looks at 7 of 87 labels, on average.
    """
    n_labels = keys.paths.shape[1]
    completions = keys.paths.copy()
    looked_at = np.empty((n_labels, len(completions)), np.uint64)  # by the levels that have set the labels
    below = kept = np.arange(len(completions))  # after the last label
    for k in reversed(range(n_labels)):
        first = keys.first_of_nodes(k)
        row, paths = keys.row[first], keys.paths[first, :k]
        node = np.searchsorted(first, below, side="right") - 1  # that a node below comes from
        kept_ways = np.full((len(first), 2), -1)
        kept_ways[node, keys.paths[below, k]] = kept
        node, way = np.nonzero(kept_ways < 0)
        other = kept_ways[node, 1 - way]
        vectors, looks = completions[other], looked_at[k + 1 :, other]
        vectors[:, k] = way
        _reconsider(levels, k, row[node], vectors, looks, n_jobs)

        ways = completions[kept_ways]
        ways[node, way] = vectors
        gain = _difference(cost_of(row, ways[:, 0]), cost_of(row, ways[:, 1]))
        levels.learn(k, row, paths, np.add.reduceat(keys.count, first) * gain, draft=draft)
        votes, looks_here = levels.decide(k, row, paths)
        taken = votes[node] == way  # of the new ways; they replace the other one, which is needed no more
        completions[other[taken]], looked_at[k + 1 :, other[taken]] = vectors[taken], looks[:, taken]
        kept_ways[node, way] = other
        below, kept = first, kept_ways[np.arange(len(first)), votes]
        looked_at[k, kept] = looks_here
        after_level()
    return completions[kept]


def train_round_apart(
    levels: Levels,
    keys: KeyPaths,
    gains: Floats,
    *,
    draft: bool,
    n_jobs: int | None,
    after_level: Callable[[], None],
) -> Bytes:
    """Train all levels, as `train_round`, for a cost in which each label counts for itself.

    What setting a label saves is then known beforehand, up to what it changes in the levels below, which is
    left out: it is mistakes of theirs, for which the label is not to blame.

    Parameters
    ----------
    gains : ndarray of float64, shape (n_rows, n_labels)
        How much cheaper it is to set a label.
    levels, keys, draft, n_jobs, after_level
        As in `train_round`.
    """
    for k in reversed(range(keys.paths.shape[1])):
        first = keys.first_of_nodes(k)
        row, count = keys.row[first], np.add.reduceat(keys.count, first)
        levels.learn(k, row, keys.paths[first, :k], count * gains[row, k], draft=draft)
        after_level()
    return _predict(levels, gains.shape, n_jobs)


def gains_apart(truth: Bytes, cost_of: Callable[[Rows, Bytes], Floats]) -> Floats:
    """Return how much cheaper it is to set each label, the others being right.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> truth = np.uint8([[1, 0, 0]])
    >>> gains_apart(truth, lambda row, vectors: get_cost("rank").rows(truth[row], vectors))
    array([[ 1. , -0.5, -0.5]])
    """
    row, gains = np.arange(len(truth)), np.empty(truth.shape)
    for k in range(truth.shape[1]):
        vectors = truth.copy()
        vectors[:, k] = 0
        without = cost_of(row, vectors)
        vectors[:, k] = 1
        gains[:, k] = _difference(without, cost_of(row, vectors))
    return gains


def _difference(without: Floats, with_label: Floats) -> Floats:
    """Return how much cheaper it is to set a label; 0 where that is a matter of rounding."""
    gain = without - with_label
    return np.where(np.abs(gain) > _NOISE * np.maximum(np.abs(without), np.abs(with_label)), gain, 0.0)


def _reconsider(
    levels: Levels, changed_label: int, row: Rows, vectors: Bytes, looked_at: Words, n_jobs: int | None
) -> None:
    """Write into label vectors what the levels below a label make of its having changed.

    Parameters
    ----------
    levels : Levels
    changed_label : int
    row : ndarray of int64, shape (n_vectors,)
    vectors : ndarray of uint8, shape (n_vectors, n_labels)
        The labels after the one that has changed are as they were set before that.
    looked_at : ndarray of uint64, shape (n_labels - changed_label - 1, n_vectors)
        Which labels those levels had looked at; brought up to date, too.
    n_jobs : int, optional
    """

    def reconsider_some(part: slice) -> None:
        changed = np.full(part.stop - part.start, bit_of(changed_label))
        for k, looks in enumerate(looked_at[:, part], start=changed_label + 1):
            again = np.flatnonzero(looks & changed)
            if len(again) == 0:
                continue
            here = part.start + again
            votes, looks[again] = levels.decide(k, row[here], vectors[here, :k])
            changed[again[votes != vectors[here, k]]] |= bit_of(k)
            vectors[here, k] = votes

    if len(looked_at) > 0 and len(row) > 0:
        run_chunks(
            reconsider_some,
            chunks_of(len(row), _PATHS),
            n_jobs=n_jobs,
            verbose=0,
            title="following paths",
            in_place=True,
        )


def _predict(levels: Levels, shape: tuple[int, int], n_jobs: int | None) -> Bytes:
    """Return what the levels predict for all training rows."""
    predicted = np.zeros(shape, np.uint8)

    def predict_some(part: slice) -> None:
        row = np.arange(part.start, part.stop)
        for k in range(shape[1]):
            predicted[part, k], _ = levels.decide(k, row, predicted[part, :k])

    run_chunks(
        predict_some,
        chunks_of(shape[0], _ROWS),
        n_jobs=n_jobs,
        verbose=0,
        title="predicting",
        in_place=True,
    )
    return predicted
