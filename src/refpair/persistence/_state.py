"""A fitted model as a header of plain types and arrays, and back.

All that the package's files know of the attributes of a fitted model is in this module.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields
from importlib.metadata import version
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from refpair.bits import TreeBank
from refpair.bits.binning import Bins
from refpair.bits.trees import Trees
from refpair.classifiers import CSRPEClassifier
from refpair.classifiers._labels import Kind, LabelFormat
from refpair.coding import ReferencePairCode
from refpair.costs import Cost, PerLabelCost
from refpair.persistence._checks import check_bins, check_dtypes, check_trees, require
from refpair.persistence._posterior import POSTERIOR_DTYPES, n_votes_of, put_posterior, take_posterior

__all__ = ["put_together", "same_code_words", "stored_cost", "take_apart"]

Header = dict[str, Any]
Arrays = dict[str, npt.NDArray[Any]]

_DTYPES = {  # the same on all machines
    "alpha": "|u1", "beta": "|u1", "relevant_set": "|u1", "relevant_counts": "<i8",
    "given_relevant_set": "|u1", "in_bag": "|u1",
    "bins_edges": "<f8", "bins_edge_start": "<i8", "bins_has_missing": "|b1",
    "trees_start": "<i8", "trees_feature": "<i4", "trees_threshold": "|u1", "trees_missing_left": "|b1",
    "trees_left_child": "<i4", "trees_value": "<f4", **POSTERIOR_DTYPES,
}  # fmt: skip
_OPTIONAL = ("given_relevant_set", "in_bag", *POSTERIOR_DTYPES)
_MAX_THREADS = 1024
_NUMBERS = {np.dtype(code).str for code in "?bBhHiIlLqQefd"}


def take_apart(model: CSRPEClassifier) -> tuple[Header, Arrays]:
    """Return the header and the arrays that :func:`put_together` makes the same model of."""
    code, bank, labels = model.code_, model.bits_, model._label_format
    if not isinstance(bank, TreeBank):
        raise ValueError(
            'only models with learner="tree" can be saved without pickle; use joblib.dump(model, path), and '
            "load such a file only if you trust its source"
        )
    header: Header = {
        "refpair": version("refpair"),
        "parameters": _parameters(model),
        "cost": _cost(model),
        "labels": {"kind": labels.kind, "names": _names(labels.classes), "n": code.alpha.shape[1]},
        "features": {"names": _feature_names(model), "n": model.n_features_in_},
    }
    if labels.kind != "classes":
        header["labels"]["dtype"] = labels.dtype.str
    arrays = {
        "alpha": _packed(code.alpha),
        "beta": _packed(code.beta),
        "relevant_set": _packed(model.relevant_set_),
        "relevant_counts": model.relevant_counts_,
        **{f"bins_{field.name}": getattr(bank.bins_, field.name) for field in fields(Bins)},
        **{f"trees_{field.name}": getattr(bank.trees_, field.name) for field in fields(Trees)},
    }
    if model.relevant_set is not None:
        given = labels.read_more(model.relevant_set, "relevant_set")
        arrays["given_relevant_set"] = _packed(given if isinstance(given, np.ndarray) else given.toarray())
    if bank.in_bag_ is not None:
        arrays["in_bag"] = bank.in_bag_
    header["posterior"], more = take_posterior(model, len(bank.trees_))
    arrays |= more
    return header, {name: np.asarray(array, _DTYPES[name]) for name, array in arrays.items()}


def put_together(header: Header, arrays: Arrays, cost: Cost) -> CSRPEClassifier:
    """Return the model, all but its code book; contents that are wrong raise errors of many kinds."""
    arrays = check_dtypes(arrays, _DTYPES, _OPTIONAL)
    n_labels, n_features = header["labels"]["n"], header["features"]["n"]
    require(isinstance(n_labels, int) and isinstance(n_features, int), "the header lacks numbers")
    labels = _label_format(header["labels"])
    parameters = {"cost": cost, **header["parameters"]}
    if "given_relevant_set" in arrays:
        parameters["relevant_set"] = labels.write(_unpacked(arrays["given_relevant_set"], n_labels), None)
    model = CSRPEClassifier(**parameters)
    model._check_parameters()
    require(abs(model.n_jobs or 1) <= _MAX_THREADS, "n_jobs is too large")
    if isinstance(cost, PerLabelCost):
        cost.prices(n_labels)  # raises if they are those of other labels

    model.cost_ = cost
    model._label_format, model.classes_ = labels, labels.classes
    model.n_features_in_ = n_features
    names = header["features"]["names"]
    if names is not None:
        require(
            len(names) == n_features and all(isinstance(name, str) for name in names), "features lack names"
        )
        model.feature_names_in_ = np.array(names, dtype=object)

    model.code_ = ReferencePairCode(
        _unpacked(arrays["alpha"], n_labels), _unpacked(arrays["beta"], n_labels), cost
    )
    model.relevant_set_ = _unpacked(arrays["relevant_set"], n_labels)
    model.relevant_counts_ = arrays["relevant_counts"]
    n_vectors = len(model.relevant_set_)
    require(
        n_vectors > 0 and model.relevant_counts_.shape == (n_vectors,), "the relevant set has a wrong shape"
    )

    bank = model._make_learner()
    if not isinstance(bank, TreeBank):
        raise ValueError("the learner is not a tree")
    bank.bins_ = Bins(*(arrays[f"bins_{field.name}"] for field in fields(Bins)))
    bank.trees_ = Trees(*(arrays[f"trees_{field.name}"] for field in fields(Trees)))
    bank.in_bag_ = arrays.get("in_bag")
    check_bins(bank.bins_, n_features)
    posterior = header.get("posterior")  # a file of version 1 has none
    n_bits = len(model.code_) + n_votes_of(posterior) * n_labels
    check_trees(bank.trees_, n_bits, n_features)
    if bank.in_bag_ is not None:
        require(bank.in_bag_.ndim == 2 and len(bank.in_bag_) == n_bits, "in_bag has a wrong shape")
    model.bits_ = bank
    if posterior is not None:
        require(model.decoder == "posterior", "the decoder has no use for a posterior")
        put_posterior(model, posterior, arrays)
    else:
        require(model.decoder == "nearest" or len(model.code_) == 0, "the posterior is missing")
        model._cost_scale = 1.0
    return model


def stored_cost(header: Header) -> Cost | None:
    """Return the cost in the file, or None if it was a function."""
    return None if "function" in header["cost"] else Cost.from_dict(header["cost"])


def same_code_words(header: Header, model: CSRPEClassifier) -> bool:
    """Whether a function given as the cost makes the code words that the model was fitted with."""
    return bool(header["cost"]["code_words"] == _digest_of_code_words(model))


def _cost(model: CSRPEClassifier) -> dict[str, Any]:
    try:
        return model.cost_.to_dict()
    except ValueError:  # a function
        return {"function": model.cost_.name, "code_words": _digest_of_code_words(model)}


def _digest_of_code_words(model: CSRPEClassifier) -> str:
    return hashlib.sha256(model.code_.encode(model.relevant_set_).tobytes()).hexdigest()


def _parameters(model: CSRPEClassifier) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    del parameters["relevant_set"]
    if not isinstance(parameters["cost"], str):
        del parameters["cost"]
    if not isinstance(parameters["random_state"], int | np.integer):
        parameters["random_state"] = None
    return {name: _plain(value, f"the parameter {name}") for name, value in parameters.items()}


def _plain(value: Any, what: str) -> str | int | float | None:
    """Return a value as JSON has it, numpy's scalars as Python's."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"{what} is {value!r}, and only strings and numbers can be saved")


