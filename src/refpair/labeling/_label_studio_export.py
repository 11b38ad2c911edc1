"""What a full JSON export of Label Studio says, checked: a file may hold anything at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

ID_FIELD = "refpair_id"
_MIN_ONLY = ("annotation_id", "annotator")  # what each record of JSON_MIN has, and no task of JSON


class Answer(NamedTuple):
    """One annotation: ``time`` is None if the file does not tell it, ``who`` likewise."""

    id: str | int
    skipped: bool
    choices: list[str]
    who: str | None
    time: datetime | None


def read_answers(path: Path) -> Iterator[Answer]:
    """Read all annotations, task by task, those of a task in order of time."""
    tasks = _read_json(path)
    if not isinstance(tasks, list):
        raise _not_an_export(path, f"it holds {_kind(tasks)} where a list of tasks should be")
    for position, task in enumerate(tasks, start=1):
        yield from _answers_of_task(path, position, task)


def parse_time(text: str) -> datetime:
    """Read an ISO time; one without a zone is taken as UTC, which is what Label Studio writes.

    >>> parse_time("2026-03-01T10:00:00Z") == parse_time("2026-03-01T11:00:00.000000+01:00")
    True
    """
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text[:60]!r} is not a time such as 2026-03-01T10:00:00Z") from None


def _read_json(path: Path) -> Any:
    try:
        # A byte order mark is what some editors leave behind.
        return json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=_refuse_constant)
    except RecursionError:
        raise _not_an_export(path, "it is nested too deeply") from None
    except ValueError as error:
        raise _not_an_export(path, f"it is not JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _not_an_export(path: Path, why: str) -> ValueError:
    return ValueError(
        f'{path}: this is no full export of Label Studio ({why}); export the project there as "JSON"'
    )


def _answers_of_task(path: Path, position: int, task: Any) -> list[Answer]:
    if isinstance(task, dict) and "annotations" not in task and all(key in task for key in _MIN_ONLY):
        raise ValueError(
            f"{path}: this is an export of Label Studio as JSON_MIN, which leaves out the tasks that were "
            'skipped; export the project again as "JSON"'
        )
    if not (isinstance(task, dict) and "annotations" in task and isinstance(task.get("data"), dict)):
        raise _not_an_export(path, f'item {position} is no task with "data" and "annotations"')
    where = f"{path}: {_name(position, task)}"
    annotations = _typed(where, '"annotations"', task["annotations"], list)
    if not annotations:
        return []
    row = _row_id(where, task["data"])
    answers = [_answer(where, row, annotation) for annotation in annotations]
    earliest = datetime.min.replace(tzinfo=UTC)
    return sorted(answers, key=lambda answer: answer.time or earliest)


def _name(position: int, task: dict[str, Any]) -> str:
    number = task.get("id")
    return f"task {number}" if _is_integer(number) else f"item {position}"


def _row_id(where: str, data: dict[str, Any]) -> str | int:
    row: Any = data.get(ID_FIELD)
    if isinstance(row, str | int) and not isinstance(row, bool):
        return row
    found = f"holds {_kind(row)}" if ID_FIELD in data else "is missing"
    raise ValueError(
        f"{where}: {ID_FIELD!r}, which tells the row that it is about, {found} in its data; import the tasks "
        "that write_tasks writes, or delete this task in Label Studio and export again"
    )


def _answer(where: str, row: str | int, annotation: Any) -> Answer:
    fields = _typed(where, "an annotation", annotation, dict)
    skipped = _typed(where, '"was_cancelled"', _given(fields, "was_cancelled", False), bool)
    chosen = [] if skipped else _choices(where, _given(fields, "result", []))
    return Answer(row, skipped, chosen, _who(where, fields), _time(where, fields))


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
                    '(allowNested="true") cannot be read, use those that labeling_config makes'
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


def _time(where: str, annotation: dict[str, Any]) -> datetime | None:
    """Return when the answer got its last form: who corrects an old answer has had the last word."""
    text = _given(annotation, "updated_at", annotation.get("created_at"))
    if text is None:
        return None
    text = _typed(where, "the time of an annotation", text, str)
    try:
        return parse_time(text)
    except ValueError as error:
        raise ValueError(f"{where}: {error}; export it again") from None


def _given(fields: dict[str, Any], key: str, otherwise: Any) -> Any:
    value = fields.get(key)
    return otherwise if value is None else value


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
