"""How many rows a bit of a posterior learns from by default."""

import numpy as np
import pytest

from refpair import CSRPEClassifier


@pytest.mark.parametrize(("n_rows", "n_sampled"), [(100, 63), (1999, 1263), (2000, 1600), (5000, 2000)])
def test_a_share_of_the_rows_but_not_too_many(n_rows, n_sampled, monkeypatch):
    monkeypatch.setattr("refpair.classifiers._code_bits._LARGEST_BAG", 2000)
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 3))
    model = CSRPEClassifier(n_bits=4, random_state=0).fit(X, (X[:, :2] > 0.5).astype(int))
    assert (model.bits_.bags_.n_rows, model.bits_.bags_.n_sampled) == (n_rows, n_sampled)
