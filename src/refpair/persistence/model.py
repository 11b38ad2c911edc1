"""Saving and loading."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from refpair.classifiers import CSRPEClassifier
from refpair.costs import get_cost
from refpair.persistence._file import damaged, read_model_file, write_model_file
from refpair.persistence._state import put_together, same_code_words, stored_cost, take_apart

__all__ = ["load", "save"]


def save(model: CSRPEClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : CSRPEClassifier
        Fitted, with ``learner="tree"``.
    path : path-like
        The file, which is replaced if it is there.

    Notes
    -----
    A cost that is a Python function cannot be stored: the file then has its name only, and :func:`load` asks
    for it. A ``random_state`` that is not a number is not stored either; the loaded model has None there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> import refpair
    >>> X, Y = np.eye(4), np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> model = refpair.CSRPEClassifier(cost="hamming", n_bits=6, random_state=0).fit(X, Y)
    >>> with TemporaryDirectory() as folder:
    ...     refpair.save(model, Path(folder, "model.refpair"))
    ...     loaded = refpair.load(Path(folder, "model.refpair"))
    >>> loaded.predict(X).tolist() == model.predict(X).tolist()
    True
    """
    if type(model) is not CSRPEClassifier:
        raise TypeError(f"save takes a CSRPEClassifier, not a {type(model).__name__}")
    check_is_fitted(model)
    write_model_file(Path(path), *take_apart(model))


def load(path: str | os.PathLike[str], *, cost: Any = None) -> CSRPEClassifier:
    """Read a model that :func:`save` wrote; it predicts the very same.

    Parameters
    ----------
    path : path-like
        The file. All of it is checked before it is used, so that even one made to do harm does none.
    cost : str, Cost or callable, optional
        The cost that the model was fitted with. It is needed only if it is a Python function, which no file
        can hold.

    Returns
    -------
    CSRPEClassifier

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged or too new. It is a ValueError.
    ValueError
        If a cost is needed, or the one given is not that of the model.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> import refpair
    >>> def n_wrong(Y, Z):
    ...     return (Y != Z).sum(axis=1)
    >>> X, Y = np.eye(4), np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> model = refpair.CSRPEClassifier(cost=n_wrong, n_bits=6, random_state=0).fit(X, Y)
    >>> with TemporaryDirectory() as folder:
    ...     refpair.save(model, Path(folder, "model.refpair"))
    ...     refpair.load(Path(folder, "model.refpair"), cost=n_wrong).cost_
    Cost.from_function(n_wrong, name='n_wrong')
    """
    path = Path(path)
    given = None if cost is None else get_cost(cost)
    header, arrays = read_model_file(path)
    with _refusing(path):
        stored = stored_cost(header)
    used = stored or given
    if used is None:
        raise ValueError(
            f"{path}: the model's cost {header['cost']['function']!r} is a Python function, which a file "
            "cannot hold; load the model in Python, by refpair.load(path, cost=...)"
        )
    with _refusing(path):
        model = put_together(header, arrays, used)
    model._make_code_book()
    if given is not None and not (given == stored if stored else same_code_words(header, model)):
        raise ValueError(
            f"{path}: the model was not fitted with the cost {given.name!r} but with another one"
        )
    if cost is not None:
        model.cost = cost
    return model


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong with contents that nothing is known of into one error."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from error
