"""Saving and loading."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from refpair._saved import Savable, require
from refpair.costs import Cost, get_cost
from refpair.costs._probe import OtherCostError
from refpair.persistence._classes import ADAPTERS
from refpair.persistence._codec import CostNeededError, Reader, Writer
from refpair.persistence._file import Contents, damaged, read_model_file, write_model_file
from refpair.persistence._foreign import Foreign, to_skops

__all__ = ["load", "save"]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of the package, or a scikit-learn ``Pipeline`` with such ones in it.
    path : path-like
        The file, which is replaced if it is there.

    Notes
    -----
    The file holds no pickle. Estimators of scikit-learn in the model are written by skops
    (``pip install 'refpair[save]'``), those alone whose contents can be checked on loading: linear models,
    naive Bayes, trees, forests, scalers, encoders and what is made of them. Others get an error that names
    them. A ``Pipeline`` whose steps are all of the package needs no skops; its ``memory`` is not stored.

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
    if not _is_model(model):
        raise TypeError(
            "save takes an estimator of refpair that can be fitted, or a pipeline, "
            f"not a {type(model).__name__}"
        )
    check_is_fitted(model)
    writer, inner = Writer(), list[Any]()

    def number_of_own(value: Any) -> int | None:
        if type(value) not in ADAPTERS:
            return None
        number = len(inner)
        inner.append(None)
        inner[number] = writer.write(value, f"inner.{number}")
        return number

    header = {"refpair": version("refpair"), "model": writer.write(model), "inner": inner}
    foreign = to_skops(writer.foreign, number_of_own) if writer.foreign else None
    write_model_file(Path(path), Contents(header, writer.arrays, foreign))


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
            model = _put_together(contents, given)
    except CostNeededError as needed:
        raise ValueError(
            f"{path}: the model's cost {needed.args[0]!r} is a Python function, which a file cannot hold; "
            "load the model in Python, by refpair.load(path, cost=...)"
        ) from None
    except OtherCostError as wrong:
        raise _other_cost(path, wrong.args[0]) from wrong
    if given is not None:
        _set_cost(path, model, cost, given)
    return model


def _is_model(model: Any) -> bool:
    if type(model) is Pipeline:
        return True
    is_own = type(model) in ADAPTERS and isinstance(model, Savable)
    return is_own and hasattr(model, "fit") and hasattr(model, "get_params")


def _put_together(contents: Contents, cost: Cost | None) -> Any:
    """Return the model; contents that are wrong raise errors of many kinds."""
    inner, found = contents.header["inner"], dict[int, Any]()

    def find_own(number: int) -> Any:
        if number not in found:
            require(isinstance(inner, list) and number < len(inner), "an inner object is missing")
            found[number] = reader.read(inner[number])
        return found[number]

    foreign = Foreign(contents.foreign, find_own)
    reader = Reader(dict(contents.arrays), foreign.find, cost)
    model = reader.read(contents.header["model"])
    require(_is_model(model), "it holds no model")
    check_is_fitted(model)
    require(not reader.arrays, f"{next(iter(reader.arrays), '')!r} does not belong here")
    return model


def _set_cost(path: Path, model: Any, cost: Any, given: Cost) -> None:
    if isinstance(model, Pipeline):
        model = model.steps[-1][1]
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
    except (CostNeededError, OtherCostError, ImportError):
        raise
    except Exception as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from error
