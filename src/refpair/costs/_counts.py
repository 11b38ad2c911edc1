"""Label matrices, what is counted in them, and the named costs as functions of the counts.

Each named cost is one correctly rounded division of whole numbers, so that equal fractions such as 2/4 and
3/6 are equal floats: a tie of two costs is a tie, not a matter of the last digit.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._sparse import check_sparse
from refpair.tables._cells import is_empty
from refpair.tables._names import unknown_name

FloatArray: TypeAlias = npt.NDArray[np.float64]
Labels: TypeAlias = npt.ArrayLike | sp.sparray | sp.spmatrix
Known: TypeAlias = npt.NDArray[np.bool_]
LabelMatrix: TypeAlias = Any  # an ndarray of uint8 or a csr_array, which carries no types

F = TypeVar("F")

LARGEST_COST = 1e100  # up to here, no sum and no square of costs overflows: nobody else has to think of it
_BLOCK = 1 << 18  # numbers in a temporary array: 2 MB as float64, so a chain of them stays in cache
_SPARSE_STEP = 50  # a step of a sparse-sparse product takes as long as so many of a sparse-dense one


def check_labels(labels: Labels, name: str) -> LabelMatrix:
    """Return label vectors, one a row, as a uint8 array or a CSR array; refuse what is not 0/1 by name."""
    if (
        type(labels) is np.ndarray
        and (labels.dtype == np.uint8 and labels.ndim == 2)
        and (labels.size > 0 and labels.max() <= 1)
    ):
        return labels  # as nearly always: the rest would be felt
    try:
        matrix: LabelMatrix = labels if sp.issparse(labels) else np.asarray(labels)
    except ValueError as error:
        raise ValueError(f"{name} must be a label matrix with rows of one length ({error})") from error
    if np.ma.is_masked(labels):
        raise ValueError(f"{name} must be a label matrix of 0 and 1 only, without masked cells")
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"{name} must be a label matrix of shape (n, n_labels), got shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be a label matrix of 0 and 1, got values of dtype {matrix.dtype}")
    if sp.issparse(matrix):
        check_sparse(matrix, name)
        matrix = sp.csr_array(matrix)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    values: Any = matrix.data if sp.issparse(matrix) else matrix
    whole = values.dtype.kind in "bu"  # cannot be negative or broken: one pass will do
    if not (values.max(initial=0) <= 1 if whole else ((values == 0) | (values == 1)).all()):
        raise ValueError(f"{name} must be a label matrix of 0 and 1 only")
    return matrix.astype(np.float32 if sp.issparse(matrix) else np.uint8, copy=False)


def check_pair(Y: Labels, Z: Labels) -> tuple[LabelMatrix, LabelMatrix]:
    """Check truths and predictions, and that they have the same labels."""
    truths, predictions = check_labels(Y, "Y"), check_labels(Z, "Z")
    if truths.shape[1] != predictions.shape[1]:
        raise ValueError(f"Y has {truths.shape[1]} labels (columns) and Z has {predictions.shape[1]}")
    return truths, predictions


def split_unknown(Y: Any) -> tuple[Labels, Known | None]:
    """Return truths with 0 for NaN, and where they are known; as given, and None, if there is no NaN."""
    if type(Y) is np.ndarray and Y.dtype == np.uint8:
        return Y, None  # as nearly always
    if not sp.issparse(Y):
        with contextlib.suppress(TypeError, ValueError):  # `check_labels` tells it
            array = np.asarray(Y)
            if array.dtype == object:  # None or pd.NA among numbers
                missing = np.vectorize(is_empty, otypes=[bool])(array)
                Y = array = np.where(missing, np.nan, array).astype(np.float64)
            if array.dtype.kind == "f" and np.isnan(array).any():
                return np.where(np.isnan(array), 0.0, array), ~np.isnan(array)
    elif Y.dtype.kind == "f" and np.isnan(Y.data).any():
        check_sparse(Y, "Y")
        return split_unknown(Y.toarray())
    return Y, None


def intersections(Y: LabelMatrix, Z: LabelMatrix) -> npt.NDArray[np.floating]:
    """Return |Y[i] ∩ Z[j]| for all i and j: one matrix product, of whichever kind is cheapest."""
    exact = Y.shape[1] < 1 << 24  # that is up to where float32 holds all whole numbers
    dtype = np.float32 if exact else np.float64
    Y, Z = Y.astype(dtype), Z.astype(dtype)
    if not sp.issparse(Y):
        product = (Z @ Y.T).T if sp.issparse(Z) else Y @ Z.T
    elif sp.issparse(Z) and sizes(Y, 0) @ sizes(Z, 0) * _SPARSE_STEP < Y.nnz * Z.shape[0]:
        product = (Y @ Z.T).toarray()
    else:
        product = Y @ dense(Z).T
    return np.asarray(product)


def row_intersections(Y: LabelMatrix, Z: LabelMatrix) -> FloatArray:
    """Return |Y[i] ∩ Z[i]| for all i."""
    if sp.issparse(Z):
        Y, Z = Z, Y
    return sizes(Y.multiply(Z) if sp.issparse(Y) else Y & Z)


def sizes(labels: LabelMatrix, axis: int = 1) -> FloatArray:
    """Return the number of labels of each row, or of rows with each label."""
    return np.asarray(labels.sum(axis=axis, dtype=np.float64))


def dense(labels: LabelMatrix) -> npt.NDArray[Any]:
    """Return the labels as an ndarray."""
    return np.asarray(labels.toarray() if sp.issparse(labels) else labels)


def blocks(n: int, width: int) -> Iterator[slice]:
    """Cut n rows of a width into slices of about _BLOCK numbers."""
    step = max(1, _BLOCK // max(1, width))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def mean_over_rows(costs: FloatArray, sample_weight: npt.ArrayLike | None) -> float:
    """Return the mean cost of rows, weighted if there are weights; those of NaN do not count."""
    if costs.size == 0:
        raise ValueError("Y has no rows: there is nothing to score")
    if sample_weight is None:
        mean = float(costs.mean())
        if not math.isnan(mean):
            return mean
    counts = ~np.isnan(costs)
    if not counts.any():
        raise ValueError("Y has no label that is known: there is nothing to score")
    if sample_weight is None:
        return float(costs[counts].mean())
    weights = check_row_weights(sample_weight, costs.size)
    costs, weights = costs[counts], weights[counts]
    if not weights.any():
        raise ValueError("sample_weight must not be zero for all rows that have labels that are known")
    return float(np.average(costs, weights=weights / weights.max()))


def check_row_weights(sample_weight: npt.ArrayLike | None, n: int) -> FloatArray:
    """Return a weight for each row, 1 by default."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must hold one number for each of {n} rows; its shape is {weights.shape}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("sample_weight must be finite, not negative, and not zero for all rows")
    return weights


