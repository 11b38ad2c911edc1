"""Errors and warnings that say what to do instead."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from refpair._extras import pd


def refuse_texts(model: Any, X: pd.DataFrame) -> None:
    """Refuse a table with texts, dates or categories, and say what turns them into features."""
    for name, column in X.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        try:
            column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            held = column.dropna()
            told = f" such as {str(held.iloc[0])[:40]!r}" if len(held) else ""
            pipeline = f"make_pipeline(TableVectorizer(), {type(model).__name__}(...))"
            raise ValueError(
                f"column {str(name)!r} does not hold numbers, but values{told}: "
                f"{pipeline} turns such columns into features"
            ) from None


def warn_of_own_scores() -> None:
    """Warn once if scikit-learn's search is under way and compares models by their own ``score``."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == "_fit_and_score" and "sklearn" in frame.f_globals["__name__"]:
            scorer: Any = frame.f_locals.get("scorer")
            if type(scorer).__name__ == "_PassthroughScorer" and not hasattr(scorer, "_has_warned"):
                scorer._has_warned = True
                warnings.warn(
                    "the search compares models by their own costs, which are different measures: name "
                    'one to compare by, as in GridSearchCV(..., scoring=get_cost("f1").scorer())',
                    UserWarning,
                    stacklevel=3,
                )
            return
