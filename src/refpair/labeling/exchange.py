"""Labels in and out of a session: tables that have some already, and Label Studio."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from refpair._files import check_output, written_whole
from refpair.active import Session
from refpair.labeling.label_studio import labeling_config, read_export, write_tasks
from refpair.labeling.pool import LabelPool

__all__ = [
    "check_tasks_name",
    "import_label_studio",
    "import_table",
    "table_with_cells",
    "write_label_studio",
]

_LABEL_STUDIO = "Label Studio"  # where it was said
_SHOWABLE = re.compile("[A-Za-z0-9_]+")  # columns of other names are shown in a table, as all cells are


def import_table(session: Session, answered: pd.DataFrame, source: str) -> int:
    """Take over labels of rows that were neither answered nor skipped, and return how many there were.

    Parameters
    ----------
    session : Session
    answered : DataFrame
        0 and 1 for each label, by id.
    source : str
        Noted as who said it.
    """
    history = session.history
    known = set(history.loc[(history["kind"] != "undo") & ~history["undone"].astype(bool), "id"])
    new = [row for row in answered.index if row not in known]
    if new:
        session.tell(new, answered.loc[new], who=source)
    return len(new)


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


def write_label_studio(session: Session, pool: LabelPool, path: Path) -> Path:
    """Write the open rows as tasks for Label Studio, and its configuration beside them.

    "Uncertainty sampling" then serves them in the order in which the session would ask for them.

    Returns
    -------
    Path
        The file with the configuration.
    """
    check_tasks_name(path)
    text, image = _shown(pool)
    interface = labeling_config(session.labels, text=text, image=image)
    order = session.ranking()
    if not order:
        raise ValueError("there is nothing left to label: all rows are answered or skipped")
    places = {one: place for place, one in enumerate(pool.ids)}
    rows = [places[one] for one in order]
    labels = session.labels
    predictions = session.predictions()
    zeros = np.zeros((len(rows), len(labels)))
    predicted = zeros if predictions is None else _columns(predictions, labels, "predicted")[rows]
    probabilities = zeros if predictions is None else _columns(predictions, labels, "probability")[rows]
    write_tasks(
        path,
        pool.frame.iloc[rows].reset_index(drop=True),
        order,
        labels,
        probabilities,
        predicted,
        np.arange(len(rows)) / len(rows),
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


def table_with_cells(session: Session, pool: LabelPool) -> pd.DataFrame:
    """Return the cells of all rows, their labels and what is predicted of them.

    A column of the table that is called as one of the session's is called ``<name>_cell``; but for ids, which
    come once.
    """
    cells = pool.frame.reset_index(drop=True)
    table = session.table()
    if "id" in cells.columns and cells["id"].tolist() == table["id"].tolist():
        cells = cells.drop(columns="id")
    taken = {*cells.columns, *table.columns}
    names = []
    for name in cells.columns:
        free = str(name)
        if name in table.columns:
            while free in taken:
                free = f"{free}_cell"
        taken.add(free)
        names.append(free)
    return pd.concat([table["id"], cells.set_axis(names, axis=1), table.drop(columns="id")], axis=1)


def _columns(predictions: pd.DataFrame, labels: list[str], what: str) -> npt.NDArray[np.float64]:
    return predictions[[f"{label}_{what}" for label in labels]].to_numpy(dtype=float)


def _shown(pool: LabelPool) -> tuple[str | None, str | None]:
    """Return the columns that Label Studio shows large, if it can: the longest text, and the first image."""
    texts = [
        name
        for name, kind in pool.kinds.items()
        if kind == "text" and _SHOWABLE.fullmatch(name) and pool.frame[name].notna().all()
    ]
    lengths = {name: pool.frame[name].astype(str).str.len().mean() for name in texts}
    images = [
        name
        for name, kind in pool.kinds.items()
        if kind == "image"
        and _SHOWABLE.fullmatch(name)
        and pool.frame[name].map(lambda value: isinstance(value, str)).all()
    ]
    return max(lengths, key=lambda name: lengths[name], default=None), images[0] if images else None
