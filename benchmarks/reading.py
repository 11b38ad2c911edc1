"""What does posterior decoding cost? Prediction against the nearest decoder, and what choosing adds to fit.

Both decoders have 3,000 bits of code; the posterior has up to twice as many more for single labels. All times
are the shortest of three, one thread. Parts of the rest of `fit` that choosing takes: "temperature" is the
search over temperatures for given known codes and label share; "with codes" is the same with the codes of the
training rows and the code words, which the model needs in any case; "all" is the whole choice: known codes,
label share, depth and temperature, with the codes at both depths.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

from benchmarks.common import COSTS, PAPER_SETS, best_time, half_split, load, print_machine, print_table
from refpair import CSRPEClassifier
from refpair.classifiers._code_bits import LABEL_SHARES, OutOfBagCodes
from refpair.classifiers._posterior_selection import choose_posterior, search_settings


class Stopwatch:
    """Measures a function whenever it is called: the shortest time, and what it was called with."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.seconds = float("inf")
        self.arguments: tuple[Any, ...] = ()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function and note the time."""
        self.arguments = arguments
        start = time.perf_counter()
        result = self.function(*arguments, **named)
        self.seconds = min(self.seconds, time.perf_counter() - start)
        return result


def measure(name: str, cost: str, bits: int) -> list[Any]:
    """Return a row of the table."""
    data = load(name)
    train, test = half_split(len(data.Y), 0)
    X, Y, X_test = data.X[train], data.Y[train], data.X[test]
    nearest = CSRPEClassifier(cost, n_bits=bits, decoder="nearest", random_state=0).fit(X, Y)
    CSRPEClassifier(cost, n_bits=50, random_state=0).fit(X, Y).predict(X_test)  # compiles
    choosing, without = float("inf"), float("inf")
    for _ in range(3):
        choose = Stopwatch(choose_posterior)
        with patch("refpair.classifiers.csrpe.choose_posterior", choose):
            start = time.perf_counter()
            model = CSRPEClassifier(cost, n_bits=bits, random_state=0).fit(X, Y)
            without = min(without, time.perf_counter() - start - choose.seconds)
        choosing = min(choosing, choose.seconds)

    learnt, training, *rest = choose.arguments
    settings = model.posterior_.settings
    by_temperature = Stopwatch(
        lambda seen, *others, **named: search_settings(
            [codes for codes in seen if codes.kind == settings.compared_with], *others, **named
        )
    )
    with (
        patch.object(OutOfBagCodes, "shares", (settings.label_share,)),
        patch("refpair.classifiers._posterior_selection._FIRST_SHARES", LABEL_SHARES),
        patch("refpair.classifiers._posterior_selection.search_settings", by_temperature),
    ):
        only_known = replace(training, cut=False, may_be_new=False)
        with_codes = best_time(lambda: choose_posterior(learnt, only_known, *rest), 3)
    nearest.predict(X_test)
    times = [best_time(partial(decoder.predict, X_test), 3) for decoder in (nearest, model)]
    return [
        name,
        cost,
        f"{times[0]:.3f}",
        f"{times[1]:.3f}",
        f"×{times[1] / times[0]:.2f}",
        f"{without:.2f}",
        f"{by_temperature.seconds / without:.0%}",
        f"{with_codes / without:.0%}",
        f"{choosing / without:.0%}",
    ]


def main() -> None:
    """Print a row per data set and cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=PAPER_SETS)
    parser.add_argument("--cost", nargs="+", default=COSTS)
    parser.add_argument("--bits", type=int, default=3000)
    arguments = parser.parse_args()
    print_machine()
    header = ["data", "cost", "nearest, s", "posterior, s", "ratio", "fit without choosing, s"]
    rows = [measure(name, cost, arguments.bits) for name in arguments.data for cost in arguments.cost]
    print_table([*header, "temperature", "with codes", "all"], rows)


if __name__ == "__main__":
    main()
