"""DATA and MODEL, as a user names them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import typer
from sklearn.pipeline import Pipeline

from refpair import TableVectorizer, load
from refpair._progress import run_chunks
from refpair.bits.problem import chunks_of
from refpair.datasets import read_data
from refpair.tables import Table, TableOptions
from refpair.tables._cells import strings_of
from refpair.tables._names import unknown_name
from refpair.tables.columns import Kind
from refpair.tables.label_names import names_matrix, split_rows
from refpair.tables.labels import LabelFormat, label_columns, labelled_rows

__all__ = ["Model", "labelled_part", "read_labelled", "split_names", "table_options", "true_labels"]

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
    if label_sep == "":
        raise ValueError("--label-sep: give what stands between names, such as ;")
    names = split_names(labels)
    return TableOptions(
        None if names is None else tuple(names), label_sep, tuple(drop or ()), tuple(pairs), sep, encoding
    )


def read_labelled(data: str, options: TableOptions) -> Table:
    """Read a table with labels; rows without any are left out, and a line says how many."""
    table = read_data(data, options.labels, **options.reading)
    if table.Y is None:
        raise ValueError(f"{table.name}: which columns are the labels? For example --labels joy,anger")
    return labelled_part(table, label_columns(table.Y, options.label_sep))


def labelled_part(table: Table, Y: pd.DataFrame) -> Table:
    """Return the rows of a table that have labels; a line says how many have none.

    Rows are named by their numbers in the file, from 1 on, for the sake of error messages.
    """
    try:
        kept, sentence = labelled_rows(Y)
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    if sentence:
        typer.echo(f"{table.name}: {sentence}", err=True)
    index = pd.Index(np.flatnonzero(kept) + 1)
    return Table(table.name, table.X[kept].set_axis(index), Y[kept].set_axis(index), table.folder)


def true_labels(form: LabelFormat, table: Table) -> tuple[list[str], npt.NDArray[np.uint8]]:
    """Return the labels of a table as 0 and 1: those of a model first, then others that the table names."""
    assert table.Y is not None
    labels = [str(name) for name in form.classes]
    if form.kind != "names" or list(table.Y.columns) != [form.name]:
        return labels, np.asarray(form.read_more(table.Y, f"{table.name}: the label columns"))
    found, _ = split_rows(table.Y.iloc[:, 0].tolist(), form.separator)
    named = [[str(one) for one in row] for row in found]
    names = [*labels, *sorted({one for row in named for one in row}.difference(labels))]
    return names, names_matrix(named, names, table.Y.index, table.name)[0]


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

    def read_with_labels(self, data: str, options: TableOptions) -> Table:
        """Read a table with the labels of the model, as they were in the training table or by columns."""
        assert self.form is not None
        table = read_data(data, **options.reading)
        frame = table.X if table.Y is None else pd.concat([table.X, table.Y], axis=1)
        name = self.form.name
        if self.form.kind == "names" and name in frame.columns:
            if pd.api.types.is_float_dtype(frame[name]) and data != "-":  # 1,2 may be two names, not 1.2
                frame = read_data(data, [str(name)], **options.reading).Y  # type: ignore[assignment]
            is_number = pd.api.types.is_numeric_dtype(frame[name])
            Y = pd.DataFrame({name: strings_of(frame[name])}) if is_number else frame[[name]]
        elif set(self.labels) <= set(frame.columns):
            Y = frame[self.labels]
        else:
            wanted = name if self.form.kind == "names" else ", ".join(self.labels)
            raise ValueError(
                f"{table.name}: it has not all labels of the model to compare with, which are in {wanted}"
            )
        return labelled_part(table, Y)
