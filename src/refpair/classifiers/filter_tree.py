"""The condensed filter tree: a chain whose links are trained to make the cost of what comes out small."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import has_fit_parameter

from refpair._parallel import progress_bar
from refpair.classifiers._base import check_count
from refpair.classifiers._chain_fit import check_chain, read_order
from refpair.classifiers._chain_search import follow
from refpair.classifiers._filter_levels import Levels, levels_of
from refpair.classifiers._filter_training import KeyPaths, gains_apart, train_round, train_round_apart
from refpair.classifiers._links import EstimatorLinks, TreeLinks
from refpair.classifiers._reduction import ReductionClassifier
from refpair.classifiers.forest import Forest
from refpair.decision.expected import needs_only_marginals
from refpair.tables.labels import LabelMatrix

__all__ = ["CondensedFilterTree"]

Bytes = npt.NDArray[np.uint8]


class CondensedFilterTree(ReductionClassifier):
    """Predict the labels one after the other, each so that the label vector costs little in the end.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"forest", "tree", "logistic"}, default="forest"
        The base learner, of which each label gets a clone, a level of the tree. Its ``fit`` takes
        ``sample_weight``. "tree" and "forest" (100 trees) are grown by a tree bank, many times faster than
        scikit-learn's; ``Forest(max_depth=8)`` and so on sets how. What the notes say of "forest" holds for
        every :class:`Forest` of several trees whose `max_samples` leaves rows out.
    cost : str, Cost or callable, default="f1"
        What a prediction costs: a name ("f1", "accuracy", "hamming", "rank", "zero_one", "f2"), a
        :class:`Cost`, or a function of truths and predictions as in :meth:`Cost.from_function`.
    n_rounds : int, default=8
        How often all levels are trained: first on the true labels of the rows, then also on what the levels
        of each earlier round have predicted for them.
    order : array-like of int or "random", optional
        The labels in the order of the levels, by their column numbers; by default as the columns of y are.
    n_jobs : int, optional
        How many threads learn, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    cost_ : Cost
    order_ : ndarray of int64, shape (n_labels,)
        Which label each level is for.
    links_ : TreeLinks or EstimatorLinks
        The levels, as links of a chain.
    n_rounds_ : int
        How many rounds there were: fewer than `n_rounds` if the levels soon predict nothing but the truth.
    classes_ : ndarray
        The names of the labels.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    ChainClassifier : The same chain, trained on the true labels and without a cost.

    Notes
    -----
    A level is trained on pairs of a row and a path, which are the labels before. Both label vectors are made
    that the levels below it lead to, with its label and without; the example's class is the cheaper way, its
    weight the difference of the two costs. So levels are trained from the last one up. An example that
    several rounds meet counts as often: its weights are added up. At each level weights are divided by their
    mean, since how much a learner regularises may depend on their size.

    For n rows and K labels a round has about n K² / 2 times to know what a level says; forests are asked only
    where a label that they look at has changed, which saves nine in ten. If in the cost each label counts for
    itself (hamming, rank and per-label costs), what a label changes in the levels below is left out, and its
    weight does not depend on the path: 1 / K for the Hamming loss; for the rank loss (K − |y|) / 2 if the
    label is there, else |y| / 2.

    With "forest" three things differ from the paper. Trees that have seen a row know its labels, and would
    find no path but the true one: a training row asks only those that have not seen it. Trees that grow to
    the end hardly care for weights: examples are drawn for each by their weight. And in all rounds but the
    last there are 32 trees, not 100, which saves time.

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

    order_: npt.NDArray[np.int64]
    links_: TreeLinks | EstimatorLinks
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

    def _learn(self, X: Any, labels: LabelMatrix, rng: np.random.Generator) -> None:
        truth = labels.toarray() if sp.issparse(labels) else labels
        self.order_ = read_order(self.order, truth.shape[1], rng)
        levels = levels_of(self.estimator, X, truth.shape[1], rng, self.n_jobs)
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

        def cost_of(row: npt.NDArray[np.int64], vectors: Bytes) -> npt.NDArray[np.float64]:
            return self.cost_.rows(truth[row], vectors[:, place])

        is_linear = needs_only_marginals(self.cost_)
        train = (
            partial(train_round_apart, levels, gains=gains_apart(keys.paths, cost_of))
            if is_linear
            else partial(train_round, levels, cost_of=cost_of)
        )
        with progress_bar(visible=self.verbose > 0) as bar:
            task = bar.add_task("training levels", total=n_left * len(place))
            while n_left > 0:
                predicted = train(
                    keys=keys, draft=n_left > 1, n_jobs=self.n_jobs, after_level=lambda: bar.advance(task)
                )
                keys = keys.plus(predicted)
                n_done, n_left = n_done + 1, n_left - 1
                if len(keys.row) == len(truth):  # no new paths: all rounds would be like this one
                    n_left = min(n_left, 1)
                    bar.update(task, total=(n_done + n_left) * len(place))
        return n_done

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        check_chain(self.order_, self.links_, n_features, n_labels)

    def _predict_labels(self, X: Any) -> Bytes:
        return follow(self.links_, X)[:, np.argsort(self.order_)]
