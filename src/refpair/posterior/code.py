"""The source of the code: samples' predicted codes, compared with codes whose label vectors are known.

    p(y | x)  ∝  Σ n_u · exp(τ · s(x)·e_u / M)    over the codes e_u that are known of the label vector y

The known codes are the code words of the label vectors, or the codes that the training samples themselves are
predicted to have. Which of them, τ, and the depth of the trees are chosen out of bag, by the log loss of the
calibrated probabilities of labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels import code_words
from refpair._kernels.code_words import pack_bits, pack_signs, unpack_bits
from refpair._kernels.jit import Words
from refpair._kernels.posterior import partial_agreements, weigh
from refpair._parallel import even_chunks, one_blas_thread, run_chunks
from refpair._saved import Savable, require
from refpair.bits.binning import Matrix
from refpair.bits.problem import ALL, BitLearner, BitProblems
from refpair.bits.trees import TreeBank
from refpair.coding import ReferencePairCode
from refpair.posterior.calibrate import LogOddsPool, log_loss
from refpair.posterior.distribution import Bytes, Floats, Longs
from refpair.posterior.labels import N_FOLDS
from refpair.posterior.source import Source, Training, in_threads

CodeKind = Literal["words", "rows"]
Agreement = npt.NDArray[np.float32]
Own: TypeAlias = "Longs | sp.csr_array"

TEMPERATURES = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0)
SHALLOW = 6  # the depth that is tried besides the full one
BATCHES = (500, 500, 1000, 1000)  # bits, where their number is to be found

_AGREEMENTS = 1 << 19  # that one job makes at a time, 2 MB
_LEAST_ROWS = 16  # for it to be worth a call
_MOST_CODES = 20_000  # training samples that codes are compared with: beyond, it would only take longer
_MOST_IN_A_FILE = 1 << 20
_CHOOSING_ROWS = 400
_BITS_A_FOLD = 400
_CLEARLY = 0.01  # of the log loss: bits for another cost must lower it by more


@dataclass(frozen=True)
class CodeSettings(Savable):
    """How predicted codes become distributions, as chosen out of bag.

    They are compared with the code words of label vectors or with the codes of training samples; trees are
    cut off at `max_depth`, and τ is `temperature`.
    """

    compared_with: CodeKind
    max_depth: int | None
    temperature: float

    def __post_init__(self) -> None:
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"temperature is {self.temperature}, which is not a number above 0")


@dataclass(frozen=True, eq=False)
class KnownCodes:
    """Codes e_u of −1, 0 and +1 whose label vectors are known, packed 64 bits to a word.

    `plus` are the bits that are +1, `mask` those that are not 0, and `n_known` how many these are. Code u is
    one of ``vectors[vector[u]]``, and stands for ``count[u]`` training samples. If there are `shares`, code u
    stands for ``shares[u, y]`` samples of ``vectors[y]`` instead, for each y.
    """

    vectors: Bytes
    plus: Words
    mask: Words
    n_known: Longs
    vector: npt.NDArray[np.int32]
    count: Floats
    n_bits: int
    shares: sp.csr_array | None = None

    @classmethod
    def of_words(cls, vectors: Bytes, words: npt.NDArray[np.int8], counts: npt.NDArray[Any]) -> Self:
        """Make them of code words; a vector that no training sample has counts as half a sample."""
        plus, mask = pack_bits(words > 0), pack_bits(words != 0)
        n_known = np.count_nonzero(words, axis=1).astype(np.int64)
        count = np.where(counts > 0, counts, 0.5).astype(np.float64)
        return cls(vectors, plus, mask, n_known, np.arange(len(words), dtype=np.int32), count, words.shape[1])

    @classmethod
    def of_rows(cls, vectors: Bytes, packed: Words, shares: sp.csr_array, n_bits: int) -> Self:
        """Make them of the packed codes that training samples are predicted to have, and their vectors."""
        n, mask = len(packed), pack_bits(np.ones((1, n_bits), dtype=bool))
        known, vector = np.full(n, n_bits, np.int64), np.zeros(n, np.int32)
        is_plain = shares.nnz == n and (np.diff(shares.indptr) == 1).all() and (shares.data == 1.0).all()
        if is_plain:
            vector = shares.indices.astype(np.int32)
        codes = vectors, packed & mask, np.repeat(mask, n, axis=0), known, vector, np.ones(n), n_bits
        return cls(*codes, None if is_plain else shares)

    def take(self, bits: npt.NDArray[np.intp]) -> KnownCodes:
        """Return the same in a code of some of the bits."""
        plus, mask = (unpack_bits(words)[:, bits] for words in (self.plus, self.mask))
        n_known = mask.sum(axis=1, dtype=np.int64)
        return replace(self, plus=pack_bits(plus), mask=pack_bits(mask), n_known=n_known, n_bits=len(bits))

    def __len__(self) -> int:
        return len(self.vector)

    def agreement(self, signs: npt.NDArray[np.int8], known: npt.NDArray[np.bool_] | None = None) -> Agreement:
        """Return s · e / M of each row of signs and each code; of its M known bits, if `known` is given."""
        packed = pack_signs(signs)
        if known is None:
            products = code_words.products(packed, self.plus, self.mask, self.n_known).astype(np.float32)
            products /= np.float32(max(self.n_bits, 1))
            return products
        out = np.empty((len(signs), len(self)), np.float32)
        partial_agreements(packed, pack_bits(known), self.plus, self.mask, out)
        return out

    def weigh(self, agreement: Agreement, temperature: float, own: Own | None = None) -> Floats:
        """Return p(y | x) ∝ Σ count · exp(temperature · agreement) over the codes of each label vector y.

        Of training samples, `own` is the code that the sample itself is part of, which then counts once less;
        or as a matrix, what of each code is the sample itself.
        """
        if self.shares is not None or sp.issparse(own):
            return self._weigh_shares(agreement, temperature, own)
        weights = np.zeros((len(agreement), len(self.vectors)))
        nobody = np.full(len(agreement), -1) if own is None else own
        weigh(agreement, temperature, self.count, self.vector, nobody, weights)
        return weights

    def _weigh_shares(self, agreement: Agreement, temperature: float, own: Own | None) -> Floats:
        agreement = agreement.astype(np.float64)
        if own is not None and not sp.issparse(own):  # the code of the sample itself, with all that it counts
            agreement[np.flatnonzero(own >= 0), own[own >= 0]] = -np.inf
        largest = agreement.max(axis=1, keepdims=True)
        agreement -= np.where(np.isfinite(largest), largest, 0.0)
        weights = np.exp(temperature * agreement)
        if self.shares is None:
            less = np.asarray(own.toarray()) if isinstance(own, sp.csr_array) else 0.0
            weights *= np.maximum(self.count - less, 0.0)
        else:
            weights = np.ascontiguousarray((self.shares.T @ weights.T).T)
        nobody = ~weights.any(axis=1)  # the only training sample: nothing else is known
        weights[nobody] = self.count if self.shares is None else self.shares.sum(axis=0)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class OutOfBagCodes:
    """How the codes of training samples agree with known codes, by bits that were learned without them.

    ``own`` is the known code that each sample is part of, −1 if none, or what of each code is the sample.
    """

    kind: CodeKind
    max_depth: int | None
    codes: KnownCodes
    agreement: Agreement
    own: Own

    def weigh(self, temperature: float, rows: slice = slice(None)) -> Floats:
        """Return the weights of label vectors for some of the samples."""
        return self.codes.weigh(self.agreement[rows], temperature, self.own[rows])


class CodeSource(Source):
    """The distribution over label vectors of any sample, by its predicted code."""

    name = "code"
    tells_vectors: ClassVar[bool] = True

    def __init__(self, codes: Sequence[ReferencePairCode], *, in_batches: bool, may_be_cut: bool) -> None:
        self._candidates = tuple(codes)  # for several costs: the one with the lowest log loss goes on
        self._in_batches = in_batches
        self._may_be_cut = may_be_cut

    code: ReferencePairCode
    bits: BitLearner
    known: KnownCodes
    settings: CodeSettings

    def learn(self, training: Training, rng: np.random.Generator) -> Iterator[Floats]:
        """Learn the bits: in batches, if their number is to be found."""
        n = training.X.shape[0]
        code_rows = np.sort(rng.permutation(n)[:_MOST_CODES])
        code_rows = code_rows[training.is_relevant[code_rows]]
        seeds = rng.integers(2**63, size=max(map(len, self._candidates)), dtype=np.uint64)
        tried = [_Learning(code, seeds, code_rows, training, self, rng) for code in self._candidates]
        n_all = len(tried[0].code)
        n_first = BATCHES[0] if self._in_batches else n_all if len(tried) == 1 else max(1, n_all // 4)
        for one in tried:
            one.learn_more(n_first)
        best, *others = tried
        for one in others:
            if one.loss < (1 - _CLEARLY) * best.loss:
                best = one
        if not self._in_batches:
            best.learn_more(len(best.code))
        yield self._take(best)
        for n_more in BATCHES[1:]:
            if best.learn_more(n_more):
                yield self._take(best)

    def _take(self, best: _Learning) -> Floats:
        """Answer as one that has learned says, from now on; return what it says of the training rows."""
        training = best.training
        self.code, self.bits, self.settings = best.code[: best.n_bits], best.bits, best.settings
        if isinstance(self.bits, TreeBank) and self.settings.max_depth is not None:
            self.bits = self.bits.cut(self.settings.max_depth)
        self.known = best.chosen.codes
        if self.bits.bags_ is None:  # those of folds were compared with others
            kind = self.settings.compared_with
            self.known = known_codes(kind, self.bits, training, best.code_rows, self.code)
        return best.chosen.weigh(self.settings.temperature)

    def answer(self, X: Matrix, n_jobs: int | None) -> Floats:
        """Return the weights of label vectors."""
        return self.weigh(in_threads(self.bits, n_jobs).predict(X), n_jobs)

    def weigh(self, signs: npt.NDArray[np.int8], n_jobs: int | None) -> Floats:
        """Return the weights of label vectors, given predicted codes."""

        def some(rows: slice) -> Floats:
            return self.known.weigh(self.known.agreement(signs[rows]), self.settings.temperature)

        chunks = even_chunks(len(signs), max(_LEAST_ROWS, _AGREEMENTS // len(self.known)), n_jobs)
        return np.concatenate(run_chunks(some, chunks, n_jobs=n_jobs, title="comparing codes", in_place=True))

    def shorten(self, bits: npt.NDArray[np.intp]) -> CodeSource:
        """Return the source with some of the bits, as they were learned."""
        short = CodeSource.__new__(CodeSource)
        short.code, short.bits, short.settings = self.code[bits], self.bits.take(bits), self.settings
        short.known = self.known.take(bits)
        return short

    def get_parts(self) -> dict[str, Any]:
        """Return all of it that a model does not have besides: code words are made anew."""
        parts: dict[str, Any] = {"settings": self.settings, "rows": None}
        if self.settings.compared_with == "rows":
            n_codes, n_vectors = len(self.known), len(self.known.vectors)
            plain = np.ones(n_codes), self.known.vector, np.arange(n_codes + 1)
            shares = self.known.shares
            shares = sp.csr_array(plain, shape=(n_codes, n_vectors)) if shares is None else shares
            parts["rows"] = {"plus": self.known.plus, "shares": shares}
        return parts

    @classmethod
    def from_parts(
        cls, parts: Any, bits: BitLearner, code: ReferencePairCode, vectors: Bytes, counts: npt.NDArray[Any]
    ) -> CodeSource:
        """Return the source of what a file says :meth:`get_parts` returned, if it is right."""
        right = isinstance(parts, dict) and parts.keys() == {"settings", "rows"}
        require(right, "the code lacks some of its parts")
        settings, rows = parts["settings"], parts["rows"]
        require(isinstance(settings, CodeSettings), "the code has no settings")
        require((rows is not None) == (settings.compared_with == "rows"), "the codes of rows are missing")
        source = cls.__new__(cls)
        source.code, source.bits, source.settings = code, bits, settings
        if rows is None:
            source.known = KnownCodes.of_words(vectors, code.encode(vectors), counts)
            return source
        require(isinstance(rows, dict) and rows.keys() == {"plus", "shares"}, "the codes of rows are missing")
        plus, shares = rows["plus"], rows["shares"]
        right = isinstance(plus, np.ndarray) and plus.dtype == np.uint64 and isinstance(shares, sp.csr_array)
        require(right and shares.dtype == np.float64, "the codes of rows are not numbers")
        n_codes = shares.shape[0]
        right = 0 < n_codes <= _MOST_IN_A_FILE and plus.shape == (n_codes, -(-len(code) // 64))
        require(right and shares.shape == (n_codes, len(vectors)), "the codes of rows have a wrong shape")
        require((np.diff(shares.indptr) > 0).all(), "a code has no label vector")
        require(((shares.data > 0) & (shares.data < np.inf)).all(), "a code counts for nothing")
        source.known = KnownCodes.of_rows(vectors, plus, shares, len(code))
        return source

    def check_shapes(self, n_features: int, n_labels: int, n_vectors: int) -> None:
        """Refuse bits of other features, or too few of them."""
        require(len(self.bits) == len(self.code), "there is not one learner for each bit")
        self.bits.check_n_features(n_features)


class _Learning:
    """A code in the course of being learned, and the best way to read what there is of it."""

    def __init__(
        self,
        code: ReferencePairCode,
        seeds: npt.NDArray[np.uint64],
        code_rows: npt.NDArray[np.intp],
        training: Training,
        source: CodeSource,
        rng: np.random.Generator,
    ) -> None:
        self.code, self.seeds, self.code_rows, self.training = code, seeds, code_rows, training
        self.source, self.rng = source, rng
        self.n_bits = 0
        self.loss = np.inf

    bits: BitLearner
    chosen: OutOfBagCodes
    settings: CodeSettings

    def learn_more(self, n_bits: int) -> bool:
        """Learn some more of the bits, if there are any; return whether there were."""
        end = min(self.n_bits + n_bits, len(self.code))
        if end == self.n_bits:
            return False
        bits = self.training.learn(self.training.X, self._problems(slice(self.n_bits, end)))
        self.bits = bits if self.n_bits == 0 else self.bits.with_more(bits)
        self.n_bits = end
        self._read()
        return True

    def _problems(self, bits: slice, rows: npt.NDArray[np.intp] | slice = ALL) -> BitProblems:
        return self.training.code_problems(self.code[bits], self.seeds[bits], rows)

    def _read(self) -> None:
        """Choose the codes to compare with, the depth and the temperature: by their log loss, calibrated."""
        truths, some = self.training.truths[:_CHOOSING_ROWS], slice(0, _CHOOSING_ROWS)
        vectors, row_weight = self.training.vectors, self.training.row_weight
        if row_weight is not None:
            row_weight = row_weight[some]
        best = np.inf
        for seen in self._out_of_bag():
            for temperature in TEMPERATURES:
                with one_blas_thread():
                    p = np.clip(seen.weigh(temperature, some) @ vectors, 0.0, 1.0)
                pool = LogOddsPool.fit([p], truths, row_weight=row_weight)
                loss = float(np.average(log_loss(pool([p]), truths), weights=row_weight))
                if loss < best:
                    best, self.chosen = loss, seen
                    self.settings = CodeSettings(seen.kind, seen.max_depth, temperature)
        self.loss = best

    def _out_of_bag(self) -> Iterator[OutOfBagCodes]:
        code, training = self.code[: self.n_bits], self.training
        if self.bits.bags_ is None:
            return self._by_folds(code)
        known = self.bits.bags_.leave_out(training.rows)
        return self._seen(self.bits, code, self.code_rows, training.rows, known)

    def _seen(
        self,
        bits: BitLearner,
        code: ReferencePairCode,
        code_rows: npt.NDArray[np.intp],
        rows: npt.NDArray[np.int64],
        known: npt.NDArray[np.bool_] | None,
    ) -> Iterator[OutOfBagCodes]:
        """Yield how the codes of rows agree with others, by the known bits of each row."""
        training = self.training
        needed, place = np.unique(np.concatenate([rows, code_rows]), return_inverse=True)
        words = known_codes("words", bits, training, code_rows, code)
        own_words: Own = training.shares_of(rows)
        if training.distinct.is_plain:
            own_words = np.asarray(training.vector_of_row[rows], np.int64)
        for depth, bank in self._depths(bits):
            signs = bank.predict(training.X[needed])[place]
            yield OutOfBagCodes("words", depth, words, words.agreement(signs[: len(rows)], known), own_words)
            if len(code_rows):  # else no row has a vector of the relevant set
                packed, shares = pack_signs(signs[len(rows) :]), training.shares_of(code_rows)
                codes = KnownCodes.of_rows(training.vectors, packed, shares, len(code))
                own = np.full(training.X.shape[0], -1, np.int64)
                own[code_rows] = np.arange(len(code_rows))
                agreement = codes.agreement(signs[: len(rows)], known)
                yield OutOfBagCodes("rows", depth, codes, agreement, own[rows])

    def _by_folds(self, code: ReferencePairCode) -> Iterator[OutOfBagCodes]:
        """Learn some bits without each fold in turn, and see the rows of the fold by them."""
        training, n_bits = self.training, min(len(code), _BITS_A_FOLD)
        fold = self.rng.permutation(training.X.shape[0]) % N_FOLDS
        parts: dict[tuple[CodeKind, int | None], list[OutOfBagCodes]] = {}
        order = []
        for number in range(N_FOLDS):
            others = np.flatnonzero(fold != number)
            mine = np.flatnonzero(fold[training.rows] == number)
            if len(others) == 0 or len(mine) == 0:
                continue
            order.append(mine)
            problems = self._problems(slice(0, n_bits), others)
            bank = self.training.learn(training.X[others], problems)
            apart = self.code_rows[fold[self.code_rows] != number]
            for seen in self._seen(bank, code[:n_bits], apart, training.rows[mine], None):
                parts.setdefault((seen.kind, seen.max_depth), []).append(seen)
        back = np.argsort(np.concatenate(order))
        for (kind, depth), folds in parts.items():
            if sum(one.own.shape[0] for one in folds) == len(back):
                first = folds[0]
                yield _Folds(kind, depth, first.codes, first.agreement, first.own, folds, back)

    def _depths(self, bits: BitLearner) -> Iterator[tuple[int | None, BitLearner]]:
        yield None, bits
        if self.source._may_be_cut and isinstance(bits, TreeBank):
            yield SHALLOW, bits.cut(SHALLOW)


@dataclass(frozen=True, eq=False)
class _Folds(OutOfBagCodes):
    """Those of several folds, each with known codes of its own."""

    parts: list[OutOfBagCodes]
    order: npt.NDArray[np.intp]

    def weigh(self, temperature: float, rows: slice = slice(None)) -> Floats:
        """Return the weights of label vectors for some of the samples."""
        return np.concatenate([part.weigh(temperature) for part in self.parts])[self.order][rows]


def known_codes(
    kind: CodeKind, bits: BitLearner, training: Training, rows: npt.NDArray[np.intp], code: ReferencePairCode
) -> KnownCodes:
    """Return the code words of the relevant set, or the predicted codes of training samples."""
    vectors = training.vectors
    if kind == "words":
        return KnownCodes.of_words(vectors, code.encode(vectors), training.counts)
    signs = bits.predict(training.X[rows])
    return KnownCodes.of_rows(vectors, pack_signs(signs), training.shares_of(rows), len(code))
