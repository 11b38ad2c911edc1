"""Files of formats 1 to 3 in the form of format 4, so that there is one way to put a model together.

They knew only a CSRPEClassifier of trees: format 1 none but the nearest decoder, format 2 a posterior, and
format 3 one that may take labels as independent. The rows that each bit was learnt from were in them as a
matrix; no model needs them any more after it was loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair.persistence._codec import require
from refpair.persistence._file import Contents

__all__ = ["migrated"]

_NO_LONGER_KEPT = "in_bag"
_SEARCH = ("rows", "depth", "label_share", "temperature", "independent", "cost", "n_rows")
_PARAMETERS = (
    "n_bits", "learner", "pairs", "decoder", "max_depth", "min_samples_leaf", "max_features", "max_samples",
    "max_bins", "n_jobs", "random_state", "verbose",
)  # fmt: skip


def migrated(contents: Contents) -> Contents:
    """Return the contents of a file as format 4 has them; errors of many kinds if they are broken."""
    if contents.version >= 4:
        return contents
    header, arrays = contents.header, dict(contents.arrays)
    arrays.pop(_NO_LONGER_KEPT, None)
    return Contents({**header, "version": 4, "model": _model(header, arrays), "inner": []}, arrays)


def _model(header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    parameters, labels, features = header["parameters"], header["labels"], header["features"]
    n_labels = labels["n"]
    cost, probe = dict(header["cost"]), None
    if "function" in cost:
        code_words = cost.pop("code_words")
        probe = {"class": "Probe", "vectors": None, "costs": None, "code_words": code_words}
    posterior = header.get("posterior")
    require(parameters["learner"] == "tree", "the learner is not a tree")
    fits = n_labels == (1 if labels["kind"] == "classes" else len(labels["names"]["values"]))
    require(fits, "labels lack names")
    require(
        parameters.keys() - {"cost"} == set(_PARAMETERS), "there are other parameters than there should be"
    )

    def vectors(name: str) -> dict[str, Any] | None:
        return {"bits": name, "n": n_labels} if name in arrays else None

    return {
        "class": "CSRPEClassifier",
        "cost": parameters.get("cost", cost),
        "cost_": cost,
        "probe": probe,
        **{name: parameters[name] for name in _PARAMETERS},
        "relevant_set": vectors("given_relevant_set"),
        "_label_format": {
            "class": "LabelFormat",
            "kind": labels["kind"],
            "classes": labels["names"],
            "dtype": labels.get("dtype"),
        },
        "n_features_in_": features["n"],
        "feature_names_in_": None
        if features["names"] is None
        else {"dtype": "O", "values": features["names"]},
        "alpha": vectors("alpha"),
        "beta": vectors("beta"),
        "relevant_set_": vectors("relevant_set"),
        "relevant_counts_": "relevant_counts",
        "bits_": _bank(parameters),
        **_posterior(posterior, arrays, knows_independent=header["version"] > 2),
    }


def _bank(parameters: dict[str, Any]) -> dict[str, Any]:
    def own(name: str) -> Any:
        return None if parameters[name] == "auto" else parameters[name]

    return {
        "class": "TreeBank",
        **{name: own(name) for name in ("max_depth", "min_samples_leaf", "max_features", "max_samples")},
        **{name: own(name) for name in ("max_bins", "n_jobs", "verbose")},
        "bins_": _object("Bins", "bins", "edges", "edge_start", "has_missing"),
        "trees_": _object(
            "Trees", "trees", "start", "feature", "threshold", "missing_left", "left_child", "value"
        ),
        "bags_": None,
    }


def _object(cls: str, prefix: str, *names: str) -> dict[str, Any]:
    return {"class": cls} | {name: f"{prefix}_{name}" for name in names}


def _posterior(
    posterior: dict[str, Any] | None, arrays: dict[str, Any], *, knows_independent: bool
) -> dict[str, Any]:
    if posterior is None:  # a file of format 1, or of the nearest decoder
        return {"posterior_": None, "oob_search_": None, "oob_cost_": None, "_cost_scale": 1.0}
    if not knows_independent:
        posterior = {**posterior, "independent": False}
        arrays["search_independent"] = np.zeros(len(arrays["search_rows"]), bool)
    has_anchors = posterior["anchors"] == "rows"
    reading = {
        "class": "Reading",
        "anchors": posterior["anchors"],
        "label_share": posterior["label_share"],
        "temperature": "inf" if posterior["temperature"] is None else posterior["temperature"],
        "independent": posterior["independent"],
    }
    return {
        "posterior_": {
            "class": "PosteriorParts",
            "reading": reading,
            "line": {"class": "LogOddsLine", "slope": posterior["slope"], "shift": posterior["shift"]},
            "plus": "anchor_plus" if has_anchors else None,
            "vector": "anchor_vector" if has_anchors else None,
        },
        "oob_search_": {name: f"search_{name}" for name in _SEARCH},
        "oob_cost_": posterior["oob_cost"],
        "_cost_scale": posterior["cost_scale"],
    }
