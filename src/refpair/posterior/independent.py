"""Labels that are independent of each other, given by their probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair.posterior.distribution import LabelDistribution

__all__ = ["IndependentLabels"]


class IndependentLabels:
    """The distribution over label vectors of n rows whose labels are independent of each other.

    Parameters
    ----------
    marginals : array-like of shape (n, n_labels)
        The probability of each label, from 0 to 1.

    Examples
    --------
    >>> p = IndependentLabels([[0.5, 1.0]])
    >>> p
    <IndependentLabels of 1 rows and 2 labels>
    >>> p.sample(1000, np.random.default_rng(0)).vectors
    array([[0, 1],
           [1, 1]], dtype=uint8)
    """

    def __init__(self, marginals: npt.ArrayLike) -> None:
        array = np.ascontiguousarray(marginals, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] == 0:
            raise ValueError(f"marginals must have shape (n, n_labels), got shape {array.shape}")
        if not ((array >= 0) & (array <= 1)).all():
            raise ValueError("marginals must be probabilities, from 0 to 1")
        self._marginals = array

    def __repr__(self) -> str:
        return f"<IndependentLabels of {len(self)} rows and {self._marginals.shape[1]} labels>"

    def __len__(self) -> int:
        return len(self._marginals)

    @property
    def n_labels(self) -> int:
        """The number of labels of a vector.

        Examples
        --------
        >>> IndependentLabels([[0.5, 1.0]]).n_labels
        2
        """
        return int(self._marginals.shape[1])

    def __getitem__(self, rows: slice) -> IndependentLabels:
        return IndependentLabels(self._marginals[rows])

    def marginals(self) -> npt.NDArray[np.float64]:
        """Return the probability of each label, of shape (n, n_labels).

        Examples
        --------
        >>> IndependentLabels([[0.5, 1.0]]).marginals()
        array([[0.5, 1. ]])
        """
        return self._marginals.copy()

    def sample(self, n_samples: int, rng: np.random.Generator, *, common: bool = False) -> LabelDistribution:
        """Return the frequencies of sampled label vectors.

        Parameters
        ----------
        n_samples : int
            How many vectors to draw for each row.
        rng : numpy.random.Generator
            Where the random numbers come from.
        common : bool, default=False
            Whether all rows get the same random numbers. What is drawn for a row is then the same whatever
            the other rows are.

        Examples
        --------
        >>> p = IndependentLabels([[0.0, 1.0], [1.0, 1.0]])
        >>> p.sample(10, np.random.default_rng(0)).marginals()
        array([[0., 1.],
               [1., 1.]])
        """
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, got {n_samples}")
        n, n_labels = self._marginals.shape
        samples = np.empty((n, n_samples, n_labels), np.uint8)
        draws = rng.random((n_samples, n_labels))
        for i in range(n):
            if i and not common:
                draws = rng.random((n_samples, n_labels))
            np.less(draws, self._marginals[i], out=samples[i].view(np.bool_))
        return LabelDistribution.from_samples(samples)
