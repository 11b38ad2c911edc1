"""What a file holds of a CSRPEClassifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair.classifiers import CSRPEClassifier
from refpair.coding import ReferencePairCode
from refpair.persistence._array_fields import Array, Vectors
from refpair.persistence._checks import check_n_features
from refpair.persistence._codec import require
from refpair.persistence._fields import (
    IfThere,
    Known,
    Learner,
    Maybe,
    Parameter,
    Real,
    Seed,
    Threads,
    Verbosity,
)
from refpair.persistence._schemas.bits import BANKS
from refpair.persistence._schemas.estimators import (
    COST,
    check_names,
    estimator_schema,
    make_estimator,
    take_estimator,
)
from refpair.persistence._schemas.posterior import PosteriorParts, Search

__all__ = ["CSRPE_SCHEMAS"]

_MOST_VECTORS, _MOST_CELLS = 1 << 20, 1 << 29  # of the code words, which are made anew: 512 MB


def _take(model: CSRPEClassifier, names: list[str]) -> dict[str, Any]:
    values = take_estimator(model, names)
    if "alpha" not in names:  # not fitted
        given = model.relevant_set
        return values | {"relevant_set": None if given is None else np.asarray(given, np.uint8)}
    code = model.code_
    _check_sizes(model, model.n_features_in_, code.alpha.shape[1])
    values |= {"alpha": code.alpha, "beta": code.beta}
    if model.relevant_set is not None:
        given = model._label_format.read_more(model.relevant_set, "relevant_set")
        values["relevant_set"] = given if isinstance(given, np.ndarray) else given.toarray()
    if hasattr(model, "posterior_"):
        values["posterior_"] = PosteriorParts.of(model.posterior_)
    return values


def _make(cls: type, values: dict[str, Any]) -> CSRPEClassifier:
    if "alpha" not in values:
        unfitted: CSRPEClassifier = make_estimator(cls, values)
        return unfitted
    alpha, beta, parts, probe = (values.pop(name) for name in ("alpha", "beta", "posterior_", "probe"))
    labels, given = values["_label_format"], values["relevant_set"]
    if given is not None:
        values["relevant_set"] = labels.write(given, None)
    model: CSRPEClassifier = make_estimator(cls, values)
    n_features, n_labels = check_names(model)
    require(given is None or given.shape[1] == n_labels, "the relevant set is one of other labels")
    model.code_ = ReferencePairCode(alpha, beta, model.cost_)
    _check_sizes(model, n_features, n_labels)
    if parts is not None:
        require(model.decoder == "posterior", "the decoder has no use for a posterior")
        has_all = hasattr(model, "oob_search_") and hasattr(model, "oob_cost_")
        require(has_all and len(model.code_), "the search is missing")
        model.posterior_, model.reading_ = parts.for_model(model), parts.reading
    else:
        require(model.decoder == "nearest" or len(model.code_) == 0, "the posterior is missing")
        model._make_code_book()
    if probe is not None:
        probe.check(model)
    return model


def _check_sizes(model: CSRPEClassifier, n_features: int, n_labels: int) -> None:
    code, bank, vectors = model.code_, model.bits_, model.relevant_set_
    require(code.alpha.shape[1] == n_labels == vectors.shape[1], "the code is one of other labels")
    fits = len(vectors) > 0 and model.relevant_counts_.shape == (len(vectors),)
    require(fits, "the relevant set has a wrong shape")
    few = len(vectors) <= _MOST_VECTORS and len(vectors) * len(code) <= _MOST_CELLS
    require(few, "there are more code words than there is room for")
    n_more = len(bank) - len(code)
    require(n_more >= 0 and n_more % n_labels == 0, "there is not one learner for each bit")
    require(n_more == 0 or model.decoder == "posterior", "there is not one learner for each bit")
    check_n_features(bank, n_features)


CSRPE_SCHEMAS = (
    estimator_schema(
        CSRPEClassifier,
        {
            **COST,
            "n_bits": Parameter(),
            "learner": Learner(),
            "pairs": Parameter(),
            "decoder": Parameter(),
            "relevant_set": Maybe(Vectors()),
            "max_depth": Parameter(),
            "min_samples_leaf": Parameter(),
            "max_features": Parameter(),
            "max_samples": Parameter(),
            "max_bins": Parameter(),
            "n_jobs": Threads(),
            "random_state": Seed(),
            "verbose": Verbosity(),
            "alpha": Vectors(),
            "beta": Vectors(),
            "relevant_set_": Vectors(),
            "relevant_counts_": Array("<i8"),
            "bits_": Known(*BANKS),
            "posterior_": IfThere(Known("PosteriorParts")),
            "oob_search_": IfThere(Search()),
            "oob_cost_": IfThere(Real()),
            "_cost_scale": Real(),
        },
        None,
        _take,
        _make,
    ),
)
