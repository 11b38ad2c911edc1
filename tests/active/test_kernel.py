"""Features of a kernel: of few dense features, saved and checked."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from refpair.active._classifier import KernelFeatures

X = np.random.default_rng(0).normal(size=(60, 3)) * 50


def test_products_of_rows_are_the_kernel():
    """With all rows to compare with, the Nyström approximation is exact."""
    kernel = KernelFeatures()
    made = kernel.fit_transform(X)
    assert made.shape == (60, 60)
    np.testing.assert_allclose(np.square(made).sum(axis=1).mean(), 1.0)
    wanted = rbf_kernel(X * kernel.scale_, gamma=kernel.gamma_)
    np.testing.assert_allclose(made @ made.T, wanted, atol=1e-6)
    np.testing.assert_allclose(kernel.transform(X[:5]), made[:5])


@pytest.mark.parametrize(
    "rows", [sp.csr_array(X), np.ones((4, 3)), np.zeros((4, 3)), np.ones((3, 600)), X[:1]]
)
def test_what_needs_no_kernel_is_only_scaled(rows):
    made = KernelFeatures().fit_transform(rows)
    assert made.shape == rows.shape
    total = float(made.multiply(made).sum() if sp.issparse(made) else np.square(made).sum())
    assert total == pytest.approx(0.0 if not abs(rows).sum() else rows.shape[0])


def test_what_was_saved_comes_back_and_is_checked():
    kernel = KernelFeatures(20, random_state=3).fit(X)
    saved = kernel._get_saved()
    np.testing.assert_array_equal(KernelFeatures._from_saved(dict(saved)).transform(X), kernel.transform(X))
    for wrong in (
        {"weights_": saved["weights_"][:, :5]},
        {"components_": saved["components_"][:, :2]},
        {"gamma_": 0.0},
        {"gamma_": -1.0},
        {"scale_": float("inf")},
        {"components_": np.full_like(saved["components_"], np.nan)},
        {"n_features_in_": 2},
    ):
        with pytest.raises(ValueError, match=r"kernel feature|KernelFeatures"):
            KernelFeatures._from_saved(saved | wrong)
