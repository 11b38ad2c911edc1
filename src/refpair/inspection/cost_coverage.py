"""What answered rows cost, by how many of them are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from refpair.costs import get_cost
from refpair.costs.largest import largest_cost as largest_of
from refpair.decision.promises import Promise, limit_of_share
from refpair.inspection._display import Display, import_pyplot
from refpair.tables.labels import label_format_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CostCoverageDisplay"]

Floats = npt.NDArray[np.float64]

_MOST_SHARES = 50
_ROUNDING = 1e-9


class CostCoverageDisplay(Display):
    """Mean cost of answered rows by their share: those of lowest expected cost are answered first.

    Parameters
    ----------
    shares : array-like of float, shape (n_shares,)
        Shares of rows that are answered, rising.
    costs : array-like of float, shape (n_shares,)
        What these rows cost on average.
    expected : array-like of float, shape (n_shares,)
        What they were expected to cost on average.
    promised : array-like of float, shape (n_shares,)
        What can be promised that rows like these cost at most, of each share by itself.
    cost_name : str
    confidence : float
        That of the promises.
    name : str
        What the title and the legend call the model.

    Attributes
    ----------
    ax_, figure_ : Axes and Figure of matplotlib
    line_, expected_line_ : Line2D
    band_ : PolyCollection
        From what rows cost to what can be promised.

    Examples
    --------
    >>> from refpair.inspection import CostCoverageDisplay
    >>> rng = np.random.default_rng(0)
    >>> expected = rng.random(400) / 2
    >>> costs = rng.random(400) < expected
    >>> display = CostCoverageDisplay.from_predictions(costs, expected, cost_name="zero_one")
    >>> for at in (24, 49):
    ...     print(display.shares[at], display.costs[at].round(3), display.promised[at].round(3))
    0.5 0.12 0.165
    1.0 0.282 0.324
    """

    def __init__(
        self,
        shares: npt.ArrayLike,
        costs: npt.ArrayLike,
        expected: npt.ArrayLike,
        promised: npt.ArrayLike,
        *,
        cost_name: str,
        confidence: float,
        name: str,
    ) -> None:
        arrays = [np.asarray(values, np.float64) for values in (shares, costs, expected, promised)]
        self.shares, self.costs, self.expected, self.promised = arrays
        self.cost_name = cost_name
        self.confidence = confidence
        self.name = name
        if len({array.shape for array in arrays}) > 1 or self.shares.ndim != 1 or not len(self.shares):
            raise ValueError("shares, costs, expected and promised must have one number for each share")

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        cost: Any = None,
        largest_cost: float | None = None,
        confidence: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compare ``expected_cost`` of a model with what its answers cost, and plot both.

        Parameters
        ----------
        model : classifier
            Fitted, one of this package that has ``expected_cost``.
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Rows that the model was not fitted on.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            Their labels, all known.
        cost : str, Cost or callable, optional
            What answers cost, and what they are best for; by default the cost of the model.
        largest_cost : float, optional
            The most that an answer can cost; needed for functions of many labels only.
        confidence : float, default=0.95
            The probability that a promise holds.
        name : str, optional
            By default the class of the model.
        ax : Axes, optional
            Where to plot; by default in a new figure.
        """
        import_pyplot()
        check_is_fitted(model)
        form = label_format_of(model)
        if form is None or not hasattr(model, "expected_cost"):
            raise ValueError("model must be a classifier of this package that has expected_cost")
        of_answers = (model.cost_ if cost is None else get_cost(cost)).for_labels(form.label_names)
        largest = largest_of(of_answers, form.n_labels) if largest_cost is None else largest_cost
        answers = form.read_more(model.decide(X, of_answers))
        return cls.from_predictions(
            of_answers.rows(form.read_more(y, "y"), answers),
            model.expected_cost(X, cost=of_answers),
            largest_cost=largest,
            confidence=confidence,
            cost_name=of_answers.name,
            name=name or type(model).__name__,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        costs: npt.ArrayLike,
        expected: npt.ArrayLike,
        *,
        largest_cost: float = 1.0,
        confidence: float = 0.95,
        cost_name: str = "cost",
        name: str = "classifier",
        ax: Axes | None = None,
    ) -> Self:
        """Compare what answers cost with what was expected, and plot both.

        Parameters
        ----------
        costs : array-like of float, shape (n,)
            What the answer to each row costs.
        expected : array-like of float, shape (n,)
            What it was expected to cost.
        largest_cost : float, default=1
            The most that an answer can cost.
        confidence, name, ax
            As in :meth:`from_estimator`.
        cost_name : str, default="cost"
        """
        import_pyplot()
        paid, scores = np.asarray(costs, np.float64), np.asarray(expected, np.float64)
        if paid.shape != scores.shape or paid.ndim != 1 or not len(paid):
            raise ValueError("costs and expected must have one number for each row")
        if not np.isfinite(scores).all() or not 0.0 < confidence < 1.0:
            raise ValueError("expected must be finite numbers, and confidence a number between 0 and 1")
        if not ((paid >= 0.0) & (paid <= largest_cost * (1.0 + _ROUNDING))).all():
            raise ValueError(f"costs must be numbers from 0 to largest_cost, which is {largest_cost:g}")
        order, n = np.argsort(scores, kind="stable"), len(paid)
        # Rows of equal expected cost are answered together.
        ends = np.append(np.flatnonzero(np.diff(scores[order]) > 0.0) + 1, n)
        wanted = np.ceil(np.arange(1, _MOST_SHARES + 1) / _MOST_SHARES * n)
        ends = np.unique(ends[np.searchsorted(ends, wanted)])
        everywhere, at_random = np.ones(n), np.random.default_rng(0).permutation(n)
        losses = np.minimum(paid / largest_cost, 1.0)
        promise = Promise(1.0, losses, scores, everywhere > 0, everywhere, largest_cost)
        limits = [limit_of_share(promise, end / n, 1.0 - confidence, at_random)[1] for end in ends]
        means, hoped = (values[order].cumsum()[ends - 1] / ends for values in (paid, scores))
        return cls(
            ends / n,
            means,
            hoped,
            np.array(limits) * largest_cost,
            cost_name=cost_name,
            confidence=confidence,
            name=name,
        ).plot(ax)

    def _draw(self, line_kw: dict[str, Any]) -> None:
        ax = self.ax_
        self.line_ = self._add_line(self.shares, self.costs, self.name, **line_kw)
        how = {"color": self.line_.get_color()}
        label = f"{self.name}: expected"
        (self.expected_line_,) = ax.plot(self.shares, self.expected, linestyle=":", label=label, **how)
        label = f"{self.name}: promised with confidence {self.confidence:g}"
        self.band_ = ax.fill_between(
            self.shares, self.costs, self.promised, alpha=0.2, linewidth=0, label=label, **how
        )
        ax.set_xlabel("share of rows that are answered")
        ax.set_ylabel(f"mean {self.cost_name} of answered rows\n(lower is better)")
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(bottom=0.0)
        ax.legend(loc="upper left", fontsize="small")
