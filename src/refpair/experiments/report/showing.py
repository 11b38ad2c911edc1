"""How results are shown: the order of data sets and algorithms, the names of costs, the digits of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from refpair.experiments.published import PAPER_DATA
from refpair.inspection.scores import direction_of

__all__ = [
    "NO_TEST",
    "cost_title",
    "cost_words",
    "count_of",
    "decimals_for",
    "file_name",
    "in_order",
    "is_ours",
    "join_words",
    "show_mean",
    "show_number",
    "show_percent",
    "show_time",
    "sort_keys",
    "split_words",
    "spread",
]

NO_TEST = "No test is possible with one split."

_ALGORITHMS = (
    "BR",
    "RAkEL",
    "HAMR",
    "CC",
    "PCC",
    "CFT",
    "CSRPE-nearest",
    "CSRPE-ext-nearest",
    "CSRPE-posterior",
    "CSRPE-ext-posterior",
)
_TITLES = {
    "f1": "F1 score",
    "accuracy": "Accuracy score",
    "jaccard": "Accuracy score",
    "hamming": "Hamming loss",
    "rank": "Rank loss",
    "zero_one": "Zero-one loss",
}
_MOST_DECIMALS = 6


def in_order(names: Iterable[str]) -> list[str]:
    """Return the distinct names of data sets, algorithms or costs in the paper's order, then all others.

    Examples
    --------
    >>> in_order(["CSRPE-nearest", "mine:Model", "BR"]), in_order(["birds", "yeast", "Corel5k"])
    (['BR', 'CSRPE-nearest', 'mine:Model'], ['Corel5k', 'yeast', 'birds'])
    """
    known = (*PAPER_DATA, *_ALGORITHMS, *_TITLES)
    given = list(dict.fromkeys(names))
    return [name for name in known if name in given] + [name for name in given if name not in known]


def sort_keys(keys: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return keys of several names each, in the order of :func:`in_order` name by name.

    Examples
    --------
    >>> sort_keys([("rank", "flags"), ("f1", "scene"), ("f1", "flags")])
    [('f1', 'flags'), ('f1', 'scene'), ('rank', 'flags')]
    """
    given = list(keys)
    places = [{name: i for i, name in enumerate(in_order(names))} for names in zip(*given, strict=True)]
    return sorted(given, key=lambda key: [place[name] for place, name in zip(places, key, strict=True)])


def spread(cells: pd.Series) -> pd.DataFrame:
    """Return cells with the second level of their index in columns, all in the order of :func:`in_order`.

    Examples
    --------
    >>> cells = pd.Series([".7", ".6"], pd.MultiIndex.from_tuples([("flags", "CC"), ("flags", "BR")]))
    >>> spread(cells)
           BR  CC
    flags  .6  .7
    """
    table = cells.unstack()
    order = in_order(table.index), in_order(table.columns)
    return table.reindex(index=order[0], columns=order[1]).rename_axis(columns=None)


def is_ours(algorithm: str) -> bool:
    """Return whether an algorithm is CSRPE, with either decoder.

    Examples
    --------
    >>> is_ours("CSRPE-posterior"), is_ours("PCC")
    (True, False)
    """
    return algorithm.startswith("CSRPE-")


def cost_words(cost: str) -> str:
    """Return what a sentence calls a cost.

    Examples
    --------
    >>> cost_words("f1"), cost_words("my_module:my_cost")
    ('F1 score', 'my_module:my_cost')
    """
    return _TITLES.get(cost, cost)


def cost_title(cost: str, greater_is_better: Mapping[str, bool]) -> str:
    """Return the name of a cost with an arrow to where it is better.

    Examples
    --------
    >>> cost_title("f1", {"f1": True})
    'F1 score ↑'
    """
    return f"{cost_words(cost)} {'↑' if direction_of(greater_is_better, cost) else '↓'}"


