"""The bits of a code: what learns them, what they learn, and how they see samples learnt without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from refpair._kernels.code_words import pack_signs
from refpair.bits.binning import Matrix
from refpair.bits.estimator import EstimatorBank
from refpair.bits.logistic import LogisticBank
from refpair.bits.problem import Bags, BitLearner, BitProblems
from refpair.bits.trees import TreeBank
from refpair.classifiers._base_learners import as_base_learner
from refpair.classifiers._distinct_labels import DistinctLabels
from refpair.classifiers.base_estimators import Logistic
from refpair.coding import ReferencePairCode
from refpair.costs import Cost
from refpair.posterior.code import CodeKind, KnownCodes, VectorWeights, label_probabilities
from refpair.posterior.distribution import Bytes, Floats

LABEL_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # that the bits of single labels may have

_TOL = 1e-2  # of logistic regressions: the signs of thousands of bits need no more
_MOST_VOTES = 100  # bits for a single label: a forest for it that is large enough
_VOTES_A_BIT = 2  # at most, of all labels for a bit of the code
_SHALLOW = 6  # the depth that is tried besides the full one
_FOLDS, _BITS_A_FOLD, _VOTES_A_FOLD = 3, 400, 8

Rows = npt.NDArray[np.integer]
Learn = Callable[[Matrix, BitProblems], BitLearner]


def check_bit_learner(learner: Any) -> None:
    """Refuse what is neither a name nor a classifier that takes weights."""
    if isinstance(learner, str) and learner == "tree":
        return
    found = as_base_learner(learner)
    if isinstance(found, Logistic):
        found.check()
        return
    if isinstance(found, type) or not hasattr(found, "__sklearn_tags__") or not is_classifier(found):
        raise ValueError(
            f'estimator must be "tree", "logistic" or a scikit-learn classifier, not {learner!r}'
        )
    if not has_fit_parameter(found, "sample_weight"):
        raise ValueError(f"estimator must take sample_weight in fit, which {found!r} does not")


def make_bank(learner: Any, *, of_trees: dict[str, Any] | None = None, **how: Any) -> BitLearner:
    """Return a bank that learns bits by a learner; `of_trees` are parameters of a tree bank alone."""
    if isinstance(learner, str) and learner == "tree":
        return TreeBank(**(of_trees or {}), **how)
    found = as_base_learner(learner)
    if isinstance(found, Logistic):
        return LogisticBank(**found.bank_parameters(_TOL), **how)
    return EstimatorBank(found, **how)


def count_votes(n_bits: int, n_labels: int) -> int:
    """Return how many bits of its own each label has beside a code: 100 of 6 labels for 3,000 bits, say."""
    return min(_VOTES_A_BIT * n_bits // n_labels, _MOST_VOTES)


def bit_problems(
    code: ReferencePairCode,
    vectors: Bytes,
    vector_of_row: npt.NDArray[np.int32],
    n_votes: int,
    seeds: npt.NDArray[np.uint64],
) -> BitProblems:
    """Return what the bits have to learn: first those of the code, then n_votes times one a label.

    The bit of a single label asks whether the label is there: it is the reference pair of the label alone and
    of nothing, under the Hamming loss.
    """
    n_bits = len(code) + n_votes * vectors.shape[1]
    return BitProblems(vector_of_row, n_bits, partial(_differences, code, vectors), seeds[:n_bits])


def _differences(code: ReferencePairCode, vectors: Bytes, bits: slice) -> Floats:
    """Return what some of the bits have to learn. Not a closure: other processes are given it."""
    differences = code[bits.start : min(bits.stop, len(code))].differences(vectors)
    if not np.isfinite(differences).all():
        raise ValueError(f"the cost {code.cost.name!r} is too large: its differences are infinite")
    labels = np.arange(max(bits.start, len(code)), bits.stop) - len(code)
    if len(labels) == 0:
        return differences
    return np.hstack([differences, 2.0 * vectors[:, labels % vectors.shape[1]] - 1.0])


@dataclass(frozen=True, eq=False)
class Training:
    """What the bits were learnt from.

    `vectors` are the relevant set, and `counts` how many samples have each of them. Each label has
    `n_votes` bits of its own. Trees may be `cut` off, and label vectors may be new: not in the relevant set.
    """

    X: Matrix
    distinct: DistinctLabels
    vectors: Bytes
    counts: npt.NDArray[np.int64]
    code: ReferencePairCode
    cost: Cost
    n_votes: int
    seeds: npt.NDArray[np.uint64]
    cut: bool
    may_be_new: bool

    @cached_property
    def vector_of_row(self) -> npt.NDArray[np.int32]:
        """The place of each row's label vector in the relevant set, −1 if it is not there."""
        place = {vector.tobytes(): at for at, vector in enumerate(self.vectors)}
        found = np.array([place.get(vector.tobytes(), -1) for vector in self.distinct.vectors], np.int32)
        return found[self.distinct.of_row]


@dataclass(frozen=True, eq=False)
class OutOfBagCodes:
    """How the codes of training samples agree with known codes, by bits that were learnt without them.

    The trees were cut off at `depth`; ``own`` is the known code that each sample is part of, −1 if none, and
    ``labels`` is what the bits of single labels say.
    """

    kind: CodeKind
    depth: int | None
    codes: KnownCodes
    agreement: npt.NDArray[np.float32]
    own: npt.NDArray[np.int64]
    labels: Floats | None

    @property
    def shares(self) -> tuple[float, ...]:
        """What share the bits of single labels may have."""
        return LABEL_SHARES if self.labels is not None else LABEL_SHARES[:1]

    def weigh(self, temperature: float, rows: slice = slice(None)) -> VectorWeights:
        """Return the weights of label vectors for some of the samples."""
        return self.codes.weigh(self.agreement[rows], temperature, self.own[rows])


