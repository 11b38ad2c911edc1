"""A session as tables: what was said, labels, predictions and what they are expected to cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from refpair._parallel import run_chunks
from refpair.bits.binning import Matrix
from refpair.bits.problem import chunks_of
from refpair.labeling.events import Event, Label
from refpair.labeling.ids import Id, id_of_key

__all__ = [
    "answers_table",
    "check_column_names",
    "column_sentences",
    "history_table",
    "predict_rows",
    "rows_table",
]

_ROWS_A_CALL = 2000


def history_table(events: Sequence[Event], names: Sequence[str]) -> pd.DataFrame:
    """Return all that was said, in order."""
    undone = {event.undone for event in events if event.kind == "undo"}
    rows = [
        (
            id_of_key(event.row),
            event.kind,
            [names[place] for place in event.labels],
            event.who,
            pd.Timestamp(event.at),
            event.model,
            event.number in undone,
        )
        for event in events
    ]
    return pd.DataFrame(rows, columns=["id", "kind", "labels", "who", "at", "model", "undone"])


def answers_table(words: Sequence[Event], labels: Sequence[Label]) -> pd.DataFrame:
    """Return 0 and 1 for the rows that were answered, by id; <NA> for labels that they were not asked for."""
    answered = [word for word in words if word.kind == "labels"]
    cells = [
        [
            int(place in word.labels) if place < word.n_labels or label.earlier == "absent" else None
            for place, label in enumerate(labels)
        ]
        for word in answered
    ]
    table = pd.DataFrame(
        cells,
        index=_index([id_of_key(word.row) for word in answered]),
        columns=[label.name for label in labels],
    )
    return table.astype("Int8")


def rows_table(
    ids: Sequence[Id], words: Sequence[Event], labels: Sequence[Label], predicted: pd.DataFrame | None
) -> pd.DataFrame:
    """Return all rows: what was answered by whom and when, and what is predicted."""
    last = {id_of_key(word.row): word for word in words}
    said = [last.get(one) for one in ids]
    table = answers_table(words, labels).reindex(_index(ids))
    table["skipped"] = [word is not None and word.kind == "skip" for word in said]
    table["who"] = [None if word is None else word.who for word in said]
    table["at"] = [None if word is None else word.at for word in said]
    if predicted is not None:
        table = pd.concat([table, predicted], axis=1)
    table = table.reset_index()
    table["id"] = table["id"].infer_objects()
    return table


def predict_rows(
    model: Any, X: Matrix, ids: Sequence[Id], labels: Sequence[str], verbose: int
) -> pd.DataFrame:
    """Return what a model predicts, by id.

    Columns are ``<label>_predicted`` and ``<label>_probability`` for each label, and ``expected_cost``, as
    far as the model tells them.
    """

    def predict(part: slice) -> list[Any]:
        rows = X[part]
        return [
            np.asarray(model.predict(rows), np.uint8),
            np.asarray(model.predict_proba(rows)) if hasattr(model, "predict_proba") else None,
            np.asarray(model.expected_cost(rows)) if hasattr(model, "expected_cost") else None,
        ]

    parts = run_chunks(
        predict, chunks_of(X.shape[0], _ROWS_A_CALL), n_jobs=None, verbose=verbose, title="predicting rows"
    )
    predicted, probabilities, costs = (
        None if some[0] is None else np.concatenate(some) for some in zip(*parts, strict=True)
    )
    assert predicted is not None
    columns: dict[str, Any] = {}
    for place, label in enumerate(labels):
        columns[f"{label}_predicted"] = predicted[:, place]
        if probabilities is not None:
            columns[f"{label}_probability"] = probabilities[:, place].round(6)
    if costs is not None:
        columns["expected_cost"] = costs.round(6)
    return pd.DataFrame(columns, index=_index(ids))


def column_sentences(columns: pd.DataFrame, most: int = 8) -> list[str]:
    """Say what became of columns, those together of which the same is true.

    Examples
    --------
    >>> kinds = {"kind": ["number", "ignored", "number"], "why": ["", "an id", ""], "missing": [0, 0, 0]}
    >>> column_sentences(pd.DataFrame(kinds, index=["age", "key", "size"]))
    ['age, size: number', 'key: ignored (an id)']
    """
    told: dict[str, list[str]] = {}
    for name, kind, why, missing in columns[["kind", "why", "missing"]].itertuples(name=None):
        sentence = f"{kind} ({why})" if why else str(kind)
        if missing:
            sentence += f", {missing:,} empty"
        told.setdefault(sentence, []).append(str(name))
    return [
        f"{', '.join(names[:most])}{f' and {len(names) - most:,} more' if len(names) > most else ''}: {what}"
        for what, names in told.items()
    ]


def check_column_names(labels: Sequence[str]) -> None:
    """Refuse labels whose columns in the table of all rows would have the names of others."""
    own = {label: [label, f"{label}_predicted", f"{label}_probability"] for label in labels}
    times = Counter(["id", "skipped", "who", "at", "expected_cost"])
    for columns in own.values():
        times.update(columns)
    for label, columns in reversed(own.items()):  # names that are there already stay
        for column in columns:
            if times[column] > 1:
                raise ValueError(
                    f"the label {label!r} needs a column {column!r} in tables, where another one has that "
                    "name; choose another name"
                )


def _index(ids: Sequence[Id]) -> pd.Index[Any]:
    index: pd.Index[Any] = pd.Index(np.array([*ids, None], dtype=object)[:-1], name="id")
    return index
