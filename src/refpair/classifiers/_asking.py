"""Answers of a model, and questions to a person where these are worth their price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from refpair._extras import pd
from refpair._parallel import in_memory, is_lazy
from refpair.costs import Cost, get_cost, vector_cost
from refpair.decision.ask import ask_labels
from refpair.decision.condition import conditioned
from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost
from refpair.decision.rule_set import RuleSet
from refpair.decision.value import LabelsGiven, cost_of_truths
from refpair.posterior.distribution import Bytes, Distribution, Floats
from refpair.tables._cells import dense
from refpair.tables._names import unknown_name

_MULTIPLES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # of prices of labels, in a curve
_STEPS = 50  # of prices of rows
_FOLLOWED = 500  # rows of which all questions about labels are followed, to tell what they cost


@dataclass(frozen=True, eq=False, repr=False)
class AnswersAndQuestions:
    """What a model answers, and what it rather asks a person.

    ``answers, asked = model.predict_or_ask(X, 0.2)`` takes the first two.

    Attributes
    ----------
    answers : of shape (n, n_labels)
        The best answer for each row, also for those to ask about, in the form that the labels had in ``fit``.
    asked : ndarray of bool, shape (n,) or (n, n_labels)
        The rows to ask about, or the labels of each row.
    questions : DataFrame
        What to ask, in the order to ask it. ``row`` is the number of the row in X, ``price`` what the
        question costs, and ``gain`` by how much the answer is expected to lower the cost beyond that; for
        single labels there is a ``label``, too. Rows of largest gain come first, and so do the labels of a
        row.
    expected_costs : ndarray of shape (n,)
        What the answers are expected to cost if nothing is asked.
    expected_total : float
        What questions and answers are expected to cost together, for all rows.
    expected_questions : float
        How many questions this takes. Labels are asked one after the other, and what a person says of one may
        spare the next.

    Examples
    --------
    Half of the rows with a 1 have the label, and a question costs less than a wrong answer is expected to.

    >>> from refpair import CSRPEClassifier
    >>> X, Y = [[0], [1]] * 20, [[0], [0], [0], [1]] * 10
    >>> model = CSRPEClassifier("hamming", n_bits=20, random_state=0).fit(X, Y)
    >>> found = model.predict_or_ask([[0], [1], [1]], 0.2)
    >>> found.questions["row"].tolist()
    [1, 2]
    >>> answers, asked = found
    >>> asked
    array([False,  True,  True])
    """

    answers: Any
    asked: npt.NDArray[np.bool_]
    questions: Any
    expected_costs: Floats
    expected_total: float
    expected_questions: float

    def __repr__(self) -> str:
        n, n_asked = len(self.expected_costs), self.expected_questions
        return f"<answers to {n:,} rows and about {n_asked:.0f} questions: {self.expected_total:.4g} in all>"

    def __iter__(self) -> Iterator[Any]:
        return iter((self.answers, self.asked))


def predict_or_ask(
    model: Any, X: Any, ask: Any, cost: Cost, rules: RuleSet | None, known: Any
) -> AnswersAndQuestions:
    """Return the answers of a model, and what it is worth to ask; see the model's method."""
    read, observed = _read(model, X, cost, known)
    names = model._label_format.label_names
    of_labels = isinstance(ask, Mapping)
    prices = label_prices(ask, names) if of_labels else row_prices(ask, read.shape[0])
    followed = _followed(read.shape[0])
    answers, expected, gains, totals, counts = [], [], [], [], []
    for rows, block in _blocks(model, read, cost, rules, observed):
        answers.append(block.answer)
        expected.append(block.expected)
        if of_labels:
            gain, total, count = block.ask(prices, followed[rows], model)
        else:
            gain = block.worth() - prices[rows]
            total, count = block.expected - np.maximum(gain, 0.0), (gain > 0).astype(np.float64)
        gains.append(gain)
        totals.append(total)
        counts.append(count)
    gain = np.concatenate(gains)
    return AnswersAndQuestions(
        answers=model._label_format.write(np.concatenate(answers), X),
        asked=gain > 0,
        questions=_in_order(gain, prices, names if of_labels else None),
        expected_costs=np.concatenate(expected),
        expected_total=_total(np.concatenate(totals), followed),
        expected_questions=_total(np.concatenate(counts), followed),
    )


def asking_curve(model: Any, X: Any, ask: Any, cost: Cost, rules: RuleSet | None) -> Any:
    """Return what questions and answers are expected to cost at several prices; see the model's method."""
    read, _ = _read(model, X, cost, None)
    blocks = _blocks(model, read, cost, rules, None)
    if isinstance(ask, Mapping):
        own, followed = label_prices(ask, model._label_format.label_names), _followed(read.shape[0])
        parts = [
            [block.ask(multiple * own, followed[rows], model)[1:] for multiple in _MULTIPLES]
            for rows, block in blocks
        ]
        found = [
            [_total(np.concatenate(one), followed) for one in zip(*of_multiple, strict=True)]
            for of_multiple in zip(*parts, strict=True)
        ]
        totals, counts = zip(*found, strict=True)
        columns = {"multiple": _MULTIPLES, "expected_questions": counts, "expected_total": totals}
        return pd.DataFrame(columns)
    worth, total = [], 0.0
    for _, block in blocks:
        worth.append(block.worth())
        total += float(block.expected.sum())
    gains = np.concatenate(worth)
    prices = np.linspace(0.0, gains.max(initial=0.0), _STEPS) if ask is None else np.unique(ask)
    left = [np.maximum(gains - price, 0.0) for price in row_prices(prices, len(prices))]
    return pd.DataFrame(
        {
            "price": prices,
            "expected_questions": [float(np.count_nonzero(one)) for one in left],
            "expected_total": [total - float(one.sum()) for one in left],
        }
    )


