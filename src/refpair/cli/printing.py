"""Sentences and tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from refpair._extras import pd

_MOST_COLUMNS = 30  # that are listed one by one


class Output(Console):
    """Standard output, or standard error."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False)

    def on_broken_pipe(self) -> None:
        """Leave a closed pipe to the command line, which has a way of its own to end."""
        raise  # noqa: PLE0704 - it is called where the error was caught


def new_table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    """Return an empty table; numbers stand at the right of their columns."""
    table = Table()
    for name in columns:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    return table


def tell_columns(console: Console, columns: pd.DataFrame) -> None:
    """Print what became of each column; of very many, how many of each kind."""
    told = columns.reset_index(names="column")
    if len(told) > _MOST_COLUMNS:
        groups = told.groupby(["kind", "why"], sort=False, as_index=False)
        sizes = groups.size()["size"]
        told = groups.agg({"column": "first", "missing": "sum", "features": "sum"})
        told["column"] = [f"{name} and {n - 1:,} more" for name, n in zip(told["column"], sizes, strict=True)]
    table = new_table("column", "kind", "why", "missing", "features", numbers=("missing", "features"))
    for row in told.to_dict("records"):
        missing = f"{row['missing']:,}" if row["missing"] else ""
        table.add_row(escape(row["column"]), row["kind"], escape(row["why"]), missing, f"{row['features']:,}")
    console.print(table)


def per_label_table(names: Sequence[str], truth: Any, predicted: Any) -> Table:
    """Return a table of precision, recall and F1 of each label."""
    from refpair.tables.labels import UNKNOWN

    columns = ("precision", "recall", "F1", "rows with it", "predicted")
    labels = new_table("label", *columns, numbers=columns)
    is_there, is_said = truth == 1, (predicted == 1) & (truth != UNKNOWN)
    right, there, said = (cells.sum(axis=0) for cells in (is_there & is_said, is_there, is_said))
    for name, n_right, n_there, n_said in zip(names, right, there, said, strict=True):
        shares = ((n_right, n_said), (n_right, n_there), (2 * n_right, n_there + n_said))
        cells = [f"{part / whole:.3f}" if whole else "–" for part, whole in shares]
        labels.add_row(escape(name), *cells, f"{n_there:,}", f"{n_said:,}")
    return labels
