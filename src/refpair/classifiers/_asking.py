"""Answers of a model, and questions to a person where these are worth their price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from refpair._extras import pd
from refpair._parallel import in_memory, is_lazy
from refpair.costs import Cost, get_cost, vector_cost
from refpair.decision.ask import LabelQuestions, ask_labels
from refpair.decision.condition import conditioned
from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost
from refpair.decision.rule_set import RuleSet
from refpair.decision.value import cost_of_truths
from refpair.posterior.distribution import Bytes, Distribution, Floats
from refpair.tables._cells import dense
from refpair.tables._names import unknown_name

_MULTIPLES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # of prices of labels, in a curve
_STEPS = 50  # of prices of rows


@dataclass(frozen=True, eq=False)
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
    """

    answers: Any
    asked: npt.NDArray[np.bool_]
    questions: Any
    expected_costs: Floats
    expected_total: float
    expected_questions: float

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
    answers, expected, gains, totals, counts = [], [], [], [], []
    for rows, block in _blocks(model, read, cost, rules, observed):
        answers.append(block.answer)
        expected.append(block.expected)
        if of_labels:
            asked = block.ask(prices, model)
            gains += [one.gain for one in asked]
            totals += [one.questions + one.answers for one in asked]
            counts += [one.n_questions for one in asked]
        else:
            gains.append(block.worth() - prices[rows])
            totals.append(block.expected - np.maximum(gains[-1], 0.0))
            counts.append((gains[-1] > 0).astype(np.float64))
    gain = np.concatenate(gains)
    return AnswersAndQuestions(
        answers=model._label_format.write(np.concatenate(answers), X),
        asked=gain > 0,
        questions=_in_order(gain, prices, names if of_labels else None),
        expected_costs=np.concatenate(expected),
        expected_total=float(np.concatenate(totals).sum()),
        expected_questions=float(np.concatenate(counts).sum()),
    )


def asking_curve(model: Any, X: Any, ask: Any, cost: Cost, rules: RuleSet | None) -> Any:
    """Return what questions and answers are expected to cost at several prices; see the model's method."""
    read, _ = _read(model, X, cost, None)
    blocks = (block for _, block in _blocks(model, read, cost, rules, None))
    if isinstance(ask, Mapping):
        own = label_prices(ask, model._label_format.label_names)
        sums = np.zeros((len(_MULTIPLES), 2))
        for block in blocks:
            for place, multiple in enumerate(_MULTIPLES):
                for one in block.ask(multiple * own, model):
                    sums[place] += one.n_questions.sum(), (one.questions + one.answers).sum()
        columns = {"multiple": _MULTIPLES, "expected_questions": sums[:, 0], "expected_total": sums[:, 1]}
        return pd.DataFrame(columns)
    worth, total = [], 0.0
    for block in blocks:
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
    prices = np.asarray(ask, dtype=np.float64)
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
    """Some rows: their answers, and what their labels may be, given the rules and what is known."""

    answer: Bytes
    expected: Floats
    parts: list[tuple[Distribution, Cost, Bytes | None]]
    rules: RuleSet | None

    def worth(self) -> Floats:
        """Return what it is worth to know all labels of a row."""
        return np.asarray(
            self.expected - np.concatenate([cost_of_truths(part, own) for part, own, _ in self.parts])
        )

    def ask(self, prices: Floats, model: Any) -> list[LabelQuestions]:
        """Return what to ask about single labels."""
        how = {"rules": self.rules, "n_jobs": model.n_jobs, "verbose": getattr(model, "verbose", 0)}
        return [ask_labels(part, own, prices, observed, **how) for part, own, observed in self.parts]


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
        own = cost.for_rows(rows)
        known = None if observed is None else observed[rows]
        told = p if known is None else p.given(known)
        answer = decide(told, own, rules=rules, n_jobs=model.n_jobs)
        given = [(slice(None), told)] if rules is None else conditioned(told, rules)
        parts, expected = [], []
        for some, part in given:
            priced = own.for_rows(some)
            parts.append((part, priced, None if known is None else known[some]))
            expected.append(expected_cost(part, answer[some], priced))
        yield rows, _Block(answer, np.concatenate(expected), parts, rules)


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
