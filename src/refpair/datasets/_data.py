"""What every reader returns: features, labels and their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Matrix: TypeAlias = Any
"""A float64 ``ndarray`` or a ``scipy.sparse.csr_array`` (scipy has no types to say so)."""

SparseOption: TypeAlias = Literal["auto"] | bool

SPARSE_BELOW = 0.1
"""``sparse="auto"`` stores features sparsely when a smaller share than this is not zero."""


@dataclass(frozen=True, eq=False, repr=False)
class MultiLabelData:
    """A multi-label data set.

    Attributes
    ----------
    name : str
        The name of the data set.
    X : ndarray or scipy.sparse.csr_array of shape (n_instances, n_features)
        The features, float64; missing values are NaN.
    Y : ndarray of shape (n_instances, n_labels)
        The labels, uint8: 1 where a label applies, else 0.
    feature_names : list of str
        The names of the columns of ``X``, each one unique.
    label_names : list of str
        The names of the columns of ``Y``, each one unique.

    Examples
    --------
    >>> from refpair.datasets import load_dataset
    >>> load_dataset("digits")
    MultiLabelData('digits': 3000 instances, 64 features, 10 labels)
    """

    name: str
    X: Matrix
    Y: NDArray[np.uint8]
    feature_names: list[str]
    label_names: list[str]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}: {self.X.shape[0]} instances, "
            f"{self.X.shape[1]} features, {len(self.label_names)} labels)"
        )


def store(matrix: Matrix, sparse: SparseOption) -> Matrix:
    """Return the matrix dense or sparse, as the option says; "auto" keeps a sparse one sparse."""
    if isinstance(matrix, csr_array):
        return matrix.toarray() if sparse is False else matrix
    if sparse == "auto":
        sparse = np.count_nonzero(matrix) < SPARSE_BELOW * matrix.size
    return csr_array(matrix) if sparse else matrix


def check_sparse_option(sparse: SparseOption) -> None:
    """Refuse anything but "auto", True and False before any work is done."""
    if not (sparse == "auto" or isinstance(sparse, bool)):
        raise ValueError(f'sparse must be "auto", True or False, not {sparse!r}')


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, with the names it may have meant.

    >>> unknown_name("column", "angr", ["joy", "anger"])
    "unknown column 'angr'; did you mean 'anger'?"
    >>> unknown_name("column", "x", ["joy", "anger"])
    "unknown column 'x'; there are 'joy', 'anger'"
    """
    known = list(known)
    small = {one.lower(): one for one in known}
    near = get_close_matches(name, known) or [small[one] for one in get_close_matches(name.lower(), small)]
    near = near or [one for one in known if one.lower().startswith(name.lower())][:3]
    if near:
        return f"unknown {kind} {name!r}; did you mean {' or '.join(map(repr, near))}?"
    listed = ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")
    return f"unknown {kind} {name!r}; there are {listed or 'none'}"
