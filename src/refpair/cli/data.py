"""DATA and MODEL, as a user names them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import typer
from sklearn.pipeline import Pipeline

from refpair import TableVectorizer, load
from refpair._progress import run_chunks
from refpair.bits.problem import chunks_of
from refpair.datasets import read_data
from refpair.tables import Table
from refpair.tables._names import unknown_name
from refpair.tables.columns import Kind
from refpair.tables.labels import LabelFormat, label_columns, labelled_rows
from refpair.tables.options import TableOptions

__all__ = ["Model", "read_labelled", "split_names", "table_options"]

_ROWS_A_CALL = 2000


def split_names(listed: str | None) -> list[str] | None:
    """Split a list such as ``joy,anger``.

    >>> split_names("joy, anger")
    ['joy', 'anger']
    """
    return None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]


def table_options(
    labels: str | None = None,
    label_sep: str | None = None,
    drop: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    sep: str | None = None,
    encoding: str | None = None,
) -> TableOptions:
    """Return the options of a command line.

    >>> table_options("joy,anger", kinds=["size=number"]).kinds
    (('size', 'number'),)
    """
    pairs = []
    for given in kinds or ():
        name, equals, kind = given.rpartition("=")
        if not equals:
            raise ValueError(f"--kind: {given!r} is not column=kind, as in size=number")
        pairs.append((name.strip(), cast(Kind, kind.strip())))
    names = split_names(labels)
    return TableOptions(
        None if names is None else tuple(names), label_sep, tuple(drop or ()), tuple(pairs), sep, encoding
    )


def read_labelled(data: str, options: TableOptions) -> Table:
    """Read a table with labels; rows without any are left out, and a line says how many."""
    table = read_data(data, options.labels, **options.reading)
    if table.Y is None:
        raise ValueError(f"{table.name}: which columns are the labels? For example --labels joy,anger")
    kept, sentence = labelled_rows(table.Y)
    if sentence:
        typer.echo(f"{table.name}: {sentence}", err=True)
    Y = label_columns(table.Y[kept].reset_index(drop=True), options.label_sep)
    return Table(table.name, table.X[kept].reset_index(drop=True), Y, table.folder)


class Model:
    """A fitted model from a file, and what it needs of tables.

    Parameters
    ----------
    path : Path
        A file that ``refpair fit``, ``refpair label`` or :func:`refpair.save` wrote.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.fitted = load(path)
        self.classifier = self.fitted[-1] if isinstance(self.fitted, Pipeline) else self.fitted
        self.form: LabelFormat | None = getattr(self.classifier, "_label_format", None)
        if self.form is None or self.form.kind == "classes":
            raise ValueError(f"{path}: the model predicts one class a row, not labels; use it in Python")
        self.labels = [str(name) for name in self.form.classes]

    def ask(self, method: str, table: Table, *more: Any) -> list[Any]:
        """Return what a method of the model says of a table, by parts of some rows.

        Parameters
        ----------
        method : str
            Such as "predict_proba".
        table : Table
        *more
            Further arguments of the method.
        """
        X = self._rows(table)

        def say(part: slice) -> Any:
            rows = X.iloc[part] if isinstance(X, pd.DataFrame) else X[part]
            if isinstance(self.fitted, Pipeline):
                rows = self.fitted[:-1].transform(rows)
            return getattr(self.classifier, method)(rows, *more)

        if not hasattr(self.classifier, method):
            raise ValueError(f"{self.name}: a {type(self.classifier).__name__} has no {method}")
        parts = chunks_of(len(table.X), _ROWS_A_CALL)
        visible = int(sys.stderr.isatty())
        return run_chunks(say, parts, n_jobs=None, verbose=visible, title=method.replace("_", " "))

    def predict(self, table: Table) -> Any:
        """Return the predicted labels, 0 and 1."""
        assert self.form is not None
        return np.concatenate([self.form.read_more(part) for part in self._dense(self.ask("predict", table))])

    @staticmethod
    def _dense(parts: list[Any]) -> list[Any]:
        return [part.toarray() if hasattr(part, "toarray") else part for part in parts]

    def _rows(self, table: Table) -> Any:
        """Return the rows as the model wants them."""
        if isinstance(self.fitted, Pipeline) and isinstance(self.fitted[0], TableVectorizer):
            self.fitted[0].set_params(folder=table.folder)
            return table.X
        names = getattr(self.fitted, "feature_names_in_", None)
        if names is None:
            return table.X.to_numpy(np.float64)
        absent = [name for name in names if name not in table.X.columns]
        if absent:
            told = unknown_name("column", absent[0], list(table.X.columns)).partition("; ")[2]
            raise ValueError(f"{table.name}: it lacks the column {absent[0]!r} that the model needs; {told}")
        return table.X[list(names)]

    def truth(self, table: Table) -> pd.DataFrame | None:
        """Return the label columns of a table, or None if it lacks some."""
        assert self.form is not None
        frame = table.X if table.Y is None else pd.concat([table.X, table.Y], axis=1)
        if self.form.kind == "names" and self.form.name in frame.columns:
            return label_columns(frame[[self.form.name]], self.form.separator)
        return frame[self.labels] if set(self.labels) <= set(frame.columns) else None
