"""Calibration of label probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from refpair.classifiers._checks import check_count
from refpair.inspection._display import Display, import_pyplot
from refpair.tables.labels import label_format_of, read_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CalibrationDisplay"]

Floats = npt.NDArray[np.float64]

_PERFECT = "perfectly calibrated"


class CalibrationDisplay(Display):
    """Observed frequency of labels by predicted probability, all labels together.

    Parameters
    ----------
    predicted : array-like of float, shape (n_bins,)
        The mean probability in each bin.
    observed : array-like of float, shape (n_bins,)
        The frequency of the label in each bin.
    counts : array-like of int, shape (n_bins,)
        Number of predictions in each bin, at least one.
    name : str
        What the title and the legend call the model.

    Attributes
    ----------
    ax_, figure_ : Axes and Figure of matplotlib
    line_ : Line2D
    markers_ : PathCollection
        One for each bin; a larger marker means more predictions.

    Examples
    --------
    >>> from refpair.inspection import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions([[1, 0], [1, 0]], [[0.9, 0.2], [0.9, 0.1]], n_bins=2)
    >>> display.predicted, display.observed, display.counts
    (array([0.15, 0.9 ]), array([0., 1.]), array([2, 2]))
    >>> round(display.calibration_error, 3)
    0.125
    """

    def __init__(
        self, predicted: npt.ArrayLike, observed: npt.ArrayLike, counts: npt.ArrayLike, *, name: str
    ) -> None:
        self.predicted = np.asarray(predicted, np.float64)
        self.observed = np.asarray(observed, np.float64)
        self.counts = np.asarray(counts)
        self.name = name
        if not self.predicted.shape == self.observed.shape == self.counts.shape or self.counts.ndim != 1:
            raise ValueError("predicted, observed and counts must have one number for each bin")
        if len(self.counts) == 0 or self.counts.min() < 1:
            raise ValueError("counts must be 1 or more: leave out bins that have no predictions")

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, n_bins: int = 15, name: str | None = None, ax: Axes | None = None
    ) -> Self:
        """Compare ``predict_proba`` of a model with the labels, and plot it.

        Parameters
        ----------
        model : classifier
            Fitted, one of this package that has ``predict_proba``.
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Rows that the model was not fitted on.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            Their labels. If y is one-dimensional, its second class is used.
        n_bins : int, default=15
            Number of bins of equal width.
        name : str, optional
            By default the class of the model.
        ax : Axes, optional
            Where to plot; by default in a new figure.
        """
        import_pyplot()
        check_is_fitted(model)
        how, proba = label_format_of(model), model.predict_proba(X)
        if how is None:
            raise ValueError("model must be a classifier of this package; from_predictions takes any other's")
        truths = how.read_more(y, "y")
        if how.kind == "classes":
            truths, proba = np.asarray(y) == how.classes[-1], proba[:, -1]
        return cls.from_predictions(truths, proba, n_bins=n_bins, name=name or type(model).__name__, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        proba: npt.ArrayLike,
        *,
        n_bins: int = 15,
        name: str = "classifier",
        ax: Axes | None = None,
    ) -> Self:
        """Compare probabilities of labels with the labels, and plot it.

        Parameters
        ----------
        y_true : array, sparse matrix or DataFrame of shape (n, n_labels), or array of shape (n,)
            The labels, 0/1, boolean or yes/no.
        proba : array-like of the same shape
            The probability of each label.
        n_bins, name, ax
            As in :meth:`from_estimator`.
        """
        import_pyplot()
        check_count("n_bins", n_bins)
        truths, p = _dense_labels(y_true), np.asarray(proba, np.float64)
        p = p[:, None] if p.ndim == 1 else p
        if p.shape != truths.shape or p.size == 0:
            raise ValueError(
                f"proba must have a row for each of y_true and a column for each label, of shape "
                f"{truths.shape}, not {p.shape}"
            )
        if not ((p >= 0) & (p <= 1)).all():
            raise ValueError("proba must be probabilities, from 0 to 1")
        return cls(*_binned(p.ravel(), truths.ravel(), n_bins), name=name).plot(ax)

    @property
    def calibration_error(self) -> float:
        """The mean difference of predicted and observed over all predictions."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.counts))

    def _draw(self, line_kw: dict[str, Any]) -> None:
        ax = self.ax_
        if _PERFECT not in [line.get_label() for line in ax.lines]:
            ax.plot([0, 1], [0, 1], color="#888888", linestyle=":", label=_PERFECT)
        label = f"{self.name}:\ncalibration error {self.calibration_error:.3f}"
        self.line_ = self._add_line(self.predicted, self.observed, label, **line_kw)
        # The root, since most predictions are near 0: markers by area would all vanish beside the first.
        sizes = 8 + 150 * np.sqrt(self.counts / self.counts.sum())
        how = {"color": self.line_.get_color(), "zorder": 3}
        self.markers_ = ax.scatter(self.predicted, self.observed, s=sizes, **how)
        ax.set_xlabel("mean predicted probability\n(larger markers: more predictions)")
        ax.set_ylabel("observed frequency\n(nearer to the diagonal is better)")
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        ax.legend(loc="upper left", fontsize="small")


def _dense_labels(y_true: Any) -> npt.NDArray[np.uint8]:
    single = not sp.issparse(y_true) and np.ndim(y_true) == 1
    labels, _ = read_labels(np.asarray(y_true)[:, None] if single else y_true, "y_true")
    return np.asarray(labels.toarray() if sp.issparse(labels) else labels, np.uint8)


def _binned(p: Floats, y: npt.NDArray[np.uint8], n_bins: int) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Return what was predicted and observed in each bin that is not empty, and of how many."""
    cell = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    counts = np.bincount(cell, minlength=n_bins)
    filled = counts > 0
    sums = (np.bincount(cell, values, minlength=n_bins)[filled] for values in (p, y))
    predicted, observed = (total / counts[filled] for total in sums)
    return predicted, observed, counts[filled]
