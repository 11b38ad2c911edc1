"""Learning curves of strategies on rows whose labels are known."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from refpair.active._classifier import WrappedClassifier, check_classifier
from refpair.active._strategy import QueryStrategy
from refpair.classifiers._checks import check_count
from refpair.costs import get_cost


def learning_curve(
    strategy: QueryStrategy,
    estimator: Any,
    X: Any,
    Y: Any,
    X_test: Any,
    Y_test: Any,
    *,
    start: Any,
    n_queries: int,
    cost: Any = "f1",
    batch_size: int = 1,
    test_each: int = 1,
) -> dict[str, npt.NDArray[Any]]:
    """Simulate active learning: ask for rows, and score the classifier on test rows after each answer.

    Parameters
    ----------
    strategy : QueryStrategy
    estimator : multi-label classifier
        The classifier to fit on the labeled rows, and to score.
    X, Y : arrays of shape (n, n_features) and (n, n_labels)
        The pool, and its labels.
    X_test, Y_test : arrays
        Test rows, and their labels.
    start : array of int
        Rows of X that are labeled at the beginning; may be empty.
    n_queries : int
        Number of rows to ask for; all, if there are fewer.
    cost : str, Cost or callable, default="f1"
        The cost to score by.
    batch_size : int, default=1
        Number of rows to ask for at a time.
    test_each : int, default=1
        Number of rows after which the classifier is fitted and scored; it is scored at the beginning and at
        the end in any case.

    Returns
    -------
    dict of ndarrays
        ``n_labeled``, ``score``, and ``seconds``: the time of the queries since the entry before.

    Examples
    --------
    >>> from refpair import BinaryRelevance
    >>> from refpair.active import RandomQuery, learning_curve
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> halves = digits.X[:900], digits.Y[:900], digits.X[900:], digits.Y[900:]
    >>> learner = BinaryRelevance("logistic")
    >>> curve = learning_curve(
    ...     RandomQuery(random_state=0), learner, *halves, start=range(20), n_queries=200, test_each=100
    ... )
    >>> curve["n_labeled"], curve["score"].round(2)
    (array([ 20, 120, 220]), array([0.46, 0.73, 0.74]))
    """
    check_count("n_queries", n_queries)
    check_count("test_each", test_each)
    check_classifier(estimator)
    cost = get_cost(cost)
    truth = np.asarray(Y, np.float64)
    known = np.full(truth.shape, np.nan)
    labeled = np.asarray(start, np.intp)
    known[labeled] = truth[labeled]
    n_end = min(len(labeled) + n_queries, len(truth))
    n_next, passed = len(labeled), 0.0
    rows: list[tuple[int, float, float]] = []
    while True:
        n_labeled = len(labeled)
        if n_labeled >= n_next or n_labeled == n_end:
            model = WrappedClassifier(estimator)
            model.fit(_safe_indexing(X, labeled), truth[labeled].astype(np.uint8))
            predicted = model.predict(X_test)
            rows.append((n_labeled, cost.mean(Y_test, predicted), passed))
            n_next, passed = n_labeled + test_each, 0.0
        if n_labeled == n_end:
            sizes, scores, seconds = map(np.array, zip(*rows, strict=True))
            return {"n_labeled": sizes, "score": scores, "seconds": seconds}
        begin = time.perf_counter()
        asked = strategy.query(X, known, batch_size=min(batch_size, n_end - n_labeled))
        passed += time.perf_counter() - begin
        known[asked] = truth[asked]
        labeled = np.concatenate([labeled, asked])
