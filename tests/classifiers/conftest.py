"""A small data set that the tests of the classifiers share."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="session")
def small():
    """X of 120 rows and 6 features, some of them zero, and Y of four labels that depend on them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6)) * (rng.random((120, 6)) < 0.7)
    scores = X @ rng.standard_normal((6, 4)) + 0.3 * rng.standard_normal((120, 4))
    return X, (scores > 0.2).astype(int)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """On a busy machine, threads of OpenBLAS and OpenMP wait for each other far longer than they work."""
    with threadpool_limits(1):
        yield
