"""The condensed filter tree: a chain whose links are trained to lower the cost of the resulting label vector.

Labels stand here in the order of the chain. A *path* says what the first labels are; a *node* is a training
row with a path, which leads it to a level; its *completion* is the label vector that comes out if the levels
from there on set the other labels. Levels learn from nodes on key paths, and what becomes of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import has_fit_parameter

from refpair._parallel import chunks_of, run_chunks
from refpair._progress import progress
from refpair.classifiers._base_learners import Bytes, Floats, Rows
from refpair.classifiers._chain_search import follow
from refpair.classifiers._checks import check_count
from refpair.classifiers._filter_levels import Levels, Words, bit_of, levels_of
from refpair.classifiers._links import Links, check_chain, read_order
from refpair.classifiers._reduction import ReductionClassifier
from refpair.classifiers.base_estimators import Forest
from refpair.costs import vector_cost
from refpair.decision.expected import needs_only_marginals
from refpair.tables.labels import LabelMatrix

CostOf = Callable[[Rows, Bytes], Floats]
Tick = Callable[[], None]

_PATHS = 4096  # that one thread follows at a time; a level is asked again about one in ten or so
_ROWS = 512  # that one thread predicts at a time: their features and a level's trees stay in cache
_NOISE = 1e-12  # costs that differ by no more than this part of themselves are the same but for rounding


class CondensedFilterTree(ReductionClassifier):
    """Predict one label after the other, each trained to lower the cost of the whole label vector.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"forest", "tree", "logistic"}, default="forest"
        The base learner of a label, a level of the tree, as in :class:`ChainClassifier`; its ``fit`` takes
        ``sample_weight``. The notes on "forest" apply to every :class:`Forest` of several trees whose
        `max_samples` leaves rows out.
    cost : str, Cost or callable, default="f1"
        What a prediction costs; see :func:`get_cost`.
    n_rounds : int, default=8
        Number of rounds of training: the first uses the true labels of the rows, each further one also the
        predictions of the rounds before.
    order : array-like of int or "random", optional
        Column numbers of the labels in the order of the levels; by default the order of the columns of y.
    n_jobs : int, optional
        Number of threads, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    cost_ : Cost
    order_ : ndarray of int64, shape (n_labels,)
        The label of each level.
    links_ : TreeLinks or EstimatorLinks
    n_rounds_ : int
        Number of rounds: fewer than `n_rounds` if the levels already predict all training rows correctly.
    classes_, n_features_in_, feature_names_in_
        The names of the labels, and of the features as in scikit-learn.

    See Also
    --------
    ChainClassifier : The same chain, trained on the true labels and without a cost.

    Notes
    -----
    A level is trained on pairs of a row and a path, the labels of the levels before. The class says whether
    the path costs less with the label of this level or without, if the levels below predict the rest; the
    weight is the difference of the two costs. So levels are trained from the last one up. An example that
    occurs in several rounds counts several times. At each level weights are divided by their mean, since how
    much a learner regularizes may depend on it.

    For n rows and K labels a round takes about n K² / 2 predictions of levels. If a cost is a sum over labels
    (hamming, rank and per-label costs), effects on the levels below are left out: the weight is 1 / K for the
    Hamming loss; for the rank loss (K − |y|) / 2 if the label is true, else |y| / 2.

    With "forest" three things differ from the paper. For a training row only those trees predict that were
    not fitted on it; the others would find the true path only. Each tree draws examples by their weights,
    because fully grown trees hardly depend on weights. All rounds but the last have 32 trees, not 100.

    References
    ----------
    Li and Lin, "Condensed filter tree for cost-sensitive multi-label classification", 2014.

    Examples
    --------
    >>> from refpair import CondensedFilterTree
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> model = CondensedFilterTree("forest", cost="f1", n_rounds=2, random_state=0)
    >>> model.fit(digits.X[:500], digits.Y[:500]).predict(digits.X[1500:1501])
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0]], dtype=uint8)
    """

    order_: Rows
    links_: Links
    n_rounds_: int

    def __init__(
        self,
        estimator: Any = "forest",
        *,
        cost: Any = "f1",
        n_rounds: int = 8,
        order: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs=n_jobs, random_state=random_state, verbose=verbose)
        self.cost = cost
        self.n_rounds = n_rounds
        self.order = order

    def _learn(
        self, X: Any, labels: LabelMatrix, row_weight: Floats | None, rng: np.random.Generator
    ) -> None:
        vector_cost(self.cost_, "CondensedFilterTree")
        truth = labels.toarray() if sp.issparse(labels) else labels
        self.order_ = read_order(self.order, truth.shape[1], rng)
        levels = levels_of(self.estimator, X, truth.shape[1], rng, self.n_jobs, row_weight)
        self.n_rounds_ = self._train(levels, truth)
        self.links_ = levels.links()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_rounds", self.n_rounds)
        learner = self.estimator
        if not isinstance(learner, str | Forest) and not has_fit_parameter(learner, "sample_weight"):
            raise ValueError(
                f"estimator must take sample_weight in fit, which {learner!r} does not; put the steps of a "
                "pipeline before this model: make_pipeline(StandardScaler(), CondensedFilterTree("
                "LinearSVC()))"
            )

    def _train(self, levels: Levels, truth: Bytes) -> int:
        """Train the levels; return in how many rounds."""
        place = np.argsort(self.order_)
        keys = KeyPaths.of_truth(truth[:, self.order_])
        n_done, n_left = 0, self.n_rounds

        def cost_of(row: Rows, vectors: Bytes) -> Floats:
            return self.cost_.for_rows(row).rows(truth[row], vectors[:, place])

        train = partial(train_round, levels, cost_of=cost_of)
        if needs_only_marginals(self.cost_):
            train = partial(train_round_apart, levels, gains=gains_apart(keys.paths, cost_of))
        with progress("training levels", n_left * len(place), verbose=self.verbose) as advance:
            while n_left > 0:
                predicted = train(
                    keys=keys, draft=n_left > 1, n_jobs=self.n_jobs, after_level=lambda: advance(1)
                )
                keys = keys.plus(predicted)
                n_done, n_left = n_done + 1, n_left - 1
                if len(keys.row) == len(truth):  # no new paths: all rounds would be like this one
                    n_saved = max(n_left - 1, 0)
                    n_left -= n_saved
                    advance(n_saved * len(place))
        return n_done

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        check_chain(self.order_, self.links_, n_features, n_labels)

    def _predict_labels(self, X: Any) -> Bytes:
        return follow(self.links_, X)[:, np.argsort(self.order_)]


@dataclass(frozen=True, eq=False)
class KeyPaths:
    """The paths that examples are taken from, sorted by row, then by label.

    All paths of a row that begin alike thus stand side by side.
    """

    row: Rows  # which training row a path belongs to
    paths: Bytes  # (n_paths, n_labels), distinct within a row
    count: Rows  # in how many rounds the path was found

    @classmethod
    def of_truth(cls, truth: Bytes) -> Self:
        """Return the paths of the first round."""
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
    levels: Levels, keys: KeyPaths, cost_of: CostOf, *, draft: bool, n_jobs: int | None, after_level: Tick
) -> Bytes:
    """Train all levels, from the last one up, and return what they then predict for the training rows.

    ``cost_of(row, vectors)`` gives the costs of predicting label vectors for training rows.

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
    levels: Levels, keys: KeyPaths, gains: Floats, *, draft: bool, n_jobs: int | None, after_level: Tick
) -> Bytes:
    """Train all levels, as `train_round`, for a cost in which each label counts for itself.

    What setting a label saves (`gains`, of each row and label) is then known beforehand, up to what it
    changes in the levels below, which is left out: mistakes of theirs, for which the label is not to blame.
    """
    for k in reversed(range(keys.paths.shape[1])):
        first = keys.first_of_nodes(k)
        row, count = keys.row[first], np.add.reduceat(keys.count, first)
        levels.learn(k, row, keys.paths[first, :k], count * gains[row, k], draft=draft)
        after_level()
    return _predict(levels, gains.shape, n_jobs)


def gains_apart(truth: Bytes, cost_of: CostOf) -> Floats:
    """Return how much cheaper it is to set each label, the others being right."""
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

    `looked_at` (n_levels below, n_vectors) says which labels those levels had looked at, and is brought up to
    date, too.
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
        parts = chunks_of(len(row), _PATHS)
        run_chunks(reconsider_some, parts, n_jobs=n_jobs, title="following paths", in_place=True)


def _predict(levels: Levels, shape: tuple[int, int], n_jobs: int | None) -> Bytes:
    """Return what the levels predict for all training rows."""
    predicted = np.zeros(shape, np.uint8)

    def predict_some(part: slice) -> None:
        row = np.arange(part.start, part.stop)
        for k in range(shape[1]):
            predicted[part, k], _ = levels.decide(k, row, predicted[part, :k])

    parts = chunks_of(shape[0], _ROWS)
    run_chunks(predict_some, parts, n_jobs=n_jobs, title="predicting", in_place=True)
    return predicted