def _names(classes: npt.NDArray[Any]) -> dict[str, Any]:
    values = [_plain(value, "the name of a label") for value in classes]
    return {
        "dtype": classes.dtype.str if classes.dtype.str in _NUMBERS else classes.dtype.kind,
        "values": values,
    }


def _feature_names(model: CSRPEClassifier) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _label_format(labels: dict[str, Any]) -> LabelFormat:
    kind, dtype, values = labels["kind"], labels["names"]["dtype"], labels["names"]["values"]
    require(kind in get_args(Kind), f"labels of the kind {kind!r} are unknown")
    require(isinstance(values, list) and dtype in {*_NUMBERS, "U", "O"}, "the names of the labels are broken")
    classes = np.array(values, dtype=dtype)
    # One column for one or two classes, else one column for each label.
    fits = labels["n"] == 1 and len(values) in (1, 2) if kind == "classes" else labels["n"] == len(values)
    require(fits and classes.ndim == 1, "labels lack names")
    dtype = classes.dtype.str if kind == "classes" else labels["dtype"]
    require(kind == "classes" or dtype in _NUMBERS, f"labels of the type {dtype!r} are unknown")
    return LabelFormat(kind, classes, np.dtype(dtype))


def _packed(labels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.packbits(labels, axis=1)


def _unpacked(packed: npt.NDArray[np.uint8], n_labels: int) -> npt.NDArray[np.uint8]:
    require(packed.ndim == 2 and packed.shape[1] == -(-n_labels // 8), "a label matrix has a wrong shape")
    return np.unpackbits(packed, axis=1, count=n_labels)
