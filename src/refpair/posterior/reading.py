"""How a predicted code is read as a distribution over label vectors.

    p(y | x)  ∝  Σ n_u · exp(τ · s(x)·e_u / M)    over the anchors e_u of the label vector y
    P_k(x)    =  (1 − λ) · Σ p(y | x) [y_k = 1]  +  λ · q_k(x)

The first line is what the whole code says. The anchors are the code words of the label vectors, or the codes
that the training rows themselves are predicted to have. The second line mixes in q, what the bits of single
labels say: they know the chances of rare labels, which no near anchor has. Where a decision needs whole label
vectors, their weights are tilted by the odds of their labels, so that they follow P; or the labels are taken
as independent, which is better where most label vectors are new.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from refpair._kernels.posterior import keep_large, sum_labels, tilt
from refpair._saved import Savable, require
from refpair.posterior.anchors import Agreement, Anchors
from refpair.posterior.distribution import LabelDistribution

__all__ = ["AnchorKind", "Reader", "Reading", "Weighed"]

AnchorKind = Literal["words", "rows"]
Floats = npt.NDArray[np.float64]

_KEPT = 1e-3  # label vectors with less than this part of a row's largest weight are left out
_SURE = 1e-3  # odds are taken of probabilities between this and 1 minus this: tilting is bounded


@dataclass(frozen=True)
class Reading(Savable):
    """The numbers that out-of-bag codes choose.

    Attributes
    ----------
    anchors : {"words", "rows"}
        What a code is compared with.
    label_share : float
        λ, from 0 to 1: how much the bits of single labels count.
    temperature : float
        τ; infinite is the paper's decoder.
    independent : bool, default=False
        Whether decisions take the labels as independent, given P: then label vectors count, too, that no
        training row has.
    """

    anchors: AnchorKind
    label_share: float
    temperature: float
    independent: bool = False

    def __post_init__(self) -> None:
        require(0 <= self.label_share <= 1, f"label_share is {self.label_share}, which is not from 0 to 1")
        require(self.temperature > 0, f"temperature is {self.temperature}, which is not above 0")


class Reader:
    """Reads codes that have been compared with anchors.

    Parameters
    ----------
    vectors : ndarray of uint8, shape (n_vectors, n_labels)
        The relevant set.

    Examples
    --------
    >>> reader = Reader(np.uint8([[1, 0], [0, 1]]))
    >>> anchors = Anchors.of_words(np.int8([[1, 1], [-1, -1]]), np.array([1, 1]))
    >>> agreement = anchors.agreement(np.int8([[1, 1], [1, -1]]))
    >>> reader.weigh(anchors, agreement, temperature=1.0).marginals(None, label_share=0.0).round(2)
    array([[0.88, 0.12],
           [0.5 , 0.5 ]])
    """

    def __init__(self, vectors: npt.NDArray[np.uint8]) -> None:
        self.vectors = vectors
        row, label = np.nonzero(vectors)
        self._label_start = np.searchsorted(row, np.arange(len(vectors) + 1)).astype(np.int64)
        self._label_index = label.astype(np.int32)

    def weigh(
        self,
        anchors: Anchors,
        agreement: Agreement,
        temperature: float,
        own: npt.NDArray[np.int64] | None = None,
    ) -> Weighed:
        """Return what whole codes say, to which any share of the single labels can then be added.

        Parameters
        ----------
        anchors : Anchors
        agreement : ndarray of shape (n, n_anchors)
        temperature : float
        own : ndarray of shape (n,), optional
            The anchors that training rows are part of.
        """
        weights = anchors.weights(agreement, temperature, own)
        return Weighed(self.vectors, self._label_start, self._label_index, weights)


@dataclass(frozen=True, eq=False)
class Weighed:
    """The weights of label vectors for some rows, made by :meth:`Reader.weigh`.

    Attributes
    ----------
    vectors : ndarray of uint8, shape (n_vectors, n_labels)
    label_start, label_index : ndarray
        The labels of each vector: ``label_index[label_start[v] : label_start[v + 1]]``.
    weights : ndarray of shape (n, n_vectors)
    """

    vectors: npt.NDArray[np.uint8]
    label_start: npt.NDArray[np.int64]
    label_index: npt.NDArray[np.int32]
    weights: Floats

    @cached_property
    def sums(self) -> Floats:
        """The probability of each label by the weights alone."""
        sums = np.empty((len(self.weights), self.vectors.shape[1]))
        sum_labels(self.weights, self.label_start, self.label_index, sums)
        return np.minimum(sums, 1.0, out=sums)  # more only by rounding

    def marginals(self, labels: Floats | None, label_share: float) -> Floats:
        """Return P, the probability of each label, of shape (n, n_labels).

        Parameters
        ----------
        labels : ndarray of shape (n, n_labels) or None
            q, what the bits of single labels say.
        label_share : float
        """
        if labels is None or label_share == 0:
            return self.sums
        return (1 - label_share) * self.sums + label_share * labels

    def distribution(self, labels: Floats | None, label_share: float) -> LabelDistribution:
        """Return the weights of label vectors, those that matter; the parameters are as in `marginals`."""
        weights = self.weights
        if labels is not None and label_share > 0:
            log_odds = _logit(self.marginals(labels, label_share)) - _logit(self.sums)
            weights = weights.copy()
            tilt(weights, log_odds, self.label_start, self.label_index)
        return LabelDistribution(self.vectors, *keep_large(weights, _KEPT))


def _logit(p: Floats) -> Floats:
    p = np.clip(p, _SURE, 1 - _SURE)
    return np.asarray(np.log(p) - np.log1p(-p))
