"""Features by which linear models see more than straight lines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted, validate_data

from refpair._saved import Savable, require
from refpair.active._coverage import squared_distances
from refpair.active._pool import Floats
from refpair.bits.binning import Matrix

_MOST_FEATURES = 500  # of more, linear models see enough
_LOOKED_AT = 500  # rows, to tell what distance is usual


class KernelFeatures(Savable, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Features of an RBF kernel instead of few dense ones; sparse and many features are only scaled.

    Numbers and pixels seldom tell labels along straight lines. The kernel's width is the median distance of
    rows; it is approximated by the likeness to some of them (Nyström). No labels are needed for that. Rows of
    the table that it is fitted to have the mean squared length 1.

    Fitted, it has the `scale_` that features are multiplied by, the `gamma_` of the kernel of scaled features
    (0 if there is none), the scaled rows that others are compared with, `components_`, and what their
    likenesses to these are multiplied by, `weights_`.
    """

    n_features_in_: int
    scale_: float
    gamma_: float
    components_: Floats
    weights_: Floats

    def __init__(self, n_components: int = 300, *, random_state: int = 0) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the scale, the width of the kernel and the rows to compare with."""
        X = self._read(X, reset=True)
        n_rows, n_features = X.shape
        self.scale_ = 1.0 / (_length(X) or 1.0)
        self.gamma_, self.components_, self.weights_ = 0.0, np.empty((0, n_features)), np.empty((0, 0))
        if sp.issparse(X) or n_features > _MOST_FEATURES:
            return self
        scaled = X * self.scale_
        some = scaled[np.random.default_rng(self.random_state).permutation(n_rows)[:_LOOKED_AT]]
        distances = squared_distances(some, some)
        usual = distances[distances > 0.0]
        if not len(usual):
            return self
        self.gamma_ = 1.0 / float(np.median(usual))
        kernel = Nystroem(
            gamma=self.gamma_, n_components=min(self.n_components, n_rows), random_state=self.random_state
        ).fit(scaled)
        self.components_, self.weights_ = kernel.components_, kernel.normalization_.T
        self.weights_ = self.weights_ / _length(self._likenesses(scaled))
        return self

    def transform(self, X: Any) -> Matrix:
        """Return the features of rows."""
        check_is_fitted(self)
        scaled = self._read(X, reset=False) * self.scale_
        return self._likenesses(scaled) if self.gamma_ else scaled

    def _likenesses(self, scaled: Floats) -> Floats:
        return np.asarray(rbf_kernel(scaled, self.components_, gamma=self.gamma_) @ self.weights_)

    def _read(self, X: Any, *, reset: bool) -> Matrix:
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_saved(self) -> None:
        if not hasattr(self, "scale_"):
            return
        k, n = len(self.components_), self.n_features_in_
        fits = self.components_.shape == (k, n) and self.weights_.shape == (k, k)
        require(n > 0 and fits and (self.gamma_ > 0) == (k > 0), "kernel features do not fit together")
        numbers = (self.scale_, self.gamma_, self.components_, self.weights_)
        require(all(np.isfinite(one).all() for one in numbers), "a kernel feature is not a number")


def _length(X: Matrix) -> float:
    """Return the root of the mean squared length of rows."""
    squares = X.multiply(X).sum() if sp.issparse(X) else np.square(X).sum()
    return float(np.sqrt(squares / X.shape[0]))