def file_name(*words: str) -> str:
    """Return the words as a name that any file system takes.

    Examples
    --------
    >>> file_name("comparison", "my_module:my_cost")
    'comparison-my_module-my_cost'
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", "-".join(words)).strip("-")


def decimals_for(means: npt.ArrayLike, errors: npt.ArrayLike) -> int:
    """Return how many decimals numbers that stand together are shown with.

    As many as give the largest mean four digits, or fewer if the typical standard error has two digits then;
    no more than six.

    Examples
    --------
    >>> decimals_for([0.2455, 0.1708], [0.0012, 0.0017]), decimals_for([490.2, 300.7], [1.2, 0.8])
    (4, 1)
    >>> decimals_for([0.683, 0.665], [0.012, 0.014])
    3
    """
    sizes, spreads = _sizes(means), _sizes(errors)
    decimals = _decimals(float(sizes.max()), 4) if len(sizes) else 0
    return min(decimals, _decimals(float(np.median(spreads)), 2)) if len(spreads) else decimals


def show_number(number: float, decimals: int) -> str:
    """Return a number as the paper prints it, without a zero before the point; "–" for NaN.

    Examples
    --------
    >>> show_number(0.24553, 4), show_number(490.17, 1), show_number(-0.5, 2)
    ('.2455', '490.2', '−.50')
    """
    if not np.isfinite(number):
        return "–"
    text = f"{number:.{decimals}f}".replace("-", "−")
    return re.sub(r"^(−?)0\.", r"\1.", text)


def show_mean(mean: float, error: float, decimals: int) -> str:
    """Return a mean with its standard error, if it has one.

    Examples
    --------
    >>> show_mean(0.24553, 0.00117, 4), show_mean(0.24553, float("nan"), 4)
    ('.2455 ± .0012', '.2455')
    """
    shown = show_number(mean, decimals)
    return f"{shown} ± {show_number(error, decimals)}" if np.isfinite(error) else shown


def show_percent(share: float) -> str:
    """Return a share as percent with its sign.

    Examples
    --------
    >>> show_percent(0.0241), show_percent(-0.1), show_percent(0.0)
    ('+2.4 %', '−10.0 %', '0.0 %')
    """
    if not np.isfinite(share):
        return "–"
    tenths = round(1000 * share)
    sign = "+" if tenths > 0 else "−" if tenths < 0 else ""
    return f"{sign}{abs(tenths) / 10:.1f} %"


def show_time(seconds: float) -> str:
    """Return a time in the unit that suits it.

    Examples
    --------
    >>> show_time(0.041), show_time(7.31), show_time(95), show_time(4000), show_time(400000)
    ('0.04 s', '7.3 s', '95 s', '67 min', '111.1 h')
    """
    if not np.isfinite(seconds):
        return "–"
    for longest, size, unit, decimals in (
        (0.95, 1, "s", 2),
        (9.95, 1, "s", 1),
        (600, 1, "s", 0),
        (2 * 3600, 60, "min", 0),
    ):
        if seconds < longest:
            return f"{seconds / size:.{decimals}f} {unit}"
    return f"{seconds / 3600:.1f} h"


def join_words(words: Iterable[str], most: int = 8) -> str:
    """Return the words as an enumeration; of more than ``most`` the others are counted.

    Examples
    --------
    >>> join_words(["BR", "CC", "PCC"]), join_words("abcd", most=2)
    ('BR, CC and PCC', 'a, b and 2 more')
    """
    given = list(words)
    if len(given) > most:
        given = [*given[:most], f"{len(given) - most} more"]
    return " and ".join([", ".join(given[:-1]), given[-1]] if len(given) > 1 else given)


def count_of(n: int, what: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count_of(1, "data set"), count_of(10, "data set")
    ('1 data set', '10 data sets')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def split_words(fewest: int, most: int) -> str:
    """Return on how many splits something was run.

    Examples
    --------
    >>> split_words(1, 1), split_words(5, 20)
    ('1 random half split', '5 to 20 random half splits')
    """
    return f"{fewest} to {most} random half splits" if fewest < most else count_of(most, "random half split")


def _sizes(numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return how large the numbers are that are neither missing nor zero."""
    sizes = np.abs(np.asarray(numbers, dtype=np.float64))
    return sizes[np.isfinite(sizes) & (sizes > 0)]


def _decimals(size: float, digits: int) -> int:
    return int(np.clip(digits - 1 - np.floor(np.log10(size)), 0, _MOST_DECIMALS))
