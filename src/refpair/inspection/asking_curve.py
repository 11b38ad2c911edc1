"""What answers and questions to a person cost together, by the price of a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from refpair.costs import Cost, get_cost
from refpair.inspection._display import Display, import_pyplot
from refpair.tables.labels import LabelFormat, LabelMatrix, label_format_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AskingCurveDisplay"]

Floats = npt.NDArray[np.float64]

_ROOM = 1.1  # above the curves, for the line of asking everything, which goes far beyond


class AskingCurveDisplay(Display):
    """Total cost of answers and questions by the price of a question, beside that of no and all questions.

    Parameters
    ----------
    prices : array-like of float, shape (n_prices,)
        Prices of a question, or multiples of the prices of labels, rising.
    expected : array-like of float, shape (n_prices,)
        What answers and questions are expected to cost together, of all rows.
    answer_all : float
        What it is expected to cost if nothing is asked.
    ask_all : array-like of float, shape (n_prices,), optional
        What it is expected to cost if everything is asked.
    realised : array-like of float, shape (n_prices,), optional
        What answers and questions did cost together.
    price_name : str
        What the axis of prices is called.
    cost_name : str
    name : str
        What the title and the legend call the model.

    Attributes
    ----------
    ax_, figure_ : Axes and Figure of matplotlib
    line_, answer_all_line_ : Line2D
    ask_all_line_, realised_line_ : Line2D or None

    Examples
    --------
    >>> from refpair.inspection import AskingCurveDisplay
    >>> display = AskingCurveDisplay([0.0, 0.2, 0.4], [0, 9, 12], 12, [0, 10, 20], cost_name="hamming")
    >>> display.plot().line_.get_ydata().tolist()
    [0.0, 9.0, 12.0]
    """

    def __init__(
        self,
        prices: npt.ArrayLike,
        expected: npt.ArrayLike,
        answer_all: float,
        ask_all: npt.ArrayLike | None = None,
        realised: npt.ArrayLike | None = None,
        *,
        price_name: str = "price of a question",
        cost_name: str = "cost",
        name: str = "classifier",
    ) -> None:
        self.prices, self.expected = (np.asarray(values, np.float64) for values in (prices, expected))
        self.answer_all = float(answer_all)
        self.ask_all, self.realised = (
            None if values is None else np.asarray(values, np.float64) for values in (ask_all, realised)
        )
        self.price_name = price_name
        self.cost_name = cost_name
        self.name = name
        arrays = [self.prices, self.expected, self.ask_all, self.realised]
        shapes = {array.shape for array in arrays if array is not None}
        if len(shapes) > 1 or self.prices.ndim != 1 or not len(self.prices):
            raise ValueError("prices, expected, ask_all and realised must have one number for each price")

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        ask: Any = None,
        cost: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the ``asking_curve`` of a model and what no and all questions cost, and plot them.

        Parameters
        ----------
        model : classifier
            Fitted, one of this package that has ``asking_curve``.
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        y : array, sparse matrix or DataFrame of shape (n, n_labels), optional
            Their labels, all known: then what it did cost is plotted, too, where a person's answer is taken
            as true. For prices of rows only.
        ask : array or dict, optional
            The prices of a question about a row, by default up to one at which nothing is asked; or the price
            of a question about each label by its name, of which several multiples are plotted. To ask
            everything is plotted if all labels have prices.
        cost : str, Cost or callable, optional
            What answers cost, and what they are best for; by default the cost of the model.
        name : str, optional
            By default the class of the model.
        ax : Axes, optional
            Where to plot; by default in a new figure.
        """
        import_pyplot()
        check_is_fitted(model)
        form = label_format_of(model)
        if form is None or not hasattr(model, "asking_curve"):
            raise ValueError("model must be a classifier of this package that has asking_curve")
        of_labels = isinstance(ask, Mapping)
        if of_labels and y is not None:
            raise ValueError(
                "y is for prices of rows: which labels are asked about depends on the answers before; leave "
                "out y, or give a price for a row"
            )
        curve = model.asking_curve(X, ask, cost=cost)
        prices, expected = curve.iloc[:, 0].to_numpy(), curve["expected_total"].to_numpy()
        free = model.predict_or_ask(X, 0.0, cost=cost)  # tells what each row is worth to know
        n_rows, of_all = len(free.expected_costs), sum(ask.values()) if of_labels else 1.0
        asks_all = not of_labels or len(ask) == form.n_labels
        of_answers = (model.cost_ if cost is None else get_cost(cost)).for_labels(form.label_names)
        return cls(
            prices,
            expected,
            free.expected_costs.sum(),
            n_rows * of_all * prices + free.expected_total if asks_all else None,
            None if y is None else _realised(free, form.read_more(y, "y"), prices, of_answers, form),
            price_name="multiple of the prices of labels" if of_labels else "price of a question",
            cost_name=of_answers.name,
            name=name or type(model).__name__,
        ).plot(ax)

    def _draw(self, line_kw: dict[str, Any]) -> None:
        ax = self.ax_
        top = ax.get_ylim()[1] if ax.lines else 0.0
        self.line_ = self._add_line(self.prices, self.expected, f"{self.name}: expected", **line_kw)
        how: dict[str, Any] = {"color": self.line_.get_color()}
        self.realised_line_ = self.ask_all_line_ = None
        ends = self.prices[[0, -1]]
        shown = [self.expected, np.full(2, self.answer_all)]
        if self.realised is not None:
            label = f"{self.name}: realised"
            (self.realised_line_,) = ax.plot(self.prices, self.realised, linestyle=":", label=label, **how)
            shown.append(self.realised)
        how |= {"alpha": 0.5, "linewidth": 1}
        label = "answer everything: expected"
        (self.answer_all_line_,) = ax.plot(ends, shown[1], linestyle="--", label=label, **how)
        if self.ask_all is not None:
            label = "ask everything"
            (self.ask_all_line_,) = ax.plot(self.prices, self.ask_all, linestyle="-.", label=label, **how)
        ax.set_xlabel(self.price_name)
        ax.set_ylabel(f"total {self.cost_name} of answers and questions\n(lower is better)")
        ax.set_xlim(left=0.0)
        ax.set_ylim(0.0, max(top, _ROOM * float(np.concatenate(shown).max())) or None)
        ax.legend(loc="lower right", fontsize="small")


def _realised(free: Any, truths: LabelMatrix, prices: Floats, cost: Cost, form: LabelFormat) -> Floats:
    """Return what answers and questions cost at each price, by the questions that are worth something."""
    worth = np.zeros(len(free.asked))
    worth[free.questions["row"]] = free.questions["gain"]
    answered, of_truths = cost.rows(truths, form.read_more(free.answers)), cost.rows(truths, truths)
    paid = [np.where(worth > price, price + of_truths, answered).sum() for price in prices]
    return np.array(paid)