def codes_out_of_bag(
    bits: BitLearner, bags: Bags, training: Training, rows: Rows, code_rows: Rows
) -> list[OutOfBagCodes]:
    """See rows by the bits whose bags they are not in."""
    n_bits, n_labels = len(training.code), training.vectors.shape[1]
    out_of_bag = bags.leave_out(rows)
    known, known_votes = out_of_bag[:, :n_bits], out_of_bag[:, n_bits:]
    needed, place = np.unique(np.concatenate([rows, code_rows]), return_inverse=True)
    vectors, vector = training.vectors, training.vector_of_row[code_rows]
    words = KnownCodes.of_words(vectors, training.code.encode(vectors), training.counts)
    seen = []
    for depth, bank in _depths(bits, training):
        signs = bank.predict(training.X[needed], slice(0, n_bits))[place]
        labels = None
        if training.n_votes:
            values = bank.values(training.X[rows], slice(n_bits, None))
            labels = label_probabilities(values, n_labels, known_votes)
            # The frequency of a label, where no out-of-bag bit speaks of it.
            distinct = training.distinct
            frequency = np.average(distinct.vectors, axis=0, weights=distinct.counts)
            labels = np.where(np.isnan(labels), frequency, labels)
        by_kind: dict[CodeKind, KnownCodes] = {"words": words}
        if len(code_rows):  # else no row has a vector of the relevant set
            by_kind["rows"] = KnownCodes.of_rows(vectors, pack_signs(signs[len(rows) :]), vector, n_bits)
        for kind, codes in by_kind.items():
            agreement = codes.agreement(signs[: len(rows)], known)
            own = _own(kind, training, rows, code_rows)
            seen.append(OutOfBagCodes(kind, depth, codes, agreement, own, labels))
    return seen


def codes_by_folds(
    training: Training, learn: Learn, rows: Rows, code_rows: Rows, rng: np.random.Generator
) -> list[OutOfBagCodes]:
    """Learn some bits without each fold in turn, and see the rows of the fold by them."""
    n, n_bits = training.X.shape[0], min(len(training.code), _BITS_A_FOLD)
    n_votes = min(training.n_votes, _VOTES_A_FOLD)
    fold = rng.permutation(n) % _FOLDS
    parts: dict[tuple[int | None, str], list[OutOfBagCodes]] = {}
    order = []
    code, distinct = training.code[:n_bits], training.distinct
    kinds: tuple[CodeKind, ...] = ("words", "rows") if len(code_rows) else ("words",)
    for number in range(_FOLDS):
        learnt_from, mine = np.flatnonzero(fold != number), np.flatnonzero(fold[rows] == number)
        if len(learnt_from) == 0 or len(mine) == 0:
            continue
        order.append(mine)
        of_row = distinct.of_row[learnt_from]
        problems = bit_problems(code, distinct.vectors, of_row, n_votes, training.seeds)
        bank = learn(training.X[learnt_from], problems)
        for depth, cut in _depths(bank, training):
            signs = cut.predict(training.X[rows[mine]], slice(0, n_bits))
            labels = None
            if n_votes:
                values = cut.values(training.X[rows[mine]], slice(n_bits, None))
                labels = label_probabilities(values, training.vectors.shape[1])
            for kind in kinds:
                codes = known_codes(kind, cut, training, code_rows, code)
                own = _own(kind, training, rows[mine], code_rows)
                part = OutOfBagCodes(kind, depth, codes, codes.agreement(signs), own, labels)
                parts.setdefault((depth, kind), []).append(part)
    back = np.argsort(np.concatenate(order))
    return [_joined(seen, back) for seen in parts.values()]


def _joined(parts: list[OutOfBagCodes], order: npt.NDArray[np.intp]) -> OutOfBagCodes:
    """Put the folds together: what they were compared with differs only in codes, which is done already."""
    labels = [part.labels for part in parts if part.labels is not None]
    return replace(
        parts[0],
        agreement=np.concatenate([part.agreement for part in parts])[order],
        own=np.concatenate([part.own for part in parts])[order],
        labels=np.concatenate(labels)[order] if labels else None,
    )


def _depths(bits: BitLearner, training: Training) -> Iterator[tuple[int | None, BitLearner]]:
    yield None, bits
    if training.cut and isinstance(bits, TreeBank):
        yield _SHALLOW, bits.cut(_SHALLOW)


def known_codes(
    kind: str, bits: BitLearner, training: Training, rows: Rows, code: ReferencePairCode
) -> KnownCodes:
    """Return the code words of the relevant set, or the predicted codes of training samples."""
    vectors = training.vectors
    if kind == "words":
        return KnownCodes.of_words(vectors, code.encode(vectors), training.counts)
    signs = bits.predict(training.X[rows], slice(0, len(code)))
    return KnownCodes.of_rows(vectors, pack_signs(signs), training.vector_of_row[rows], len(code))


def _own(kind: str, training: Training, rows: Rows, code_rows: Rows) -> npt.NDArray[np.int64]:
    """Return the known code that each row is part of, −1 if none."""
    if kind == "words":
        return np.asarray(training.vector_of_row[rows], np.int64)
    place = np.full(training.X.shape[0], -1, np.int64)
    place[code_rows] = np.arange(len(code_rows))
    return np.asarray(place[rows])
