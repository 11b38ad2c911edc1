"""ML-ECC: labels as a word of an error-correcting code, whose bits are learnt."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from refpair._saved import require
from refpair.classifiers._base import check_count
from refpair.classifiers._code_learners import CodeLearners
from refpair.classifiers._distinct_labels import distinct_labels
from refpair.classifiers._reduction import ReductionClassifier
from refpair.coding.repetition import LabelCode, LabelCodeName, make_label_code
from refpair.tables.labels import LabelMatrix

__all__ = ["MLECC"]


class MLECC(ReductionClassifier):
    """Learn the bits of an error-correcting code of the labels, which makes up for bits learnt badly.

    Label vectors are encoded; each bit, or each block of three, is learnt by a base learner; what they
    predict is decoded. Parity bits see several labels at once. All labels are meant to be right (the zero-one
    loss), with no other cost in mind.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"forest", "tree", "logistic"}, default="forest"
        The base learner, of which each bit or block gets a clone. "tree" and "forest" (100 trees) are grown
        by a bank of trees, many times faster than scikit-learn's; ``Forest(max_depth=8)`` and so on sets how.
    code : {"rep", "rrep", "hamr"}, default="rep"
        "rep" repeats the labels, which makes it :class:`BinaryRelevance` if ``powerset=1``. "rrep" repeats
        them in random sets of three, which makes it :class:`RAkEL` if ``powerset=3``. "hamr" adds parities of
        every four repeated labels.
    powerset : int, default=1
        How many neighbouring bits are learnt together, as a label powerset; 3 in the literature. No more than
        there are labels.
    code_length : int, optional
        The number of bits, which "rrep" rounds down to a multiple of 3 and "hamr" to one of 7. By default 127
        for up to 7 labels, 255 up to 14, 511 up to 28, then 1,023.
    n_jobs : int, optional
        How many threads or processes learn, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    code_ : RepetitionCode, LabelsetRepetition or HammingRepetition
        The code: its ``encode`` and ``decode`` work with labels as arrays of 0 and 1.
    learners_ : CodeLearners
        The learnt bits.
    classes_ : ndarray
        The names of the labels.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Bits and blocks that are the same for all label vectors are learnt only once: their copies in "rep" would
    all learn the same.

    References
    ----------
    C.-S. Ferng, H.-T. Lin: Multilabel Classification Using Error-Correcting Codes of Hard or Soft Bits.
    TNNLS 2013.

    Examples
    --------
    >>> from refpair import MLECC
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> model = MLECC("tree", code="hamr", powerset=3, random_state=0).fit(digits.X[:1500], digits.Y[:1500])
    >>> model.code_.n_bits
    252
    >>> model.predict(digits.X[1500:1502])
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
           [0, 1, 0, 0, 1, 0, 0, 0, 0, 0]], dtype=uint8)
    """

    code_: LabelCode
    learners_: CodeLearners

    def __init__(
        self,
        estimator: Any = "forest",
        *,
        code: Literal["rep", "rrep", "hamr"] = "rep",
        powerset: int = 1,
        code_length: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs=n_jobs, random_state=random_state, verbose=verbose)
        self.code = code
        self.powerset = powerset
        self.code_length = code_length

    def _learn(self, X: Any, labels: LabelMatrix, rng: np.random.Generator) -> None:
        n_labels = labels.shape[1]
        # The code draws from a generator of its own, so that its bits are seeded as those of others are.
        self.code_ = make_label_code(self.code, n_labels, self.code_length, rng=rng.spawn(1)[0])
        learners = CodeLearners(self.estimator, min(self.powerset, n_labels), **self._running())
        self.learners_ = learners.fit(X, distinct_labels(labels), self.code_, rng)

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        require(self.code_.n_labels == n_labels, "the code is one of other labels")
        require(self.learners_.n_bits_ == self.code_.n_bits, "there are too few or too many bits")
        self.learners_.learners_.check_n_features(n_features)

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        return np.concatenate([self.code_.decode(words) for _, words in self.learners_.words(X)])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        names = get_args(LabelCodeName)
        if self.code not in names:
            listed = ", ".join(f'"{name}"' for name in names)
            raise ValueError(f"code must be one of {listed}, not {self.code!r}")
        check_count("powerset", self.powerset)
        if self.code_length is not None:
            check_count("code_length", self.code_length)
