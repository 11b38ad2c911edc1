"""Measures of a whole table: functions of how often each label is right and wrong in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from refpair.costs import _counts
from refpair.costs._counts import FloatArray, LabelMatrix, Labels
from refpair.costs.cost import ALIASES, FAMILIES, NAMED, NUMBER, Cost, CountFunction

Average: TypeAlias = Literal["macro", "micro"]


@dataclass(frozen=True, repr=False)
class Measure(Cost):
    """A measure of all predictions together; :meth:`macro` and :meth:`micro` make one of any function.

    The function is given how many rows a label is in and predicted in (tp), predicted in only (fp), in only
    (fn), and neither (tn). A "macro" measure is the mean of what it says of each label; a "micro" measure is
    what it says of the sums over labels. No row has a value of its own: :meth:`mean` returns that of the
    table.

    Parameters
    ----------
    name : str
    greater_is_better : bool
    function : callable
        ``function(tp, fp, fn, tn)``, as :meth:`macro` takes it.
    average : {"macro", "micro"}

    Examples
    --------
    >>> from refpair import get_cost
    >>> Y, Z = [[1, 0], [1, 1], [0, 0]], [[1, 0], [0, 1], [0, 0]]
    >>> round(get_cost("macro_f1").mean(Y, Z), 3), round(get_cost("micro_f1").mean(Y, Z), 3)
    (0.833, 0.8)
    """

    function: CountFunction
    average: Average

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.average not in ("macro", "micro"):
            raise ValueError(f'average must be "macro" or "micro", not {self.average!r}')

    def __repr__(self) -> str:
        if self._is_named():
            return f"get_cost({self.name!r})"
        return f"Measure.{self.average}({_counts.name_of(self.function)}, name={self.name!r})"

    @classmethod
    def macro(cls, g: CountFunction, name: str | None = None, greater_is_better: bool = True) -> Self:
        """Make a measure that is the mean over labels of a function of their counts.

        Parameters
        ----------
        g : callable
            ``g(tp, fp, fn, tn)`` takes four read-only float arrays of one shape and returns numbers in this
            shape. Counts need not be whole: predictions are chosen by expected counts.
        name : str, optional
            By default the name of the function.
        greater_is_better : bool, default=True

        Examples
        --------
        >>> def g_mean(tp, fp, fn, tn):
        ...     return np.sqrt(tp / np.maximum(tp + fn, 1) * tn / np.maximum(tn + fp, 1))
        >>> Measure.macro(g_mean).mean([[1, 0], [0, 1]], [[1, 0], [1, 1]])
        0.5
        """
        return cls(name or _counts.name_of(g), greater_is_better, _check_function(g), "macro")

    @classmethod
    def micro(cls, g: CountFunction, name: str | None = None, greater_is_better: bool = True) -> Self:
        """Make a measure that is a function of the counts of all labels together; see :meth:`macro`.

        Examples
        --------
        >>> Measure.micro(lambda tp, fp, fn, tn: fp + 5 * fn, "price", False).mean([[1, 0]], [[0, 1]])
        6.0
        """
        return cls(name or _counts.name_of(g), greater_is_better, _check_function(g), "micro")

    @property
    def compares_vectors(self) -> bool:
        """False: a row has no cost."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """Return the name, if it is one that is known."""
        return {"name": self.name} if self._is_named() else super().to_dict()

    def mean(self, Y: Labels, Z: Labels, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the value of the measure for true labels, of which some may be NaN, and predicted ones.

        Labels that are known in no row are left out.

        Examples
        --------
        >>> from refpair import get_cost
        >>> get_cost("macro_jaccard").mean([[1, 1], [1, np.nan]], [[1, 1], [0, 1]])
        0.75
        """
        given, known = _counts.split_unknown(Y)
        truths, predictions = _counts.check_pair(given, Z)
        if truths.shape[0] != predictions.shape[0]:
            n, m = truths.shape[0], predictions.shape[0]
            raise ValueError(f"Y has {n} rows and Z has {m}: row i of Z must predict row i of Y")
        weights = _counts.check_row_weights(sample_weight, truths.shape[0])
        both = truths.multiply(predictions) if hasattr(truths, "multiply") else predictions * truths
        if known is None:
            tp, there, said = (_weighted_sums(labels, weights) for labels in (both, truths, predictions))
            n_known = np.full(truths.shape[1], weights.sum())
        else:
            predictions = _counts.dense(predictions) * known
            tp, there, said = (_weighted_sums(one, weights) for one in (both, truths, predictions))
            n_known = weights @ known
        some = n_known > 0
        if not some.any():
            raise ValueError("Y has no label that is known: there is nothing to score")
        tp, fp, fn = tp[some], (said - tp)[some], (there - tp)[some]
        return self.of_counts(tp, fp, fn, n_known[some] - tp - fp - fn)

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> float:
        """Return the value for the counts of each label, which may be expected ones."""
        # Differences of sums may be below 0 by rounding.
        counts = [np.maximum(np.asarray(one, np.float64), 0.0) for one in (tp, fp, fn, tn)]
        if self.average == "micro":
            counts = [one.sum(keepdims=True) for one in counts]
        return float(self.of_each(*counts).mean())

    def of_each(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        """Return what the function says of each place of arrays of counts, as numbers that are checked."""
        # It may give 0/0, which is reported with its counts; and it must not write into what is asked again.
        with np.errstate(all="ignore"):
            found = _counts.ask(self.function, self.name, *(np.array(one) for one in (tp, fp, fn, tn)))
        return _counts.check_costs(
            found,
            tp.shape,
            self.name,
            lambda at: f"tp={tp[at]:g}, fp={fp[at]:g}, fn={fn[at]:g}, tn={tn[at]:g}",
        )

    def _matrix(self, Y: LabelMatrix, Z: LabelMatrix) -> FloatArray:
        raise self._no_rows()

    def _rows(self, Y: LabelMatrix, Z: LabelMatrix, n_known: FloatArray | None = None) -> FloatArray:
        raise self._no_rows()

    def _no_rows(self) -> ValueError:
        return ValueError(
            f"{self.name!r} is a measure of a whole table, in which no row has a cost of its own: "
            "mean(Y, Z) returns its value"
        )


@dataclass(frozen=True)
class FScore:
    """The F-beta score of counts: 0 where there is nothing to find and nothing was predicted."""

    beta: float

    def __call__(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        """Return the scores."""
        square = self.beta**2
        return _share((1.0 + square) * tp, (1.0 + square) * tp + fp + square * fn)


def jaccard(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the Jaccard score: 0 where there is nothing to find and nothing was predicted."""
    return _share(tp, tp + fp + fn)


def balanced_accuracy(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the mean of recall and specificity, or the one of them that is defined."""
    there, absent = tp + fn, tn + fp
    recall, specificity = _share(tp, there), _share(tn, absent)
    return np.where(there > 0, np.where(absent > 0, (recall + specificity) / 2, recall), specificity)


def _check_function(g: CountFunction) -> CountFunction:
    if not callable(g) or isinstance(g, Cost):
        raise TypeError(f'g must be a function g(tp, fp, fn, tn), not {g!r}; get_cost("macro_f1") is by name')
    return g


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.asarray(part / np.where(whole > 0, whole, 1.0))


def _weighted_sums(labels: LabelMatrix, weights: FloatArray) -> FloatArray:
    # The product with a single sparse column is a number.
    return np.asarray(weights @ labels, np.float64).reshape(labels.shape[1])


_AVERAGES: tuple[Average, ...] = ("macro", "micro")


def _f_measure(average: Average, beta: str) -> Measure:
    number = Cost.f_beta(float(beta))  # refuses what is no beta
    return Measure(f"{average}_{number.name}", True, FScore(float(beta)), average)


for _average in _AVERAGES:
    for _measure in (_f_measure(_average, "1"), Measure(f"{_average}_jaccard", True, jaccard, _average)):
        NAMED[_measure.name] = _measure
        ALIASES["_".join(reversed(_measure.name.split("_")))] = _measure.name
    FAMILIES[f"{_average}_f<beta>"] = (
        re.compile(rf"{_average}_f({NUMBER})", re.ASCII),
        partial(_f_measure, _average),
    )
NAMED["balanced_accuracy"] = Measure("balanced_accuracy", True, balanced_accuracy, "macro")
