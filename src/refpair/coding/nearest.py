"""Decoding: the code word nearest to a predicted code (section 3.3 of the paper).

A bit of a code word e that is 0 (a tie, the paper's ½) is half a bit away from both signs of a predicted code
s: the Hamming distance is d(s, e) = (M − s · e) / 2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair._kernels import code_words
from refpair._kernels.code_words import pack_bits, pack_signs
from refpair._kernels.jit import Words


class CodeBook:
    """Code words of −1, 0 and +1 to search: for a predicted code the nearest one, or the distances to all.

    The search is exact and linear in the number of code words, on bits packed 64 to a word. Of code words
    equally near the first is taken: put the likelier ones first.
    """

    def __init__(self, code_words: npt.ArrayLike) -> None:
        words = np.asarray(code_words)
        if words.ndim != 2 or len(words) == 0:
            raise ValueError(f"code_words must have shape (n_words, n_bits), got shape {words.shape}")
        if not ((words == 0) | (words == 1) | (words == -1)).all():
            raise ValueError("code_words must be -1, 0 and +1 only")
        self.n_words, self.n_bits = words.shape
        self._plus, self._mask = pack_bits(words > 0), pack_bits(words != 0)
        self._n_known = np.count_nonzero(words, axis=1).astype(np.int64)

    def decode(self, signs: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the index of the nearest code word for each row of signs, which are −1 and +1."""
        return np.asarray(code_words.nearest(self._packed(signs), self._plus, self._mask, self._n_known))

    def distances(self, signs: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return the Hamming distances (n, n_words) of the rows of signs to the code words, in bits."""
        products = code_words.products(self._packed(signs), self._plus, self._mask, self._n_known)
        return np.asarray((self.n_bits - products) * np.float32(0.5), dtype=np.float32)

    def _packed(self, signs: npt.ArrayLike) -> Words:
        array = np.asarray(signs)
        if array.ndim != 2 or array.shape[1] != self.n_bits:
            raise ValueError(f"signs must have shape (n, {self.n_bits}), got shape {array.shape}")
        return pack_signs(array)
