"""Cost-sensitive reference pair encoding (section 3 of the paper): encode, learn the bits, decode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from refpair._fitting import all_or_nothing
from refpair._parallel import is_lazy
from refpair.bits.code_problems import bit_problems
from refpair.classifiers._checks import check_amount, check_count, check_running
from refpair.classifiers._code_bits import check_bit_learner, count_votes, learn_bits
from refpair.classifiers._csrpe_saved import SavableCSRPE
from refpair.classifiers._dask import answer_lazily
from refpair.classifiers._estimator_source import EstimatorSource
from refpair.classifiers._mixture_choice import choose_mixture
from refpair.coding import ReferencePairCode, draw_code
from refpair.costs import Cost, CountCost, Measure, PerLabelCost, get_cost, vector_cost
from refpair.decision.decide import decide_blocks
from refpair.decision.thresholds import HeldOut
from refpair.on_disk import RowsOnDisk
from refpair.posterior.calibrate import LogOddsPool
from refpair.posterior.code import BATCHES, CodeSource
from refpair.posterior.completion import complete
from refpair.posterior.distinct_labels import DistinctLabels, distinct_labels
from refpair.posterior.distribution import Distribution, LabelDistribution
from refpair.posterior.labels import BATCH, LabelSource
from refpair.posterior.learn import learn_sources
from refpair.posterior.leaves import LeafSource
from refpair.posterior.linear import LinearSource
from refpair.posterior.mixture import Posterior
from refpair.posterior.source import Learn, Source, Training, in_threads
from refpair.tables.labels import has_unknown

SOURCES = ("code", "labels", "leaves", "linear")
_MOST_ROWS = 1000  # whose answers out of bag are looked at
_MOST_FOR_SELDOM, _CELLS = (
    10_000,
    1 << 24,
)  # under costs that may ask for what is seldom; and with all vectors
MOST_VECTORS = 20_000  # that a posterior weighs: each sample is compared with all of them

_PAIRS = ("auto", "uniform", "density", "mixed", "observed")
_TREE_ONLY = {"max_depth": "auto", "min_samples_leaf": 1, "max_features": "auto", "max_bins": 64}


class CSRPEClassifier(SavableCSRPE):
    """Multi-label classifier for a given cost, by cost-sensitive reference pair encoding.

    Label vectors are encoded as bits; a bit says which of two random label vectors is the cheaper prediction.
    A tree learns each bit, with the difference of the two costs as weight. The predicted bits of a sample
    give a distribution over label vectors, which is combined with those of other sources: trees for single
    labels, leaves of larger trees, linear models. ``predict`` returns the label vector of lowest expected
    cost under the combined, calibrated distribution; with ``decoder="nearest"``, as in the paper, the label
    vector whose code is nearest.

    Parameters
    ----------
    cost : str, Cost or callable, default="f1"
        The cost of a prediction: "f1", "jaccard", "hamming", "zero_one", "rank", "f2" and so on, or a custom
        cost; see :class:`refpair.Cost`. "macro_f1", "micro_f1", "balanced_accuracy" and so on are measures of
        a whole table; see :class:`refpair.costs.Measure`. With "precision@3", "recall@5", "ndcg@10" and so
        on, ``predict`` returns so many labels, and ``predict_top`` has them in order.
    n_bits : int or "auto", default="auto"
        The length of the code. "auto" learns batches of bits, up to 3,000, as long as the
        next one is expected to lower the log loss of labels, out of bag, by at least 0.2 %.
    sources : "auto" or tuple, default="auto"
        The sources of the posterior, "code" and any of:

        - "labels": trees for single labels, up to 100 for each,
        - "leaves": up to 400 trees, whose leaves hold the label vectors of training samples,
        - "linear": a logistic regression for each label,
        - a scikit-learn classifier with ``predict_proba``; its weight is found by cross-validation.

        "auto" keeps those of the four that improve the log loss out of bag; with another `estimator` than
        "tree", and for rows on disk, those of "code" and "labels". Their weights are chosen out of bag.
    estimator : "tree", "logistic" or classifier, default="tree"
        The learner of a bit: a decision tree; a logistic regression, for all bits together
        (``Logistic(C=...)`` sets parameters); or any scikit-learn classifier whose ``fit`` takes
        ``sample_weight``.
    pairs : {"auto", "uniform", "density", "mixed", "observed"}, default="auto"
        The distribution of reference pairs: over all label vectors ("uniform", as in the paper), vectors with
        the label frequencies of the training set ("density"), half of each ("mixed"), or the
        vectors of the training set ("observed"). "auto" is "mixed", or "uniform" if the decoder is "nearest".
    decoder : {"posterior", "nearest"}, default="posterior"
        How a predicted code becomes a label vector: by the decision of lowest expected cost under the
        posterior, or by the nearest code word, as in the paper.
    relevant_set : array-like of shape (n_vectors, n_labels), optional
        The label vectors that codes are compared with: the only ones that "nearest" can predict, and that
        have a positive probability for "posterior". By default the distinct ones of the training set, for
        "posterior" the 20,000 most frequent; others then get a positive probability, too, if that clearly
        costs less out of bag.
    rules : list of rules, optional
        What answers must keep, such as ``[AtMost(3), Implies("raster", "image")]``; see
        :class:`refpair.AtMost`. Label vectors that break one are taken as impossible, unless more than 1 %
        of the training rows break it.
    max_depth : int, "auto" or None, default="auto"
        Maximum depth of the trees; None grows them until their leaves are pure. "auto" does so, and cuts them
        at depth 6 if that costs less out of bag (never with the decoder "nearest").
    min_samples_leaf : int, default=1
        Minimum number of rows in a leaf.
    max_features : int, float, "auto", "sqrt", "log2" or None, default="auto"
        Number of features that a split considers: a number, a share, or None for all. "auto" is "sqrt" if
        most features have more than two values and the decoder is "posterior", else all.
    max_samples : int, float, "auto" or None, default="auto"
        Number of rows, drawn without replacement, for each bit: a number, a share, or None for all. "auto" is
        all for "nearest"; for "posterior" 63 %, or 80 % of 2,000 rows or more, at most 100,000 rows. With all
        rows, the posterior is chosen by three-fold cross-validation, which takes longer.
    max_bins : int, default=64
        Maximum number of bins of a numeric feature, from 2 to 255; a feature with fewer values is kept
        exactly.
    n_jobs : int, optional
        Number of threads; −1 uses all processors. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        The seed of all random choices.
    verbose : int, default=0
        1 shows a progress bar with the time left. With scikit-learn 1.9 or newer, its callbacks work, too:
        ``set_callbacks(sklearn.callback.ProgressBar())``.

    Attributes
    ----------
    cost_ : Cost
        The cost as an object.
    thresholds_ : ndarray of shape (n_labels,)
        The probability above which each label is predicted, if the cost is a measure of a whole table.
    rules_ : RuleSet or None
        The rules, about labels by their numbers.
    classes_ : ndarray of shape (n_labels,)
        The names of the labels: the columns of a DataFrame, else 0, 1, 2, …
    code_ : ReferencePairCode
        The reference pairs; fewer than ``n_bits`` if there are no more useful ones.
    relevant_set_ : ndarray of uint8, shape (n_vectors, n_labels)
        The label vectors that codes are compared with, the most frequent first.
    relevant_counts_ : ndarray of int64 or float64
        The number of training rows with each of them; the sum of their weights, and of the probabilities of
        vectors that are not known, if there are such.
    bits_ : TreeBank, LogisticBank or EstimatorBank
        The learned bits of the code.
    posterior_ : Posterior
        The model of distributions over label vectors (if the decoder is "posterior"): its ``sources``, and
        their ``mixture``, which was chosen out of bag.
    oob_search_ : dict of ndarrays
        The mixtures that were tried; ``pandas.DataFrame(model.oob_search_)`` shows them. Columns:
        ``new_share``, the probability of label vectors that no training row has (1: all labels are
        independent); ``cost``, the mean cost of the decisions on training samples, out of bag; and
        ``log_loss``, that of the labels of these samples. The first one was chosen, unless the second one
        costs less by more than two standard errors; for costs of lists, more than one.
    oob_cost_ : float
        The mean cost of the decisions of the chosen mixture: an estimate of the cost of predictions on new
        rows.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X was a DataFrame.

    Notes
    -----
    Cells of X may be missing (NaN): each split sends them to the side that makes it better.

    ``decide(X, cost=...)`` predicts for another cost with the same fitted model and distribution, and
    ``decide(X, rules=...)`` by other rules. ``predict``, ``decide`` and ``expected_cost`` keep the rules;
    probabilities and ``oob_cost_`` are those without rules.

    With ``decoder="nearest"``, reference pairs are compared by the cost itself, as in the paper. For the
    posterior, all costs that treat labels alike (those with a name, and ``Cost.from_counts``) share one code:
    pairs are compared by the Jaccard cost, or by the rank loss if the log loss of its first bits is lower by
    more than 1 % out of bag. Models for such costs have the same probabilities, except that the share of new
    label vectors may differ; the decisions differ. Prices of labels and other custom functions have a code of
    their own, or that of the Jaccard cost if it is better by the same margin.

    With ``decoder="nearest"`` ties between equally near code words go to the more frequent label vector, and
    there are no probabilities. ``cost="zero_one"`` is then infeasible with many label vectors.

    References
    ----------
    Y.-Y. Yang, K.-H. Huang, C.-W. Chang, H.-T. Lin: Cost-Sensitive Reference Pair Encoding for Multi-Label
    Learning. PAKDD 2018.

    Examples
    --------
    >>> from refpair import CSRPEClassifier
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")  # pictures with up to three digits on top of each other
    >>> model = CSRPEClassifier(cost="f1", n_bits=200, random_state=0).fit(digits.X[:1500], digits.Y[:1500])
    >>> model.predict(digits.X[1500:1502])
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
           [0, 1, 0, 0, 1, 0, 0, 0, 0, 0]], dtype=uint8)
    >>> model.predict_proba(digits.X[1500:1501]).round(1)
    array([[0., 0., 0., 0., 0., 0., 1., 0., 0., 0.]])
    >>> round(model.score(digits.X[1500:], digits.Y[1500:]), 2)
    0.9
    >>> round(float(1 - model.expected_cost(digits.X[1500:]).mean()), 2)  # without their labels
    0.88
    """

    _takes_unknown_labels = True

    def __init__(
        self,
        cost: Any = "f1",
        *,
        n_bits: int | Literal["auto"] = "auto",
        sources: Any = "auto",
        estimator: Any = "tree",
        pairs: Literal["auto", "uniform", "density", "mixed", "observed"] = "auto",
        decoder: Literal["posterior", "nearest"] = "posterior",
        relevant_set: Any = None,
        rules: Any = None,
        max_depth: int | Literal["auto"] | None = "auto",
        min_samples_leaf: int = 1,
        max_features: int | float | Literal["auto", "sqrt", "log2"] | None = "auto",
        max_samples: int | float | Literal["auto"] | None = "auto",
        max_bins: int = 64,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.cost = cost
        self.n_bits = n_bits
        self.sources = sources
        self.estimator = estimator
        self.pairs = pairs
        self.decoder = decoder
        self.relevant_set = relevant_set
        self.rules = rules
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw a code for the cost, learn its bits and the other sources, and choose their weights.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or rows on disk of shape (n, n_features)
            NaN is a missing value. See :func:`refpair.on_disk.open_rows` for more rows than fit into memory.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            The labels, 0/1, boolean or yes/no. A one-dimensional y of two classes is taken as a single label.
            Cells that are empty (NaN, None) are unknown; a row of which nothing is known is left out.
        sample_weight : array of shape (n,), optional
            How often each row counts; one of weight 0 is left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, labels, row_weight, cost_of_rows = self._read(X, y, sample_weight)
        cost = cost_of_rows.with_mean_prices(row_weight)
        if self.decoder == "nearest":
            vector_cost(cost, 'decoder="nearest"')
        drawn = check_random_state(self.random_state).randint(2**31, size=4, dtype=np.int64)
        for_pairs, for_sources, for_rows, for_unknown = map(
            np.random.default_rng, np.random.SeedSequence(drawn).spawn(4)
        )
        learn = self._make_learn()
        distinct = distinct_labels(labels, row_weight)
        if has_unknown(labels):
            distinct = self._complete(X, distinct, cost, learn, for_unknown)
        relevant = self._relevant(distinct)

        posterior = self.decoder == "posterior"
        if not posterior:
            vector_cost(cost, 'decoder="nearest"')
        codes = [
            self._draw_code(one, distinct, for_pairs) for one in (code_costs(cost) if posterior else [cost])
        ]
        for name in ("posterior_", "oob_search_", "oob_cost_", "_code_book"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self.cost_ = cost
        self.relevant_set_, self.relevant_counts_ = relevant
        if posterior and len(codes[0]) > 0:  # of a single vector there is nothing to learn
            n_rows = _MOST_ROWS
            if isinstance(cost, PerLabelCost | Measure):
                n_rows = max(n_rows, min(_MOST_FOR_SELDOM, _CELLS // len(relevant[0])))
            rows = for_rows.permutation(X.shape[0])[:n_rows]
            training = Training(X, distinct, *relevant, rows, cost_of_rows, learn, self.n_jobs, self.verbose)
            self._fit_posterior(codes, training, for_sources)
        else:
            (code, *_) = codes
            constant = HeldOut.of(self.relevant_set_[:1].astype(np.float64), X.shape[0], None)
            self._keep_held_out(constant if posterior else None)
            seeds = for_sources.integers(2**63, size=len(code), dtype=np.uint64)
            self.code_ = code
            shares, row_weight = distinct.shares, distinct.row_weight
            problems = bit_problems(
                code, distinct.vectors, distinct.of_row, seeds, shares=shares, row_weight=row_weight
            )
            self.bits_ = learn(X, problems)
            self._make_code_book()
        return self

    def _complete(
        self, X: Any, distinct: DistinctLabels, cost: Cost, learn: Learn, rng: np.random.Generator
    ) -> DistinctLabels:
        """Find what unknown labels may be, by what sources of single labels say of rows they did not see."""
        n, n_labels = X.shape[0], distinct.vectors.shape[1]
        rows, nothing = rng.permutation(n), np.zeros((1, n_labels), np.uint8)
        training = Training(X, distinct, nothing, np.ones(1), rows, cost, learn, self.n_jobs, self.verbose)
        sources: list[Source] = [LabelSource(n_labels, BATCH)]
        if "linear" in self._wanted_sources(training):
            sources.append(LinearSource())
        told = [one.labels for one in learn_sources(sources, training, rng, may_drop=True)]
        some, row_weight = slice(0, _MOST_ROWS), training.row_weight
        weights = None if row_weight is None else row_weight[some]
        judged = [one[some] for one in told], training.truths[some]
        pool = LogOddsPool.fit(*judged, row_weight=weights).fit_labels(*judged, weights)
        marginals = pool(told)[np.argsort(rows)]
        return complete(distinct.known[distinct.of_row], marginals, rng, distinct.row_weight)

    def _draw_code(self, cost: Cost, distinct: DistinctLabels, rng: np.random.Generator) -> ReferencePairCode:
        """Draw the pairs of a code for a cost, in random order: any part of it is like the whole."""
        pairs = self.pairs
        if pairs == "auto":
            pairs = "mixed" if self.decoder == "posterior" else "uniform"
        n_bits = sum(BATCHES) if self.n_bits == "auto" else self.n_bits
        code = draw_code(cost, distinct.vectors, n_bits, pairs, rng, distinct.counts)
        return code[rng.permutation(len(code))]

    def _fit_posterior(
        self, codes: Sequence[ReferencePairCode], training: Training, rng: np.random.Generator
    ) -> None:
        """Learn the sources, and choose what each of them counts."""
        is_auto = self.n_bits == "auto"
        by_code = CodeSource(codes, in_batches=is_auto, may_be_cut=self.max_depth == "auto")
        sources: list[Source] = [by_code]
        for number, wanted in enumerate(self._wanted_sources(training)):
            if not isinstance(wanted, str):
                sources.append(EstimatorSource(f"estimator {number}", wanted))
            elif wanted == "labels":
                sources.append(LabelSource(training.n_labels, count_votes(len(codes[0]), training.n_labels)))
            else:
                sources.append(LeafSource() if wanted == "leaves" else LinearSource())
        may_drop = isinstance(self.sources, str) and not isinstance(training.X, RowsOnDisk)
        learners = learn_sources(sources, training, rng, may_drop=may_drop)
        told = [one.told for one in learners]
        chosen = choose_mixture(training, told, may_be_new=self.relevant_set is None)
        self.code_, self.bits_ = by_code.code, by_code.bits
        used = tuple(one.source for one in learners)
        self.posterior_ = Posterior(training.vectors, used, chosen.mixture)
        self.oob_search_, self.oob_cost_ = chosen.search, chosen.cost
        self._keep_held_out(chosen.held_out)

    def _wanted_sources(self, training: Training) -> tuple[Any, ...]:
        """Return the sources to learn besides the code: names, or classifiers of the user's own."""
        if not (isinstance(self.sources, str) and self.sources == "auto"):
            return tuple(one for one in self.sources if not (isinstance(one, str) and one == "code"))
        is_tree = isinstance(self.estimator, str) and self.estimator == "tree"
        return SOURCES[1:] if is_tree and not isinstance(training.X, RowsOnDisk) else ("labels",)

    def _relevant(self, distinct: DistinctLabels) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return the relevant set by falling frequency, then by the vectors themselves, and the counts."""
        vectors, counts = distinct.vectors, distinct.counts
        if self.relevant_set is not None:
            given = distinct_labels(self._label_format.read_more(self.relevant_set, "relevant_set")).vectors
            if len(given) == 0:
                raise ValueError("relevant_set has no rows: nothing could be predicted")
            known = {vector.tobytes(): count for vector, count in zip(vectors, counts, strict=True)}
            vectors, counts = given, np.array([known.get(vector.tobytes(), 0) for vector in given])
        order = np.argsort(-counts, kind="stable")
        if self.decoder == "posterior" and self.relevant_set is None:
            order = order[:MOST_VECTORS]
        return vectors[order], counts[order]

    def _make_learn(self) -> Learn:
        """Return what learns bits from samples, by what the parameters say."""
        nearest = self.decoder == "nearest"
        of_trees = {
            "max_depth": None if self.max_depth == "auto" else self.max_depth,
            "min_samples_leaf": self.min_samples_leaf,
            "max_features": None if nearest and self.max_features == "auto" else self.max_features,
            "max_bins": self.max_bins,
        }
        max_samples = None if nearest and self.max_samples == "auto" else self.max_samples
        how = {"max_samples": max_samples, "n_jobs": self.n_jobs, "verbose": self.verbose}
        return partial(learn_bits, self.estimator, of_trees, how)

    def shorten(self, n_bits: int) -> Self:
        """Return a copy with a part of the code, without fitting again.

        Parameters
        ----------
        n_bits : int
            Number of bits to keep, from 1 to ``len(code_)``: evenly spaced ones. Other sources do not change.

        Returns
        -------
        model : CSRPEClassifier
            It uses the mixture that was chosen for the full code; ``oob_search_`` and ``oob_cost_`` are those
            of the full code.

        Examples
        --------
        >>> X, Y = np.eye(4), np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
        >>> model = CSRPEClassifier(cost="f1", n_bits=6, decoder="nearest", random_state=0).fit(X, Y)
        >>> [round(model.shorten(n_bits).score(X, Y), 2) for n_bits in (1, 2, 6)]
        [0.67, 0.92, 1.0]
        """
        check_is_fitted(self)
        n_there = len(self.code_)
        check_count("n_bits", n_bits, high=n_there)
        kept = np.arange(n_bits) * n_there // n_bits
        model = copy(self)
        model.n_bits = n_bits
        if not hasattr(self, "posterior_"):
            model.code_, model.bits_ = self.code_[kept], self.bits_.take(kept)
            model._make_code_book()
            return model
        by_code, *others = self.posterior_.sources
        short = cast(CodeSource, by_code).shorten(kept)
        model.code_, model.bits_ = short.code, short.bits
        model.posterior_ = replace(self.posterior_, sources=(short, *others))
        return model

    def encode(self, Y: Any) -> npt.NDArray[np.int8]:
        """Return the code words of label vectors: +1 where α is cheaper, −1 where β is, 0 where neither.

        Parameters
        ----------
        Y : array, sparse matrix or DataFrame of shape (n, n_labels)

        Returns
        -------
        code_words : ndarray of int8, shape (n, n_bits)
        """
        check_is_fitted(self)
        return self.code_.encode(self._label_format.read_more(Y))

    def predict_code(self, X: Any) -> npt.NDArray[np.int8]:
        """Return the predicted bits of samples, −1 or +1.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            For Dask, the result is a Dask array.

        Returns
        -------
        code : ndarray of int8, shape (n, n_bits)
        """
        check_is_fitted(self)
        if is_lazy(X):
            return cast(npt.NDArray[np.int8], answer_lazily(self, "predict_code", X))
        X = self._read_features(X, reset=False)
        return in_threads(self.bits_, self.n_jobs).predict(X)

    def _tells_probabilities(self) -> bool:
        if self.decoder != "posterior":
            raise AttributeError('probabilities and expected costs need decoder="posterior"')
        return True

    def _distributions(self, X: Any, cost: Cost | None) -> Iterator[tuple[slice, Distribution]]:
        n, everything = X.shape[0], slice(0, X.shape[0])
        if len(self.code_) == 0:
            single = LabelDistribution.from_dense(self.relevant_set_[:1], np.ones((n, 1)))
            return iter([(everything, single)])
        return self.posterior_.distributions(X, n_jobs=self.n_jobs)

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        if hasattr(self, "posterior_") or self.rules_ is not None:
            cost = getattr(self, "_prices", self.cost_)
            blocks = self._distributions(X, cost)
            return decide_blocks(blocks, cost, rules=self.rules_, n_jobs=self.n_jobs)
        if len(self.code_) == 0:  # a single label vector: nothing to tell apart
            return np.repeat(self.relevant_set_[:1], X.shape[0], axis=0)
        return self.relevant_set_[self._code_book.decode(in_threads(self.bits_, self.n_jobs).predict(X))]

    def _learns_from_rows_on_disk(self) -> bool:
        return isinstance(self.estimator, str) and self.estimator == "tree"

    def _check_parameters(self) -> None:
        """Refuse bad parameters, naming them and what they may be."""
        if self.n_bits != "auto":
            check_count("n_bits", self.n_bits)
        self._check_sources()
        check_count("min_samples_leaf", self.min_samples_leaf)
        check_count("max_bins", self.max_bins, low=2, high=255)
        check_running(n_jobs=self.n_jobs, random_state=self.random_state, verbose=self.verbose)
        if self.max_depth is not None and self.max_depth != "auto":
            check_count("max_depth", self.max_depth)
        if self.max_features not in ("auto", "sqrt", "log2"):
            allowed = 'a number, a share in (0, 1], "auto", "sqrt", "log2" or None'
            check_amount("max_features", self.max_features, allowed)
        if self.max_samples != "auto":
            check_amount("max_samples", self.max_samples, 'a number, a share in (0, 1], "auto" or None')
        if self.pairs not in _PAIRS:
            allowed = ", ".join(f'"{name}"' for name in _PAIRS[:-1])
            raise ValueError(f'pairs must be {allowed} or "{_PAIRS[-1]}", not {self.pairs!r}')
        if self.decoder not in ("posterior", "nearest"):
            raise ValueError(f'decoder must be "posterior" or "nearest", not {self.decoder!r}')
        if self.decoder == "nearest" and self.rules:
            raise ValueError('rules need decoder="posterior": the nearest code word keeps none')
        check_bit_learner(self.estimator)
        if not isinstance(self.estimator, str) or self.estimator != "tree":
            for name, default in _TREE_ONLY.items():
                if getattr(self, name) != default:
                    raise ValueError(f'{name} belongs to estimator="tree": set it on the estimator itself')

    def _check_sources(self) -> None:
        given = self.sources
        if isinstance(given, str) and given == "auto":
            return
        parts = list(given) if isinstance(given, tuple | list) else []
        names = [one for one in parts if isinstance(one, str)]
        own = [one for one in parts if not isinstance(one, str)]
        right = "code" in names and set(names) <= {*SOURCES} and len(set(names)) == len(names)
        if not right or any(isinstance(one, type) or not hasattr(one, "predict_proba") for one in own):
            allowed = ", ".join(f'"{name}"' for name in SOURCES)
            raise ValueError(f'sources must be "auto" or a tuple with "code", of {allowed}, not {given!r}')


def code_costs(cost: Cost) -> list[Cost]:
    """Return the costs that the bits of a posterior may be learned for, to decide for this one.

    The second is taken if the log loss of its first bits is clearly lower out of bag. For costs that treat
    labels alike the choice is always between the same two, so that all of them have the same posterior: on
    average it does not matter by which of these costs pairs are compared. Prices of labels and custom
    functions may need other pairs.
    """
    jaccard = get_cost("jaccard")
    alike = isinstance(cost, CountCost) or not cost.compares_vectors
    return [jaccard, get_cost("rank")] if alike else [cost, jaccard]
