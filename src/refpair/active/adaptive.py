"""Adaptive active learning: max-margin uncertainty and label cardinality inconsistency."""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair._parallel import chunks_of
from refpair.active._classifier import LabelLearners
from refpair.active._pool import Floats, Indices, Labels, Pool, stacked
from refpair.active._strategy import LearningStrategy
from refpair.bits.binning import Matrix
from refpair.bits.logistic import LogisticBank
from refpair.bits.problem import BitProblems
from refpair.classifiers._base_learners import check_base_learner
from refpair.classifiers._checks import check_count

_CANDIDATES_A_CALL = 32  # whose models are fitted at once


class AdaptiveActive(LearningStrategy):
    """Ask for the row that leaves the smallest approximate error if its predicted labels are added.

    A row is preselected by u, the inverse of the gap between the smallest decision of a predicted label and
    the largest of one that is not predicted, and by c, the difference between its number of predicted labels
    and the mean of the labeled rows. For each β, the rows of largest u^β c^(1−β) are evaluated: the model is
    fitted again with the row and its predicted labels, and the approximate error is the sum over all
    unlabeled rows of how much the least certain label on either side lacks of a decision of 1.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"logistic", "forest", "tree"}, default="logistic"
        Learns each label. Logistic regressions of a round are fitted together; others one by one.
    betas : sequence of float, optional
        By default 0, 0.1, …, 1.
    max_looked_at : int, optional
        Maximum number of rows to evaluate for each β; if more tie, random ones of these. None evaluates all.
    random_state : int, RandomState or None, default=None
        Breaks ties, and seeds the estimator.

    Notes
    -----
    As in libact, all rows that tie are evaluated, which are many for β = 0, because c has few values. Each
    needs a fit and predictions for all rows: use :class:`SubSampled` for pools of many thousands.

    References
    ----------
    X. Li, Y. Guo: Active Learning with Multi-Label SVM Classification. IJCAI 2013.

    Examples
    --------
    >>> from refpair.active import AdaptiveActive
    >>> X, Y = np.array([[0.0], [1.0], [2.0], [3.5], [6.0]]), np.full((5, 2), np.nan)
    >>> Y[0], Y[4] = [0, 1], [1, 0]
    >>> AdaptiveActive().query(X, Y)
    array([2])
    """

    def __init__(
        self,
        estimator: Any = "logistic",
        *,
        betas: Any = None,
        max_looked_at: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.betas = betas
        self.max_looked_at = max_looked_at
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_base_learner(self.estimator)
        if self.max_looked_at is not None:
            check_count("max_looked_at", self.max_looked_at)
        betas = self._betas()
        if betas.ndim != 1 or len(betas) == 0 or not ((betas >= 0) & (betas <= 1)).all():
            raise ValueError(f"betas must be numbers from 0 to 1, not {self.betas!r}")

    def _betas(self) -> Floats:
        return np.arange(11) / 10.0 if self.betas is None else np.asarray(self.betas, float)

    def utilities(self, pool: Pool, rng: np.random.Generator) -> Floats:
        """Return the utility of each candidate."""
        if pool.is_lazy:
            raise ValueError(
                "AdaptiveActive needs all rows of X in memory, and those of Dask may be too many for that: "
                "SubSampled(AdaptiveActive(), n_candidates=10_000) looks at some"
            )
        known, rows = pool.features[pool.labeled], pool.features[pool.candidates]
        model = LabelLearners(self.estimator).fit(known, pool.labels, rng)
        decisions = model.decisions(rows)
        predicted = (decisions > 0.0).astype(np.uint8)
        gap = np.where(decisions > 0.0, decisions, np.inf).min(axis=1)
        gap -= np.where(decisions < 0.0, decisions, -np.inf).max(axis=1)
        uncertainty = 1.0 / gap
        inconsistency = np.abs(predicted.sum(axis=1) - pool.labels.mean(axis=0).sum())
        looked_at: set[int] = set()
        for beta in self._betas():
            score = uncertainty**beta * inconsistency ** (1.0 - beta)
            best = np.flatnonzero(score == score.max())
            looked_at.update(rng.permutation(best)[: self.max_looked_at].tolist())
        utilities = np.full(len(pool.candidates), np.nan)
        which = np.array(sorted(looked_at))
        for part in chunks_of(len(which), _CANDIDATES_A_CALL):
            some = which[part]
            utilities[some] = -_errors(model, known, pool.labels, rows, predicted, some, rng)
        return utilities


def _errors(
    model: LabelLearners,
    known: Matrix,
    labels: Labels,
    rows: Matrix,
    predicted: Labels,
    some: Indices,
    rng: np.random.Generator,
) -> Floats:
    """Return the approximate error that is left once each of some rows has its predicted labels."""
    bank = model.learners_.bank_
    if isinstance(bank, LogisticBank):
        learnt = np.flatnonzero(model.agreed_ == 0.0)
        own = predicted[np.ix_(some, learnt)]
        refitted = _refit(bank.take(learnt), known, labels[:, learnt], rows[some], own)
        # A label on which all rows agree goes on to do so, and lacks nothing.
        decisions = refitted.decisions(rows).reshape(rows.shape[0], len(some), len(learnt))
        return np.asarray(_lacking(decisions).sum(axis=0))
    errors = np.empty(len(some))
    for place, row in enumerate(some):
        more = stacked([known, rows[row : row + 1]]), np.vstack([labels, predicted[row : row + 1]])
        errors[place] = _lacking(LabelLearners(model.estimator).fit(*more, rng).decisions(rows)).sum()
    return errors


def _refit(
    bank: LogisticBank, known: Matrix, labels: Labels, more: Matrix, predicted: Labels
) -> LogisticBank:
    """Return a bank of the same labels for each further row, learned with that row, too; all at once."""
    n_more, n_labels = predicted.shape
    targets = np.zeros((len(labels) + n_more, n_more, n_labels))
    targets[: len(labels)] = np.where(labels > 0, 1.0, -1.0)[:, None]
    own = np.arange(n_more)
    targets[len(labels) + own, own] = np.where(predicted > 0, 1.0, -1.0)
    flat = targets.reshape(len(targets), -1)
    problems = BitProblems(
        np.arange(len(flat), dtype=np.int32),
        flat.shape[1],
        lambda bits: flat[:, bits],
        np.zeros(flat.shape[1], np.uint64),
    )
    start = bank.take(np.tile(np.arange(n_labels), n_more))
    refitted = LogisticBank(bank.C, tol=bank.tol, max_iter=bank.max_iter)
    return refitted.fit(stacked([known, more]), problems, start)


def _lacking(decisions: Floats) -> Floats:
    """Return what the least sure label on either side lacks of a decision of 1, summed over both sides."""
    predicted = np.where(decisions < 0.0, 0.0, 1.0 - decisions).max(axis=-1)
    others = np.where(decisions > 0.0, 0.0, 1.0 + decisions).max(axis=-1)
    return np.asarray(predicted + others)
