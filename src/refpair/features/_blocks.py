"""Blocks of features, one a kind or a column, and how they come together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.preprocessing import OneHotEncoder

from ._cells import Floats, Matrix, Strings, listed, numbers_of, parsed_numbers

__all__ = [
    "SPARSE_BELOW",
    "Block",
    "category_features",
    "join",
    "number_block",
    "picture_block",
    "standardise",
]

SPARSE_BELOW = 0.2
_MOST_CATEGORIES = 100


@dataclass(frozen=True, eq=False)
class Block:
    """Features that count as one.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, n_features)
    names : list of str
        Of the columns of X.
    used : list of str
        Sentences that say where they come from.
    """

    X: Matrix
    names: list[str]
    used: list[str]


def standardise(values: Floats) -> None:
    """Give each column mean 0 and variance 1, in place; NaN becomes the mean and constant columns zeros."""
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    with np.errstate(over="ignore"):
        too_wide = ~np.isfinite(high - low)
    if too_wide.any():
        values[:, too_wide] /= 4
        low, high = np.where(too_wide, low / 4, low), np.where(too_wide, high / 4, high)
    # From 0 to 1 first: squares of what is huge would overflow, and of what is tiny vanish.
    values -= low
    values /= np.where(high > low, high - low, 1.0)
    values -= np.nanmean(values, axis=0)
    np.nan_to_num(values, copy=False)
    deviation = np.sqrt(np.einsum("ij,ij->j", values, values) / len(values))
    values /= np.where(high > low, deviation, 1.0)


def number_block(frame: pd.DataFrame, names: Sequence[str]) -> Block:
    """Standardise columns of numbers, and add a column for each that has empty cells."""
    values = np.column_stack([parsed_numbers(frame[name]) for name in names])
    missing = np.isnan(values)
    gaps = np.flatnonzero(missing.any(axis=0)).tolist()
    varied = np.flatnonzero(np.nanmax(values, axis=0) > np.nanmin(values, axis=0)).tolist()
    standardise(values)
    used = f"{listed(names)}: {'numbers' if len(names) > 1 else 'number'}, standardised"
    if gaps:
        used += f"; {missing.sum():,} empty"
    return Block(
        np.hstack([values[:, varied], missing[:, gaps]]),
        [names[i] for i in varied] + [f"{names[i]} is missing" for i in gaps],
        [used],
    )


def category_features(name: str, values: Strings) -> tuple[Matrix, list[str], str] | None:
    """Return a 0/1 column for each value of a column, one for rare values together, one for empty cells.

    >>> X, names, used = category_features("hue", np.array(["red", "red", "blue", None], dtype=object))
    >>> X.toarray().astype(int).tolist(), names
    ([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], ['hue = red', 'hue = blue', 'hue is missing'])
    """
    codes, different = pd.factorize(values, sort=True)
    filled = codes >= 0
    encoder = OneHotEncoder(min_frequency=2, max_categories=_MOST_CATEGORIES, handle_unknown="ignore")
    encoder.fit(codes[filled, None])
    rare = encoder.infrequent_categories_[0]
    rare = [] if rare is None else list(rare)
    names = [f"{name} = {different[code]}" for code in encoder.categories_[0] if code not in rare]
    if rare:
        names.append(f"{name} = {different[rare[0]]}" if len(rare) == 1 else f"{name} = another value")
    X = sp.csr_array(encoder.transform(codes[:, None]))  # the code of empty cells is unknown: all zeros
    used = f"{name}: category, {len(different):,} values"
    if not filled.all():
        X = sp.hstack([X, sp.csr_array((~filled)[:, None].astype(np.float64))], format="csr")
        names.append(f"{name} is missing")
        used += f"; {(~filled).sum():,} empty"
    return (X, names, used) if X.shape[1] > 1 else None


def picture_block(frame: pd.DataFrame, picture: list[list[str]]) -> Block:
    """Scale pixels together; a missing one is 0."""
    names = [name for row in picture for name in row]
    columns = [numbers_of(frame[name]) for name in names]
    X = np.column_stack([column for column in columns if column is not None])
    missing = np.isnan(X)
    np.nan_to_num(X, copy=False)
    X /= np.abs(X).max() or 1.0
    used = f"{names[0]} to {names[-1]}: a picture of {len(picture)} x {len(picture[0])} pixels"
    if missing.any():
        X = np.column_stack([X, missing.any(axis=1)])
        names = [*names, f"{names[0].rsplit('_', 2)[0]} is missing"]
        used += f"; {missing.sum():,} empty"
    return Block(X, names, [used])


def join(blocks: Sequence[Block]) -> Block:
    """Put blocks side by side, each as long as the others, so that the mean squared length of rows is 1."""
    blocks = [replace(block, X=_of_length(block.X, 1 / len(blocks))) for block in blocks]
    matrices = [block.X for block in blocks]
    n_values = sum(matrix.shape[0] * matrix.shape[1] for matrix in matrices)
    n_filled = sum(matrix.nnz if sp.issparse(matrix) else np.count_nonzero(matrix) for matrix in matrices)
    X: Matrix
    if n_filled < SPARSE_BELOW * n_values:
        X = sp.csr_array(sp.hstack([sp.csr_array(matrix) for matrix in matrices], format="csr"))
        X.eliminate_zeros()
    else:
        X = np.hstack([matrix.toarray() if sp.issparse(matrix) else matrix for matrix in matrices])
    return Block(
        X,
        [name for block in blocks for name in block.names],
        [sentence for block in blocks for sentence in block.used],
    )


def _of_length(X: Matrix, squared: float) -> Matrix:
    mean = float((X.data**2).sum() if sp.issparse(X) else (X**2).sum()) / X.shape[0]
    return X * np.sqrt(squared / mean)
