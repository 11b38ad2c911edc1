"""What a predicted code is compared with: the code words of label vectors, or the codes of training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from refpair._kernels import code_words
from refpair._kernels.posterior import partial_agreements, weigh
from refpair.coding.nearest import pack_bits, pack_signs, unpack_bits

__all__ = ["Anchors"]

Agreement = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Anchors:
    """Codes that stand for label vectors.

    A predicted code s agrees with an anchor e by s · e / M, from −1 to 1. Two kinds of anchors are read in
    the same way: the code words enc(y) of the relevant set, one for each label vector y with its number of
    training rows as count; and the *predicted* codes of the training rows, each of which counts once for its
    own label vector.

    Attributes
    ----------
    plus, mask : ndarray of uint64, shape (n_anchors, n_words)
        The bits that are +1, and those that are not 0.
    n_known : ndarray of int64, shape (n_anchors,)
        How many are not 0.
    vector : ndarray of int32, shape (n_anchors,)
        The number of the label vector that an anchor stands for.
    count : ndarray of float64, shape (n_anchors,)
        How many training rows it stands for.
    n_bits : int
        The length M of the code.
    n_vectors : int
        How many label vectors there are.
    """

    plus: code_words.Words
    mask: code_words.Words
    n_known: npt.NDArray[np.int64]
    vector: npt.NDArray[np.int32]
    count: npt.NDArray[np.float64]
    n_bits: int
    n_vectors: int

    @classmethod
    def of_words(cls, code_words: npt.NDArray[np.int8], counts: npt.NDArray[np.int64]) -> Self:
        """Make anchors of the code words of label vectors.

        Parameters
        ----------
        code_words : ndarray of shape (n_vectors, n_bits)
            Entries −1, 0 and +1.
        counts : ndarray of shape (n_vectors,)
            How many training rows have each vector. One that none has counts as half a row.

        Examples
        --------
        >>> anchors = Anchors.of_words(np.int8([[1, 1, -1], [-1, 0, 1]]), np.array([3, 1]))
        >>> anchors.agreement(np.int8([[1, 1, 1]])).round(2)
        array([[0.33, 0.  ]], dtype=float32)
        """
        n_vectors, n_bits = code_words.shape
        vector = np.arange(n_vectors, dtype=np.int32)
        count = np.where(counts > 0, counts, 0.5).astype(np.float64)
        n_known = np.count_nonzero(code_words, axis=1).astype(np.int64)
        plus, mask = pack_bits(code_words > 0), pack_bits(code_words != 0)
        return cls(plus, mask, n_known, vector, count, n_bits, n_vectors)

    @classmethod
    def of_rows(
        cls, signs: npt.NDArray[np.int8], vector_of_row: npt.NDArray[np.int32], n_vectors: int
    ) -> Self:
        """Make anchors of the predicted codes of training rows.

        Parameters
        ----------
        signs : ndarray of shape (n, n_bits)
            Entries −1 and +1.
        vector_of_row : ndarray of shape (n,)
            The number of the label vector that each row has.
        n_vectors : int

        Examples
        --------
        >>> anchors = Anchors.of_rows(np.int8([[1, 1], [1, -1]]), np.int32([0, 0]), 1)
        >>> anchors.weights(anchors.agreement(np.int8([[1, 1]])), temperature=2.0)
        array([[1.]])
        """
        n_rows, n_bits = signs.shape
        plus = pack_signs(signs)
        mask = np.repeat(pack_bits(np.ones((1, n_bits), dtype=bool)), n_rows, axis=0)
        n_known = np.full(n_rows, n_bits, np.int64)
        return cls(plus, mask, n_known, vector_of_row, np.ones(n_rows), n_bits, n_vectors)

    def take(self, bits: npt.NDArray[np.intp]) -> Anchors:
        """Return the anchors in a code of some of the bits.

        Examples
        --------
        >>> anchors = Anchors.of_words(np.int8([[1, -1, 1], [-1, 1, 0]]), np.array([3, 1]))
        >>> anchors.take(np.array([0, 2])).agreement(np.int8([[1, 1]]))
        array([[ 1. , -0.5]], dtype=float32)
        """
        plus, mask = (unpack_bits(words)[:, bits] for words in (self.plus, self.mask))
        return replace(
            self,
            plus=pack_bits(plus),
            mask=pack_bits(mask),
            n_known=mask.sum(axis=1, dtype=np.int64),
            n_bits=len(bits),
        )

    def __len__(self) -> int:
        return len(self.vector)

    def agreement(self, signs: npt.NDArray[np.int8], known: npt.NDArray[np.bool_] | None = None) -> Agreement:
        """Return s · e / M of each row and anchor, of shape (n, n_anchors).

        Parameters
        ----------
        signs : ndarray of shape (n, n_bits)
            Predicted codes of −1 and +1.
        known : ndarray of bool, shape (n, n_bits), optional
            Which bits of a row count; M is then their number.
        """
        packed = pack_signs(signs)
        if known is None:
            products = code_words.products(packed, self.plus, self.mask, self.n_known).astype(np.float32)
            products /= np.float32(max(self.n_bits, 1))
            return products
        out = np.empty((len(signs), len(self)), np.float32)
        partial_agreements(packed, pack_bits(known), self.plus, self.mask, out)
        return out

    def weights(
        self, agreement: Agreement, temperature: float, own: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.float64]:
        """Return p(y | x) ∝ Σ count · exp(temperature · agreement) over the anchors of each label vector y.

        Parameters
        ----------
        agreement : ndarray of shape (n, n_anchors)
        temperature : float
            How much agreement counts; at infinity only the anchors that agree most do.
        own : ndarray of shape (n,), optional
            For training rows: the anchor that the row itself is part of, which is then counted once less.

        Returns
        -------
        ndarray of shape (n, n_vectors)
        """
        out = np.zeros((len(agreement), self.n_vectors))
        nobody = np.full(len(agreement), -1) if own is None else own
        weigh(agreement, temperature, self.count, self.vector, nobody, out)
        return out
