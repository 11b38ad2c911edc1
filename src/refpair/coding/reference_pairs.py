"""The reference-pair code: from label vectors to bits that compare costs (sections 3.1 and 3.2 of the paper).

Bit i has a *reference pair* of distinct label vectors (α_i, β_i) and asks of a truth y: which of the two is
the cheaper prediction? A label vector y becomes a *code word* of M answers

* +1 if C(y, α_i) < C(y, β_i),
* −1 if C(y, α_i) > C(y, β_i),
*  0 if it makes no difference (the paper's bit ½),

and answer i matters to the learner of bit i as much as the difference |C(y, α_i) − C(y, β_i)|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels.code_words import write_differences, write_signs
from refpair._parallel import one_blas_thread
from refpair._saved import Savable
from refpair.costs import Cost, Labels, check_labels

PairSampling: TypeAlias = Literal["uniform", "observed", "density"]
PairMixture: TypeAlias = Literal["uniform", "observed", "density", "mixed"]
Vectors: TypeAlias = npt.NDArray[np.uint8]
Number = TypeVar("Number", np.float64, np.int8)

_ROWS, _BITS = 2048, 256  # encoded at a time: 4 MB of costs for each of α and β
_SPARE = 16  # pairs that are tried at once, beside 5/4 of the number that is missing
_TRIES = 4  # candidate pairs drawn for each bit wanted
_MAX_INDEXED = 31  # labels up to which the number of all pairs, 2^(K−1)(2^K−1), fits an int64


@dataclass(frozen=True, eq=False)
class ReferencePairCode(Savable):
    """A code of M reference pairs for one cost.

    Parameters
    ----------
    alpha, beta : array-like of shape (n_bits, n_labels)
        Row i of both is the reference pair of bit i: two distinct label vectors.
    cost : Cost
        The cost the bits compare.

    Examples
    --------
    Is it cheaper to predict {0, 1} or {2}? For the truth {0} the former, for {2} the latter.

    >>> from refpair.costs import get_cost
    >>> code = ReferencePairCode([[1, 1, 0]], [[0, 0, 1]], get_cost("hamming"))
    >>> code.encode([[1, 0, 0], [0, 0, 1]])
    array([[ 1],
           [-1]], dtype=int8)
    >>> code.weights([[1, 0, 0], [0, 0, 1]]).round(2)
    array([[0.33],
           [1.  ]])
    """

    alpha: Vectors
    beta: Vectors
    cost: Cost

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            vectors = _dense(getattr(self, name), name).copy()
            vectors.flags.writeable = False
            object.__setattr__(self, name, vectors)
        if self.alpha.shape != self.beta.shape:
            raise ValueError(f"alpha and beta differ in shape: {self.alpha.shape} and {self.beta.shape}")
        if (self.alpha == self.beta).all(axis=1).any():
            raise ValueError(
                "alpha and beta have a row in common: a reference pair needs two distinct vectors"
            )

    def __len__(self) -> int:
        return len(self.alpha)

    def __getitem__(self, bits: slice | npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> ReferencePairCode:
        """Return the code of some of the bits."""
        alpha = self.alpha[bits]
        if alpha.ndim != 2:
            raise ValueError("a code is cut by a slice or an array, as in code[3:4], not by a number")
        return _code_of(alpha, self.beta[bits], self.cost)

    def differences(self, Y: Labels) -> npt.NDArray[np.float64]:
        """Return C(y, β_i) − C(y, α_i) for each row y of Y and each bit i: positive where α is cheaper.

        Differences within rounding error of zero are zero.
        """
        return self._compare(Y, np.float64)

    def encode(self, Y: Labels) -> npt.NDArray[np.int8]:
        """Return the code words of the rows of Y: +1 where α is cheaper, −1 where β is, 0 where neither."""
        return self._compare(Y, np.int8)

    def weights(self, Y: Labels) -> npt.NDArray[np.float64]:
        """Return how much each bit matters for each row of Y: the absolute :meth:`differences`."""
        return np.abs(self.differences(Y))

    def places_in(self, other: ReferencePairCode) -> npt.NDArray[np.intp]:
        """Return the position of each pair in another code; −1 if it is not there."""
        if np.array_equal(self.alpha, other.alpha) and np.array_equal(self.beta, other.beta):
            return np.arange(len(self))
        places = {pair: place for place, pair in enumerate(_keys(other))}
        return np.array([places.get(pair, -1) for pair in _keys(self)], np.intp)

    def _compare(self, Y: Labels, dtype: type[Number]) -> npt.NDArray[Number]:
        """Return the differences, or as int8 only their signs, by blocks that bound the memory."""
        labels = check_labels(Y, "Y")
        out = np.empty((labels.shape[0], len(self)), dtype)
        with one_blas_thread():
            for start in range(0, labels.shape[0], _ROWS):
                rows = slice(start, start + _ROWS)
                for first in range(0, len(self), _BITS):
                    bits = slice(first, first + _BITS)
                    alpha, beta = self.alpha[bits], self.beta[bits]
                    costs = self.cost.matrix(labels[rows], np.concatenate([alpha, beta]))
                    if dtype is np.int8:
                        write_signs(costs, start, first, out)
                    else:
                        write_differences(costs, start, first, out)
        return out


def sample_pairs(
    n_labels: int,
    n_bits: int,
    *,
    how: PairSampling = "uniform",
    label_vectors: Labels | None = None,
    counts: npt.ArrayLike | None = None,
    rng: np.random.Generator,
) -> tuple[Vectors, Vectors]:
    """Draw reference pairs (α, β), all distinct and in random order; fewer if there or found are no more.

    "uniform" draws from all 2^(K−1)(2^K−1) pairs of {0,1}^K, as in the paper; "observed" from the pairs of
    distinct rows of `label_vectors`; "density" puts each label into a vector as often as it is in these rows,
    so that pairs are as sparse as the truths they are to tell apart; a row counts once, or as `counts` says.
    Above 31 labels "uniform" draws independent pairs: that of 100,000 two are the same is less likely than
    one in 10^9.
    """
    if how in ("observed", "density"):
        if label_vectors is None:
            raise ValueError(f'how="{how}" draws pairs like label_vectors, which are missing')
        observed = _dense(label_vectors, "label_vectors")
        if observed.shape[1] != n_labels:
            raise ValueError(f"label_vectors has {observed.shape[1]} labels (columns), not {n_labels}")
        if how == "density":
            counted = np.ones(len(observed)) if counts is None else np.asarray(counts, np.float64)
            total = float(counted.sum())
            return _draw_at_density(counted @ observed / total, total, n_bits, rng)
        vectors = _distinct(observed)
        first, second = _draw_indices(len(vectors), n_bits, rng)
        return vectors[first], vectors[second]
    if how != "uniform":
        raise ValueError(f'how must be "uniform", "observed" or "density", not {how!r}')
    if n_labels <= _MAX_INDEXED:
        first, second = _draw_indices(2**n_labels, n_bits, rng)
        return _binary(first, n_labels), _binary(second, n_labels)
    alpha, beta = rng.integers(0, 2, size=(2, n_bits, n_labels), dtype=np.uint8)
    while (same := (alpha == beta).all(axis=1)).any():
        beta[same] = rng.integers(0, 2, size=(int(same.sum()), n_labels), dtype=np.uint8)
    return alpha, beta


def draw_code(
    cost: Cost,
    label_vectors: Labels,
    n_bits: int,
    how: PairMixture,
    rng: np.random.Generator,
    counts: npt.ArrayLike | None = None,
) -> ReferencePairCode:
    """Draw a code without useless bits.

    A pair is useless if both of its vectors cost the same for every observed label vector; another one is
    drawn instead. (A pair is kept if all observed vectors either tie or have the same bit: it is part of the
    paper's code, and separates these two groups.) If too few uniform pairs are useful, observed pairs are
    added: under ``zero_one`` only a pair with an observed vector is useful, and uniform pairs of many labels
    have none.

    "density" is for posterior decoding: there a pair is also useless if all observed vectors have the same
    bit.

    Parameters
    ----------
    cost : Cost
        The cost the bits compare.
    label_vectors : array-like or sparse matrix of shape (n, n_labels)
        The observed label vectors, repeats allowed; how often a label is in them counts for "density" alone.
    counts : array-like of shape (n,), optional
        How often each row of these counts, instead of once.
    n_bits : int
        The length of the code.
    how : {"uniform", "observed", "density", "mixed"}
        Which pairs to draw: "uniform" from all pairs of label vectors, as in the paper; "observed" from those
        of distinct rows of ``label_vectors``; "density" puts each label into a vector as often as it is in
        these rows; "mixed" draws half of the pairs in this way, the others uniformly.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    ReferencePairCode
        Of ``n_bits`` bits, or of fewer if there are no more useful pairs among 4 × ``n_bits`` candidates (all
        pairs, if there are fewer); of no bits if there is only one distinct label vector.

    Notes
    -----
    A label vector that ties on most bits has a distance of about M/2 to any predicted code, and so is hardly
    ever the nearest. Under ``f1`` and ``jaccard`` this holds for the empty vector: all other predictions cost
    the same if it is true, so only pairs that contain it have a bit for it.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> Y = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 0]]
    >>> len(draw_code(get_cost("f1"), Y, 16, "uniform", np.random.default_rng(0)))
    16
    >>> len(draw_code(get_cost("f1"), Y, 16, "observed", np.random.default_rng(0)))
    3
    """
    observed = _dense(label_vectors, "label_vectors")
    vectors, n_labels = _distinct(observed), observed.shape[1]
    none = np.empty((0, n_labels), np.uint8)
    code = _code_of(none, none, cost)
    if len(vectors) < 2:
        return code
    for stage, length in _stages(how, n_bits):
        if len(code) >= length:
            continue
        alpha, beta = sample_pairs(
            n_labels, _TRIES * length, how=stage, label_vectors=observed, counts=counts, rng=rng
        )
        fresh = _fresh(alpha, beta, code)
        alpha, beta = alpha[fresh], beta[fresh]
        while len(code) < length and len(alpha):
            some = slice(_SPARE + (length - len(code)) * 5 // 4)  # a few more than are missing
            batch = _code_of(alpha[some], beta[some], cost)
            if stage == "density":
                words = batch.encode(vectors)
                useful = np.asarray((words > 0).any(axis=0) & (words < 0).any(axis=0))
            else:
                useful = _useful(batch, vectors)
            batch = batch[useful][: length - len(code)]
            code = _code_of(np.vstack([code.alpha, batch.alpha]), np.vstack([code.beta, batch.beta]), cost)
            alpha, beta = alpha[some.stop :], beta[some.stop :]
    return code


def _code_of(alpha: Vectors, beta: Vectors, cost: Cost) -> ReferencePairCode:
    """Return the code of pairs that are known to be such: the checks would take longer than to draw them."""
    code = object.__new__(ReferencePairCode)
    alpha.flags.writeable = beta.flags.writeable = False
    for name, value in (("alpha", alpha), ("beta", beta), ("cost", cost)):
        object.__setattr__(code, name, value)
    return code


def _stages(how: PairMixture, n_bits: int) -> list[tuple[PairSampling, int]]:
    """Return which pairs to draw one after the other, each until the code has that many bits."""
    if how == "observed":
        return [("observed", n_bits)]
    at_density = {"uniform": 0, "density": n_bits, "mixed": n_bits // 2}[how]
    return [("density", at_density), ("uniform", n_bits), ("observed", n_bits)]


def _useful(code: ReferencePairCode, vectors: Vectors) -> npt.NDArray[np.bool_]:
    """Return which bits are not ties for all vectors; a few vectors settle nearly all bits."""
    useful = np.zeros(len(code), dtype=bool)
    for some in (vectors[:64], vectors[64:]):
        open_bits = np.flatnonzero(~useful)
        if len(open_bits) and len(some):
            useful[open_bits] = code[open_bits].encode(some).any(axis=0)
    return useful


def _keys(code: ReferencePairCode) -> list[bytes]:
    """Return each pair as one key."""
    return [row.tobytes() for row in np.packbits(np.hstack([code.alpha, code.beta]), axis=1)]


def _fresh(alpha: Vectors, beta: Vectors, code: ReferencePairCode) -> npt.NDArray[np.bool_]:
    """Return which pairs the code does not have yet, either way round."""
    if len(code) == 0:
        return np.ones(len(alpha), dtype=bool)
    seen = {frozenset((a.tobytes(), b.tobytes())) for a, b in zip(code.alpha, code.beta, strict=True)}
    pairs = zip(alpha, beta, strict=True)
    return np.array([frozenset((a.tobytes(), b.tobytes())) not in seen for a, b in pairs])


def _draw_indices(
    n_vectors: int, n_pairs: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Draw unordered pairs of distinct numbers below n_vectors without replacement, at most all of them.

    The number t of a pair stands for (a, a + d mod n) with a = t mod n and d = 1 + ⌊t/n⌋: each pair once, as
    two numbers are at most n/2 apart on the circle, and at n/2 (n even) the numbers t end after half a turn.
    So the pairs need no list.
    """
    total = n_vectors * (n_vectors - 1) // 2
    numbers = rng.choice(total, size=min(n_pairs, total), replace=False)
    steps, first = np.divmod(numbers, n_vectors)
    return first, (first + steps + 1) % n_vectors


