from __future__ import annotations

import numpy as np
import pytest

from refpair import CSRPEClassifier, save
from tests.persistence.models import MODELS, fitted


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


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A file of each kind of model."""
    folder = tmp_path_factory.mktemp("models")
    for name in MODELS:
        save(fitted(name)[0], folder / name)
    return {name: folder / name for name in MODELS}
