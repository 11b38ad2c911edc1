"""Labels by several people: how reliable each of them is, what is probably true, and a model of that.

    log odds of Q_ik  =  log odds of P_k(x_i) + Σ log [p(answer | label is there) / p(answer | it is not)]

over the answers to row i. P is the probability of label k by a model that was fitted without the row, and by
the likelier values of the row's other labels. The reliabilities follow from Q, and Q from the reliabilities,
in turns (Dawid and Skene); the model is fitted to the likelier value of each cell, and all is repeated.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from refpair._cross_fitting import Bytes, Floats, cross_fit, given_others
from refpair._extras import is_dataframe, pd
from refpair.tables._cells import dense, from_polars
from refpair.tables.labels import UNKNOWN, LabelFormat, read_labels, with_gaps

__all__ = ["FromAnnotators"]

Places = npt.NDArray[np.intp]

_FIRST = 0.9  # how reliable all are taken to be at first
_PULL = 10.0  # answers that say an annotator is like all others
_STEPS, _NEAR = 100, 1e-4
_LEAST = 0.001  # no annotator is always right


class FromAnnotators:
    """Learn from the answers of several annotators, who may disagree.

    Parameters
    ----------
    model : classifier or pipeline
        One with ``predict_proba``; it is cloned.
    n_rounds : int, default=2
        How often the model is fitted in folds, to the consensus so far.
    n_folds : int, default=5
    random_state : int, RandomState or None, default=0
        Draws the folds.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    model_ : classifier or pipeline
        The model, fitted to the consensus.
    reliability_ : DataFrame
        For each annotator ``sensitivity``, the share of labels that are there of which they say so,
        ``specificity``, the share of absent labels that they leave out, and ``n``, the number of cells
        that they have answered.
    consensus_ : DataFrame of shape (n, n_labels)
        The probability of each label of each row.
    disagreements_ : DataFrame
        A line for each cell about which annotators differ: ``row``, ``label``, who says ``yes`` and ``no``,
        and the ``consensus``, the probability that the label is there; the least certain first.

    Examples
    --------
    >>> import numpy as np
    >>> from refpair import BinaryRelevance
    >>> from refpair.annotators import FromAnnotators
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 2))
    >>> truth = (X > 0).astype(float)
    >>> careless = np.where(rng.random(truth.shape) < 0.2, 1 - truth, truth)
    >>> careless[:300] = np.nan  # has not seen these rows
    >>> careful = truth.copy()
    >>> careful[600:] = np.nan
    >>> answers = {"Ann": careful, "Bob": careless}
    >>> found = FromAnnotators(BinaryRelevance("logistic")).fit(X, answers)
    >>> found.reliability_.round(1)
               sensitivity  specificity    n
    annotator
    Ann                1.0          1.0  1200
    Bob                0.8          0.8  1200
    >>> found.model_.predict([[1.0, -1.0]]).tolist()
    [[1, 0]]
    """

    model_: Any
    reliability_: pd.DataFrame
    consensus_: pd.DataFrame
    disagreements_: pd.DataFrame

    def __init__(
        self, model: Any, *, n_rounds: int = 2, n_folds: int = 5, random_state: Any = 0, verbose: int = 0
    ) -> None:
        self.model = model
        self.n_rounds = n_rounds
        self.n_folds = n_folds
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, answers: Any) -> Self:
        """Find the reliabilities, the consensus and the model.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        answers : dict or DataFrame
            For each annotator the labels of all rows, NaN where they did not answer; or a long table with a
            line for each answer: ``row`` (a name in the index of X if that is a DataFrame, else a position),
            ``annotator``, and a column for each label.
        """
        index = X.index if is_dataframe(X) else pd.RangeIndex(_num_samples(X))
        row, who, people, given, form = read_answers(answers, index)
        names, shape = form.label_names, (len(index), form.n_labels)
        answered = np.zeros(shape, bool)
        for answer, place in zip(given, row, strict=True):
            answered[place] |= answer != UNKNOWN
        yes, no = (np.bincount(np.nonzero(given == one)[1], minlength=shape[1]) for one in (1, 0))
        p = np.tile((yes + 1.0) / (yes + no + 2.0), (shape[0], 1))
        for done in range(self.n_rounds + 1):
            q, reliability = consensus(p, row, who, given, len(people))
            labels = np.where(answered, q > 0.5, UNKNOWN).astype(np.uint8)
            if done < self.n_rounds:
                how = {"n_folds": self.n_folds, "random_state": self.random_state, "verbose": self.verbose}
                p, _ = cross_fit(self.model, X, labels, names, **how)
                p = given_others(labels, p, n_folds=self.n_folds, verbose=self.verbose)
        Y = with_gaps(labels)
        as_frame = form.kind not in ("array", "sparse")
        self.model_ = clone(self.model).fit(X, pd.DataFrame(Y, index, names) if as_frame else Y)
        n = np.bincount(who, (given != UNKNOWN).sum(axis=1), len(people)).astype(int)
        columns = {"sensitivity": reliability[:, 1], "specificity": reliability[:, 0], "n": n}
        self.reliability_ = pd.DataFrame(columns, people)
        self.consensus_ = pd.DataFrame(q, index, names)
        self.disagreements_ = _disagreements(row, people[who], given, self.consensus_)
        return self


def read_answers(answers: Any, index: pd.Index) -> tuple[Places, Places, pd.Index, Bytes, LabelFormat]:
    """Return the row and the annotator of each answer, the annotators, and the labels with their form."""
    answers = from_polars(answers)
    if is_dataframe(answers):
        missing = [name for name in ("row", "annotator") if name not in answers.columns]
        if missing:
            raise ValueError(f"answers has no column {missing[0]!r}; it must have row, annotator and labels")
        if answers.empty:
            raise ValueError("answers has no lines; it must have one for each answer")
        if answers["annotator"].isna().any():
            raise ValueError("answers has an empty cell in the column 'annotator'")
        row = index.get_indexer(pd.Index(answers["row"]))
        if (row < 0).any():
            unknown = answers["row"].tolist()[int(np.argmin(row))]
            raise ValueError(f"answers has row {unknown!r}, which X has not")
        who, people = pd.factorize(answers["annotator"], sort=True)
        Y: Any = answers.drop(columns=["row", "annotator"])
        twice = answers.duplicated(["row", "annotator"])
        if twice.any():
            name, again = (answers[one][twice].tolist()[0] for one in ("annotator", "row"))
            raise ValueError(f"answers has two lines of annotator {name!r} for row {again!r}")
    else:
        if not isinstance(answers, dict) or not answers:
            raise ValueError("answers must be a DataFrame with a line for each answer, or a dict of labels")
        for name, one in answers.items():
            if (n := _num_samples(one)) != len(index):
                raise ValueError(f"{name} has answers to {n} rows, but X has {len(index)}")
        parts = [from_polars(one) for one in answers.values()]
        frames = all(map(is_dataframe, parts))
        try:
            Y = pd.concat(parts, ignore_index=True) if frames else np.concatenate([*map(dense, parts)])
        except ValueError as error:
            raise ValueError(
                "answers must have a matrix for each annotator, all with a column for each label"
            ) from error
        people = pd.Index(list(answers))
        row, who = np.tile(np.arange(len(index)), len(people)), np.repeat(np.arange(len(people)), len(index))
    given, form = read_labels(Y, "answers", may_miss=True)
    given = dense(given)
    some = (given != UNKNOWN).any(axis=1)
    return row[some], who[some], people.rename("annotator"), given[some], form


def consensus(p: Floats, row: Places, who: Places, given: Bytes, n_people: int) -> tuple[Floats, Floats]:
    """Return the probabilities of cells, and how often annotators are right of absent and of present labels.

    Parameters
    ----------
    p : array of shape (n, n_labels)
        The probability of each label before anyone has answered.
    row, who : arrays of shape (n_answers,)
    given : array of shape (n_answers, n_labels)
        0, 1 and UNKNOWN.
    n_people : int
    """
    right = np.full((n_people, 2), _FIRST)
    before = logit(p)
    for _ in range(_STEPS):
        absent, there = right[who].T[:, :, None]
        of_yes, of_no = np.log(there / (1.0 - absent)), np.log((1.0 - there) / absent)
        odds = before.copy()
        np.add.at(odds, row, np.where(given == UNKNOWN, 0.0, np.where(given == 1, of_yes, of_no)))
        q = expit(odds)
        sums = np.zeros((2, n_people, 2))  # of cells where it is right, and of all
        for value, chance in enumerate((1.0 - q[row], q[row])):
            for place, counts in enumerate((given == value, given != UNKNOWN)):
                sums[place, :, value] = np.bincount(who, (chance * counts).sum(axis=1), n_people)
        like_all = (sums[0].sum(axis=0) + _FIRST) / (sums[1].sum(axis=0) + 1.0)
        new = np.clip((sums[0] + _PULL * like_all) / (sums[1] + _PULL), _LEAST, 1.0 - _LEAST)
        change, right = np.abs(new - right).max(), new
        if change < _NEAR:
            break
    return q, right


def _disagreements(row: Places, names: pd.Index, given: Bytes, found: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of which some say yes and others no."""
    said: dict[tuple[Any, Any], tuple[list[str], list[str]]] = {}
    for place, name, answer in zip(row, names, given, strict=True):
        for label in np.flatnonzero(answer != UNKNOWN):
            said.setdefault((place, label), ([], []))[answer[label]].append(str(name))
    lines = [
        (found.index[place], found.columns[label], ", ".join(yes), ", ".join(no), found.iat[place, label])
        for (place, label), (no, yes) in said.items()
        if yes and no
    ]
    table = pd.DataFrame(lines, columns=["row", "label", "yes", "no", "consensus"])
    order = np.argsort(np.abs(table["consensus"].to_numpy(float) - 0.5), kind="stable")
    return table.iloc[order].reset_index(drop=True)
