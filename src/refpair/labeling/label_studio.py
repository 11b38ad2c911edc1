"""To and from Label Studio, the open-source labeling server: tasks to import, exports to read.

Nothing here talks to it. A row goes there under its id, in the field ``refpair_id``, and so comes back.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import ArrayLike

from refpair._extras import pd
from refpair._files import check_output, written_whole
from refpair.labeling.rows import Id, Rows
from refpair.labeling.session import Session
from refpair.labeling.store import Said, parse_time

_WHERE = "Label Studio"  # where it was said
_ID = "refpair_id"
_TABLE = "refpair_row"  # all cells of a row once more, for the table that shows them
_PROBABILITIES = "refpair_probabilities"  # of the labels that are asked for
_CONTROL, _OBJECT = "labels", "row"  # the names that connect the configuration and the predictions
_SHOWABLE = re.compile("[A-Za-z0-9_]+")  # of other names, Label Studio's pages take only a part
_REFERENCE = re.compile(r"\$[A-Za-z0-9_\[\].{}]")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MIN_ONLY = ("annotation_id", "annotator")  # what each record of JSON_MIN has, and no task of JSON


# -- to Label Studio ---------------------------------------------------------------------------------------


def check_tasks_name(path: Path) -> None:
    """Refuse a path that no tasks can be written to; the configuration goes beside them, as .xml."""
    check_output(path)
    if path.suffix.lower() != ".json":
        raise ValueError(f"{path}: the name of tasks for Label Studio ends in .json")


def write_project(session: Session, path: Path) -> Path:
    """Write the open rows as tasks, and the configuration beside them, whose path is returned.

    "Uncertainty sampling" then serves them in the order in which the session would ask for them.
    """
    check_tasks_name(path)
    rows = session.rows
    if rows.cells is None:
        raise ValueError("there are no cells to show: open the session with a DataFrame as X")
    text, image = _shown_large(rows)
    labels = session.labels
    interface = labeling_config(labels, text=text, image=image)
    order = session.ranking()
    if not order:
        raise ValueError("there is nothing left to label: all rows are answered or skipped")
    predictions = session.predictions()
    if predictions is None:
        predicted = probabilities = np.zeros((len(order), len(labels)))
    else:
        of_rows = predictions.loc[order]
        predicted, probabilities = (
            of_rows.reindex(columns=[f"{label}_{what}" for label in labels], fill_value=0.0).to_numpy(
                dtype=float
            )
            for what in ("predicted", "probability")
        )
    known = session.answers().reindex(order).to_numpy(dtype=float, na_value=np.nan)
    predicted = np.where(np.isnan(known), predicted, known)
    write_tasks(
        path,
        rows.cells.iloc[[rows.places[key] for key in rows.keys_of(order)]],
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


def _shown_large(rows: Rows) -> tuple[str | None, str | None]:
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


def write_tasks(
    path: Path,
    frame: pd.DataFrame,
    ids: Sequence[Id],
    labels: Sequence[str],
    probabilities: ArrayLike,
    predicted: ArrayLike,
    scores: ArrayLike,
    *,
    model_version: str,
    table: bool = False,
) -> None:
    """Write rows as tasks that Label Studio imports, each with the model's answer ticked, lowest score first.

    Label Studio serves them in that order if the project's sampling is "Uncertainty sampling" and its model
    version this one. The first import into a new project sets it; later ones do not, and with another one
    Label Studio takes tasks at random and does not say so. Probabilities are in ``meta``, where annotators do
    not see them. `table` writes the cells once more, for a `labeling_config` without text and image.
    """
    cells: dict[str, list[Any]] = {}
    for j, column in enumerate(frame.columns):
        name = str(column)
        if name in (_ID, _TABLE):
            raise ValueError(f"column {name!r}: refpair writes a field of that name; rename or drop it")
        cells[name] = [_cell(value) for value in frame.iloc[:, j].tolist()]
    p, chosen, score = (np.asarray(one, np.float64) for one in (probabilities, predicted, scores))
    with written_whole(path) as file:
        file.write(b"[")
        for number, i in enumerate(np.argsort(score, kind="stable").tolist()):
            shown = {name: column[i] for name, column in cells.items()}
            choices = [label for label, is_chosen in zip(labels, chosen[i], strict=True) if is_chosen]
            value = {"choices": choices}
            region = {"from_name": _CONTROL, "to_name": _OBJECT, "type": "choices", "value": value}
            prediction = {
                "model_version": model_version,
                "score": float(score[i]),
                "result": [region] if choices else [],  # as on Label Studio's own pages
            }
            task = {
                "data": {**shown, _ID: ids[i], **({_TABLE: shown} if table else {})},
                "meta": {_PROBABILITIES: dict(zip(labels, p[i].tolist(), strict=True))},
                "predictions": [prediction],
            }
            file.write(((",\n" if number else "\n") + json.dumps(task, allow_nan=False)).encode())
        file.write(b"\n]\n")


def _cell(value: Any) -> str | int | float | None:
    """Return a cell as JSON has it; what JSON does not know is written out as text."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = pd.Series([value])[0]  # their own item() makes numbers of nanoseconds
    elif isinstance(value, np.generic):
        value = value.item()
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return value.isoformat() if isinstance(value, datetime) else str(value)


