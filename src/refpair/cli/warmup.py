"""``refpair warmup``: compile what models need, so that the first use need not wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from refpair.cli.printing import Output

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

N_ROWS, N_LABELS = 60, 12  # so many labels that not all label sets are tried for a cost


def warmup() -> None:
    """Compile all kernels for this machine, so that the first use need not wait.

    In a Dockerfile: RUN refpair warmup
    """
    from refpair._kernels.compiling import COMPILING
    from refpair._progress import progress

    COMPILING.is_told = True  # the bar says it
    before, started, steps = COMPILING.n_kernels, time.perf_counter(), list(_steps())
    with progress("compiling", len(steps), verbose=1) as advance:
        for step in steps:
            step()
            advance(1)
    seconds = time.perf_counter() - started
    Output().print(f"{COMPILING.n_kernels - before} kernels compiled in {seconds:.0f} s")


def _steps() -> Iterator[Callable[[], object]]:
    """Yield small uses of all that there is, which together need every kernel."""
    from functools import partial

    import numpy as np
    import scipy.sparse as sp
    from sklearn.ensemble import RandomForestClassifier

    from refpair import AtLeast, AtMost, Cost, Taxonomy, active, get_cost
    from refpair import classifiers as of
    from refpair.decision import decide, expected_cost
    from refpair.decision.mean_bounds import mean_p_value, mean_upper_bound
    from refpair.decision.rule_set import RuleSet
    from refpair.model_selection import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit
    from refpair.posterior import IndependentLabels, LabelDistribution

    rng = np.random.default_rng(0)
    dense = rng.standard_normal((N_ROWS, 5))
    sparse = sp.csr_array((rng.random((N_ROWS, 90)) < 0.05) * 1.0)  # logistic regressions take it as it is
    Y = (rng.random((N_ROWS, N_LABELS)) < 0.3).astype(np.uint8)
    forest = of.Forest(n_trees=3)

    def use(model: BaseEstimator, X: Any) -> None:
        model.set_params(random_state=0).fit(X, Y).predict(X)

    for X in (dense, sparse):
        for bits in ({}, {"max_samples": 0.05}, {"estimator": "logistic"}, {"decoder": "nearest"}):
            yield partial(use, of.CSRPEClassifier("f1", n_bits=60, **bits), X)
        for estimator in (forest, "logistic"):
            yield partial(use, of.BinaryRelevance(estimator), X)
            yield partial(use, of.ChainClassifier(estimator), X)
        for model in (
            of.RAkEL(forest),
            of.LabelPowerset(forest),
            of.ProbabilisticChain(forest, n_samples=5),
            of.CondensedFilterTree(forest, n_rounds=2),
        ):
            yield partial(use, model, X)
    mostly_zero = sparse.toarray()
    yield partial(use, of.BinaryRelevance(forest), mostly_zero)
    for cost in ("jaccard", Cost.from_counts(lambda tp, fp, fn, tn: fp + fn / (1 + tp))):
        yield partial(use, of.CSRPEClassifier(cost, n_bits=60), dense)
        yield partial(use, of.BayesDecisionClassifier(of.BinaryRelevance(forest), cost=cost), dense)
    yield partial(use, of.BayesDecisionClassifier(RandomForestClassifier(3)), dense)
    asking = of.CSRPEClassifier("f1", n_bits=60, random_state=0)
    yield lambda: asking.fit(dense, Y).predict_or_ask(dense, {0: 0.0, 1: 0.0})
    tree = (Taxonomy({1: 0, 2: 0, 3: 1}),)
    mixed = (Taxonomy({1: 0, 2: 1}), AtMost(1, (2, 3)), AtLeast(2, (1, 3)))
    alone = IndependentLabels(rng.random((3, N_LABELS)), is_of_labels=True)
    for rules in (tree, mixed):
        # Truths need not keep these: free decisions break them.
        free = RuleSet(rules, N_LABELS, exceptions=tuple(range(len(rules))))
        joint = LabelDistribution.from_dense(Y, rng.random((N_ROWS, N_ROWS)))
        for cost in ("f1", "hamming", "jaccard"):
            yield partial(decide, joint, get_cost(cost), rules=free)
            yield partial(decide, alone, get_cost(cost), rules=rules)
    yield lambda: (mean_p_value(np.zeros(9), 0.5, 0.1), mean_upper_bound(np.zeros(9), 0.1))
    lists = get_cost("recall@3")
    yield lambda: expected_cost(alone, decide(alone, lists), lists)
    yield lambda: of.LabelPowerset(forest, random_state=0).fit(dense, Y).predict_proba(dense)
    asked = np.where(np.arange(N_ROWS)[:, None] < N_ROWS // 2, Y, np.nan)
    yield lambda: active.RepresentativeUncertainty(n_bits=60, random_state=0).query(dense, asked)
    for splitter in (MultilabelStratifiedKFold(3), MultilabelStratifiedShuffleSplit(1, test_size=0.3)):
        yield partial(lambda splitter: list(splitter.split(dense, Y)), splitter)
