"""How long a fit will take and how much memory, for sizes that nobody has tried yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from refpair.bits.problem import resolve_share
from refpair.classifiers import CSRPEClassifier
from refpair.classifiers._posterior_fit import count_votes
from refpair.classifiers.csrpe import MOST_VECTORS

__all__ = ["FitEstimate", "estimate_fit"]

# Fitted to what `python -m benchmarks.scaling` measured: seconds of one core of a server of 2026, and bytes.
_ROW_OF_A_TREE, _MORE_ROWS = 3.8e-8, 1.264
_ROW = 6.1e-6
_CHOICE, _MORE_VECTORS, _MORE_BITS, _ENOUGH_BITS = 2.6e-4, 0.69, 0.97, 100
_PREDICTION, _TREE_ASKED, _VECTOR_WEIGHED, _MORE_LABELS = 0.023, 4.1e-5, 6e-5, 0.44  # of 1000 rows
_BASE, _VECTOR, _TREE, _CELL = 4e8, 3.9e4, 2.8e4, 15.0
_THREADS = 1.2  # what two threads take from each other; of more, nothing is known

_DISTINCT, _MORE_DISTINCT = 2.46, 0.8  # label vectors among n rows, shaped like bibtex


@dataclass(frozen=True)
class FitEstimate:
    """What a fit of :class:`refpair.CSRPEClassifier` is expected to take.

    Attributes
    ----------
    n_trees : int
        Those of the code and those of single labels.
    bits : float
        Seconds of one core to learn them: what threads and clusters share out.
    choice : float
        Seconds of one core to choose how to read codes, which stays on one machine.
    predict : float
        Seconds of one core to predict a thousand rows.
    memory : float
        Bytes at the peak, with X if it is sparse and in memory.
    """

    n_trees: int
    bits: float
    choice: float
    predict: float
    memory: float

    def seconds(self, n_cores: int = 1) -> float:
        """Return how long it takes with so many cores; the choice is taken to have use for 4 at most."""
        one = self.bits / n_cores + self.choice / min(n_cores, 4)
        return one if n_cores == 1 else _THREADS * one


def estimate_fit(
    n_rows: int,
    n_labels: int,
    *,
    cells_a_row: float,
    n_bits: int = 3000,
    max_samples: int | float | Literal["auto"] = "auto",
    n_vectors: int | None = None,
) -> FitEstimate:
    """Estimate what a fit with trees and the decoder "posterior" takes.

    Time and memory of a fit are right within 30 % for sparse rows shaped like bibtex on the machine that it
    was measured on, from a thousand to a million rows, and predictions within a factor of two; on others,
    compare with a small fit of your own.

    Parameters
    ----------
    n_rows, n_labels : int
    cells_a_row : float
        How many cells of a row of X are not 0, on average; it counts for memory.
    n_bits : int, default=3000
    max_samples : int, float or "auto", default="auto"
        As of :class:`refpair.CSRPEClassifier`.
    n_vectors : int, optional
        How many distinct label vectors there are; by default as many as bibtex would have.

    Returns
    -------
    FitEstimate

    Examples
    --------
    >>> from refpair.sizing import estimate_fit
    >>> plan = estimate_fit(1_000_000, 100, cells_a_row=19, n_bits=300)
    >>> plan.n_trees
    900
    >>> 40 < plan.seconds(n_cores=2) < 90
    True
    """
    model = CSRPEClassifier(max_samples=max_samples)
    model._check_parameters()
    m = resolve_share(model._max_samples(n_rows), n_rows)
    if n_vectors is None:
        n_vectors = int(min(n_rows, _DISTINCT * n_rows**_MORE_DISTINCT))
    weighed = min(n_vectors, MOST_VECTORS)
    n_trees = n_bits + count_votes(n_bits, n_labels) * n_labels
    learning = _ROW_OF_A_TREE * n_trees * m**_MORE_ROWS
    choice = _CHOICE * weighed**_MORE_VECTORS * min(n_bits, _ENOUGH_BITS) ** _MORE_BITS
    asking = _TREE_ASKED * n_trees + _VECTOR_WEIGHED * weighed**_MORE_VECTORS * n_labels**_MORE_LABELS
    predict = _PREDICTION + asking
    memory = _BASE + _VECTOR * weighed + _TREE * n_trees + _CELL * cells_a_row * n_rows
    return FitEstimate(n_trees, learning + _ROW * n_rows, choice, predict, memory)
