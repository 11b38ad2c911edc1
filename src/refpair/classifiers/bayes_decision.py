"""Decisions of lowest expected cost for any scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _num_samples, validate_data

from refpair._fitting import all_or_nothing, warn_caller
from refpair._parallel import chunks_of, in_memory, run_chunks
from refpair._saved import Savable, require
from refpair._sparse import check_sparse
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._base_learners import Bytes, Floats, Number, Rows, check_takes_weights
from refpair.classifiers._chain_search import ChainSamples, with_rows
from refpair.classifiers._checks import check_count, check_running
from refpair.classifiers._leaf_vectors import LeafVectors, read_leaves
from refpair.classifiers._links import EstimatorLinks
from refpair.costs import Cost, Measure
from refpair.decision.thresholds import HeldOut
from refpair.posterior import IndependentLabels, LabelDistribution
from refpair.posterior.calibrate import LogOddsPool, cell_weight
from refpair.posterior.distinct_labels import distinct_labels
from refpair.tables.labels import UNKNOWN, LabelMatrix, has_unknown, with_gaps

Bools: TypeAlias = npt.NDArray[np.bool_]
Distribution: TypeAlias = LabelDistribution | IndependentLabels

_FORESTS = (RandomForestClassifier, ExtraTreesClassifier, DecisionTreeClassifier)
_SEARCHES = (GridSearchCV, RandomizedSearchCV)
_FEWEST_ROWS, _MOST_ROWS = 20, 1000  # to calibrate by
_FOLDS = 5
_MANY_TREES = 100  # of fewer, those that did not draw a row are too few to speak as all of them do
_ROUNDING = 1e-9  # of a sum of weights
_SILENT = (*_SEARCHES, MultiOutputClassifier, OneVsRestClassifier)  # of whether what they wrap takes NaN


@dataclass(frozen=True, eq=False)
class LabelModel(Savable):
    """A fitted model as a distribution over label vectors, and the values of labels that were kept from it.

    Most models fail on a label that is the same in all training rows. It is kept from them, and put back into
    what they say. Forests and trees do not fail and get all labels: they are just those that one would fit.
    """

    model: Any  # None if there was no label to fit it on
    reading: LeafVectors | ChainSamples | None  # of its last step; None stands for independent labels
    constant: Bytes  # a label vector that has the labels that were kept from the model
    fitted: npt.NDArray[np.bool_]  # which labels it was fitted on
    pool: LogOddsPool | None = None  # calibrates what the model says

    def _get_saved(self) -> dict[str, Any]:
        """Return what the model does not hold: the trees and links that the reading asks are its own."""
        saved = super()._get_saved()
        if self.reading is not None:
            parts = self.reading._get_saved()
            saved["reading"] = {name: parts[name] for name in parts.keys() - {"trees", "links"}}
        return saved

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        reading, inner = saved.get("reading"), _last_step(saved.get("model"))
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
        right = self.pool is None or self.pool.fits(1, n_labels)
        require(right, "the model is calibrated by what other models say")

    def distributions(self, X: Any, n_jobs: int | None) -> Iterator[Distribution]:
        """Yield the distributions over label vectors of blocks of rows."""
        if self.reading is not None:
            for told in self._told(self.reading, X, n_jobs):
                yield told if self.pool is None else told.tilted(self.pool([told.marginals()]))
            return
        marginals = np.empty((_num_samples(X), 0))
        if self.model is not None:
            marginals = _label_probabilities(self.model, X, int(self.fitted.sum()))
        marginals = self._with_constants(marginals)
        if self.pool is not None:
            marginals = np.where(self.fitted, self.pool([marginals]), marginals)
        yield IndependentLabels(marginals, is_of_labels=True)

    def _told(
        self, reading: LeafVectors | ChainSamples, X: Any, n_jobs: int | None
    ) -> Iterator[LabelDistribution]:
        X = _before_last_step(self.model, X)
        if isinstance(reading, LeafVectors):
            yield from reading.distributions(X, n_jobs)
        else:
            for drawn in reading.distributions(X):
                yield replace(drawn, vectors=self._with_constants(drawn.vectors))

    def told_and_true(self, told: Distribution, labels: LabelMatrix) -> tuple[Floats, Bools, Bytes]:
        """Return the probabilities, where calibration may change them, and which labels are there.

        The labels that were kept from the model stay as they are. So do those that all label vectors of a row
        have, or none: no weights of these would have any other probability.
        """
        p = told.marginals()
        changes = np.tile(self.fitted, (len(p), 1))
        if not told.is_independent:
            changes &= (p > _ROUNDING) & (p < 1.0 - _ROUNDING)
        return p, changes, np.asarray(labels.toarray() if sp.issparse(labels) else labels, dtype=np.uint8)

    def _with_constants(self, varying: npt.NDArray[Number]) -> npt.NDArray[Number]:
        values = np.tile(self.constant.astype(varying.dtype), (len(varying), 1))
        values[:, self.fitted] = varying
        return values


# scikit-learn carries no types, so mypy sees a class of type Any among the bases.
class BayesDecisionClassifier(MetaEstimatorMixin, MultiLabelClassifier):  # type: ignore[misc]
    """Add calibration and decisions of lowest expected cost to a scikit-learn classifier.

    The classifier is fitted as usual, whatever the cost. Its predictions become a distribution over label
    vectors, which is calibrated on rows that it was not fitted on. The answer is the label vector of lowest
    expected cost under this distribution; all other methods use the same distribution.
    :mod:`refpair.decision` says for which costs the decision is exact.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``predict_proba``, also as the last step of a pipeline or within ``GridSearchCV``.
        One that learns a single label, by its tags, is fitted once for each label, by scikit-learn's
        ``MultiOutputClassifier``; the steps before it in a pipeline are fitted once. Its type determines
        how labels depend on each other:

        - forests and trees (``RandomForestClassifier``, ``ExtraTreesClassifier``, ``DecisionTreeClassifier``,
          ``ExtraTreeClassifier``): the label vectors of the training rows in the leaf of a row, with their
          mean frequency over the trees. Dependence is kept.
        - chains (``ClassifierChain``): label vectors are drawn from the chain. Dependence is kept.
        - all others: labels are assumed **independent**, with the probabilities of ``predict_proba``.
    cost : str, Cost or callable, default="f1"
        What a prediction costs: "f1", "zero_one" and so on of a row, "macro_f1" and so on of a whole table,
        "ndcg@10" and so on of a list; see :func:`get_cost`.
    calibrate : bool, default=True
        Whether to calibrate the probabilities of labels: by a beta calibration that all labels share, which a
        ridge regression corrects for each label. It is learned out of bag if the estimator is a forest with
        bootstrap and at least 100 trees; else by five-fold cross-validation, which takes five more fits. At
        least 20 rows are needed.
    rules : list of rules, optional
        What answers must keep, such as ``[AtMost(3), Implies("raster", "image")]``; see
        :class:`refpair.AtMost`. Label vectors that break one are taken as impossible, unless more than 1 %
        of the training rows break it.
    n_samples : int, default=100
        Number of label vectors to draw from a chain for each row. If 2^K ≤ n_samples for K labels, the
        distribution is computed exactly. Other estimators do not use it.
    n_jobs : int, optional
        Number of threads for reading leaves and deciding, and of processes for fitting an estimator for each
        label; −1 uses all processors. The estimator has its own ``n_jobs``.
    random_state : int, RandomState or None, default=None
        Seeds the draws from a chain and the folds of calibration. If given, it also seeds the estimator where
        that has no random state.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    estimator_ : classifier
        The fitted clone of the estimator, or the ``MultiOutputClassifier`` of it. Unless it is a tree or
        forest, it is fitted on the labels that vary in the training set only, since constant labels make most
        classifiers fail; None if no label varies.
    cost_ : Cost
    thresholds_ : ndarray of shape (n_labels,)
        The probability above which each label is predicted, if the cost is a measure of a whole table.
    rules_ : RuleSet or None
        The rules, about labels by their numbers.
    classes_, n_features_in_, feature_names_in_
        The names of the labels, and of the features as in scikit-learn.

    Notes
    -----
    A training row counts in its leaf as often as the bootstrap of the tree drew it; ``class_weight`` is
    not used there. The draws from a chain are those of :class:`ProbabilisticChain`. A pipeline is given the
    features as they are, for instance texts.

    With a distribution over label vectors, calibration changes it to the nearest one whose labels have the
    calibrated probabilities. For independent labels, chains and single trees, calibration helps costs that
    add up over labels, but can make F1, Jaccard or zero-one worse: compare with ``calibrate=False``.

    Examples
    --------
    >>> from refpair import BayesDecisionClassifier
    >>> from refpair.datasets import load_dataset
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> digits = load_dataset("digits")  # pictures with up to three digits on top of each other
    >>> X, Y, X_test, Y_test = digits.X[:1500], digits.Y[:1500], digits.X[1500:], digits.Y[1500:]
    >>> forest = RandomForestClassifier(100, random_state=0)
    >>> model = BayesDecisionClassifier(forest, cost="f1", random_state=0).fit(X, Y)
    >>> round(model.score(X_test, Y_test), 2)
    0.87
    >>> round(model.cost_.mean(Y_test, forest.fit(X, Y).predict(X_test)), 2)  # the forest on its own
    0.66
    >>> model.decide(X_test[:1], "zero_one")  # another cost, without fitting again
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0]], dtype=uint8)
    """

    _doc_page = "classifiers"
    _label_model: LabelModel
    _needs_n_features: ClassVar[bool] = False  # a pipeline may start with texts
    _refuses_nan: ClassVar[bool] = False

    def __init__(
        self,
        estimator: Any,
        *,
        cost: Any = "f1",
        calibrate: bool = True,
        rules: Any = None,
        n_samples: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.calibrate = calibrate
        self.rules = rules
        self.n_samples = n_samples
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _takes_unknown_labels(self) -> bool:  # type: ignore[override]
        return getattr(_last_step(self.estimator), "_takes_unknown_labels", False) is True

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Sparse, or with missing values (NaN), if the estimator takes such.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            The labels, 0/1, boolean or yes/no. A one-dimensional y of two classes is taken as a single label.
            Some may be unknown, if the estimator is one of this package that takes such.
        sample_weight : array of shape (n,), optional
            How often each row counts: passed on to the estimator, of a pipeline to its last step, and used in
            leaves and for calibration. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, labels, weight, cost = self._read(X, y, sample_weight)
        self.cost_ = cost.with_mean_prices(weight)
        state = check_random_state(self.random_state)
        estimator = clone(self.estimator)
        if self.random_state is not None:
            _seed(estimator, state)
        rng = np.random.default_rng(state.randint(2**31, size=4, dtype=np.int64))
        learnt = self._fit_label_model(estimator, X, labels, weight, rng, self.verbose)
        held_out = None
        if self.calibrate or isinstance(self.cost_, Measure):
            learnt, held_out = self._calibrate(estimator, learnt, X, labels, weight, cost, rng)
        self._label_model, self.estimator_ = learnt, learnt.model
        self._keep_held_out(held_out)
        return self

    def _calibrate(
        self,
        estimator: Any,
        learnt: LabelModel,
        X: Any,
        labels: LabelMatrix,
        row_weight: Floats | None,
        cost: Cost,
        rng: np.random.Generator,
    ) -> tuple[LabelModel, HeldOut]:
        """Return a model with its calibration, if it is to have one, and samples that it did not learn."""
        n = labels.shape[0]
        told = self._told_out_of_sample(estimator, learnt, X, labels, row_weight, rng)
        if told is None:  # there are no better ones than those that it did learn
            some = np.arange(min(n, _MOST_ROWS))
            weight = None if row_weight is None else row_weight[some]
            blocks = learnt.distributions(_safe_indexing(X, some), self.n_jobs)
            return learnt, HeldOut.of(np.concatenate([block.marginals() for block in blocks]), n, weight)
        p, changes, truths, rows = told
        weight = None if row_weight is None else row_weight[rows]
        if not self.calibrate:
            return learnt, HeldOut.of(p, n, weight, truths)
        if (changes & (truths != UNKNOWN)).any():
            counts = np.where(changes, p, np.nan)
            of_cells = cell_weight(cost.for_rows(rows), truths.shape[1], weight)
            pool = LogOddsPool.fit([counts], truths, row_weight=of_cells)
            pool = pool.fit_labels([counts], truths, of_cells)
            learnt, p = replace(learnt, pool=pool), np.where(changes, pool([p]), p)
        return learnt, HeldOut.of(p, n, weight)

    def _told_out_of_sample(
        self,
        estimator: Any,
        learnt: LabelModel,
        X: Any,
        labels: LabelMatrix,
        row_weight: Floats | None,
        rng: np.random.Generator,
    ) -> tuple[Floats, Bools, Bytes, Rows] | None:
        """Return what :meth:`LabelModel.told_and_true` says of rows that were not learned, and these rows."""
        if learnt.model is None or labels.shape[0] < _FEWEST_ROWS:
            return None
        rows, forest = rng.permutation(labels.shape[0]), _last_step(learnt.model)
        reading = learnt.reading if getattr(forest, "bootstrap", False) else None
        if isinstance(reading, LeafVectors) and len(reading.trees) >= _MANY_TREES:
            rows = rows[: min(_MOST_ROWS, reading.rows_at_once)]
            times = [
                np.bincount(drew, minlength=labels.shape[0])[rows] for drew in forest.estimators_samples_
            ]
            drawn = np.column_stack(times) > 0
            rows, drawn = rows[~drawn.all(axis=1)], drawn[~drawn.all(axis=1)]
            told = reading.out_of_bag(_before_last_step(learnt.model, _safe_indexing(X, rows)), drawn)
            return (*learnt.told_and_true(told, labels[rows]), rows)
        try:
            parts = self._cross_fit(estimator, X, labels, row_weight, np.array_split(rows, _FOLDS), rng)
        except Exception as error:  # whatever a classifier raises
            what = "probabilities are not calibrated" if self.calibrate else "thresholds are of learned rows"
            hint = "" if isinstance(self.cost_, Measure) else "; calibrate=False does not try"
            warn_caller(
                f"the {what}, since the estimator cannot learn from four fifths of the rows ({error}){hint}",
                FitFailedWarning,
            )
            return None
        p, changes, truths, asked = (np.concatenate(cells) for cells in zip(*parts, strict=True))
        return p, changes, truths, asked

    def _cross_fit(
        self,
        estimator: Any,
        X: Any,
        labels: LabelMatrix,
        row_weight: Floats | None,
        folds: list[Rows],
        rng: np.random.Generator,
    ) -> list[tuple[Floats, Bools, Bytes, Rows]]:
        """Return the same of clones and rows that they were not fitted on."""

        def ask(fold: slice) -> list[tuple[Floats, Bools, Bytes, Rows]]:
            others = np.concatenate([*folds[: fold.start], *folds[fold.stop :]])
            weight = None if row_weight is None else row_weight[others]
            learnt = self._fit_label_model(
                estimator, _safe_indexing(X, others), labels[others], weight, rng, 0
            )
            mine = folds[fold.start][: _MOST_ROWS // len(folds)]
            told = learnt.distributions(_safe_indexing(X, mine), self.n_jobs)
            return [(*learnt.told_and_true(p, labels[mine[rows]]), mine[rows]) for rows, p in with_rows(told)]

        chunks = chunks_of(len(folds), 1)
        parts = run_chunks(ask, chunks, n_jobs=1, verbose=self.verbose, title="Folds", in_place=True)
        return [part for fold in parts for part in fold]

    def _fit_label_model(
        self,
        estimator: Any,
        X: Any,
        labels: LabelMatrix,
        row_weight: Floats | None,
        rng: np.random.Generator,
        verbose: int,
    ) -> LabelModel:
        """Fit a clone of an estimator, and find out how to read it."""
        estimator = clone(estimator)
        distinct = distinct_labels(labels)
        inner = _last_step(estimator)
        is_there, varies = ((distinct.vectors == one).any(axis=0) for one in (1, 0))
        varies &= is_there
        constant = np.where(varies, distinct.vectors[0] == 1, is_there).astype(np.uint8)
        chosen = varies | isinstance(inner, _FORESTS)
        if not chosen.any():
            return LabelModel(None, None, constant, chosen)
        if isinstance(inner, ClassifierChain) and not isinstance(inner.order, str | None):
            inner.set_params(order=_order_of_chosen(inner.order, chosen))
        if chosen.sum() > 1 and _takes_one_label(inner):
            estimator = _once_a_label(estimator, self.n_jobs)
        weights: dict[str, Any] = {}
        if row_weight is not None and _routing_enabled():
            weights = process_routing(self, "fit", sample_weight=row_weight).estimator.fit
        elif row_weight is not None:
            weights = {_name_of_weights(estimator): row_weight}
        estimator.fit(X, _targets(inner, labels, chosen), **weights)

        reading: LeafVectors | ChainSamples | None = None
        fitted = _last_step(estimator)
        if isinstance(fitted, _FORESTS):
            features = _before_last_step(estimator, X)
            reading = read_leaves(fitted, features, distinct, row_weight, n_jobs=self.n_jobs, verbose=verbose)
        elif isinstance(fitted, ClassifierChain):
            links, order = EstimatorLinks(fitted.estimators_), np.asarray(fitted.order_)
            reading = ChainSamples(links, order, self.n_samples, rng.random(int(chosen.sum())))
        return LabelModel(estimator, reading, constant, chosen)

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        require(len(self._label_model.constant) == n_labels, "the fitted model is one of other labels")
        own = getattr(self._label_model.model, "n_features_in_", None)
        require(own in (None, n_features), "the fitted model is one of other features")

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        model = super()._from_saved(saved)
        if hasattr(model, "_label_model"):
            model.estimator_ = model._label_model.model
        return model

    def _distributions(self, X: Any, cost: Cost | None) -> Iterator[tuple[slice, Distribution]]:
        return with_rows(self._label_model.distributions(X, self.n_jobs))

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        # A pipeline may start with texts, or with columns by their names.
        if isinstance(_searched(self.estimator), Pipeline):
            X = in_memory(X)
            check_sparse(X, "X")
            return validate_data(self, X, reset=reset, skip_check_array=True)
        return super()._read_features(X, reset=reset)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how scikit-learn's metadata routing passes weights on: to this model and its estimator.

        Returns
        -------
        routing : MetadataRouter
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router: MetadataRouter = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=to_fit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = self.estimator
        while isinstance(learner, _SILENT):
            learner = learner.estimator
        if hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type):
            tags.input_tags.allow_nan = get_tags(learner).input_tags.allow_nan
        return tags

    def _check_parameters(self) -> None:
        """Refuse bad parameters, naming them and what they may be; the cost is checked with the labels."""
        estimator = self.estimator
        can_be_fitted = hasattr(estimator, "fit") and hasattr(estimator, "get_params")
        if isinstance(estimator, type) or not can_be_fitted:
            raise ValueError(f"estimator must be a classifier of scikit-learn, not {estimator!r}")
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"estimator must have predict_proba, which {estimator!r} has not: use a classifier with "
                "probabilities, such as CalibratedClassifierCV(LinearSVC()) instead of LinearSVC()"
            )
        if not isinstance(self.calibrate, bool):
            raise ValueError(f"calibrate must be True or False, not {self.calibrate!r}")
        check_count("n_samples", self.n_samples)
        check_running(n_jobs=self.n_jobs, random_state=self.random_state, verbose=self.verbose)


def _seed(estimator: Any, state: np.random.RandomState) -> None:
    """Give a random state to whatever part of an estimator has none."""
    for name, value in sorted(estimator.get_params(deep=True).items(), key=lambda item: item[0]):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            estimator.set_params(**{name: int(state.randint(2**31))})


def _takes_one_label(learner: Any) -> bool:
    """Whether the tags of a classifier say that it learns a single target."""
    if not hasattr(learner, "__sklearn_tags__"):
        return False
    tags = get_tags(learner)
    known = tags.classifier_tags is not None
    return known and not (tags.classifier_tags.multi_label or tags.target_tags.multi_output)


def _once_a_label(estimator: Any, n_jobs: int | None) -> Any:
    """Return an estimator that is fitted once a label; of pipelines only the last step is."""
    if not isinstance(estimator, Pipeline):
        return MultiOutputClassifier(estimator, n_jobs=n_jobs)
    name, last = estimator.steps[-1]
    return estimator.set_params(**{name: _once_a_label(last, n_jobs)})


def _last_step(estimator: Any) -> Any:
    """Return what is at the end of pipelines and within searches; of fitted ones, what is fitted."""
    while isinstance(inner := _searched(estimator), Pipeline):
        estimator = inner.steps[-1][1]
    return inner


def _searched(estimator: Any) -> Any:
    while isinstance(estimator, _SEARCHES):
        estimator = getattr(estimator, "best_estimator_", estimator.estimator)
    return estimator


def _name_of_weights(estimator: Any) -> str:
    """Return the name by which a fit passes weights to the last step; refuse one that does not take them."""
    steps, learner = "", estimator
    while isinstance(inner := _searched(learner), Pipeline):
        steps, learner = f"{steps}{inner.steps[-1][0]}__", inner.steps[-1][1]
    while isinstance(inner, MultiOutputClassifier):
        inner = inner.estimator
    check_takes_weights(inner)
    return f"{steps}sample_weight"


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


def _targets(inner: Any, labels: LabelMatrix, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Return the chosen labels as scikit-learn takes them: a single one mostly as a vector."""
    columns = labels[:, np.flatnonzero(chosen)]
    targets = columns.toarray() if sp.issparse(columns) else columns
    targets = np.asarray(with_gaps(targets), np.float64 if has_unknown(targets) else np.int64)
    takes_vectors = not hasattr(inner, "__sklearn_tags__") or get_tags(inner).target_tags.single_output
    return targets[:, 0] if targets.shape[1] == 1 and takes_vectors else targets


def _label_probabilities(model: Any, X: Any, n_labels: int) -> Floats:
    """Return what ``predict_proba`` says of each label, in whichever of its forms it says it."""
    given = model.predict_proba(X)
    if isinstance(given, list):
        # One array a label, with a column for each of its classes: two, since the label varies.
        probabilities = np.column_stack([np.asarray(array)[:, 1] for array in given])
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
