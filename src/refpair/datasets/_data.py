"""Data sets of numbers: features, labels and their names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refpair.tables._matrix import Matrix


@dataclass(frozen=True, eq=False, repr=False)
class MultiLabelData:
    """A multi-label data set.

    Attributes
    ----------
    name : str
        The name of the data set.
    X : ndarray or scipy.sparse.csr_array of shape (n_instances, n_features)
        The features, float64; missing values are NaN.
    Y : ndarray of shape (n_instances, n_labels)
        The labels, uint8: 1 where a label applies, else 0.
    feature_names : list of str
        The names of the columns of ``X``, each one unique.
    label_names : list of str
        The names of the columns of ``Y``, each one unique.

    Examples
    --------
    >>> from refpair.datasets import load_dataset
    >>> load_dataset("digits")
    MultiLabelData('digits': 3000 instances, 64 features, 10 labels)
    """

    name: str
    X: Matrix
    Y: NDArray[np.uint8]
    feature_names: list[str]
    label_names: list[str]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}: {self.X.shape[0]} instances, "
            f"{self.X.shape[1]} features, {len(self.label_names)} labels)"
        )
