"""The sections of a report on the paper's two studies of CSRPE: the length of codes, the relevant set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd

from refpair.experiments.report.code_length_tables import (
    code_length_table,
    flat_lengths,
    without_repeated_lengths,
)
from refpair.experiments.report.figures import code_length_figure
from refpair.experiments.report.relevant_set_tables import (
    ExtendedSet,
    compare_extended_sets,
    relevant_set_table,
)
from refpair.experiments.report.run_tables import times_table
from refpair.experiments.report.sections import Section, SectionFigure
from refpair.experiments.report.showing import (
    NO_TEST,
    cost_title,
    cost_words,
    count_of,
    file_name,
    in_order,
    join_words,
    show_percent,
)

__all__ = ["code_length_section", "relevant_set_section"]

_PAPER_BITS = 3000
_SHORTER = (
    "A shorter CSRPE-posterior is read as the longest one was, with its temperature, depth and calibration, "
    "so that a model fitted with few bits may differ. Beside its code it has bits of single labels, at most "
    "twice as many as those counted and 100 a label."
)
_TRAINING_SET = (
    "CSRPE-posterior keeps to the label vectors that it is given here, in both forms; in a comparison of "
    "algorithms it may give weight to new ones, too."
)


def code_length_section(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Section:
    """Return the section on how long codes must be.

    Parameters
    ----------
    results : DataFrame
        As :func:`compare_section` takes it, with several ``n_bits``.
    greater_is_better : mapping of str to bool
        For each cost.

    Examples
    --------
    >>> columns = ["data", "cost", "algorithm", "n_bits", "split", "score"]
    >>> columns += ["seconds_search", "seconds_fit", "seconds_predict", "chosen"]
    >>> rows = [("flags", "f1", "CSRPE-nearest", bits, 0, 0.7, 0.0, 1.0, 0.1, "") for bits in (100, 5000)]
    >>> code_length_section(pd.DataFrame(rows, columns=columns), {"f1": True}).paragraphs[0]
    'CSRPE-nearest: flat from 3000 bits or fewer in 1 of 1 curve.'
    """
    if results.empty:
        return Section("Length of codes", ["There are no results yet."])
    results = without_repeated_lengths(results)
    flat = flat_lengths(results, greater_is_better)
    curves = {name: flat[flat["algorithm"] == name] for name in in_order(flat["algorithm"])}
    texts = [text for name in curves for text in _flatness(curves[name], name)]
    parts = []
    for cost in in_order(results.loc[results["n_bits"] > 0, "cost"]):
        table = code_length_table(results, cost, greater_is_better)
        title = cost_title(cost, greater_is_better)
        figure = SectionFigure(
            file_name("code-length", cost),
            f"{title} by number of bits; the band is a standard error up and down.",
            partial(code_length_figure, results, cost, greater_is_better),
        )
        if table is not None:
            parts.append(Section(title, tables=[table], figures=[figure]))
    parts.append(Section("Times", tables=[times_table(results, "code-length")]))
    if not texts:
        texts.append("There are no curves of two lengths or more yet.")
    elif "CSRPE-posterior" in curves:
        texts.append(_SHORTER)
    return Section("Length of codes", texts, parts=parts)


def relevant_set_section(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Section:
    """Return the section on what the label vectors of the test half in the relevant set would change.

    Parameters
    ----------
    results : DataFrame
        As :func:`compare_section` takes it, with the algorithms
        CSRPE-nearest and CSRPE-ext-nearest, or those with posterior.
    greater_is_better : mapping of str to bool
        For each cost.

    Examples
    --------
    >>> columns = ["data", "cost", "algorithm", "split", "score"]
    >>> columns += ["seconds_search", "seconds_fit", "seconds_predict"]
    >>> rows = [("flags", "f1", f"CSRPE-{n}nearest", 0, 0.7, 0.0, 1.0, 0.1) for n in ("", "ext-")]
    >>> relevant_set_section(pd.DataFrame(rows, columns=columns), {"f1": True}).paragraphs[1]
    'nearest: the larger set is better in 0 of 1 cell, ...No test is possible with one split.'
    """
    if results.empty:
        return Section("Relevant set", ["There are no results yet."])
    cases = compare_extended_sets(results, greater_is_better)
    decoders = list(dict.fromkeys(case.decoder for case in cases))
    made = (relevant_set_table(results, cost, greater_is_better) for cost in in_order(results["cost"]))
    return Section(
        "Relevant set",
        [
            "CSRPE compares codes with the label vectors of the training half. CSRPE-ext is also given those "
            "of the test half, which nobody knows in advance: its gain is what doing without them costs.",
            *[_TRAINING_SET] * ("posterior" in decoders),
            *(_gains([c for c in cases if c.decoder == name], name) for name in decoders),
        ],
        [table for table in made if table is not None],
        parts=[Section("Times", tables=[times_table(results, "relevant-set")])],
    )


def _flatness(curves: pd.DataFrame, algorithm: str) -> Iterator[str]:
    tell = curves[curves["longest"] > _PAPER_BITS]
    if len(tell):
        late = tell[tell["flat_from"] > _PAPER_BITS]
        where = [
            f"{cost_words(cost)} on {data} ({'not before the longest' if bits == longest else 'from'} {bits})"
            for cost, data, _, bits, longest in late.itertuples(index=False)
        ]
        text = f"{algorithm}: flat from {_PAPER_BITS} bits or fewer in {len(tell) - len(late)} of "
        text += count_of(len(tell), "curve")
        yield text + (f"; not in {join_words(where)}." if where else ".")
    short = curves[curves["longest"] <= _PAPER_BITS]
    if len(short):
        where = [
            f"{cost_words(cost)} on {data} (up to {longest})"
            for cost, data, _, _, longest in short.itertuples(index=False)
        ]
        yield (
            f"{algorithm}: {count_of(len(short), 'curve')} cannot tell, having no code longer than "
            f"{_PAPER_BITS} bits, since none was wanted or there are no more pairs that tell label vectors "
            f"apart: {join_words(where)}."
        )


def _gains(cases: list[ExtendedSet], decoder: str) -> str:
    known = [case for case in cases if np.isfinite(case.gain)]
    texts = []
    if known:
        gains = np.array([case.gain for case in known])
        most = known[int(gains.argmax())]
        text = f"the larger set is better in {(gains > 0).sum()} of {count_of(len(known), 'cell')}, gaining "
        text += f"{show_percent(float(np.median(gains)))} in the median"
        if most.gain > 0:
            text += f" and {show_percent(most.gain)} at most ({cost_words(most.cost)} on {most.data})"
        texts.append(f"{text}.")
    if len(known) < len(cases):
        texts.append(f"{count_of(len(cases) - len(known), 'cell')} with a mean of 0 cannot tell a gain.")
    win, tie, loss = (sum(case.outcome == outcome for case in cases) for outcome in ("win", "tie", "loss"))
    texts.append(
        f"By paired t-tests at the 95 % level it wins {win}, ties {tie} and loses {loss}."
        if win + tie + loss
        else NO_TEST
    )
    return f"{decoder}: {' '.join(texts)}"