def hamming(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the share of wrong labels."""
    return (fp + fn) / (tp + fp + fn + tn)


def zero_one(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return 1 where any label is wrong."""
    return (fp + fn > 0).astype(np.float64)


def rank(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the number of pairs (relevant, irrelevant) in the wrong order, those that tie counting half."""
    return fp * fn + (tn * fn + fp * tp) / 2


def jaccard(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the Jaccard distance."""
    return (fp + fn) / np.maximum(tp + fp + fn, 1.0)  # the bound makes 0/0 a right answer, 0


@dataclass(frozen=True)
class FBeta:
    """1 − F-beta, as wrong / (right + wrong)."""

    beta: float

    def __call__(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        """Return the costs."""
        square = self.beta**2
        wrong = fp + square * fn
        # A denominator that is not 0 is at least min(1, β²): the bound only makes 0/0 a right answer, 0.
        return wrong / np.maximum((1 + square) * tp + wrong, min(1.0, square))


def check_function(f: F) -> F:
    """Return what is a function; refuse all else."""
    if not callable(f):
        raise TypeError(f"f must be a function, not {type(f).__name__}")
    return f


def name_of(f: object) -> str:
    """Return the name of a function, or the class of what is called like one."""
    return str(getattr(f, "__name__", type(f).__name__))


def ask(function: Callable[..., npt.ArrayLike], name: str, *arrays: npt.NDArray[Any]) -> npt.ArrayLike:
    """Return what a cost's function says of arrays, which it may only read: they are needed again."""
    for array in arrays:
        array.flags.writeable = False
    try:
        return function(*arrays)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ValueError(
            f"the cost {name!r} writes into an array that it is given ({error}): let it make new ones, such "
            "as fp + fn instead of fp += fn, or copy them first"
        ) from error


def check_costs(
    returned: npt.ArrayLike, shape: tuple[int, ...], name: str, case: Callable[[tuple[Any, ...]], str]
) -> FloatArray:
    """Return what a function gave as costs of the shape, or say what is wrong; `case` words a wrong place."""
    try:
        array = _as_array(returned)
    except (ValueError, TypeError, OverflowError) as error:  # such as rows of unequal lengths
        raise ValueError(f"the cost {name!r} must return an array of shape {shape} ({error})") from error
    if array.dtype.kind not in "biuf":
        problem = f"must return real numbers, not values of dtype {array.dtype}"
    elif array.shape != shape:
        problem = f"must return an array of shape {shape}, not {array.shape}"
    else:
        costs = _as_floats(array)
        fine = np.abs(costs) <= LARGEST_COST  # NaN is not
        if fine.all():
            return costs
        at = np.unravel_index(fine.argmin(), shape)
        problem = f"is {array[at]} for {case(at)}: make it a finite number, at most {LARGEST_COST:g}"
    raise ValueError(f"the cost {name!r} {problem}")


def _as_array(returned: npt.ArrayLike) -> npt.NDArray[Any]:
    array = np.asarray(returned)
    if isinstance(returned, np.ma.MaskedArray) and array.dtype.kind in "biuf":
        # A masked number is an unknown one, whatever stands behind the mask.
        array = np.where(np.ma.getmaskarray(returned), np.nan, _as_floats(array))
    return array


def _check_prices(what: str, prices: Any) -> float | tuple[float, ...]:
    """Return one price as a float or one for each label as a tuple; refuse what is not a price."""
    try:
        given = _as_array(prices)
        array = _as_floats(given) if given.dtype.kind in "biufO" else np.array(np.nan)
    except (ValueError, TypeError, OverflowError):  # lists of unequal lengths, integers of 400 digits
        array = np.array(np.nan)
    if array.ndim > 1 or not ((array >= 0) & (array <= LARGEST_COST)).all():
        raise ValueError(
            f"{what} must be one price or one for each label, finite and not negative, at most "
            f"{LARGEST_COST:g}"
        )
    return tuple(array.tolist()) if array.ndim else float(array)


def _as_floats(numbers: npt.NDArray[Any]) -> FloatArray:
    with np.errstate(over="ignore"):  # of longer floats: they become infinite, which is refused
        return numbers.astype(np.float64, copy=False)


@dataclass(frozen=True, repr=False)
class NamedPrices:
    """Prices of labels by their names, and that of all others: a dictionary that can be hashed."""

    pairs: tuple[tuple[Hashable, float], ...]
    default: float

    def __repr__(self) -> str:
        return repr(dict(self.pairs))

    def resolve(self, names: list[Hashable]) -> tuple[float, ...]:
        """Return the price of each label."""
        prices = dict(self.pairs)
        for name in prices.keys() - set(names):
            raise ValueError(f"prices: {unknown_name('label', str(name), map(str, names))}")
        return tuple(prices.get(name, self.default) for name in names)


Prices: TypeAlias = float | tuple[float, ...] | NamedPrices


def read_prices(what: str, given: Any, default: float) -> Prices:
    """Return prices as a cost keeps them; refuse what are none."""
    if not isinstance(given, Mapping):
        return _check_prices(what, given)
    if not given:
        raise ValueError(f"{what} must name a label, or be one price for all")
    prices = _check_prices(what, list(given.values()))
    others = _check_prices("default", default)
    if not isinstance(prices, tuple) or not isinstance(others, float):
        raise ValueError(f"{what} must have one price for each label that it names, and one default")
    names = [name.item() if isinstance(name, np.generic) else name for name in given]
    return NamedPrices(tuple(zip(names, prices, strict=True)), others)


def prices_from_pairs(stored: Any) -> Any:
    """Return pairs of names and prices as a dictionary; all else that a cost is stored with as it is."""
    if isinstance(stored, Mapping):
        raise ValueError("prices in a stored cost are pairs of a name and a price")
    is_named = isinstance(stored, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str | int) for pair in stored
    )
    return dict(stored) if is_named and stored else stored
