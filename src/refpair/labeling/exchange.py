"""The rows of a session to Label Studio, and its annotations into the session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from refpair._files import check_output, written_whole
from refpair.labeling.label_studio import labeling_config, read_export, write_tasks
from refpair.labeling.rows import Rows
from refpair.labeling.session import Session

__all__ = ["check_tasks_name", "import_label_studio", "write_label_studio"]

_LABEL_STUDIO = "Label Studio"  # where it was said
_SHOWABLE = re.compile("[A-Za-z0-9_]+")  # columns of other names are shown in a table, as all cells are


def import_label_studio(session: Session, path: Path) -> int:
    """Take over the annotations of a full JSON export of Label Studio, and return how many are new.

    All are kept, with who made them and when; of several on one row, the latest counts. Rows that somebody
    skipped and nobody answered are skipped. The same file may come again.
    """
    answers = read_export(path, session.labels)
    before = {
        (row, kind, frozenset(labels), who)
        for row, kind, labels, who, undone in _tuples(session.history, "id kind labels who undone")
        if not undone
    }
    answered = set(answers.loc[answers["kind"] == "labels", "id"])
    n_new = 0
    for row, kind, labels, who, at in _tuples(answers, "id kind labels who at"):
        who = who or _LABEL_STUDIO
        if (row, kind, frozenset(labels), who) in before:
            continue
        if kind == "labels":
            session.tell([row], [labels], who=who, holder=_LABEL_STUDIO, at=at)
        elif row not in answered:
            session.skip([row], who=who, holder=_LABEL_STUDIO, at=at)
        else:
            continue
        n_new += 1
    return n_new


def _tuples(table: pd.DataFrame, columns: str) -> Iterator[tuple[Any, ...]]:
    return table[columns.split()].itertuples(index=False, name=None)


def write_label_studio(session: Session, path: Path) -> Path:
    """Write the open rows as tasks for Label Studio, and its configuration beside them.

    "Uncertainty sampling" then serves them in the order in which the session would ask for them.

    Returns
    -------
    Path
        The file with the configuration.
    """
    check_tasks_name(path)
    rows = session.rows
    if rows.cells is None:
        raise ValueError("there are no cells to show: open the session with a DataFrame as X")
    text, image = _shown(rows)
    interface = labeling_config(session.labels, text=text, image=image)
    order = session.ranking()
    if not order:
        raise ValueError("there is nothing left to label: all rows are answered or skipped")
    places = [rows.places[key] for key in rows.keys_of(order)]
    labels = session.labels
    predictions = session.predictions()
    zeros = np.zeros((len(order), len(labels)))
    predicted = zeros if predictions is None else _columns(predictions, labels, "predicted")[places]
    probabilities = zeros if predictions is None else _columns(predictions, labels, "probability")[places]
    write_tasks(
        path,
        rows.cells.iloc[places].reset_index(drop=True),
        order,
        labels,
        probabilities,
        predicted,
        np.arange(len(order)) / len(order),
        model_version=f"refpair, {session.n_answered} answers",
        table=text is None and image is None,
    )
    config = path.with_suffix(".xml")
    with written_whole(config) as file:
        file.write(interface.encode())
    return config


def check_tasks_name(path: Path) -> None:
    """Refuse a path that no tasks can be written to; the configuration goes beside them, as .xml."""
    check_output(path)
    if path.suffix.lower() != ".json":
        raise ValueError(f"{path}: the name of tasks for Label Studio ends in .json")


def _columns(predictions: pd.DataFrame, labels: list[str], what: str) -> npt.NDArray[np.float64]:
    return predictions[[f"{label}_{what}" for label in labels]].to_numpy(dtype=float)


def _shown(rows: Rows) -> tuple[str | None, str | None]:
    """Return the columns that Label Studio shows large, if it can: the longest text, and the first image."""
    cells = rows.cells
    assert cells is not None
    names = [name for name in rows.kinds if _SHOWABLE.fullmatch(name)]
    texts = [name for name in names if rows.kinds[name] == "text" and cells[name].notna().all()]
    lengths = {name: cells[name].astype(str).str.len().mean() for name in texts}
    images = [
        name
        for name in names
        if rows.kinds[name] == "image" and cells[name].map(lambda value: isinstance(value, str)).all()
    ]
    return max(lengths, key=lambda name: lengths[name], default=None), images[0] if images else None
