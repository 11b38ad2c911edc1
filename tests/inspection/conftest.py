import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from refpair import CSRPEClassifier
from tests.inspection.results import N_TRAIN


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 6))
    scores = X @ rng.standard_normal((6, 5)) + 0.3 * rng.standard_normal((200, 5))
    return X, (scores > 0.5).astype(int)


@pytest.fixture(scope="module")
def model(data):
    X, Y = data
    return CSRPEClassifier("f1", n_bits=120, random_state=0).fit(X[:N_TRAIN], Y[:N_TRAIN])


@pytest.fixture(scope="module")
def test_rows(data):
    return data[0][N_TRAIN:], data[1][N_TRAIN:]
