"""What classifiers do with their training data, their features, and the files that they are saved to."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_consistent_length,
    validate_data,
)

from refpair._doc_link import DocLinked
from refpair._extras import is_dataframe, pd
from refpair._parallel import in_memory
from refpair._progress import CallbackSupportMixin
from refpair._saved import IfThere, require
from refpair._sparse import check_sparse
from refpair.classifiers._hints import refuse_texts, warn_of_own_scores
from refpair.classifiers._rules import learn_rules
from refpair.classifiers._saved_cost import SavableWithCost
from refpair.classifiers._weights import take_rows, weigh
from refpair.costs import Cost, PerLabelCost, RankedCost, get_cost
from refpair.decision.rule_set import RuleSet
from refpair.decision.rules import check_rules
from refpair.decision.thresholds import HeldOut
from refpair.on_disk import RowsOnDisk
from refpair.posterior.distribution import Floats
from refpair.tables.labels import UNKNOWN, LabelFormat, LabelMatrix, has_unknown, read_labels


# scikit-learn carries no types, so mypy sees classes of type Any among the bases.
class ReadingClassifier(DocLinked, CallbackSupportMixin, ClassifierMixin, BaseEstimator, SavableWithCost):  # type: ignore[misc]
    """A classifier as far as it reads and is saved: X, the labels in any form, costs and rules about them."""

    cost_: IfThere[Cost]
    rules_: IfThere[RuleSet | None]
    classes_: IfThere[npt.NDArray[Any]]
    n_features_in_: IfThere[int]
    feature_names_in_: IfThere[npt.NDArray[Any]]
    _held_out: IfThere[HeldOut]
    _prices: IfThere[Cost]  # by which it decides, if its cost is a measure of a whole table
    _label_format: LabelFormat
    _doc_page = "other-classifiers"
    _needs_n_features: ClassVar[bool] = True
    _refuses_nan: ClassVar[bool] = True  # if its tags do; else that is left to the estimator within
    _takes_unknown_labels: ClassVar[bool] = False  # whether Y may have gaps in `fit`: UNKNOWN in what is read

    def _read(self, X: Any, Y: Any, sample_weight: Any) -> tuple[Any, LabelMatrix, Floats | None, Cost]:
        """Validate the training data; note the features' and labels' names and how Y was given.

        Rows that have weight 0, or no label that is known, are left out, and their prices, too. The weights
        are None if all are 1. The cost is that of the parameter, or the zero-one loss.
        """
        weight, kept = None, None
        if sample_weight is not None:
            X, Y, weight, kept = weigh(X, Y, sample_weight)
        X = self._read_features(X, reset=True)
        labels, self._label_format = read_labels(in_memory(Y), may_miss=self._takes_unknown_labels)
        check_consistent_length(X, labels)
        self.classes_ = self._label_format.classes
        cost = self._check_cost(getattr(self, "cost", "zero_one"))
        cost._check_n_rows(labels.shape[0] if kept is None else len(kept))
        if kept is not None:
            cost = cost.for_rows(kept)
        if hasattr(self, "rules"):
            own = self.rules
            if own and isinstance(cost, RankedCost):
                raise ValueError(f"rules are about label vectors, and {cost.name!r} is a cost of lists")
            self.rules_ = None if own is None else learn_rules(own, labels, self._label_format)
        if has_unknown(labels):
            some = np.flatnonzero((labels != UNKNOWN).any(axis=1))
            if len(some) < len(labels):
                X, labels = take_rows(X, some), labels[some]
                weight = None if weight is None else weight[some]
                cost = cost.for_rows(some)
        return X, labels, weight, cost

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        """Return X as a float array, as a CSR array that has no cell twice, or as the rows on disk it is."""
        if isinstance(X, RowsOnDisk):
            return self._read_rows_on_disk(X, reset=reset)
        allowed = self.__sklearn_tags__().input_tags
        X = in_memory(X)
        check_sparse(X, "X")
        if is_dataframe(X):
            refuse_texts(self, X)
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if allowed.sparse else False,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan" if allowed.allow_nan or not self._refuses_nan else True,
        )
        if not sp.issparse(X):
            return np.require(X, requirements="A")  # a block that came by the network may begin anywhere
        matrix = sp.csr_array(X)
        if matrix.nnz < len(matrix.data) or not matrix.has_canonical_format:
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
        if not isinstance(cost, str | Cost) and (not callable(cost) or isinstance(cost, type)):
            raise ValueError(f"cost must be a name, a Cost or a function, not {cost!r}")
        return get_cost(cost).for_labels(self._label_format.label_names)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; warn if a grid search over costs compares scores by different measures."""
        old = getattr(self, "cost", None)
        if repr(params.get("cost", old)) != repr(old):
            warn_of_own_scores()
        model: Self = super().set_params(**params)
        return model

    def _get_saved(self) -> dict[str, Any]:
        saved = super()._get_saved()
        saved.pop("classes_", None)  # they are those of the label format
        if not isinstance(saved.get("cost", ""), str):
            saved["cost"] = get_cost(self.cost).with_mean_prices()  # the rows are not in the file either
        return saved

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        if isinstance(how := saved.get("_label_format"), LabelFormat):
            saved["classes_"] = how.classes
        return super()._from_saved(saved)

    def _check_saved(self) -> None:
        self._check_parameters()
        if getattr(self, "rules", None) is not None:
            check_rules(self.rules)
        if not hasattr(self, "_label_format"):
            return
        n_features, names = getattr(self, "n_features_in_", 0), getattr(self, "feature_names_in_", None)
        require(n_features > 0 or not self._needs_n_features, "the number of features is missing")
        if names is not None:
            named = names.shape == (n_features,) and all(isinstance(name, str) for name in names)
            require(named, "features lack names")
        if hasattr(self, "cost"):
            self._check_cost(self.cost)
        require(hasattr(self, "cost_"), "the cost is missing")
        self._check_cost(self.cost_)
        rules, n_labels = self._own_rules, self._label_format.n_labels
        require(rules is None or rules.n_labels == n_labels, "the rules are about other labels")
        self._check_learnt(n_features, n_labels)
        if hasattr(self, "_held_out"):
            fits = self._held_out.probabilities.shape[1] == n_labels
            require(fits, "the samples that were held out have other labels")
        if hasattr(self, "_prices"):
            require(isinstance(self._prices, PerLabelCost), "the thresholds are none")
            self._prices.for_labels(self._label_format.label_names)

    @property
    def _own_rules(self) -> RuleSet | None:
        return getattr(self, "rules_", None)

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        """Raise a ValueError unless what was learned is of so many features and labels."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        # What is learned by another estimator takes what that takes.
        learner = getattr(self, "estimator", None)
        if isinstance(learner, str):
            tags.input_tags.allow_nan = learner != "logistic"
        elif hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type):
            tags.input_tags = get_tags(learner).input_tags
        return tags
