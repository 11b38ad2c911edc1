"""From samples to distributions over label vectors, by their predicted codes.

    p(y | x)  ∝  Σ n_u · exp(τ · s(x)·e_u / M)    over the codes e_u that are known of the label vector y
    P_k(x)    =  (1 − λ) · Σ p(y | x) [y_k = 1]  +  λ · q_k(x)

The first line is what the whole code s(x) says. The known codes are the code words of the label vectors, or
the codes that the training samples themselves are predicted to have. The second line mixes in q, what the
bits of single labels say: they know the chances of rare labels, which no near code has. Where a decision
needs whole label vectors, their weights are tilted by the odds of their labels, so that they follow P; or the
labels are taken as independent, which is better where most label vectors are new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt

from refpair._kernels import code_words
from refpair._kernels.code_words import pack_bits, pack_signs, unpack_bits
from refpair._kernels.jit import Words
from refpair._kernels.posterior import keep_large, partial_agreements, sum_labels, sum_votes, tilt, weigh
from refpair._parallel import chunks_of, even_chunks, run_chunks
from refpair._saved import Savable, require
from refpair.bits.binning import Matrix
from refpair.bits.problem import BitLearner
from refpair.coding import ReferencePairCode
from refpair.posterior.distribution import (
    Bytes,
    Distribution,
    Floats,
    IndependentLabels,
    LabelDistribution,
    Longs,
    label_lists,
)

CodeKind = Literal["words", "rows"]
Agreement = npt.NDArray[np.float32]
Result = TypeVar("Result")

_ROWS = 2048  # whose codes are predicted at a time
_AGREEMENTS = 1 << 19  # that one job makes at a time, 2 MB
_LEAST_ROWS = 16  # for it to be worth a call
_MOST_CODES = 1 << 20  # in a file
_KEPT = 1e-3  # label vectors with less than this part of a row's largest weight are left out
_TILT = 1e-3  # odds are taken of probabilities between this and 1 minus this: tilting is bounded

_SURE = 1e-6  # calibrated probabilities are between this and 1 minus this
_CELLS = 512  # that log odds are counted in
_PULL = 5.0  # as many cells speak for the line that changes nothing
_STEPS, _NEAR = 50, 1e-9
_LEAST_SLOPE = 1e-3  # where the line must tell more from less than ½


@dataclass(frozen=True)
class PosteriorSettings(Savable):
    """How predicted codes become distributions, as chosen out of bag.

    They are compared with the code words of label vectors or with the codes of training samples; λ is
    `label_share`, and τ is `temperature`, infinite for the paper's decoder. Decisions may take the labels as
    independent, given P: then label vectors count, too, that no training sample has.
    """

    compared_with: CodeKind
    label_share: float
    temperature: float
    independent: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.label_share <= 1:
            raise ValueError(f"label_share is {self.label_share}, which is not from 0 to 1")
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}, which is not above 0")


@dataclass(frozen=True, eq=False)
class KnownCodes:
    """Codes e_u of −1, 0 and +1 whose label vectors are known, packed 64 bits to a word.

    `plus` are the bits that are +1, `mask` those that are not 0, and `n_known` how many these are. Code u is
    one of ``vectors[vector[u]]``, and stands for ``count[u]`` training samples.
    """

    vectors: Bytes
    plus: Words
    mask: Words
    n_known: Longs
    vector: npt.NDArray[np.int32]
    count: Floats
    n_bits: int

    @classmethod
    def of_words(cls, vectors: Bytes, words: npt.NDArray[np.int8], counts: Longs) -> Self:
        """Make them of code words; a vector that no training sample has counts as half a sample."""
        plus, mask = pack_bits(words > 0), pack_bits(words != 0)
        n_known = np.count_nonzero(words, axis=1).astype(np.int64)
        count = np.where(counts > 0, counts, 0.5).astype(np.float64)
        return cls(vectors, plus, mask, n_known, np.arange(len(words), dtype=np.int32), count, words.shape[1])

    @classmethod
    def of_rows(cls, vectors: Bytes, packed: Words, vector: npt.NDArray[np.int32], n_bits: int) -> Self:
        """Make them of the packed codes that training samples are predicted to have."""
        n, mask = len(vector), pack_bits(np.ones((1, n_bits), dtype=bool))
        known = np.full(n, n_bits, np.int64)
        return cls(vectors, packed & mask, np.repeat(mask, n, axis=0), known, vector, np.ones(n), n_bits)

    def take(self, bits: npt.NDArray[np.intp]) -> KnownCodes:
        """Return the same in a code of some of the bits."""
        plus, mask = (unpack_bits(words)[:, bits] for words in (self.plus, self.mask))
        n_known = mask.sum(axis=1, dtype=np.int64)
        return replace(self, plus=pack_bits(plus), mask=pack_bits(mask), n_known=n_known, n_bits=len(bits))

    def __len__(self) -> int:
        return len(self.vector)

    def agreement(self, signs: npt.NDArray[np.int8], known: npt.NDArray[np.bool_] | None = None) -> Agreement:
        """Return s · e / M of each row of signs and each code; of its M known bits alone, if that is told."""
        packed = pack_signs(signs)
        if known is None:
            products = code_words.products(packed, self.plus, self.mask, self.n_known).astype(np.float32)
            products /= np.float32(max(self.n_bits, 1))
            return products
        out = np.empty((len(signs), len(self)), np.float32)
        partial_agreements(packed, pack_bits(known), self.plus, self.mask, out)
        return out

    def weigh(self, agreement: Agreement, temperature: float, own: Longs | None = None) -> VectorWeights:
        """Return p(y | x) ∝ Σ count · exp(temperature · agreement) over the codes of each label vector y.

        Of training samples, `own` is the code that the sample itself is part of, which then counts once less.
        """
        weights = np.zeros((len(agreement), len(self.vectors)))
        nobody = np.full(len(agreement), -1) if own is None else own
        weigh(agreement, temperature, self.count, self.vector, nobody, weights)
        return VectorWeights(self.vectors, *self._label_lists, weights)

    @cached_property
    def _label_lists(self) -> tuple[Longs, npt.NDArray[np.int32]]:
        return label_lists(self.vectors)


@dataclass(frozen=True, eq=False)
class VectorWeights:
    """The weights (n, n_vectors) of label vectors, to which any share of single labels can be added.

    The labels of vector v are ``label_index[label_start[v] : label_start[v + 1]]``.
    """

    vectors: Bytes
    label_start: Longs
    label_index: npt.NDArray[np.int32]
    weights: Floats

    @cached_property
    def sums(self) -> Floats:
        """The probability of each label by the weights alone."""
        sums = np.empty((len(self.weights), self.vectors.shape[1]))
        sum_labels(self.weights, self.label_start, self.label_index, sums)
        return np.minimum(sums, 1.0, out=sums)  # more only by rounding

    def marginals(self, labels: Floats | None, label_share: float) -> Floats:
        """Return P, the probability of each label, given q, what the bits of single labels say."""
        if labels is None or label_share == 0:
            return self.sums
        return (1 - label_share) * self.sums + label_share * labels

    def distribution(self, labels: Floats | None, label_share: float) -> LabelDistribution:
        """Return the weights of label vectors, those that matter; the parameters are as in `marginals`."""
        weights = self.weights
        if labels is not None and label_share > 0:
            log_odds = _log_odds(self.marginals(labels, label_share), _TILT) - _log_odds(self.sums, _TILT)
            weights = weights.copy()
            tilt(weights, log_odds, self.label_start, self.label_index)
        return LabelDistribution(self.vectors, *keep_large(weights, _KEPT))


@dataclass(frozen=True)
class LogOddsLine(Savable):
    """Calibrated log odds = slope · log odds + shift, the same for all labels.

    A label of its own line would have too few positives on most data: half of medical's labels have fewer
    than five training samples.
    """

    slope: float
    shift: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.slope) and np.isfinite(self.shift)):
            raise ValueError(f"slope and shift must be finite numbers, not {self.slope} and {self.shift}")

    @classmethod
    def fit(cls, probabilities: Floats, truths: Bytes, *, keep_half: bool = False) -> Self:
        """Return the line of largest likelihood, pulled a little towards the one that changes nothing.

        If ½ is to stay ½, rounding says the same before and after.
        """
        x = _log_odds(probabilities, _SURE).ravel()
        edge = -np.log(_SURE)
        cell = np.minimum(((x + edge) * (_CELLS / (2 * edge))).astype(np.int64), _CELLS - 1)
        n = np.bincount(cell, minlength=_CELLS).astype(np.float64)
        positive = np.bincount(cell, weights=truths.ravel(), minlength=_CELLS).astype(np.float64)
        middle = np.bincount(cell, weights=x, minlength=_CELLS) / np.maximum(n, 1.0)
        design = np.column_stack([middle, np.ones(_CELLS)])
        if keep_half:
            (slope,) = _climb(design[:, :1], n, positive, np.ones(1))
            return cls(max(float(slope), _LEAST_SLOPE), 0.0)
        slope, shift = _climb(design, n, positive, np.array([1.0, 0.0]))
        if slope < 0:  # a falling line would turn the order of the labels around: a level one, then
            slope, (shift,) = 0.0, _climb(design[:, 1:], n, positive, np.zeros(1))
        return cls(float(slope), float(shift))

    def __call__(self, probabilities: Floats) -> Floats:
        """Return the calibrated probabilities, all within (0, 1)."""
        log_odds = self.slope * _log_odds(probabilities, _SURE) + self.shift
        return np.clip(0.5 * (1.0 + np.tanh(log_odds / 2.0)), _SURE, 1.0 - _SURE)


@dataclass(frozen=True, eq=False)
class CodePosterior:
    """A fitted posterior: the distribution over label vectors of any sample, by its predicted code.

    First come the bits of the code, then those of single labels; `line` calibrates probabilities of labels.
    """

    bits: BitLearner
    codes: KnownCodes
    settings: PosteriorSettings
    line: LogOddsLine

    def marginals(self, X: Matrix, *, calibrated: bool = True, n_jobs: int | None = None) -> Floats:
        """Return the probability of each label, of shape (n, n_labels).

        Calibrated, they mean what they say. As they are, they are what the settings were chosen for: the
        cost's own decisions are better by them.
        """
        blocks = self._weigh(X, VectorWeights.marginals, n_jobs)
        marginals = np.concatenate([part for _, parts in blocks for part in parts])
        return self.line(marginals) if calibrated else marginals

    def distributions(self, X: Matrix, *, n_jobs: int | None = None) -> Iterator[tuple[slice, Distribution]]:
        """Yield blocks of samples, in order, and the distributions over their label vectors."""
        if self.settings.independent:
            for rows, marginals in self._weigh(X, VectorWeights.marginals, n_jobs):
                yield rows, IndependentLabels(np.concatenate(marginals))
            return
        for rows, parts in self._weigh(X, VectorWeights.distribution, n_jobs):
            yield rows, LabelDistribution.join(parts)

    def get_parts(self) -> dict[str, Any]:
        """Return all of it that a model does not have besides: code words are made anew."""
        parts: dict[str, Any] = {"settings": self.settings, "line": self.line, "rows": None}
        if self.settings.compared_with == "rows":
            parts["rows"] = {"plus": self.codes.plus, "vector": self.codes.vector}
        return parts

    @classmethod
    def from_parts(
        cls, parts: Any, bits: BitLearner, code: ReferencePairCode, vectors: Bytes, counts: Longs
    ) -> CodePosterior:
        """Return the posterior of what a file says :meth:`get_parts` returned, if it is right."""
        right = isinstance(parts, dict) and parts.keys() == {"settings", "line", "rows"}
        require(right, "the posterior lacks some of its parts")
        settings, line, rows = parts["settings"], parts["line"], parts["rows"]
        right = isinstance(settings, PosteriorSettings) and isinstance(line, LogOddsLine)
        require(right, "the posterior has no settings")
        right = settings.label_share == 0 or len(bits) >= len(code) + vectors.shape[1]
        require(right, "label_share is not 0, but no bit is for a single label")
        require((rows is not None) == (settings.compared_with == "rows"), "the codes of rows are missing")
        if rows is None:
            return cls(bits, KnownCodes.of_words(vectors, code.encode(vectors), counts), settings, line)
        require(isinstance(rows, dict) and rows.keys() == {"plus", "vector"}, "the codes of rows are missing")
        plus, vector = rows["plus"], rows["vector"]
        arrays = isinstance(plus, np.ndarray) and isinstance(vector, np.ndarray) and vector.ndim == 1
        right = arrays and plus.dtype == np.uint64 and vector.dtype == np.int32
        require(right, "the codes of rows are not numbers")
        right = 0 < len(vector) <= _MOST_CODES and plus.shape == (len(vector), -(-len(code) // 64))
        require(right, "the codes of rows have a wrong shape")
        require(vector.min() >= 0 and vector.max() < len(vectors), "a code has no label vector")
        return cls(bits, KnownCodes.of_rows(vectors, plus, vector, len(code)), settings, line)

    def _weigh(
        self, X: Matrix, read: Callable[..., Result], n_jobs: int | None
    ) -> Iterator[tuple[slice, list[Result]]]:
        """Yield blocks of samples, and what `read` makes of the weights of their label vectors, in parts."""
        n_bits, labels = self.codes.n_bits, None
        for rows in chunks_of(X.shape[0], _ROWS):
            if self.settings.label_share == 0:
                signs = self.bits.predict(X[rows], slice(0, n_bits))
            else:
                signs, values = self.bits.predict_and_values(X[rows], n_bits)
                labels = label_probabilities(values, self.codes.vectors.shape[1])
            work = partial(self._weigh_part, read, signs, labels)
            n_rows = max(_LEAST_ROWS, _AGREEMENTS // len(self.codes))
            chunks = even_chunks(len(signs), n_rows, n_jobs)
            yield rows, run_chunks(work, chunks, n_jobs=n_jobs, title="comparing codes", in_place=True)

    def _weigh_part(
        self, read: Callable[..., Result], signs: npt.NDArray[np.int8], labels: Floats | None, rows: slice
    ) -> Result:
        weights = self.codes.weigh(self.codes.agreement(signs[rows]), self.settings.temperature)
        return read(weights, None if labels is None else labels[rows], self.settings.label_share)


def label_probabilities(
    values: npt.NDArray[np.float32], n_labels: int, known: npt.NDArray[np.bool_] | None = None
) -> Floats:
    """Return the probability of each label as the bits of single labels say it.

    `values` are from −1 to 1, of shape (n, n_votes · n_labels): label by label, then the next vote of each.
    Only those that are known count, if that is told; a label without any gets NaN.
    """
    votes = values.reshape(len(values), values.shape[1] // n_labels, n_labels)
    if known is None:
        sums = np.empty((len(values), n_labels))
        sum_votes(votes, sums)
        return np.asarray((1.0 + sums / votes.shape[1]) / 2.0)
    counted = known.reshape(votes.shape)
    n = counted.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray((1.0 + (votes * counted).sum(axis=1, dtype=np.float64) / n) / 2.0)


def _climb(design: Floats, n: Floats, positive: Floats, start: Floats) -> Floats:
    """Return the line of largest penalised likelihood, by Newton's steps that never go down."""

    def height(line: Floats) -> float:
        log_odds = design @ line
        fit = positive @ log_odds - n @ np.logaddexp(0.0, log_odds)
        return float(fit - _PULL / 2 * ((line - start) ** 2).sum())

    line = start
    for _ in range(_STEPS):
        p = 0.5 * (1.0 + np.tanh(design @ line / 2.0))
        slope = design.T @ (positive - n * p) - _PULL * (line - start)
        curvature = (design.T * (n * p * (1.0 - p))) @ design + _PULL * np.eye(len(start))
        step = np.linalg.solve(curvature, slope)
        if np.abs(step).max() < _NEAR:
            break
        while height(line + step) < height(line) and np.abs(step).max() > _NEAR:
            step = step / 2.0
        line = line + step
    return line


def _log_odds(p: Floats, least: float) -> Floats:
    p = np.clip(p, least, 1.0 - least)
    return np.asarray(np.log(p) - np.log1p(-p))
