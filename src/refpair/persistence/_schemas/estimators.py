"""What a file holds of an estimator: its parameters, the names of labels and features, and what it learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from refpair.classifiers._links import TreeLinks
from refpair.costs import PerLabelCost
from refpair.persistence._array_fields import Numbers
from refpair.persistence._checks import check_learners, check_n_features
from refpair.persistence._codec import Field, Reader, Schema, Writer, require
from refpair.persistence._costs import CostField, Probe
from refpair.persistence._fields import IfThere, Known, Learner, Maybe, Seed, Threads, Verbosity, Whole
from refpair.persistence._labels import Names, n_labels_of

__all__ = [
    "COST", "REDUCTION", "Order", "check_links", "check_names", "estimator_schema", "make_estimator",
    "take_estimator",
]  # fmt: skip

REDUCTION: dict[str, Field] = {
    "estimator": Learner(),
    "n_jobs": Threads(),
    "random_state": Seed(),
    "verbose": Verbosity(),
}
COST: dict[str, Field] = {"cost": CostField(), "cost_": CostField(), "probe": Maybe(Known("Probe"))}
DATA: dict[str, Field] = {
    "_label_format": Known("LabelFormat"),
    "n_features_in_": IfThere(Whole(1)),
    "feature_names_in_": IfThere(Names()),
}


class Order:
    """The order of a chain: None, a name, or numbers."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return value if value is None or isinstance(value, str) else Numbers().write(value, writer, place)

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        return stored if stored is None or isinstance(stored, str) else Numbers().read(stored, reader, place)


def estimator_schema(
    cls: Any,
    fields: Mapping[str, Field],
    check: Callable[[Any], None] | None,
    take: Callable[[Any, list[str]], dict[str, Any]] | None = None,
    make: Callable[[type, dict[str, Any]], Any] | None = None,
) -> Schema:
    """Return the schema of an estimator, by its parameters, the fields of all, and some of its own."""
    parameters = tuple(cls._get_param_names())
    return Schema(
        cls, {**fields, **DATA}, check, take or take_estimator, make or make_estimator, parameters=parameters
    )


def take_estimator(model: Any, names: list[str]) -> dict[str, Any]:
    """Return the attributes of an estimator, and a probe of its cost."""
    values = {name: getattr(model, name, None) for name in names}
    if "probe" in names:
        values["probe"] = Probe.of(model.cost_, n_labels_of(model._label_format))
    return values


def make_estimator(cls: Any, values: dict[str, Any]) -> Any:
    """Make an estimator of its parameters, which it checks, and set those attributes that it has."""
    parameters = cls._get_param_names()
    model = cls(**{name: values[name] for name in parameters})
    model._check_parameters()
    for name in values.keys() - set(parameters) - {"probe"}:
        if values[name] is not None:
            setattr(model, name, values[name])
    if "_label_format" not in values:  # not fitted
        return model
    model.classes_ = model._label_format.classes
    if values.get("probe") is not None:
        values["probe"].check(model)
    return model


def check_names(model: Any, *, needs_features: bool = True) -> tuple[int, int]:
    """Check the names of labels and features, and prices; return how many features and labels there are."""
    n_labels = n_labels_of(model._label_format)
    n_features = getattr(model, "n_features_in_", None)
    require(n_features is not None or not needs_features, "the number of features is missing")
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        named = len(names) == n_features and all(isinstance(name, str) for name in names)
        require(named, "features lack names")
    cost = getattr(model, "cost_", None)
    if isinstance(cost, str):
        raise ValueError("the cost of the fitted model is missing")
    if isinstance(cost, PerLabelCost):
        cost.prices(n_labels)  # raises if they are those of other labels
    return n_features or 0, n_labels


def check_links(model: Any) -> None:
    """Check the links of a chain."""
    n_features, n_labels = check_names(model)
    require(len(model.links_) == n_labels, "there is not a link for each label")
    order = np.sort(model.order_)
    require(np.array_equal(order, np.arange(n_labels)), "the order of the chain is broken")
    if isinstance(model.links_, TreeLinks):
        check_n_features(model.links_.bank, n_features + n_labels)
    else:
        check_learners(model.links_.estimators, range(n_features, n_features + n_labels))
