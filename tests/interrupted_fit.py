"""Fit one kind of classifier a second time and interrupt it at many moments: run by `test_interrupted_fit`.

It is a program, as what it looks for may crash the process. Arguments: the kind and the number of
moments. It prints how many fits were interrupted, on dense and on sparse features.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from copy import deepcopy
from threading import Thread
from timeit import repeat
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from refpair.active._classifier import WrappedClassifier
from refpair.classifiers import (
    MLECC,
    BayesDecisionClassifier,
    BinaryRelevance,
    ChainClassifier,
    CondensedFilterTree,
    CSRPEClassifier,
    Forest,
    LabelPowerset,
    ProbabilisticChain,
    RAkEL,
)

FOREST = Forest(n_trees=40)
KINDS: dict[str, Any] = {
    "posterior": CSRPEClassifier("f1", n_bits=300, n_jobs=1),
    "posterior, two threads": CSRPEClassifier("f1", n_bits=300, n_jobs=2),
    "nearest": CSRPEClassifier("hamming", n_bits=300, decoder="nearest", n_jobs=1),
    "logistic": CSRPEClassifier("f1", n_bits=100, estimator="logistic", n_jobs=1),
    "binary relevance": BinaryRelevance(FOREST),
    "chain": ChainClassifier(FOREST),
    "probabilistic chain": ProbabilisticChain(FOREST, n_samples=5),
    "powerset": LabelPowerset(FOREST),
    "rakel": RAkEL(FOREST),
    "mlecc": MLECC(Forest(n_trees=100)),
    "filter tree": CondensedFilterTree(FOREST, n_rounds=2),
    "bayes decision": BayesDecisionClassifier(BinaryRelevance(FOREST)),
    "wrapped": WrappedClassifier(MultiOutputClassifier(LogisticRegression())),
}


def make_data(n_features: int, form: str) -> tuple[Any, Any]:
    """Draw rows, so that labels depend on features."""
    rng = np.random.default_rng(n_features)
    X = rng.standard_normal((150, n_features))
    Y = (X[:, :2] @ rng.standard_normal((2, 5)) + 0.3 * rng.standard_normal((150, 5)) > 0.2).astype(np.uint8)
    if form == "dense":
        return X, Y
    X[np.abs(X) < 0.5] = 0.0
    return sp.csr_array(X), Y


def interrupt_after(seconds: float) -> None:
    """Send the signal of Ctrl-C to this process."""
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)


def fit_interrupted(model: Any, X: Any, Y: Any, seconds: float) -> bool:
    """Fit, and say whether the signal came before the end.

    Python itself drops an interruption that comes while an object is deleted: then the fit goes on.
    """
    sender = Thread(target=interrupt_after, args=(seconds,))
    is_done, dropped = False, []
    sys.unraisablehook = lambda given: dropped.append(given.exc_type)
    try:
        sender.start()
        model.fit(X, Y)
        is_done = True
        sender.join()
        time.sleep(1.0)  # the signal comes here at the latest
    except KeyboardInterrupt:
        sender.join()
        return not is_done
    assert dropped == [KeyboardInterrupt], "the signal was lost"
    return False


def answers(model: Any, X: Any) -> Any:
    """Return what a model predicts, or nothing if it is not fitted or was fitted with other features."""
    with suppress(NotFittedError):
        try:
            return np.asarray(model.predict(X))
        except ValueError as error:
            if "features" not in str(error):
                raise
    return None


def interrupt(kind: str, form: str, n_moments: int) -> int:
    """Interrupt second fits, and a first one; return how many of the second ones were stopped."""
    old, new = make_data(2, form), make_data(40, form)
    given = KINDS[kind]
    with suppress(ValueError):
        given.set_params(random_state=0)
    fitted = clone(given).fit(*old)
    told_old, told_new = answers(fitted, old[0]), answers(clone(given).fit(*new), new[0])
    takes = min(repeat(lambda: clone(given).fit(*new), number=1, repeat=3))
    rng, n_interrupted = np.random.default_rng(0), 0
    for moment in rng.uniform(0.0, takes, n_moments):
        model = deepcopy(fitted)
        n_interrupted += fit_interrupted(model, *new, moment)
        of_old, of_new = answers(model, old[0]), answers(model, new[0])
        assert (of_old is None) != (of_new is None), "it answers for both, or for none"
        assert of_old is None or np.array_equal(of_old, told_old)
        assert of_new is None or np.array_equal(of_new, told_new)
    first = clone(given)
    if fit_interrupted(first, *new, takes / 2):
        assert answers(first, new[0]) is None
        assert answers(first, old[0]) is None
    return n_interrupted


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    for form in ("dense", "sparse"):
        print(interrupt(sys.argv[1], form, int(sys.argv[2])))
