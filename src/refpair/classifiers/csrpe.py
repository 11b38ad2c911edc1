"""Cost-sensitive reference pair encoding (section 3 of the paper): encode, learn the bits, decode."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from refpair.bits import BitLearner
from refpair.classifiers._bit_learners import as_bit_learner, is_estimator, make_bank
from refpair.classifiers._csrpe_parameters import bag_size, check_csrpe_parameters
from refpair.classifiers._csrpe_saved import SavableCSRPE
from refpair.classifiers._decisions import DecisionMixin
from refpair.classifiers._distinct_labels import DistinctLabels, distinct_labels
from refpair.classifiers._parameters import check_count
from refpair.classifiers._posterior_fit import Training, bit_problems, choose_posterior, count_votes
from refpair.coding import draw_code
from refpair.costs import Cost
from refpair.decision import decide_from_marginals, expected_cost, needs_only_marginals
from refpair.posterior import IndependentLabels, LabelDistribution

__all__ = ["CSRPEClassifier"]

MOST_VECTORS = 20_000  # that a posterior weighs: each row is compared with all of them


class CSRPEClassifier(DecisionMixin, SavableCSRPE):
    """The multi-label classifier that is best for a given cost, by cost-sensitive reference pair encoding.

    Label vectors are encoded as thousands of bits, each the answer to the question which of two random label
    vectors is the cheaper prediction. Every bit is learnt with the difference of the two costs as weight. A
    row's predicted bits are read as a distribution over label vectors, and its answer is the label vector of
    least expected cost, out of all there are; or, as in the paper, the one whose code is nearest.

    Parameters
    ----------
    cost : str, Cost or callable, default="f1"
        What a prediction costs: "f1", "accuracy" (or "jaccard"), "hamming", "zero_one", "rank", "f2" and so
        on, or a cost of your own; see :class:`refpair.Cost`.
    n_bits : int, default=3000
        The length of the code. If the decoder is "posterior", bits are learnt besides that ask for one label
        alone: 100 for each label, or fewer if there would be more than twice as many as bits of the code.
    estimator : "tree", "logistic" or classifier, default="tree"
        What learns a bit: a decision tree; a logistic regression, all bits at once (``Logistic(C=...)`` sets
        how); or a clone of any scikit-learn classifier whose ``fit`` takes ``sample_weight``.
    pairs : {"auto", "uniform", "density", "mixed", "observed"}, default="auto"
        Where reference pairs are drawn from: all label vectors ("uniform", as in the paper), vectors with as
        many labels as the training set has ("density"), half of these and half of those ("mixed"), or the
        vectors of the training set ("observed"). "auto" is "mixed", or "uniform" if the decoder is "nearest".
    decoder : {"posterior", "nearest"}, default="posterior"
        How a predicted code becomes a label vector: by the decision of least expected cost under the
        posterior, or by the nearest code word, as in the paper.
    relevant_set : array-like of shape (n_vectors, n_labels), optional
        The label vectors that codes are compared with: the only ones that "nearest" can predict, and that
        "posterior" gives weight to. By default the distinct ones of the training set, for "posterior" the
        20,000 most frequent of them; it then gives weight to others, too, if that clearly costs less out of
        bag.
    max_depth : int, "auto" or None, default="auto"
        The depth of the trees; None lets them grow until their leaves are pure. "auto" grows them so, and
        cuts them off at 6 if that costs less out of bag (never if the decoder is "nearest").
    min_samples_leaf : int, default=1
        How many rows a leaf has at least.
    max_features : int, float, "auto", "sqrt", "log2" or None, default="auto"
        How many features a split looks at: a number, a share, or None for all. "auto" is "sqrt" if most
        features have more than two values and the decoder is "posterior", else all.
    max_samples : int, float, "auto" or None, default="auto"
        How many rows, drawn without replacement, a bit is learnt from: a number, a share, or None for all.
        "auto" is all for "nearest"; for "posterior" 63 %, or 80 % of 2,000 rows or more, but at most 100,000
        rows. If it is all, the posterior is chosen by further bits, which are learnt in three folds; that
        takes longer.
    max_bins : int, default=64
        How finely numeric features are cut, from 2 to 255; a feature with fewer values is kept exactly.
    n_jobs : int, optional
        Threads; −1 uses all processors. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Decides everything random.
    verbose : int, default=0
        1 shows a progress bar with the time left.

    Attributes
    ----------
    cost_ : Cost
        The cost as an object.
    classes_ : ndarray of shape (n_labels,)
        The names of the labels: the columns of a DataFrame, else 0, 1, 2, …
    code_ : ReferencePairCode
        The reference pairs. It has fewer than ``n_bits`` bits if there are no more useful ones.
    relevant_set_ : ndarray of uint8, shape (n_vectors, n_labels)
        The label vectors that codes are compared with, the most frequent first.
    relevant_counts_ : ndarray of int64
        How many training rows have each of them.
    bits_ : TreeBank, LogisticBank or EstimatorBank
        The learnt bits: those of the code, then those of single labels.
    posterior_ : CodePosterior
        What reads codes as distributions (if the decoder is "posterior").
    reading_ : Reading
        How it does: the temperature and what else was chosen out of bag.
    oob_search_ : DataFrame
        All readings that were tried, by rising ``cost``: the mean cost of their decisions on ``n_rows``
        training rows, each seen only by bits that were learnt without it. The first one was chosen; one that
        takes labels as ``independent`` only if it is clearly cheaper.
    oob_cost_ : float
        The mean cost of its decisions: an estimate of what predictions on new rows cost, a little low since
        it is the least of many.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X was a DataFrame.

    Notes
    -----
    Cells of X may be missing (NaN): a tree sends them to the better side.

    ``decide(X, cost=...)`` answers for another cost with the same fitted model. The bits and the reading were
    made for the first one, though: a model fitted for that other cost is better, as a rule.

    With ``decoder="nearest"`` ties between equally near code words go to the more frequent label vector, and
    there are no probabilities. ``cost="zero_one"`` is then out of reach if there are many label vectors.

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
           [0, 1, 0, 0, 1, 0, 0, 1, 0, 0]], dtype=uint8)
    >>> model.predict_proba(digits.X[1500:1501]).round(1)
    array([[0., 0., 0., 0., 0., 0., 1., 0., 0., 0.]])
    >>> round(model.score(digits.X[1500:], digits.Y[1500:]), 2)
    0.89
    >>> round(float(1 - model.expected_cost(digits.X[1500:]).mean()), 2)  # without their labels
    0.86
    """

    def __init__(
        self,
        cost: Any = "f1",
        *,
        n_bits: int = 3000,
        estimator: Any = "tree",
        pairs: Literal["auto", "uniform", "density", "mixed", "observed"] = "auto",
        decoder: Literal["posterior", "nearest"] = "posterior",
        relevant_set: Any = None,
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
        self.estimator = estimator
        self.pairs = pairs
        self.decoder = decoder
        self.relevant_set = relevant_set
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Draw a code for the cost and learn its bits.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or rows on disk of shape (n, n_features)
            NaN is a missing value. See :func:`refpair.on_disk.open_rows` for more rows than fit into memory.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            The labels, 0/1, boolean or yes/no. A one-dimensional y of two classes is taken as a single label.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, labels = self._read(X, y)
        self.cost_ = self._check_cost(self.cost)
        distinct = distinct_labels(labels)
        n_labels = distinct.vectors.shape[1]
        posterior = self.decoder == "posterior"

        drawn = check_random_state(self.random_state).randint(2**31, size=4, dtype=np.int64)
        for_pairs, for_bits, for_choice = np.random.SeedSequence(drawn).spawn(3)
        n_votes = count_votes(self.n_bits, n_labels) if posterior else 0
        pairs = self.pairs if self.pairs != "auto" else "mixed" if posterior else "uniform"
        self.code_ = draw_code(
            self.cost_,
            labels if pairs in ("density", "mixed") else distinct.vectors,
            self.n_bits,
            pairs,
            rng=np.random.default_rng(for_pairs),
        )
        if len(self.code_) == 0:  # a single label vector: there is nothing to learn
            n_votes = 0
        self._set_relevant_set(distinct)
        n_bits = len(self.code_) + n_votes * n_labels
        seeds = for_bits.generate_state(n_bits, np.uint64).astype(np.uint64)
        self.bits_ = self._make_learner(X.shape[0]).fit(X, bit_problems(self.code_, distinct, n_votes, seeds))
        if posterior and len(self.code_):
            training = Training(
                X, distinct, self.relevant_set_, self.relevant_counts_, self.code_, self.cost_, n_votes,
                seeds, self.max_depth == "auto", self.relevant_set is None,
            )  # fmt: skip
            self._set_posterior(training, np.random.default_rng(for_choice))
        else:
            for name in ("posterior_", "reading_", "oob_search_", "oob_cost_"):
                self.__dict__.pop(name, None)  # of an earlier fit
            self._make_code_book()
            self._cost_scale = 1.0
        return self

    def _set_posterior(self, training: Training, rng: np.random.Generator) -> None:
        chosen = choose_posterior(
            self.bits_,
            training,
            lambda X, problems: self._make_learner(X.shape[0]).fit(X, problems),
            rng,
            self.n_jobs,
        )
        self.posterior_ = chosen.posterior
        self.bits_ = chosen.posterior.bits
        self.reading_ = chosen.posterior.reading
        self.oob_search_ = chosen.search
        self.oob_cost_ = chosen.oob_cost
        self._cost_scale = chosen.cost_scale

    def shorten(self, n_bits: int) -> Self:
        """Return a copy with a part of the code; nothing is learnt anew.

        Parameters
        ----------
        n_bits : int
            How many bits of the code stay, from 1 to ``len(code_)``: every second one for half of them, and
            so on. Each label keeps as many bits of its own as a model of that length has.

        Returns
        -------
        model : CSRPEClassifier
            It decodes to the nearest of the shorter code words, or reads the shorter code as the full one:
            ``reading_``, the calibration, ``oob_search_`` and ``oob_cost_`` are still those of the full one.

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
        # All along the code, since "mixed" pairs begin with one kind and end with the other.
        kept = np.arange(n_bits) * n_there // n_bits
        n_labels = self.relevant_set_.shape[1]
        n_votes = (len(self.bits_) - n_there) // n_labels
        if n_votes > 0:  # the code may be shorter than was asked for, and its parts are of what was
            n_votes = max(1, min(n_votes, count_votes(n_bits * self.n_bits // n_there, n_labels)))
        votes = n_there + np.arange(n_votes * n_labels)
        model = copy(self)
        model.n_bits, model.code_ = n_bits, self.code_[kept]
        model.bits_ = self.bits_.take(np.concatenate([kept, votes]))
        if hasattr(self, "posterior_"):
            model.posterior_ = self.posterior_.take(kept, model.bits_)
        else:
            model._make_code_book()
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
        """Return the predicted bits of rows, −1 or +1.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)

        Returns
        -------
        code : ndarray of int8, shape (n, n_bits)
        """
        check_is_fitted(self)
        return self.bits_.predict(self._read_features(X, reset=False), slice(0, len(self.code_)))

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        if hasattr(self, "posterior_"):
            return super()._predict_labels(X)
        if len(self.code_) == 0:  # a single label vector: nothing to tell apart
            return np.repeat(self.relevant_set_[:1], X.shape[0], axis=0)
        return self.relevant_set_[self._code_book.decode(self.bits_.predict(X))]

    def _tells_probabilities(self) -> bool:
        if self.decoder != "posterior":
            raise AttributeError('probabilities and expected costs need decoder="posterior"')
        return True

    def _marginals(self, X: Any) -> npt.NDArray[np.float64]:
        if len(self.code_) == 0:
            return np.repeat(self.relevant_set_[:1].astype(np.float64), X.shape[0], axis=0)
        return self.posterior_.marginals(X, n_jobs=self.n_jobs)

    def _distributions(self, X: Any) -> Iterator[tuple[slice, LabelDistribution | IndependentLabels]]:
        if len(self.code_):
            yield from self.posterior_.distributions(X, n_jobs=self.n_jobs)
            return
        yield (
            slice(0, X.shape[0]),
            LabelDistribution.from_dense(self.relevant_set_[:1], np.ones((X.shape[0], 1))),
        )

    def _decide(self, X: Any, cost: Cost) -> npt.NDArray[np.uint8]:
        if len(self.code_) and cost == self.cost_ and needs_only_marginals(cost):
            marginals = self.posterior_.marginals(X, calibrated=False, n_jobs=self.n_jobs)
            return decide_from_marginals(marginals, cost)
        return super()._decide(X, cost)

    def _expected_cost(self, X: Any, labels: Any) -> npt.NDArray[np.float64]:
        if not needs_only_marginals(self.cost_):
            return super()._expected_cost(X, labels)
        answer = self._decide(X, self.cost_) if labels is None else labels
        expected = expected_cost(IndependentLabels(self._marginals(X)), answer, self.cost_)
        return self._scaled(expected, answer)

    def _set_relevant_set(self, distinct: DistinctLabels) -> None:
        """Order the vectors that can be predicted by falling frequency, then by the vectors themselves."""
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
        self.relevant_set_, self.relevant_counts_ = vectors[order], counts[order]

    def _make_learner(self, n_rows: int = 0) -> BitLearner:
        all_features = self.max_features == "auto" and self.decoder == "nearest"
        of_trees = {
            "max_depth": None if self.max_depth == "auto" else self.max_depth,
            "min_samples_leaf": self.min_samples_leaf,
            "max_features": None if all_features else self.max_features,
            "max_bins": self.max_bins,
        }
        how: dict[str, Any] = {"max_samples": self._max_samples(n_rows), "n_jobs": self.n_jobs}
        return make_bank(self.estimator, of_trees=of_trees, verbose=self.verbose, **how)

    def _max_samples(self, n_rows: int) -> int | float | None:
        if self.max_samples != "auto":
            return self.max_samples
        return None if self.decoder == "nearest" else bag_size(n_rows)

    def _learns_from_rows_on_disk(self) -> bool:
        return isinstance(self.estimator, str) and self.estimator == "tree"

    def _check_parameters(self) -> None:
        check_csrpe_parameters(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = as_bit_learner(self.estimator)
        if is_estimator(learner):
            tags.input_tags = get_tags(learner).input_tags
        return tags