def labeling_config(labels: Sequence[str], *, text: str | None = None, image: str | None = None) -> str:
    """Return a project's "Labeling interface" as XML, with these columns, or else all cells in a table."""
    shown = [(tag, column) for tag, column in (("Image", image), ("Text", text)) if column is not None]
    named = zip(shown or [("Table", _TABLE)], (_OBJECT, "text"), strict=False)
    lines = [f'  <{tag} name="{name}" value="${column}"/>' for (tag, column), name in named]
    lines.append(f'  <Choices name="{_CONTROL}" toName="{_OBJECT}" choice="multiple" showInline="true">')
    for number, label in enumerate(labels, start=1):
        hotkey = f' hotkey="{number}"' if number <= 9 else ""
        lines.append(f'    <Choice value="{_attribute(label)}"{hotkey}/>')
    return "\n".join(["<View>", *lines, "  </Choices>", "</View>"])


def _attribute(label: str) -> str:
    """Escape a label's name for an attribute in double quotes, where line breaks would become blanks."""
    if not label.strip() or _NO_XML.search(label):
        raise ValueError(f"label {label!r}: it is empty or holds control characters; rename the label")
    if _REFERENCE.search(label):
        raise ValueError(
            f"label {label!r}: Label Studio takes what follows the $ for a column; rename the label"
        )
    return escape(label, {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


# -- from Label Studio: a file may hold anything at all ----------------------------------------------------


class Annotation(NamedTuple):
    """What somebody said of a row; `who` and `at` (ISO, UTC) are None if the file does not tell them."""

    id: Id
    kind: Said
    labels: list[str]
    asked: list[str]
    who: str | None
    at: str | None


def import_annotations(session: Session, path: Path) -> int:
    """Take over the annotations of a full JSON export, and return how many are new.

    All are kept, with who made them and when; of several on one row, the latest counts. They are about the
    labels that there were when the tasks were written. Rows that somebody
    skipped and nobody answered are skipped. The same file may come again.
    """
    annotations = read_export(path, session.labels)
    session.rows.keys_of([one.id for one in annotations])  # refuses those of another table
    history = session.history
    said = history.loc[~history["undone"].astype(bool), ["id", "kind", "labels", "about", "who"]]
    before = {
        (row, kind, frozenset(labels), frozenset(about if kind == "labels" else []), who)
        for row, kind, labels, about, who in said.itertuples(index=False)
    }
    answered = {one.id for one in annotations if one.kind == "labels"}
    n_new = 0
    for row, kind, labels, asked, who, at in annotations:
        who = who or _WHERE
        about = frozenset(asked if kind == "labels" else [])
        if (row, kind, frozenset(labels), about, who) in before or (kind == "skip" and row in answered):
            continue
        if kind == "labels":
            session.tell([row], [{name: name in labels for name in asked}], who=who, holder=_WHERE, at=at)
        else:  # which leaves what is known of some labels
            known = session.known(row)
            rest = [name for name in session.labels if name not in known] if known else []
            session.skip([row], labels=rest or None, who=who, holder=_WHERE, at=at)
        n_new += 1
    return n_new


def read_export(path: Path, labels: Sequence[str]) -> list[Annotation]:
    """Read the annotations of a project that was exported as "JSON": task by task, each in order of time.

    JSON_MIN and CSV will not do: they leave out what was skipped. Drafts and predictions do not count.
    """
    tasks = _read_json(path)
    if not isinstance(tasks, list):
        raise _not_an_export(path, f"it holds {_kind(tasks)} where a list of tasks should be")
    annotations: list[Annotation] = []
    for position, task in enumerate(tasks, start=1):
        annotations += sorted(_annotations(path, position, task, labels), key=lambda one: one.at or "")
    unknown = sorted({label for one in annotations for label in one.labels} - set(labels))
    if unknown:
        listed = ", ".join(map(repr, unknown[:10])) + (", ..." if len(unknown) > 10 else "")
        raise ValueError(
            f"{path}: chosen but not among the label names: {listed}; add them to the label "
            "names, or correct these answers in Label Studio and export again"
        )
    return [
        one._replace(
            labels=[name for name in labels if name in one.labels],
            asked=[name for name in labels if name in one.asked or name in one.labels],
        )
        for one in annotations
    ]


def _read_json(path: Path) -> Any:
    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is no number of JSON")

    try:
        # A byte order mark is what some editors leave behind.
        return json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=refuse)
    except RecursionError:
        raise _not_an_export(path, "it is nested too deeply") from None
    except ValueError as error:
        raise _not_an_export(path, f"it is not JSON: {error}") from None


def _not_an_export(path: Path, why: str) -> ValueError:
    return ValueError(
        f'{path}: this is no full export of Label Studio ({why}); export the project there as "JSON"'
    )


def _annotations(path: Path, position: int, task: Any, labels: Sequence[str]) -> list[Annotation]:
    if isinstance(task, dict) and "annotations" not in task and all(key in task for key in _MIN_ONLY):
        raise ValueError(
            f"{path}: this is an export of Label Studio as JSON_MIN, which leaves out the tasks that were "
            'skipped; export the project again as "JSON"'
        )
    if not (isinstance(task, dict) and "annotations" in task and isinstance(task.get("data"), dict)):
        raise _not_an_export(path, f'item {position} is no task with "data" and "annotations"')
    number, row = task.get("id"), task["data"].get(_ID)
    where = f"{path}: task {number}" if _is_integer(number) else f"{path}: item {position}"
    annotations = _typed(where, '"annotations"', task["annotations"], list)
    if annotations and not (isinstance(row, str) or _is_integer(row)):
        found = f"holds {_kind(row)}" if _ID in task["data"] else "is missing"
        raise ValueError(
            f"{where}: {_ID!r}, which tells the row that it is about, {found} in its data; import the tasks "
            "that refpair writes, or delete this task in Label Studio and export again"
        )
    meta = task.get("meta")
    told = meta.get(_PROBABILITIES) if isinstance(meta, dict) else None
    asked = list(told if isinstance(told, dict) else labels)
    return [_annotation(where, row, asked, one) for one in annotations]


def _annotation(where: str, row: Id, asked: list[str], annotation: Any) -> Annotation:
    fields = _typed(where, "an annotation", annotation, dict)
    fields = {key: value for key, value in fields.items() if value is not None}
    is_skip = _typed(where, '"was_cancelled"', fields.get("was_cancelled", False), bool)
    chosen = [] if is_skip else _choices(where, fields.get("result", []))
    kind: Said = "skip" if is_skip else "labels"
    return Annotation(row, kind, chosen, asked, _who(where, fields), _time(where, fields))


def _choices(where: str, result: Any) -> list[str]:
    """Return the choices of all regions of choices; ratings, texts and the like are no labels."""
    chosen: list[str] = []
    for region in _typed(where, '"result"', result, list):
        region = _typed(where, "a region", region, dict)
        if region.get("type") != "choices":
            continue
        value = _typed(where, 'the "value" of choices', region.get("value"), dict)
        for choice in _typed(where, '"choices"', value.get("choices"), list):
            if not isinstance(choice, str):
                raise ValueError(
                    f"{where}: a choice is {_kind(choice)} where a name should be; nested choices "
                    '(allowNested="true") cannot be read, use those of the interface that refpair writes'
                )
            chosen.append(choice)
    return chosen


def _who(where: str, annotation: dict[str, Any]) -> str | None:
    """Return the e-mail address of the annotator, or the number if the export has only that."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    if who is None or isinstance(who, str):
        return who
    if _is_integer(who):
        return str(who)
    raise ValueError(f'{where}: "completed_by" holds {_kind(who)} where an annotator should be')


def _time(where: str, annotation: dict[str, Any]) -> str | None:
    """Return when the answer got its last form: who corrects an old answer has had the last word."""
    text = annotation.get("updated_at", annotation.get("created_at"))
    if text is None:
        return None
    text = _typed(where, "the time of an annotation", text, str)
    try:
        return parse_time(text).isoformat(timespec="microseconds")
    except ValueError as error:
        raise ValueError(f"{where}: {error}; export it again") from None


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _typed(where: str, what: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{where}: {what} is {_kind(value)} where {_NAMES[kind]} should be; export it again")
    return value


_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def _kind(value: Any) -> str:
    return _NAMES[type(value)]
