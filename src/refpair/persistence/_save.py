"""Saving and loading."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from refpair._saved import require
from refpair.costs import Cost, get_cost
from refpair.costs._probe import OtherCostError
from refpair.persistence._file import damaged, read_model_file, write_model_file
from refpair.persistence._values import OWN, CostNeededError, ValueReader, ValueWriter


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
    The file holds no pickle. Of scikit-learn's estimators, a model may have those whose contents can be
    checked on loading: linear models, naive Bayes, trees, forests, scalers, encoders and what is made of
    them. Others get an error that names them. The ``memory`` of a ``Pipeline`` is not stored.

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
    writer = ValueWriter()
    header = {"refpair": version("refpair"), "model": writer.write(model)}
    write_model_file(Path(path), header, writer.arrays)


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
    try:
        model = _read_model(header, arrays, given)
    except CostNeededError as needed:
        raise ValueError(
            f"{path}: the model's cost {needed.args[0]!r} is a Python function, which a file cannot hold; "
            "load the model in Python, by refpair.load(path, cost=...)"
        ) from None
    except OtherCostError as wrong:
        raise _other_cost(path, wrong.args[0]) from wrong
    except Exception as error:  # contents that nothing is known of go wrong in many ways
        raise damaged(path, f"{type(error).__name__}: {error}") from error
    if given is not None:
        _set_cost(path, model, cost, given)
    return model


def _is_model(model: Any) -> bool:
    known = type(model) is Pipeline or type(model) is OWN.get(type(model).__name__)
    return known and hasattr(model, "fit") and hasattr(model, "get_params")


def _read_model(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], cost: Cost | None) -> Any:
    reader = ValueReader(arrays, cost)
    model = reader.read(header["model"])
    require(_is_model(model), "it holds no model")
    check_is_fitted(model)
    require(not arrays, f"{next(iter(arrays), '')!r} does not belong here")
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
