"""To and from Label Studio, the open-source labelling server: tasks to import, exports to read.

Nothing here needs Label Studio or talks to it. A row goes there under its id, in the field ``refpair_id`` of
its task, and its answers come back under the same id.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ._label_studio_export import parse_time, read_answers
from ._label_studio_tasks import CONTROL, OBJECT, TABLE_FIELD, is_empty, make_task, plain_cells, write_list

__all__ = ["labeling_config", "read_export", "settle", "write_tasks"]

_SHOWABLE = re.compile(r"[A-Za-z0-9_]+")  # of other names, Label Studio's pages take only a part
_REFERENCE = re.compile(r"\$[A-Za-z0-9_\[\].{}]")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COLUMNS = ["id", "kind", "labels", "who", "at"]


def write_tasks(
    path: str | os.PathLike[str],
    frame: pd.DataFrame,
    ids: Sequence[str | int],
    label_names: Sequence[str],
    probabilities: ArrayLike,
    predicted: ArrayLike,
    scores: ArrayLike,
    *,
    model_version: str,
    table: bool = False,
) -> None:
    """Write rows as tasks that Label Studio imports, each with the model's answer filled in.

    Label Studio serves the tasks of **lowest** score first if the project's sampling is "Uncertainty
    sampling" and the project's model version is ``model_version``. The first import into a new project sets
    it; later ones do not, and with another one Label Studio takes tasks at random and does not say so. The
    file has the tasks in the same order, so "Sequential sampling" serves the tasks of one import in this
    order, too.

    An import only adds tasks. Before the next round goes into the same project, delete the tasks that nobody
    has answered, and choose the new model version in the project's settings.

    Parameters
    ----------
    path : path-like
        The file; one that exists is replaced, all or nothing.
    frame : DataFrame of shape (n, n_columns)
        What people should see. Empty cells become null, which Label Studio refuses in the column that is
        shown as text or image.
    ids : sequence of str or int
        The rows' ids, each once. They come back from `read_export`.
    label_names : sequence of str
    probabilities : array-like of shape (n, n_labels)
        Of each label, kept in the task's ``meta``, where annotators do not see them.
    predicted : array-like of shape (n, n_labels)
        0 and 1: the labels that are ticked beforehand.
    scores : array-like of shape (n,)
        Between 0 and 1, lowest to be labelled first: a confidence, or a rank divided by ``n``.
    model_version : str
        The name of the model, another one after each training.
    table : bool, default=False
        Whether to write the cells once more into one field, ``refpair_row``, which is what the configuration
        of `labeling_config` shows if it is given neither a text nor an image.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from refpair.labeling.label_studio import write_tasks
    >>> frame = pd.DataFrame({"text": ["what a day", "leave me alone"]})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tasks.json")
    ...     write_tasks(path, frame, ["a", "b"], ["joy", "anger"], [[0.9, 0.1], [0.2, 0.6]],
    ...                 [[1, 0], [0, 1]], [0.8, 0.4], model_version="first")
    ...     print(path.read_text())
    [
    {"data": {"text": "leave me alone", "refpair_id": "b"}, "meta": {"refpair_probabilities": ...
    {"data": {"text": "what a day", "refpair_id": "a"}, "meta": {"refpair_probabilities": ...
    ]
    """
    path = Path(path)
    names, rows, n = _label_names(label_names), _ids(ids), len(frame)
    if len(rows) != n:
        raise ValueError(f"ids: {len(rows)} for {n} rows; give one id a row")
    if not (isinstance(model_version, str) and model_version.strip()):
        raise ValueError("model_version: it is empty; name the model, for example 'round-3'")
    probability = _numbers("probabilities", probabilities, (n, len(names)))
    chosen = _numbers("predicted", predicted, (n, len(names)))
    if not np.isin(chosen, (0, 1)).all():
        raise ValueError("predicted: expected 0 and 1 only; pass what predict returns")
    score = _numbers("scores", scores, (n,))
    cells = plain_cells(frame)
    order = np.argsort(score, kind="stable")
    tasks = (
        make_task(
            rows[i],
            {name: column[i] for name, column in cells.items()},
            dict(zip(names, probability[i].tolist(), strict=True)),
            [name for name, is_chosen in zip(names, chosen[i], strict=True) if is_chosen],
            float(score[i]),
            model_version,
            table,
        )
        for i in order.tolist()
    )
    write_list(path, tasks)


def labeling_config(label_names: Sequence[str], *, text: str | None = None, image: str | None = None) -> str:
    """Make the labelling configuration of a project: its "Labeling interface", as code.

    Parameters
    ----------
    label_names : sequence of str
        The names to tick, any number of them or none; the first nine have the keys 1 to 9.
    text, image : str, optional
        The column that holds the text, or the address of the picture; or both columns. If neither is given,
        all cells are shown in a table, and the tasks are to be written with ``table=True``.

    Returns
    -------
    str
        XML to paste into the project's settings, or to send as ``label_config``.

    Raises
    ------
    ValueError
        If Label Studio cannot show a column or a label of that name.

    Examples
    --------
    >>> from refpair.labeling.label_studio import labeling_config
    >>> print(labeling_config(["joy", "R & B"], text="lyrics"))
    <View>
      <Text name="row" value="$lyrics"/>
      <Choices name="labels" toName="row" choice="multiple" showInline="true">
        <Choice value="joy" hotkey="1"/>
        <Choice value="R &amp; B" hotkey="2"/>
      </Choices>
    </View>
    """
    shown = [(tag, column) for tag, column in (("Image", image), ("Text", text)) if column is not None]
    for _, column in shown:
        if not _SHOWABLE.fullmatch(column):
            raise ValueError(
                f"column {column!r}: Label Studio shows only columns whose names are made of a to z, digits "
                "and underscores; rename it, or give neither text nor image to show all cells in a table"
            )
    lines = [
        f'  <{tag} name="{name}" value="${column}"/>'
        for (tag, column), name in zip(shown or [("Table", TABLE_FIELD)], (OBJECT, "text"), strict=False)
    ]
    lines.append(f'  <Choices name="{CONTROL}" toName="{OBJECT}" choice="multiple" showInline="true">')
    for number, name in enumerate(_label_names(label_names), start=1):
        hotkey = f' hotkey="{number}"' if number <= 9 else ""
        lines.append(f'    <Choice value="{_attribute(name)}"{hotkey}/>')
    return "\n".join(["<View>", *lines, "  </Choices>", "</View>"])


def read_export(path: str | os.PathLike[str], label_names: Sequence[str]) -> pd.DataFrame:
    """Read the annotations of a project that Label Studio has exported as "JSON".

    Parameters
    ----------
    path : path-like
        The file. JSON_MIN and CSV will not do: they leave out what was skipped.
    label_names : sequence of str
        The names that may have been chosen.

    Returns
    -------
    DataFrame
        One row an annotation, task by task, those of a task in order of time. ``id`` is the row's id,
        ``kind`` is "labels" or "skip", ``labels`` a list of names (empty for "none of these"), ``who`` the
        annotator's e-mail address or number, ``at`` the time of the last change, ISO and UTC. ``who`` and
        ``at`` are None if the file does not tell them. Tasks without annotations, drafts and predictions
        are left out.

    Raises
    ------
    ValueError
        If the file is anything else, a task has no ``refpair_id``, or other names were chosen.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from refpair.labeling.label_studio import read_export
    >>> region = {"type": "choices", "value": {"choices": ["joy"]}}
    >>> annotation = {"completed_by": 1, "result": [region], "created_at": "2026-03-01T10:00:00Z"}
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "export.json")
    ...     _ = path.write_text(json.dumps([{"data": {"refpair_id": "a"}, "annotations": [annotation]}]))
    ...     answers = read_export(path, ["joy", "anger"])
    >>> answers[["id", "kind", "labels"]]
      id    kind labels
    0  a  labels  [joy]
    """
    path, names = Path(path), _label_names(label_names)
    answers = list(read_answers(path))
    unknown = sorted({choice for answer in answers for choice in answer.choices} - set(names))
    if unknown:
        raise ValueError(
            f"{path}: chosen but not among the label names: {_listed(unknown)}; add them to the label "
            "names, or correct these answers in Label Studio and export again"
        )
    rows = [
        (
            answer.id,
            "skip" if answer.skipped else "labels",
            [name for name in names if name in set(answer.choices)],
            answer.who,
            None if answer.time is None else answer.time.isoformat(timespec="microseconds"),
        )
        for answer in answers
    ]
    # As objects: an id that is an int stays one, and None stays None.
    return pd.DataFrame(rows, columns=_COLUMNS, dtype=object)


def settle(
    answers: pd.DataFrame, label_names: Sequence[str], *, by: Literal["latest", "majority"] = "latest"
) -> tuple[list[str | int], NDArray[np.uint8]]:
    """Make one answer of the several that people gave to the same row.

    Parameters
    ----------
    answers : DataFrame
        As `read_export` returns it. Skips count for nothing: a row that was only skipped has no answer.
    label_names : sequence of str
    by : {"latest", "majority"}, default="latest"
        The latest answer as it is, or of each label what most people say, where each has one vote, the
        latest of theirs, and a tie goes to the latest answer of all.

    Returns
    -------
    ids : list of str or int
        The rows that have an answer, in the order in which they first appear.
    Y : ndarray of shape (len(ids), n_labels), uint8
        The labels.

    Raises
    ------
    ValueError
        If the table is not of that kind.

    Examples
    --------
    >>> import pandas as pd
    >>> from refpair.labeling.label_studio import settle
    >>> said = [["joy"], ["joy"], ["anger"]]
    >>> days = ["2026-03-01", "2026-03-02", "2026-03-03"]
    >>> answers = pd.DataFrame({"id": 7, "kind": "labels", "labels": said, "who": list("abc"), "at": days})
    >>> settle(answers, ["joy", "anger"])
    ([7], array([[0, 1]], dtype=uint8))
    >>> settle(answers, ["joy", "anger"], by="majority")
    ([7], array([[1, 0]], dtype=uint8))
    """
    if by not in ("latest", "majority"):
        raise ValueError(f"by: expected 'latest' or 'majority', got {by!r}")
    names = _label_names(label_names)
    votes = _votes(answers, names)
    Y = np.zeros((len(votes), len(names)), np.uint8)
    for i, of_row in enumerate(votes.values()):
        of_row = sorted(of_row, key=lambda vote: vote[0])
        Y[i] = of_row[-1][2] if by == "latest" else _majority(of_row)
    return list(votes), Y


Vote = tuple[datetime, object, NDArray[np.uint8]]


def _votes(answers: pd.DataFrame, names: list[str]) -> dict[str | int, list[Vote]]:
    missing = [column for column in _COLUMNS if column not in answers.columns]
    if missing:
        raise ValueError(f"answers: no column {missing[0]!r}; pass what read_export returns")
    position = {name: k for k, name in enumerate(names)}
    votes: dict[str | int, list[Vote]] = {}
    for row, kind, labels, who, at in zip(*(answers[column].tolist() for column in _COLUMNS), strict=True):
        if kind not in ("labels", "skip"):
            raise ValueError(f"answers: row {row!r} is of kind {kind!r}; expected 'labels' or 'skip'")
        if kind == "labels":
            voter = object() if is_empty(who) else who  # of people without names each is another one
            votes.setdefault(_id(row), []).append((_moment(at), voter, _vector(row, labels, position)))
    return votes


def _vector(row: object, labels: Any, position: dict[str, int]) -> NDArray[np.uint8]:
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise ValueError(f"answers: the labels of row {row!r} are {labels!r}; expected a list of names")
    vector = np.zeros(len(position), np.uint8)
    for name in labels:
        if name not in position:
            raise ValueError(f"answers: row {row!r} has the label {name!r}; add it to the label names")
        vector[position[name]] = 1
    return vector


def _moment(at: Any) -> datetime:
    if is_empty(at):
        return datetime.min.replace(tzinfo=UTC)
    return parse_time(at.isoformat() if isinstance(at, datetime) else str(at))


def _majority(votes: list[Vote]) -> NDArray[np.uint8]:
    """Count the votes, which are in order of time."""
    last = {voter: vector for _, voter, vector in votes}
    doubled = 2 * np.sum(list(last.values()), axis=0, dtype=np.int64)
    return np.where(doubled == len(last), votes[-1][2], doubled > len(last)).astype(np.uint8)


def _numbers(name: str, values: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name}: expected the shape {shape}, got {array.shape}")
    if not ((array >= 0) & (array <= 1)).all():  # NaN is neither
        raise ValueError(f"{name}: expected numbers between 0 and 1; scale them, and fill in what is missing")
    return array


def _ids(ids: Sequence[str | int]) -> list[str | int]:
    rows = [_id(one) for one in ids]
    seen: set[str | int] = set()
    for row in rows:
        if row in seen:
            raise ValueError(f"ids: {row!r} is there twice; give each row an id of its own")
        seen.add(row)
    return rows


def _id(one: Any) -> str | int:
    one = one.item() if isinstance(one, np.generic) else one
    if isinstance(one, bool) or not isinstance(one, str | int):
        raise ValueError(
            f"ids: {one!r} is neither a text nor a whole number; make it one, for example by str()"
        )
    return one


def _label_names(label_names: Sequence[str]) -> list[str]:
    if isinstance(label_names, str):
        raise ValueError(f"label_names: {label_names!r} is a text; pass a list of names")
    names = [str(name) for name in label_names]
    if not names:
        raise ValueError("label_names: there are none; name at least one label")
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"label_names: {name!r} is named twice; remove one")
    return names


def _attribute(label: str) -> str:
    """Escape a label's name for an attribute in double quotes, where line breaks would become blanks."""
    if not label.strip() or _NO_XML.search(label):
        raise ValueError(f"label {label!r}: it is empty or holds control characters; rename the label")
    if _REFERENCE.search(label):
        raise ValueError(
            f"label {label!r}: Label Studio takes what follows the $ for a column; rename the label"
        )
    return escape(label, {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
