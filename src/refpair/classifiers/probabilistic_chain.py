"""Probabilistic classifier chains: decisions of lowest expected cost under the distribution of a chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from refpair._saved import require, work_of
from refpair.classifiers._base_learners import Bytes, Floats, Rows
from refpair.classifiers._chain_search import (
    WIDEST,
    ChainSamples,
    chances_along,
    check_n_paths,
    most_probable,
    with_rows,
)
from refpair.classifiers._checks import check_count
from refpair.classifiers._links import Links, check_chain, fit_links, read_order
from refpair.classifiers._reduction import ReductionClassifier
from refpair.classifiers.base_estimators import Forest
from refpair.costs import Cost, CountCost, Measure, _counts
from refpair.decision.rule_set import RuleSet
from refpair.decision.thresholds import HeldOut
from refpair.posterior.distinct_labels import distinct_labels
from refpair.posterior.distribution import MOST_ENUMERATED, LabelDistribution
from refpair.tables.labels import LabelMatrix

_INFERENCES = ("sample", "beam", "exact")
_SELDOM = 64
_FOLDS = 5


class ProbabilisticChain(ReductionClassifier):
    """Predict the label vector of lowest expected cost under a classifier chain.

    Each link of a chain predicts the probability of a label given those before it; their product is a
    distribution over all label vectors. Label vectors are drawn from it, and the answer has the lowest mean
    cost over these. :mod:`refpair.decision` says for which costs the decision is exact.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"forest", "tree", "logistic"}, default="forest"
        The base learner of a label, as in :class:`ChainClassifier`; it needs ``predict_proba``. The
        probabilities of a single tree are mostly 0 or 1.
    cost : str, Cost or callable, default="f1"
        What a prediction costs: "f1", "zero_one" and so on of a row, "macro_f1" and so on of a whole table,
        "ndcg@10" and so on of a list; see :func:`get_cost`.
    rules : list of rules, optional
        What answers must keep, such as ``[AtMost(3), Implies("raster", "image")]``; see
        :class:`refpair.AtMost`. Label vectors that break one are taken as impossible, unless more than 1 %
        of the training rows break it. They need ``inference="sample"``.
    n_samples : int or None, default=100
        Number of label vectors to draw for each row. If 2^K ≤ n_samples for K labels that vary, all label
        vectors are enumerated instead. None always enumerates them, for at most 10 such labels.
    inference : {"sample", "beam", "exact"}, default="sample"
        "beam" and "exact" are for ``cost="zero_one"``, under which the most probable label vector is best.
        "beam" keeps the most probable prefixes after each link; "exact" searches until no other label vector
        can be more probable. That takes long if all are improbable; if the best has a probability below
        1/65,536, it may stop with a warning.
    beam_width : int, default=10
        Number of prefixes that "beam" keeps.
    order : array-like of int or "random", optional
        Column numbers of the labels in the order of the chain; by default the order of the columns of y.
    n_jobs : int, optional
        Number of threads or processes, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar while the links are learned.

    Attributes
    ----------
    cost_ : Cost
    thresholds_ : ndarray of shape (n_labels,)
        The probability above which each label is predicted, if the cost is a measure of a whole table.
    rules_ : RuleSet or None
        The rules, about labels by their numbers.
    order_ : ndarray of int64, shape (n_labels,)
        The label of each link.
    links_ : TreeLinks or EstimatorLinks
    classes_, n_features_in_, feature_names_in_
        The names of the labels, and of the features as in scikit-learn.

    See Also
    --------
    BayesDecisionClassifier : The same for a ``ClassifierChain`` of scikit-learn, also in a pipeline.
    ChainClassifier : Follows the chain once, without a cost.

    Notes
    -----
    Draws are systematic: each path through the chain is drawn as often as expected, rounded up or down at
    random. All rows use the same random numbers, so that a prediction does not depend on other rows.

    With any ``inference``, probabilities and decisions for other costs use the draws. The ``expected_cost``
    of "beam" and "exact" uses the exact probability of the predicted label vector.

    References
    ----------
    Dembczyński, Cheng and Hüllermeier, "Bayes optimal multilabel classification via probabilistic classifier
    chains", 2010.

    Examples
    --------
    >>> from refpair import ProbabilisticChain
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")  # pictures with up to three digits on top of each other
    >>> X, Y, X_test, Y_test = digits.X[:1500], digits.Y[:1500], digits.X[1500:], digits.Y[1500:]
    >>> model = ProbabilisticChain("forest", cost="f1", random_state=0).fit(X, Y)
    >>> round(model.score(X_test, Y_test), 2)
    0.88
    >>> model.decide(X_test[:1], "zero_one")  # another cost, without fitting again
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0]], dtype=uint8)
    """

    order_: Rows
    links_: Links
    _n_drawn: int
    _uniforms: Floats
    _is_exact: bool

    def __init__(
        self,
        estimator: Any = "forest",
        *,
        cost: Any = "f1",
        rules: Any = None,
        n_samples: int | None = 100,
        inference: Literal["sample", "beam", "exact"] = "sample",
        beam_width: int = 10,
        order: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs=n_jobs, random_state=random_state, verbose=verbose)
        self.cost = cost
        self.rules = rules
        self.n_samples = n_samples
        self.inference = inference
        self.beam_width = beam_width
        self.order = order

    def _learn(
        self, X: Any, labels: LabelMatrix, row_weight: Floats | None, rng: np.random.Generator
    ) -> None:
        if self.inference != "sample" and not _is_zero_one(self.cost_):
            raise ValueError(
                f"inference={self.inference!r} finds the most probable label vector, which is best for "
                f'cost="zero_one" only; for the cost {self.cost_.name!r} use inference="sample"'
            )
        distinct = distinct_labels(labels)
        self._n_drawn, self._is_exact = self._n_vectors(distinct.vectors)
        self.order_ = read_order(self.order, labels.shape[1], rng)
        self.links_ = fit_links(self.estimator, X, distinct, self.order_, rng, row_weight, **self._running())
        self._uniforms = rng.random(len(self.order_))
        is_measure = isinstance(self.cost_, Measure)
        self._keep_held_out(self._hold_out(X, labels, row_weight, rng) if is_measure else None)

    def _hold_out(
        self, X: Any, labels: LabelMatrix, row_weight: Floats | None, rng: np.random.Generator
    ) -> HeldOut:
        """Return what chains say of samples that they were learned without, one part after the other."""
        n = X.shape[0]
        order = rng.permutation(n)
        told = []
        for out in np.array_split(order, _FOLDS) if n >= 2 * _FOLDS else [order[:0]]:
            rest = np.setdiff1d(order, out)
            weight = None if row_weight is None else row_weight[rest]
            distinct = distinct_labels(labels[rest])
            links = fit_links(self.estimator, X[rest], distinct, self.order_, rng, weight, **self._running())
            chain = replace(self._samples, links=links)
            asked = out if len(out) else order  # so few samples are not divided
            told += [block.marginals() for block in chain.distributions(X[asked])]
        p = np.concatenate(told)
        truths = np.asarray(labels[order].toarray() if sp.issparse(labels) else labels[order], np.uint8)
        return HeldOut.of(p, n, None if row_weight is None else row_weight[order], truths)

    @property
    def _samples(self) -> ChainSamples:
        return ChainSamples(self.links_, self.order_, self._n_drawn, self._uniforms, self._is_exact)

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        check_chain(self.order_, self.links_, n_features, n_labels)
        self._samples._check_saved()
        # Else all label vectors there are would be looked at.
        few = not self._is_exact or 2**self.links_.n_open <= self._n_drawn
        require(few, "there are more label vectors than the chain is said to have")
        check_n_paths(self.beam_width, n_labels)

    def _work(self, *, exact: bool) -> int:
        # Exact searches seldom go all the way: they may take some times as long as others.
        width = {"sample": 0, "beam": self.beam_width, "exact": WIDEST // _SELDOM}[self.inference]
        if hasattr(self, "links_"):
            width = min(width, 1 << min(self.links_.n_open, 62))
        return max(getattr(self, "_n_drawn", 0), width) * work_of(vars(self), exact=exact)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.estimator, str | Forest) and not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"estimator must have predict_proba, which {self.estimator!r} has not: use a classifier with "
                "probabilities, such as CalibratedClassifierCV(LinearSVC()) instead of LinearSVC()"
            )
        if self.n_samples is not None:
            check_count("n_samples", self.n_samples)
        if self.inference not in _INFERENCES:
            names = ", ".join(f'"{name}"' for name in _INFERENCES)
            raise ValueError(f"inference must be one of {names}, not {self.inference!r}")
        if self.rules and self.inference != "sample":
            raise ValueError(f'rules need inference="sample", not {self.inference!r}, which keeps none')
        check_count("beam_width", self.beam_width)

    def _n_vectors(self, vectors: Bytes) -> tuple[int, bool]:
        """Return how many label vectors to look at for a row, and whether these are all there are."""
        n_varying = int((vectors != vectors[0]).any(axis=0).sum())
        if self.n_samples is not None:
            exact = 2**n_varying <= self.n_samples
            return 2**n_varying if exact else self.n_samples, exact
        if n_varying > MOST_ENUMERATED:
            raise ValueError(
                f"n_samples=None looks at all label vectors, which is for at most {MOST_ENUMERATED} labels "
                f"that vary; here are {n_varying}. Give the number of label vectors to draw, such as 100"
            )
        return 2**n_varying, True

    def _distributions(self, X: Any, cost: Cost | None) -> Iterator[tuple[slice, LabelDistribution]]:
        return with_rows(self._samples.distributions(X))

    def _decide(self, X: Any, cost: Cost, rules: RuleSet | None) -> Bytes:
        if self.inference == "sample" or not _is_zero_one(cost) or rules is not None:
            return super()._decide(X, cost, rules)
        paths = most_probable(self.links_, X, self.beam_width if self.inference == "beam" else None)
        return paths[:, np.argsort(self.order_)]

    def _expected_cost(self, X: Any, labels: Any, cost: Cost) -> Floats:
        if self.inference == "sample" or not _is_zero_one(cost):
            return super()._expected_cost(X, labels, cost)
        if labels is None:
            labels = self._decide(X, cost, None)
        paths = (labels.toarray() if sp.issparse(labels) else labels)[:, self.order_]
        chances = chances_along(self.links_, X, paths)
        return np.asarray(1.0 - np.where(paths, chances, 1.0 - chances).prod(axis=1))


def _is_zero_one(cost: Cost) -> bool:
    return isinstance(cost, CountCost) and cost.counts is _counts.zero_one
