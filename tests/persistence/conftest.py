from __future__ import annotations

import numpy as np
import pytest

from refpair import CSRPEClassifier, save


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)).round(1)
    Y = (X[:, :3] + rng.normal(size=(120, 3)) / 2 > 0).astype(np.int64)
    return X, Y


@pytest.fixture(scope="session")
def model(data):
    return CSRPEClassifier(n_bits=40, random_state=0, max_samples=0.6).fit(*data)


@pytest.fixture
def path(tmp_path, model):
    """A file that holds the model."""
    save(model, tmp_path / "model.refpair")
    return tmp_path / "model.refpair"
