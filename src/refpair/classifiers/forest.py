"""The forest that reductions grow in a tree bank, and its parameters."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.base import BaseEstimator

from refpair._saved import Savable
from refpair.bits.problem import MaxFeatures
from refpair.classifiers._base import check_amount, check_count, is_integer

__all__ = ["Forest"]


class Forest(BaseEstimator, Savable):  # type: ignore[misc]  # scikit-learn has no types
    """A forest as the base learner of a reduction, with parameters of one's own.

    It has nothing but its parameters: a reduction grows the trees of all its problems at once, in one bank,
    which is many times faster than one forest after the other.

    Parameters
    ----------
    n_trees : int, default=100
        How many trees each problem gets.
    max_depth : int, optional
        The depth of the trees; None lets them grow until their leaves are pure.
    min_samples_leaf : int, default=1
        How many rows a leaf has at least.
    max_features : int, float, "auto", "sqrt", "log2" or None, default="auto"
        How many features a split looks at: a number, a share, or None for all. "auto" is "sqrt" if most
        features have more than two values, else a third of them.
    max_samples : int, float or None, default=0.632
        How many rows, drawn without replacement, a tree is grown on: a number, a share, or None for all. By
        default as large a share as there are distinct rows in a bootstrap sample.
    max_bins : int, default=64
        How finely numeric features are cut, from 2 to 255; a feature with fewer values is kept exactly.

    Notes
    -----
    ``estimator="forest"`` is ``Forest()``, and ``estimator="tree"`` is
    ``Forest(n_trees=1, max_features=None, max_samples=None)``.

    Examples
    --------
    >>> from refpair import BinaryRelevance, Forest
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> model = BinaryRelevance(Forest(n_trees=20, max_depth=8), random_state=0)
    >>> model.fit(digits.X[:1500], digits.Y[:1500]).predict(digits.X[1500:1501])
    array([[0, 0, 0, 0, 0, 0, 1, 0, 0, 0]], dtype=uint8)
    """

    def __init__(
        self,
        n_trees: int = 100,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures | Literal["auto"] = "auto",
        max_samples: int | float | None = 0.632,
        max_bins: int = 64,
    ) -> None:
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
        self.max_bins = max_bins

    def check(self) -> None:
        """Refuse bad parameters, naming them and what they may be; reductions ask for it in ``fit``.

        Examples
        --------
        >>> Forest(max_depth=0).check()
        Traceback (most recent call last):
        ValueError: max_depth must be an integer of at least 1, not 0
        """
        check_count("n_trees", self.n_trees)
        if self.max_depth is not None:
            check_count("max_depth", self.max_depth)
        check_count("min_samples_leaf", self.min_samples_leaf)
        if not isinstance(self.max_features, str) or self.max_features not in ("auto", "sqrt", "log2"):
            check_amount(
                "max_features",
                self.max_features,
                'a number, a share in (0, 1], "auto", "sqrt", "log2" or None',
            )
        check_amount("max_samples", self.max_samples, "a number, a share in (0, 1] or None")
        check_count("max_bins", self.max_bins, low=2, high=255)

    def _check_saved(self) -> None:
        self.check()

    def bank_parameters(self) -> dict[str, Any]:
        """Return what a tree bank is to be made with.

        Examples
        --------
        >>> from refpair.bits import TreeBank
        >>> TreeBank(**Forest(max_depth=8).bank_parameters()).max_depth
        8
        """
        given = self.get_params(deep=False)
        del given["n_trees"]  # a bank is told that by its problems
        if given["max_features"] == "auto":
            given["max_features"] = "forest"
        # For numpy's integers of other sizes the kernels would be compiled anew.
        return {name: int(value) if is_integer(value) else value for name, value in given.items()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