def row_prices(ask: Any, n: int) -> Floats:
    """Return the price of a question about each row."""
    try:
        prices = np.asarray(ask, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the price of a question is a number from 0 up, not {ask!r}") from None
    if prices.shape not in ((), (n,)):
        raise ValueError(
            f"ask is the price of a question about a row, one for each of the {n:,} rows, or a price for "
            f"each label by its name; got an array of shape {prices.shape}"
        )
    if not (prices >= 0).all() or np.isinf(prices).any():
        raise ValueError(f"the price of a question is a number from 0 up, not {ask!r}")
    return np.broadcast_to(prices, (n,))


def label_prices(ask: Mapping[Any, float], names: list[Any]) -> Floats:
    """Return the price of a question about each label; infinite where none may be asked."""
    prices = np.full(len(names), np.inf)
    for name, price in ask.items():
        if name not in names:
            raise ValueError(unknown_name("label", str(name), map(str, names)))
        if not 0 <= price < np.inf:
            raise ValueError(f"the price of a question about {name!r} is a number from 0 up, not {price!r}")
        prices[names.index(name)] = price
    if not ask:
        raise ValueError('ask has no labels: give prices such as {"fraud": 1.0}, or one price for a row')
    return prices


@dataclass(frozen=True, eq=False)
class _Block:
    """Some rows: what their labels may be without and with what is known of them, and the best answers."""

    before: Distribution
    known: Bytes | None
    given: Distribution
    cost: Cost
    rules: RuleSet | None
    answer: Bytes
    expected: Floats

    def worth(self) -> Floats:
        """Return what it is worth to know all labels of a row."""
        truths = [
            cost_of_truths(part, self.cost.for_rows(some)) for some, part in _parts(self.given, self.rules)
        ]
        return np.asarray(self.expected - np.concatenate(truths))

    def ask(
        self, prices: Floats, followed: npt.NDArray[np.bool_], model: Any
    ) -> tuple[Floats, Floats, Floats]:
        """Return what each label is worth beyond its price, and the total and the number of questions."""
        parts = []
        for some, part in _parts(self.before, self.rules):
            known = None if self.known is None else self.known[some]
            parts.append(
                ask_labels(
                    part, self.cost.for_rows(some), prices, known, rules=self.rules,
                    followed=followed[some], n_jobs=model.n_jobs, verbose=getattr(model, "verbose", 0),
                )
            )  # fmt: skip
        gain = np.concatenate([one.gain for one in parts])
        total = np.concatenate([one.questions + one.answers for one in parts])
        count = np.concatenate([one.n_questions for one in parts])
        asks = (gain > 0).any(axis=1)
        return gain, np.where(asks, total, self.expected), np.where(asks, count, 0.0)


def _parts(distribution: Distribution, rules: RuleSet | None) -> Iterable[tuple[slice, Distribution]]:
    return (
        [(slice(0, len(distribution)), distribution)] if rules is None else conditioned(distribution, rules)
    )


def _followed(n: int) -> npt.NDArray[np.bool_]:
    """Return the rows of which all questions about labels are followed: some, always the same ones."""
    followed = np.zeros(n, np.bool_)
    followed[np.random.default_rng(0).permutation(n)[:_FOLLOWED]] = True
    return followed


def _total(values: Floats, followed: npt.NDArray[np.bool_]) -> float:
    """Return the sum over all rows, from that over those that are followed if others are not known."""
    is_known = ~np.isnan(values)
    return float(values.sum() if is_known.all() else values[followed].mean() * len(values))


def _read(model: Any, X: Any, cost: Cost, known: Any) -> tuple[Any, Bytes | None]:
    if is_lazy(X):
        raise ValueError("questions have an order over all rows: give them in memory, by X.compute()")
    vector_cost(cost, "a question to a person")
    read = model._read_features(X, reset=False)
    cost._check_n_rows(read.shape[0])
    if known is None:
        return read, None
    observed = dense(model._label_format.read_more(in_memory(known), may_miss=True))
    check_consistent_length(read, observed)
    return read, observed


def _blocks(
    model: Any, X: Any, cost: Cost, rules: RuleSet | None, observed: Bytes | None
) -> Iterator[tuple[slice, _Block]]:
    # What is known of a row tells about its other labels by the distribution of whole vectors.
    for rows, p in model._distributions(X, cost if observed is None else get_cost("zero_one")):
        own, given, known = cost.for_rows(rows), p, None
        if observed is not None:
            known = observed[rows]
            given = LabelsGiven(p, None if rules is None else 0.0)(np.arange(len(p)), known)
        answer = decide(given, own, rules=rules, n_jobs=model.n_jobs)
        expected = [
            expected_cost(part, answer[some], own.for_rows(some)) for some, part in _parts(given, rules)
        ]
        yield rows, _Block(p, known, given, own, rules, answer, np.concatenate(expected))


def _in_order(gain: Floats, prices: Floats, labels: list[Any] | None) -> Any:
    if labels is None:
        row = np.flatnonzero(gain > 0)
        order = row[np.argsort(-gain[row], kind="stable")]
        return pd.DataFrame({"row": order, "price": prices[order], "gain": gain[order]})
    row, label = np.nonzero(gain > 0)
    own = gain[row, label]
    order = np.lexsort((-own, row, -gain.max(axis=1)[row]))
    row, label = row[order], label[order]
    names = np.array([labels[k] for k in label], dtype=object)
    return pd.DataFrame({"row": row, "label": names, "price": prices[label], "gain": own[order]})
