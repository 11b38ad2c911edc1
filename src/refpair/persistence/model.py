"""Saving and loading."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from refpair.costs import Cost, get_cost
from refpair.persistence._costs import CostNeeded, WrongCost
from refpair.persistence._file import damaged, read_model_file, write_model_file
from refpair.persistence._graph import put_together, take_apart
from refpair.persistence._migration import migrated
from refpair.persistence._schemas import MODELS, SCHEMAS

__all__ = ["load", "save"]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of the package.
    path : path-like
        The file, which is replaced if it is there.

    Notes
    -----
    The file holds no pickle. Estimators of scikit-learn in the model are written by skops
    (``pip install 'refpair[save]'``), those alone whose contents can be checked on loading: linear models,
    naive Bayes, trees, forests and what is made of them. Others get an error that names them.

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
    name = type(model).__name__
    if name not in MODELS or type(model) is not SCHEMAS[name].cls:
        raise TypeError(f"save takes an estimator of refpair that can be fitted, not a {name}")
    check_is_fitted(model)
    write_model_file(Path(path), take_apart(model, {"refpair": version("refpair")}))


def load(path: str | os.PathLike[str], *, cost: Any = None) -> Any:
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
    estimator
        Of the class that was saved.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged or too new. It is a ValueError.
    ValueError
        If a cost is needed, or the one given is not that of the model.
    ImportError
        If the model has estimators of scikit-learn, and skops is not installed.

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
    contents = read_model_file(path)
    try:
        with _refusing(path):
            model = put_together(migrated(contents), given)
    except CostNeeded as needed:
        raise ValueError(
            f"{path}: the model's cost {needed.args[0]!r} is a Python function, which a file cannot hold; "
            "load the model in Python, by refpair.load(path, cost=...)"
        ) from None
    except WrongCost as wrong:
        raise _other_cost(path, wrong.args[0]) from wrong
    if given is not None:
        _set_cost(path, model, cost, given)
    return model


def _set_cost(path: Path, model: Any, cost: Any, given: Cost) -> None:
    if not hasattr(model, "cost"):
        raise ValueError(f"{path}: a {type(model).__name__} has no cost; load it without one")
    if model.cost_ != given:
        raise _other_cost(path, given.name)
    model.cost = cost


def _other_cost(path: Path, name: str) -> ValueError:
    return ValueError(f"{path}: the model was not fitted with the cost {name!r} but with another one")


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong with contents that nothing is known of into one error."""
    try:
        yield
    except (CostNeeded, WrongCost, ImportError):
        raise
    except Exception as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from error
