"""What all multi-label classifiers of the package share: reading X and Y, writing predictions, scoring."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from refpair.classifiers._labels import LabelFormat, read_labels
from refpair.costs import Cost

__all__ = ["MultiLabelClassifier"]


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the package's classifiers.

    A subclass sets ``cost_`` in ``fit`` and defines ``_predict_labels(X) -> 0/1 matrix``.
    """

    cost_: Cost
    classes_: npt.NDArray[Any]
    _label_format: LabelFormat

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        raise TypeError(f"{type(self).__name__} defines no _predict_labels")

    def _read(self, X: Any, Y: Any) -> tuple[Any, npt.NDArray[np.uint8] | sp.csr_array]:
        """Validate the training data; note the features' and labels' names and how Y was given."""
        labels, self._label_format = read_labels(Y)
        X = self._read_features(X, reset=True)
        check_consistent_length(X, labels)
        self.classes_ = self._label_format.classes
        return X, labels

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        """Return X as a float array or CSR matrix."""
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True,
        )
        return sp.csr_array(X) if sp.issparse(X) else X

    def predict(self, X: Any) -> Any:
        """Predict the label vectors of rows.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)

        Returns
        -------
        Y : of shape (n, n_labels)
            In the kind that Y had in ``fit``: array, CSR matrix or DataFrame with the labels' names.
        """
        check_is_fitted(self)
        labels = self._predict_labels(self._read_features(X, reset=False))
        return self._label_format.write(labels, X)

    def score(self, X: Any, Y: Any) -> float:
        """Return how well the labels of rows are predicted, by the model's own cost.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        Y : array, sparse matrix or DataFrame of shape (n, n_labels)

        Returns
        -------
        score : float
            The mean of 1 − cost for F1, accuracy and F-beta; minus the mean cost for all others. Greater is
            better, so that model selection works; ``cost_.score`` has the number as it is usually reported.
        """
        check_is_fitted(self)
        predicted = self._predict_labels(self._read_features(X, reset=False))
        reported = self.cost_.score(self._read_known_labels(Y), predicted)
        return reported if self.cost_.greater_is_better else -reported

    def _read_known_labels(self, Y: Any) -> npt.NDArray[np.uint8] | sp.csr_array:
        """Read labels that must be those of the training data."""
        if self._label_format.kind == "classes":
            return (np.asarray(Y)[:, None] == self.classes_[-1]).astype(np.uint8) * (len(self.classes_) > 1)
        labels, _ = read_labels(Y)
        if labels.shape[1] != len(self.classes_):
            raise ValueError(
                f"Y has {labels.shape[1]} labels, but the model was fitted with {len(self.classes_)}"
            )
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
