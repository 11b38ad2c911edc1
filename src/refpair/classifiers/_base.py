"""What all multi-label classifiers of the package share: reading X and Y, writing predictions, scoring."""

from __future__ import annotations

import sys
import warnings
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from refpair._saved import IfThere, Savable, require
from refpair.classifiers._dask_blocks import in_memory
from refpair.classifiers._lazy import BY_BLOCKS, by_blocks
from refpair.costs import Cost, get_cost
from refpair.costs._probe import check_probe, is_function, probe
from refpair.on_disk import RowsOnDisk
from refpair.tables.labels import LabelFormat, LabelMatrix, read_labels

__all__ = ["MultiLabelClassifier"]


class MultiLabelClassifier(ClassifierMixin, BaseEstimator, Savable):  # type: ignore[misc]
    """Base of the package's classifiers.

    A subclass sets ``cost_`` in ``fit`` and defines ``_predict_labels(X) -> 0/1 matrix``. Its methods named
    in ``BY_BLOCKS`` take Dask arrays and DataFrames, too, and then answer lazily.
    """

    cost_: IfThere[Cost]
    classes_: IfThere[npt.NDArray[Any]]
    n_features_in_: IfThere[int]
    feature_names_in_: IfThere[npt.NDArray[Any]]
    _label_format: LabelFormat
    _needs_n_features: ClassVar[bool] = True

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        for name in vars(cls).keys() & set(BY_BLOCKS):
            setattr(cls, name, by_blocks(vars(cls)[name]))

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        raise TypeError(f"{type(self).__name__} defines no _predict_labels")

    def _read(self, X: Any, Y: Any) -> tuple[Any, LabelMatrix]:
        """Validate the training data; note the features' and labels' names and how Y was given."""
        X = self._read_features(in_memory(X), reset=True)
        labels, self._label_format = read_labels(in_memory(Y))
        check_consistent_length(X, labels)
        self.classes_ = self._label_format.classes
        return X, labels

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        """Return X as a float array, as a CSR array that has no cell twice, or as the rows on disk it is."""
        if isinstance(X, RowsOnDisk):
            return self._read_rows_on_disk(X, reset=reset)
        allowed = self.__sklearn_tags__().input_tags
        X = in_memory(X)
        if isinstance(X, pd.DataFrame):
            _check_numbers(self, X)
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if allowed.sparse else False,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan" if allowed.allow_nan else True,
        )
        if not sp.issparse(X):
            return np.require(X, requirements="A")  # a block that came by the network may begin anywhere
        matrix = sp.csr_array(X)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()  # else it shares its memory with the caller's
            matrix.sum_duplicates()
        return matrix

    def _read_rows_on_disk(self, X: RowsOnDisk, *, reset: bool) -> RowsOnDisk:
        """Check what can be told without reading all rows, and that a model can do with some at a time."""
        if reset and not self._learns_from_rows_on_disk():
            raise ValueError(
                f"{type(self).__name__} needs all rows in memory, not those of {X.path}: give it "
                'X[:100_000], say; CSRPEClassifier with estimator="tree" can learn from rows on disk'
            )
        _check_n_features(self, X, reset=reset)
        names = None if X.feature_names is None else pd.DataFrame(columns=X.feature_names)
        _check_feature_names(self, X if names is None else names, reset=reset)
        return X

    def _learns_from_rows_on_disk(self) -> bool:
        return False

    def _check_cost(self, cost: Any) -> Cost:
        """Return a cost as an object, if it is one for the labels of this model."""
        if not isinstance(cost, str | Cost) and not callable(cost):
            raise ValueError(f"cost must be a name, a Cost or a function, not {cost!r}")
        return get_cost(cost).for_labels(self._label_format.label_names)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; warn of a search over costs that compares the numbers of different measures."""
        old = getattr(self, "cost", None)
        if repr(params.get("cost", old)) != repr(old) and _is_own_score():
            warnings.warn(
                "the search compares models by their own costs, which are different measures: say by which "
                'one they are compared, as in GridSearchCV(..., scoring=get_cost("f1").scorer())',
                UserWarning,
                stacklevel=2,
            )
        model: Self = super().set_params(**params)
        return model

    def _get_saved(self) -> dict[str, Any]:
        saved = super()._get_saved()
        saved.pop("classes_", None)  # they are those of the label format
        if not isinstance(saved.get("cost", ""), str):
            saved["cost"] = get_cost(self.cost)
        if "cost_" in saved and is_function(self.cost_):
            saved["probe"] = probe(self.cost_, self._label_format.n_labels)
        return saved

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        said = saved.pop("probe", None)
        if isinstance(how := saved.get("_label_format"), LabelFormat):
            saved["classes_"] = how.classes
        model = super()._from_saved(saved)
        if said is not None:
            check_probe(model.cost_, model._label_format.n_labels, said)
        return model

    def _check_saved(self) -> None:
        self._check_parameters()
        if not hasattr(self, "_label_format"):
            return
        n_features, names = getattr(self, "n_features_in_", 0), getattr(self, "feature_names_in_", None)
        require(n_features > 0 or not self._needs_n_features, "the number of features is missing")
        if names is not None:
            named = names.shape == (n_features,) and all(isinstance(name, str) for name in names)
            require(named, "features lack names")
        if hasattr(self, "cost"):
            self._check_cost(self.cost)
            self._check_cost(self.cost_)
        self._check_learnt(n_features, self._label_format.n_labels)

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        """Raise a ValueError unless what was learnt is of so many features and labels."""

    @by_blocks
    def predict(self, X: Any) -> Any:
        """Predict the label vectors of rows.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            A Dask array or DataFrame is predicted lazily, block by block.

        Returns
        -------
        Y : of shape (n, n_labels)
            In the kind that the labels had in ``fit``: array, CSR matrix, or DataFrame with their names. Of
            Dask: a DataFrame if X is one and the labels have names, an array otherwise.
        """
        check_is_fitted(self)
        labels = self._predict_labels(self._read_features(X, reset=False))
        return self._label_format.write(labels, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return how well the labels of rows are predicted, by the model's own cost.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            The true labels.
        sample_weight : array of shape (n,), optional
            How much each row counts.

        Returns
        -------
        score : float
            By ``cost_``, and greater is better: the mean of 1 − cost for F-beta, Jaccard and the zero-one
            loss (there it is the share of rows whose labels are all right, as scikit-learn's classifiers have
            it); minus the mean cost for all others. ``cost_.mean`` has the number as papers report it.

        Notes
        -----
        Models with different costs are compared by one of them: ``get_cost("f1").scorer()(model, X, y)``.
        Classifiers that know no cost (binary relevance, chains, label powersets, RAkEL, ML-ECC) have the
        zero-one loss as ``cost_``.
        """
        check_is_fitted(self)
        predicted = self._predict_labels(self._read_features(in_memory(X), reset=False))
        truths = self._label_format.read_more(in_memory(y))
        return self.cost_._score(truths, predicted, in_memory(sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _is_own_score() -> bool:
    """Whether scikit-learn's search sets parameters of a model that it scores by its own ``score``; once."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == "_fit_and_score" and "sklearn" in frame.f_globals["__name__"]:
            scorer: Any = frame.f_locals.get("scorer")
            is_own = type(scorer).__name__ == "_PassthroughScorer" and not hasattr(scorer, "_has_warned")
            if is_own:
                scorer._has_warned = True
            return is_own
    return False


def _check_numbers(model: Any, X: pd.DataFrame) -> None:
    """Refuse a table with texts, dates or categories, and say what turns them into features."""
    for name, column in X.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        try:
            column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            held = column.dropna()
            told = f" such as {str(held.iloc[0])[:40]!r}" if len(held) else ""
            cost = getattr(model, "cost", None)
            shown = f"{type(model).__name__}({repr(cost) if isinstance(cost, str) else ''})"
            raise ValueError(
                f"column {str(name)!r} does not hold numbers, but values{told}: "
                f"make_pipeline(TableVectorizer(), {shown}) turns such columns into features"
            ) from None
