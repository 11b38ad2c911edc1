"""Fitted multi-label models of scikit-learn, read as distributions over label vectors.

Most models fail on a label that is the same in all training rows. It is kept from them, and put back into
what they say. Forests and trees do not fail and get all labels: they are then just those that one would fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples

from refpair._saved import Savable, require
from refpair.classifiers._chain_samples import ChainSamples
from refpair.classifiers._distinct_labels import distinct_labels
from refpair.classifiers._leaf_vectors import LeafVectors, read_leaves
from refpair.classifiers._links import EstimatorLinks
from refpair.posterior import IndependentLabels, LabelDistribution
from refpair.tables.labels import LabelMatrix

__all__ = ["Distribution", "LabelModel", "fit_label_model", "is_pipeline", "last_step"]

Distribution: TypeAlias = LabelDistribution | IndependentLabels
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

_FORESTS = (RandomForestClassifier, ExtraTreesClassifier, DecisionTreeClassifier)


@dataclass(frozen=True, eq=False)
class LabelModel(Savable):
    """A fitted model, and the values of the labels that were kept from it.

    Attributes
    ----------
    model : estimator or None
        None if there was no label to fit it on.
    reading : LeafVectors, ChainSamples or None
        How its last step is read; None stands for independent labels.
    constant : ndarray of uint8, shape (n_labels,)
        A label vector that has the labels that were kept from the model.
    fitted : ndarray of bool, shape (n_labels,)
        Which labels it was fitted on.
    """

    model: Any
    reading: LeafVectors | ChainSamples | None
    constant: Bytes
    fitted: npt.NDArray[np.bool_]

    def _get_saved(self) -> dict[str, Any]:
        """Return what the model does not hold: the trees and links that the reading asks are its own."""
        saved = super()._get_saved()
        if self.reading is not None:
            parts = self.reading._get_saved()
            saved["reading"] = {name: parts[name] for name in parts.keys() - {"trees", "links"}}
        return saved

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        reading, inner = saved.get("reading"), last_step(saved.get("model"))
        if reading is not None:
            right = isinstance(reading, dict) and isinstance(inner, (*_FORESTS, ClassifierChain))
            require(right, "leaves or draws are there, but neither trees nor a chain")
            if isinstance(inner, ClassifierChain):
                links = EstimatorLinks(inner.estimators_)
                reading = ChainSamples._from_saved({**reading, "links": links})
            else:
                trees = [tree.tree_ for tree in getattr(inner, "estimators_", [inner])]
                reading = LeafVectors._from_saved({**reading, "trees": trees})
        return super()._from_saved({**saved, "reading": reading})

    def _check_saved(self) -> None:
        n_labels = len(self.constant)
        right = self.constant.ndim == 1 and self.fitted.shape == (n_labels,) and n_labels > 0
        require(right and self.constant.max() <= 1, "the labels are broken")
        require((self.model is not None) == self.fitted.any(), "the fitted model is missing")
        require(self.model is None or hasattr(self.model, "predict"), "the fitted model is none")
        if isinstance(self.reading, LeafVectors):
            fits = self.fitted.all() and self.reading.vectors.shape[1] == n_labels
            require(fits, "the leaves are those of other labels")
        elif isinstance(self.reading, ChainSamples):
            require(len(self.reading.links) == self.fitted.sum(), "the chain is one of other labels")

    def distributions(self, X: Any, n_jobs: int | None) -> Iterator[tuple[slice, Distribution]]:
        """Yield the distributions over label vectors of blocks of rows."""
        first = 0
        for part in self._parts(X, n_jobs):
            yield slice(first, first + len(part)), part
            first += len(part)

    def _parts(self, X: Any, n_jobs: int | None) -> Iterator[Distribution]:
        if isinstance(self.reading, LeafVectors):
            yield from self.reading.distributions(_before_last_step(self.model, X), n_jobs)
        elif isinstance(self.reading, ChainSamples):
            for drawn in self.reading.distributions(_before_last_step(self.model, X)):
                yield replace(drawn, vectors=self._with_constants(drawn.vectors))
        else:
            yield IndependentLabels(self._independent_marginals(X))

    def _independent_marginals(self, X: Any) -> Floats:
        marginals = np.tile(self.constant.astype(np.float64), (_num_samples(X), 1))
        if self.model is not None:
            marginals[:, self.fitted] = _label_probabilities(self.model, X, int(self.fitted.sum()))
        return marginals

    def _with_constants(self, varying: Bytes) -> Bytes:
        labels = np.tile(self.constant, (len(varying), 1))
        labels[:, self.fitted] = varying
        return labels


def fit_label_model(
    estimator: Any,
    X: Any,
    labels: LabelMatrix,
    *,
    n_samples: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    verbose: int,
) -> LabelModel:
    """Fit an estimator, which must be a clone to keep, and find out how to read it."""
    distinct = distinct_labels(labels)
    constant = distinct.vectors[0]
    inner = last_step(estimator)
    if isinstance(inner, _FORESTS):
        chosen = np.ones(len(constant), bool)
    else:
        chosen = (distinct.vectors != constant).any(axis=0)
    if not chosen.any():
        return LabelModel(None, None, constant, chosen)
    if isinstance(inner, ClassifierChain) and not isinstance(inner.order, str | None):
        inner.set_params(order=_order_of_chosen(inner.order, chosen))
    estimator.fit(X, _targets(inner, labels, chosen))

    reading: LeafVectors | ChainSamples | None = None
    fitted = last_step(estimator)
    if isinstance(fitted, _FORESTS):
        features = _before_last_step(estimator, X)
        reading = read_leaves(fitted, features, distinct, n_jobs=n_jobs, verbose=verbose)
    elif isinstance(fitted, ClassifierChain):
        links = EstimatorLinks(fitted.estimators_)
        reading = ChainSamples(links, np.asarray(fitted.order_), n_samples, rng.random(int(chosen.sum())))
    return LabelModel(estimator, reading, constant, chosen)


def is_pipeline(estimator: Any) -> bool:
    """Whether it is a pipeline, or a search for the parameters of one."""
    return isinstance(_searched(estimator), Pipeline)


def last_step(estimator: Any) -> Any:
    """Return what is at the end of pipelines and within searches; of fitted ones, what is fitted."""
    while isinstance(inner := _searched(estimator), Pipeline):
        estimator = inner.steps[-1][1]
    return inner


def _searched(estimator: Any) -> Any:
    while isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        estimator = getattr(estimator, "best_estimator_", estimator.estimator)
    return estimator


def _before_last_step(model: Any, X: Any) -> Any:
    """Return the features as the last step of fitted pipelines gets them."""
    while isinstance(inner := _searched(model), Pipeline):
        if len(inner) > 1:
            X = inner[:-1].transform(X)
        model = inner.steps[-1][1]
    return X


def _order_of_chosen(order: Any, chosen: npt.NDArray[np.bool_]) -> list[int]:
    """Return the order of a chain of all labels for a chain of the chosen ones, which are numbered anew."""
    if sorted(order) != list(range(len(chosen))):
        raise ValueError(f"the order of the chain must name each of the {len(chosen)} labels once")
    number = np.cumsum(chosen) - 1
    return [int(number[label]) for label in order if chosen[label]]


def _targets(inner: Any, labels: LabelMatrix, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the chosen labels as scikit-learn takes them: a single one mostly as a vector."""
    columns = labels[:, np.flatnonzero(chosen)]
    targets = np.asarray(columns.toarray() if sp.issparse(columns) else columns, dtype=np.int64)
    takes_vectors = not hasattr(inner, "__sklearn_tags__") or get_tags(inner).target_tags.single_output
    return targets[:, 0] if targets.shape[1] == 1 and takes_vectors else targets


def _label_probabilities(model: Any, X: Any, n_labels: int) -> Floats:
    """Return what ``predict_proba`` says of each label, in whichever of its forms it says it."""
    given = model.predict_proba(X)
    if isinstance(given, list):
        # One array a label, with a column for each of its classes: two, since the label varies.
        columns = [np.asarray(array)[:, 1] for array in given]
        probabilities = np.column_stack(columns)
    else:
        probabilities = np.asarray(given.toarray() if sp.issparse(given) else given, dtype=np.float64)
        if n_labels == 1:  # the columns are those of its two classes
            probabilities = probabilities[:, -1:]
    if probabilities.ndim != 2 or probabilities.shape[1] != n_labels:
        raise ValueError(
            f"predict_proba of {model!r} gives an array of shape {probabilities.shape} for {n_labels} "
            "labels: it is not a multi-label classifier"
        )
    if not np.isfinite(probabilities).all():
        raise ValueError(f"predict_proba of {model!r} gives probabilities that are not numbers")
    return np.asarray(np.clip(probabilities, 0.0, 1.0))  # some are 1 + 2e-16
