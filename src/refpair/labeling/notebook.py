"""A session as a notebook shows it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from refpair.active.stopping import Round

if TYPE_CHECKING:
    from refpair.labeling.results import SessionResults

__all__ = ["session_html"]

_WIDTH, _HEIGHT, _MARGIN = 320, 80, 6
_LAST = 5


def session_html(session: SessionResults) -> str:
    """Return a summary: how far it is, the expected cost so far, and the last answers."""
    n, done, skipped = len(session.ids), session.n_answered, session.n_skipped
    of_all = f" of {n:,}" if n else ""
    rounds = [one for one in session.rounds if one.expected_cost is not None]
    reason = session.should_stop()
    parts = [
        f"<b>{escape(session.path.name)}</b>: {done:,}{of_all} rows answered, {skipped:,} skipped",
        f"labels: {escape(', '.join(session.labels))}",
        f"cost: {escape(session.cost.name)}",
    ]
    if rounds:
        parts.append(f"expected cost of a prediction: {rounds[-1].expected_cost:.3g}")
    if len(rounds) > 1:
        parts.append(_curve(rounds))
    if reason is not None:
        parts.append(f"<i>{escape(reason)}</i>")
    history = session.history
    if len(history):
        parts.append(_table(history.tail(_LAST)[["id", "kind", "labels", "who"]].to_numpy().tolist()))
    return "<div>" + "".join(f"<div>{part}</div>" for part in parts) + "</div>"


def _curve(rounds: Sequence[Round]) -> str:
    costs = [float(one.expected_cost or 0.0) for one in rounds]
    sizes = [one.n_labelled for one in rounds]
    low, high = min(costs), max(costs)
    width, height = _WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN

    def x(size: int) -> float:
        return _MARGIN + width * (size - sizes[0]) / max(1, sizes[-1] - sizes[0])

    def y(cost: float) -> float:
        return _MARGIN + height * (high - cost) / (high - low or 1.0)

    points = " ".join(f"{x(size):.1f},{y(cost):.1f}" for size, cost in zip(sizes, costs, strict=True))
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="expected cost by answers">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def _table(rows: Sequence[Sequence[object]]) -> str:
    lines = []
    for row, kind, labels, who in rows:
        assert isinstance(labels, list)
        said = {"labels": ", ".join(labels) or "none of the labels", "skip": "skipped", "undo": "taken back"}
        cells = (str(row), said[str(kind)], str(who))
        lines.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return f"<table><tr><th>row</th><th>answer</th><th>who</th></tr>{''.join(lines)}</table>"
