"""Cost-sensitive reference pair encoding (section 3 of the paper): encode, learn the bits, decode."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from refpair.bits import BitLearner, BitProblems, EstimatorBank, TreeBank
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._labels import DistinctLabels, distinct_labels
from refpair.classifiers._parameters import check_amount, check_count, is_integer
from refpair.coding import CodeBook, ReferencePairCode, draw_code
from refpair.costs import Cost, get_cost

__all__ = ["CSRPEClassifier"]

_TREE_ONLY = {"max_depth": None, "min_samples_leaf": 1, "max_features": None, "max_bins": 64}


class CSRPEClassifier(MultiLabelClassifier):
    """The multi-label classifier that is best for a given cost, by cost-sensitive reference pair encoding.

    Label vectors are encoded as thousands of bits, each the answer to the question which of two random label
    vectors is the cheaper prediction. Every bit is learnt with the difference of the two costs as weight. A
    row gets the label vector whose code is nearest to its predicted bits.

    Parameters
    ----------
    cost : str, Cost or callable, default="f1"
        What a prediction costs: "f1", "accuracy" (or "jaccard"), "hamming", "zero_one", "rank", "f2" and so
        on, or a cost of your own; see :class:`refpair.Cost`.
    n_bits : int, default=3000
        The length of the code.
    learner : "tree" or classifier, default="tree"
        What learns a bit: a decision tree, or a clone of any scikit-learn classifier whose ``fit`` takes
        ``sample_weight``.
    pairs : {"uniform", "observed"}, default="uniform"
        Where reference pairs are drawn from: all label vectors, or those of the training set.
    decoder : {"nearest"}, default="nearest"
        How a predicted code becomes a label vector: the nearest code word, as in the paper.
    relevant_set : array-like of shape (n_vectors, n_labels), optional
        The label vectors that can be predicted. By default the distinct ones of the training set.
    max_depth : int, optional
        The depth of the trees; by default they grow until their leaves are pure. Worth tuning.
    min_samples_leaf : int, default=1
        How many rows a leaf has at least.
    max_features : int, float, "sqrt" or "log2", optional
        How many features a split looks at: a number, a share, or by default all.
    max_samples : int or float, optional
        How many rows, drawn without replacement, a bit is learnt from: a number, a share, or by default all.
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
        The label vectors that can be predicted, the most frequent first.
    relevant_counts_ : ndarray of int64
        How many training rows have each of them.
    bits_ : TreeBank or EstimatorBank
        The learnt bits.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X was a DataFrame.

    Notes
    -----
    Cells of X may be missing (NaN): a tree sends them to the better side. Ties between equally near code
    words go to the more frequent label vector.

    With many label vectors ``cost="zero_one"`` is out of reach of nearest decoding: a bit then tells apart
    just two label vectors, few of them can be drawn, and those with a single observed vector vote for it
    whatever the row. "rank" or "accuracy" get more rows entirely right.

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
    >>> digits.Y[1500:1502]
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
           [0, 1, 0, 0, 1, 0, 0, 0, 0, 0]], dtype=uint8)
    >>> round(model.score(digits.X[1500:], digits.Y[1500:]), 2)
    0.86
    """

    def __init__(
        self,
        cost: Any = "f1",
        n_bits: int = 3000,
        learner: Any = "tree",
        pairs: Literal["uniform", "observed"] = "uniform",
        decoder: Literal["nearest"] = "nearest",
        relevant_set: Any = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: int | float | Literal["sqrt", "log2"] | None = None,
        max_samples: int | float | None = None,
        max_bins: int = 64,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.cost = cost
        self.n_bits = n_bits
        self.learner = learner
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
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            NaN is a missing value.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            The labels, 0/1 or boolean. A one-dimensional y of two classes is taken as a single label.

        Returns
        -------
        self
        """
        self._check_parameters()
        self.cost_ = get_cost(self.cost)
        X, labels = self._read(X, y)
        distinct = distinct_labels(labels)

        drawn = check_random_state(self.random_state).randint(2**31, size=4, dtype=np.int64)
        for_pairs, for_bits = np.random.SeedSequence(drawn).spawn(2)
        self.code_ = draw_code(
            self.cost_, distinct.vectors, self.n_bits, self.pairs, rng=np.random.default_rng(for_pairs)
        )
        self._set_relevant_set(distinct)
        self._make_code_book()
        problems = BitProblems(
            vector_of_row=distinct.of_row,
            n_bits=len(self.code_),
            differences=partial(_differences, self.code_, distinct.vectors),
            seeds=for_bits.generate_state(len(self.code_), np.uint64).astype(np.uint64),
        )
        self.bits_ = self._make_learner().fit(X, problems)
        return self

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
        return self.bits_.predict(self._read_features(X, reset=False))

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        if len(self.code_) == 0:  # a single label vector: nothing to tell apart
            return np.repeat(self.relevant_set_[:1], X.shape[0], axis=0)
        return self.relevant_set_[self._code_book.decode(self.bits_.predict(X))]

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
        self.relevant_set_, self.relevant_counts_ = vectors[order], counts[order]

    def _make_code_book(self) -> None:
        self._code_book = CodeBook(self.code_.encode(self.relevant_set_))

    def _make_learner(self) -> BitLearner:
        if self.learner == "tree":
            return TreeBank(
                max_depth=self.max_depth,
                min_samples_leaf=self.min_samples_leaf,
                max_features=self.max_features,
                max_samples=self.max_samples,
                max_bins=self.max_bins,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        return EstimatorBank(
            self.learner, max_samples=self.max_samples, n_jobs=self.n_jobs, verbose=self.verbose
        )

    def _check_parameters(self) -> None:
        """Refuse bad parameters, naming them and what they may be."""
        if not isinstance(self.cost, str | Cost) and not callable(self.cost):
            raise ValueError(f"cost must be a name, a Cost or a function, not {self.cost!r}")
        check_count("n_bits", self.n_bits)
        check_count("min_samples_leaf", self.min_samples_leaf)
        check_count("max_bins", self.max_bins, low=2, high=255)
        check_count("verbose", int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, low=0)
        if self.max_depth is not None:
            check_count("max_depth", self.max_depth)
        if self.max_features not in ("sqrt", "log2"):
            check_amount(
                "max_features", self.max_features, 'a number, a share in (0, 1], "sqrt", "log2" or None'
            )
        check_amount("max_samples", self.max_samples, "a number, a share in (0, 1] or None")
        if self.n_jobs is not None and (not is_integer(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be an integer other than 0 or None, not {self.n_jobs!r}")
        if self.pairs not in ("uniform", "observed"):
            raise ValueError(f'pairs must be "uniform" or "observed", not {self.pairs!r}')
        if self.decoder != "nearest":
            raise ValueError(f'decoder must be "nearest", not {self.decoder!r}')
        try:
            check_random_state(self.random_state)
        except ValueError as error:
            raise ValueError(f"random_state must be a seed: {error}") from error
        self._check_learner()

    def _check_learner(self) -> None:
        if isinstance(self.learner, str):
            if self.learner != "tree":
                raise ValueError(f'learner must be "tree" or a scikit-learn classifier, not {self.learner!r}')
            return
        if not _is_estimator(self.learner) or not is_classifier(self.learner):
            raise ValueError(f'learner must be "tree" or a scikit-learn classifier, not {self.learner!r}')
        if not has_fit_parameter(self.learner, "sample_weight"):
            raise ValueError(f"learner must take sample_weight in fit, which {self.learner!r} does not")
        for name, default in _TREE_ONLY.items():
            if getattr(self, name) != default:
                raise ValueError(f'{name} belongs to learner="tree": set it on the learner itself instead')

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if _is_estimator(self.learner):
            tags.input_tags = get_tags(self.learner).input_tags
        return tags


def _differences(
    code: ReferencePairCode, vectors: npt.NDArray[np.uint8], bits: slice
) -> npt.NDArray[np.float64]:
    differences = code[bits].differences(vectors)
    if not np.isfinite(differences).all():
        raise ValueError(f"the cost {code.cost.name!r} is too large: its differences are infinite")
    return differences


def _is_estimator(learner: Any) -> bool:
    return hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type)
