"""A fitted posterior as plain types and arrays, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from refpair.classifiers import CSRPEClassifier
from refpair.coding import pack_bits
from refpair.persistence._checks import require
from refpair.posterior import Anchors, CodePosterior, LogOddsLine, Reading

__all__ = ["POSTERIOR_DTYPES", "n_votes_of", "put_posterior", "take_posterior"]

POSTERIOR_DTYPES = {
    "anchor_plus": "<u8", "anchor_vector": "<i4",
    "search_rows": "|b1", "search_depth": "<i4", "search_label_share": "<f8", "search_temperature": "<f8",
    "search_independent": "|b1", "search_cost": "<f8", "search_n_rows": "<i8",
}  # fmt: skip
_NUMBERS = ("label_share", "slope", "shift", "oob_cost", "cost_scale")
_COLUMNS = ("label_share", "temperature", "independent", "cost", "n_rows")
_NO_DEPTH = -1


def take_posterior(
    model: CSRPEClassifier, n_bits: int
) -> tuple[dict[str, Any] | None, dict[str, npt.NDArray[Any]]]:
    """Return a header and arrays, or None and no arrays if the model has no posterior."""
    if not hasattr(model, "posterior_"):
        return None, {}
    posterior, search = model.posterior_, model.oob_search_
    reading, line = posterior.reading, posterior.line
    header = {
        "anchors": reading.anchors,
        "label_share": reading.label_share,
        "temperature": None if math.isinf(reading.temperature) else reading.temperature,
        "independent": reading.independent,
        "slope": line.slope,
        "shift": line.shift,
        "oob_cost": model.oob_cost_,
        "cost_scale": model._cost_scale,
        "n_votes": (n_bits - len(model.code_)) // model.relevant_set_.shape[1],
    }
    arrays: dict[str, npt.NDArray[Any]] = {
        "search_rows": (search["anchors"] == "rows").to_numpy(),
        "search_depth": search["max_depth"].fillna(_NO_DEPTH).to_numpy(dtype=np.int32),
        **{f"search_{name}": search[name].to_numpy() for name in _COLUMNS},
    }
    if reading.anchors == "rows":  # those of code words are made of the code again
        arrays["anchor_plus"], arrays["anchor_vector"] = posterior.anchors.plus, posterior.anchors.vector
    return header, arrays


def n_votes_of(header: dict[str, Any] | None) -> int:
    """Return how many bits a single label has; a file of version 1 has none."""
    if header is None:
        return 0
    require(isinstance(header["n_votes"], int) and header["n_votes"] >= 0, "n_votes is not a number")
    return int(header["n_votes"])


def put_posterior(
    model: CSRPEClassifier, header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]
) -> None:
    """Give the posterior back to a model that has its bits, code and relevant set."""
    numbers = {name: header[name] for name in _NUMBERS}
    require(
        all(isinstance(value, int | float) and math.isfinite(value) for value in numbers.values()),
        "a number is missing",
    )
    temperature = math.inf if header["temperature"] is None else header["temperature"]
    require(isinstance(temperature, int | float) and temperature > 0, "the temperature is not above zero")
    require(0 <= numbers["label_share"] <= 1, "the share of the labels is not from 0 to 1")
    require(numbers["label_share"] == 0 or header["n_votes"] > 0, "no bit is for a single label")
    require(header["anchors"] in ("words", "rows"), "the anchors are of no known kind")
    independent = header.get("independent", False)  # a file of version 2 does not tell
    require(isinstance(independent, bool), "it is not clear if labels are independent")
    reading = Reading(header["anchors"], numbers["label_share"], temperature, independent)
    model.posterior_ = CodePosterior(
        model.bits_,
        _anchors(model, arrays) if header["anchors"] == "rows" else _word_anchors(model),
        model.relevant_set_,
        reading,
        LogOddsLine(numbers["slope"], numbers["shift"]),
    )
    model.reading_ = reading
    model.oob_cost_, model._cost_scale = numbers["oob_cost"], numbers["cost_scale"]
    model.oob_search_ = _search(arrays)


def _word_anchors(model: CSRPEClassifier) -> Anchors:
    return Anchors.of_words(model.code_.encode(model.relevant_set_), model.relevant_counts_)


def _anchors(model: CSRPEClassifier, arrays: dict[str, npt.NDArray[Any]]) -> Anchors:
    require("anchor_plus" in arrays and "anchor_vector" in arrays, "the anchors are missing")
    plus, vector = arrays["anchor_plus"], arrays["anchor_vector"]
    n_bits, n_vectors = len(model.code_), len(model.relevant_set_)
    mask = pack_bits(np.ones((1, n_bits), dtype=bool))
    require(len(vector) > 0 and plus.shape == (len(vector), mask.shape[1]), "the anchors have a wrong shape")
    require(vector.ndim == 1 and vector.min() >= 0 and vector.max() < n_vectors, "an anchor has no vector")
    n = len(vector)
    known = np.full(n, n_bits, np.int64)
    return Anchors(plus, np.repeat(mask, n, axis=0), known, vector, np.ones(n), n_bits, n_vectors)


def _search(arrays: dict[str, npt.NDArray[Any]]) -> pd.DataFrame:
    if "search_rows" in arrays:  # a file of version 2 does not tell if labels are independent: they are not
        arrays = {"search_independent": np.zeros(len(arrays["search_rows"]), bool), **arrays}
    names = [name for name in POSTERIOR_DTYPES if name.startswith("search_")]
    require(all(name in arrays and arrays[name].ndim == 1 for name in names), "the search is missing")
    require(len({len(arrays[name]) for name in names}) == 1, "the search has a wrong shape")
    depth = pd.array(arrays["search_depth"], dtype="Int64")
    depth[arrays["search_depth"] == _NO_DEPTH] = pd.NA
    return pd.DataFrame(
        {
            "anchors": np.where(arrays["search_rows"], "rows", "words").astype(object),
            "max_depth": depth,
            **{name: arrays[f"search_{name}"] for name in _COLUMNS},
        }
    )