def _draw_at_density(
    frequencies: npt.NDArray[np.float64], n_rows: float, n_pairs: int, rng: np.random.Generator
) -> tuple[Vectors, Vectors]:
    """Draw pairs of distinct vectors, label k in a vector with the probability that it has, none twice."""
    # Half a row more of each kind: a label that no row or every row has is drawn otherwise now and then.
    probability = (frequencies * n_rows + 0.5) / (n_rows + 1)
    alpha, beta = (rng.random((2, n_pairs, len(frequencies))) < probability).astype(np.uint8)
    order = [a.tobytes() < b.tobytes() for a, b in zip(alpha, beta, strict=True)]
    swap = np.array(order, dtype=bool)[:, None]  # a pair is the same either way round
    low, high = np.where(swap, alpha, beta), np.where(swap, beta, alpha)
    _, first = np.unique(np.packbits(np.hstack([low, high]), axis=1), axis=0, return_index=True)
    first = np.sort(first[(alpha[first] != beta[first]).any(axis=1)])
    return alpha[first], beta[first]


def _binary(numbers: npt.NDArray[np.int64], n_labels: int) -> Vectors:
    return (numbers[:, None] >> np.arange(n_labels) & 1).astype(np.uint8)


def _distinct(vectors: Vectors) -> Vectors:
    """Return the distinct rows in an order that does not depend on theirs."""
    packed = np.ascontiguousarray(np.packbits(vectors, axis=1))  # of Fortran-ordered labels it is not
    _, first = np.unique(packed.view(f"V{packed.shape[1]}"), return_index=True)
    return vectors[first]


def _dense(labels: Labels, name: str) -> Vectors:
    matrix = check_labels(labels, name)
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.uint8)
