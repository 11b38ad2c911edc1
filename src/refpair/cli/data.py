"""DATA, MODEL and what options mean, as a user names them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import typer
from sklearn.pipeline import Pipeline

from refpair._extras import is_dataframe, pd
from refpair._parallel import chunks_of, run_chunks
from refpair.cli.prices import check_label, price_column
from refpair.cli.rules import parse_rule
from refpair.costs import Cost, Measure, RankedCost, get_cost
from refpair.datasets.load import read_data
from refpair.decision.rule_set import RuleSet
from refpair.tables import Table, TableOptions, TableVectorizer
from refpair.tables._cells import strings_of
from refpair.tables._names import unknown_name
from refpair.tables.columns import Kind
from refpair.tables.label_names import names_matrix, split_rows
from refpair.tables.labels import LabelFormat, label_columns, labeled_rows, with_gaps

_ROWS_A_CALL = 2000


def table_options(
    labels: str | None = None,
    label_sep: str | None = None,
    drop: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    sep: str | None = None,
    encoding: str | None = None,
) -> TableOptions:
    """Return the options of a command line: names are joined by commas, a kind is ``column=kind``."""
    pairs = []
    for given in kinds or ():
        name, equals, kind = given.rpartition("=")
        if not equals:
            raise ValueError(f"--kind: {given!r} is not column=kind, as in size=number")
        pairs.append((name.strip(), cast(Kind, kind.strip())))
    if label_sep == "":
        raise ValueError("--label-sep: give what stands between names, such as ;")
    names = None if labels is None else _names(labels)
    return TableOptions(names, label_sep, _names(",".join(drop or ())), tuple(pairs), sep, encoding)


def _names(joined: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in joined.split(",") if name.strip())


def built_in_cost(name: str) -> Cost:
    """Return the cost of a name; costs of one's own are for Python, and for comparisons."""
    if ":" in name:
        raise ValueError(
            f"--cost {name}: only built-in costs go here, and prices with --false-positive and "
            "--false-negative; for a cost of your own, fit CSRPEClassifier(cost) in Python"
        )
    return get_cost(name)


def cost_of(
    name: str | None,
    false_positive: list[str] | None,
    false_negative: list[str] | None,
    labels: list[str],
    table: Table | None = None,
) -> Cost:
    """Return the cost of a name, or that of the prices of each label, which may be in columns of a table."""
    if not false_positive and not false_negative:
        return built_in_cost(name or "f1")
    if name is not None:
        raise ValueError(
            "--cost goes without --false-positive and --false-negative, which make a cost themselves"
        )
    return Cost.per_label(
        false_positive=_prices("--false-positive", false_positive, labels, table),
        false_negative=_prices("--false-negative", false_negative, labels, table),
    )


def _prices(option: str, given: list[str] | None, labels: list[str], table: Table | None) -> Any:
    """Return the price of each label: its own, else the one for all, else 1; by rows if it is a column."""
    for_all: Any = 1.0
    own: dict[str, Any] = {}
    for part in ",".join(given).split(",") if given else []:
        label, equals, number = (piece.strip() for piece in part.rpartition("="))
        if equals:
            check_label(option, label, number, labels, table)
            own[label] = price_of(option, part, number, labels, table)
        else:
            for_all = price_of(option, part, number, labels, table)
    prices = [own.get(label, for_all) for label in labels]
    return np.column_stack(np.broadcast_arrays(*prices)) if any(np.ndim(one) for one in prices) else prices


def price_of(option: str, part: str, number: str, labels: list[str], table: Table | None) -> Any:
    """Return the price that a part of an option gives: a number, or a column of a table."""
    try:
        price = float(number)
    except ValueError:
        if table is None or not number:
            raise ValueError(f"{option}: {part!r} is neither a number nor label=number") from None
        return price_column(option, number, labels, table)
    if not 0 <= price < float("inf"):
        raise ValueError(f"{option}: a price is a number from 0 up, not {number}")
    return price


def amount(text: str) -> Any:
    """Return a number of things, a share or a word."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def read_labeled(data: str, options: TableOptions) -> Table:
    """Read a table with labels; rows without any are left out, and a line says how many cells are empty."""
    table = read_data(data, options.labels, **options.reading)
    if table.Y is None:
        raise ValueError(f"{table.name}: which columns are the labels? For example --labels joy,anger")
    return labeled_part(table, label_columns(table.Y, options.label_sep))


def labeled_part(table: Table, Y: pd.DataFrame) -> Table:
    """Return the rows of a table that have labels; a line says how many have none, and what is unknown.

    Rows are named by their numbers in the file, from 1 on, for the sake of error messages.
    """
    try:
        kept, sentence = labeled_rows(Y)
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    if sentence:
        typer.echo(f"{table.name}: {sentence}", err=True)
    index = pd.Index(np.flatnonzero(kept) + 1)
    return Table(table.name, table.X[kept].set_axis(index), Y[kept].set_axis(index), table.folder)


def beside(cells: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Return cells of a table with answers behind them, which are renamed where a column has their name."""
    names = {name: f"{name}_predicted" for name in answers.columns if name in set(cells.columns)}
    if twice := [new for new in names.values() if new in {*cells.columns, *answers.columns}]:
        raise ValueError(f"the table has a column {twice[0]!r}, which the answers need: rename that column")
    return pd.concat([cells.reset_index(drop=True), answers.rename(columns=names)], axis=1)


class TableModel:
    """A fitted model, often a pipeline, that is asked about tables."""

    def __init__(self, name: str, fitted: Any) -> None:
        self.name = name
        self.fitted = fitted
        self.classifier = fitted[-1] if isinstance(fitted, Pipeline) else fitted
        form: LabelFormat | None = getattr(self.classifier, "_label_format", None)
        if form is None or form.kind == "classes":
            raise ValueError(f"{name}: the model predicts one class a row, not labels; use it in Python")
        self.form = form
        self.labels = [str(label) for label in form.classes]

    def add_rules(self, texts: Sequence[str]) -> None:
        """Let answers keep further rules, as a command line says them."""
        nearest = getattr(self.classifier, "decoder", "") == "nearest"
        if texts and hasattr(self.classifier, "rules") and not nearest:
            own = getattr(self.classifier, "rules_", None)
            added = [parse_rule(text, self.labels) for text in texts]
            self.classifier.rules_ = RuleSet.resolve([*(own.rules if own else ()), *added], self.labels)
        elif texts:
            raise ValueError(
                f"{self.name}: a {type(self.classifier).__name__} keeps no rules; leave --rule out"
            )

    def read_with_labels(self, data: str, options: TableOptions) -> Table:
        """Read a table with the labels of the model, as they were in the training table or by columns."""
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
            raise ValueError(f"{table.name}: it lacks labels of the model, which are in {wanted}")
        return labeled_part(table, Y)

    def compare(
        self, table: Table, cost: Cost | None = None
    ) -> tuple[list[str], npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Return names of labels, the true ones of a table as 0, 1 and UNKNOWN, and the predicted ones.

        Labels of the model come first, then others that the table names, which are never predicted. With a
        cost, the answers are those for it.
        """
        assert table.Y is not None
        names = self.labels
        if self.form.kind == "names" and list(table.Y.columns) == [self.form.name]:
            found, _ = split_rows(table.Y.iloc[:, 0].tolist(), self.form.separator)
            rows = [[str(one) for one in row] for row in found]
            names = [*names, *sorted({one for row in rows for one in row}.difference(names))]
            truth = names_matrix(rows, names, table.Y.index, table.name)[0]
        else:
            truth = np.asarray(
                self.form.read_more(table.Y, f"{table.name}: the label columns", may_miss=True)
            )
        predicted = np.zeros_like(truth)
        predicted[:, : len(self.labels)] = self._predict(table, cost)
        return names, truth, predicted

    def score(self, table: Table, truth: Any, predicted: Any, cost: Cost) -> float:
        """Return what the answers cost on average; under a cost of lists, they are the best lists for it."""
        if isinstance(cost, RankedCost):
            number = {label: place for place, label in enumerate(self.form.classes.tolist())}
            lists = np.concatenate([part for part, _ in self._ask("predict_top", table, len(number), cost)])
            predicted = np.vectorize(number.__getitem__, otypes=[np.int64])(lists)
        return cost.mean(with_gaps(truth), predicted)

    def predict(
        self,
        table: Table,
        *,
        proba: bool,
        expected_cost: bool,
        sets: int,
        top: int,
        cost: Cost | None = None,
        labels: Any = None,
    ) -> pd.DataFrame:
        """Return the predictions in the form that the labels had, and what else is asked for.

        They are for a cost, or by default for the model's own; or labels that are given, 0 and 1.
        """
        form = replace(self.form, within="list")
        predicted = form.write(self._predict(table, cost) if labels is None else labels, None)
        if form.kind == "names":
            answers = pd.DataFrame({form.name or "labels": predicted})
        else:
            dense = np.asarray(predicted.toarray() if hasattr(predicted, "toarray") else predicted)
            dense = dense.astype(int) if dense.dtype.kind == "f" else dense  # ARFF files have no integers
            answers = pd.DataFrame(dense, columns=self.labels).infer_objects()
        if proba:
            found = np.concatenate(self._ask("predict_proba", table)).round(6)
            columns = [f"{name}_probability" for name in self.labels]
            answers = pd.concat([answers, pd.DataFrame(found, columns=columns)], axis=1)
        if top:
            parts = self._ask("predict_top", table, top, cost if isinstance(cost, RankedCost) else None)
            lists = np.concatenate([own for own, _ in parts])
            chances = np.concatenate([own for _, own in parts]).round(6)
            for place in range(lists.shape[1]):
                answers[f"label_{place + 1}"] = lists[:, place]
                answers[f"label_{place + 1}_probability"] = chances[:, place]
        if expected_cost:
            answers["expected_cost"] = self.expected_cost(table, cost).round(6)
        if sets:
            parts = self._ask("predict_set_proba", table, sets)
            vectors = np.concatenate([own for own, _ in parts])
            chances = np.concatenate([own for _, own in parts]).round(6)
            names = np.array(self.labels, object)
            for k in range(sets):
                answers[f"set_{k + 1}"] = [
                    "|".join(names[np.flatnonzero(row)]) if chance > 0 else None
                    for row, chance in zip(vectors[:, k], chances[:, k], strict=True)
                ]
                answers[f"set_{k + 1}_probability"] = chances[:, k]
        return answers

    def expected_cost(self, table: Table, cost: Cost | None = None) -> npt.NDArray[np.float64]:
        """Return what the answers for a cost, or the model's own, are expected to cost."""
        own = self.classifier.cost_ if cost is None else cost
        if isinstance(own, Measure):
            raise ValueError(f"{own.name} is a measure of a whole table: no row has an expected cost by it")
        return np.concatenate(self._ask("expected_cost", table, cost=cost))

    def features(self, table: Table) -> Any:
        """Return all rows as the classifier wants them."""
        try:
            X = self._rows(table)
            return self.fitted[:-1].transform(X) if isinstance(self.fitted, Pipeline) else X
        except ValueError as error:
            raise ValueError(f"{table.name}: {error}") from None

    def _predict(self, table: Table, cost: Cost | None = None) -> Any:
        """Return the predicted labels, 0 and 1."""
        answers = self._ask("predict" if cost is None else "decide", table, cost=cost)
        parts = [part.toarray() if hasattr(part, "toarray") else part for part in answers]
        return np.concatenate([self.form.read_more(part) for part in parts])

    def _ask(self, method: str, table: Table, *more: Any, cost: Cost | None = None) -> list[Any]:
        """Return what a method of the model says of a table, by parts of some rows."""

        def say(part: slice) -> Any:
            rows = X.iloc[part] if is_dataframe(X) else X[part]
            if isinstance(self.fitted, Pipeline):
                rows = self.fitted[:-1].transform(rows)
            how = {} if cost is None else {"cost": cost.for_rows(part)}
            return getattr(self.classifier, method)(rows, *more, **how)

        if not hasattr(self.classifier, method):
            raise ValueError(f"{self.name}: a {type(self.classifier).__name__} has no {method}")
        parts, visible = chunks_of(len(table.X), _ROWS_A_CALL), int(sys.stderr.isatty())
        try:
            X = self._rows(table)
            return run_chunks(say, parts, n_jobs=None, verbose=visible, title=method.replace("_", " "))
        except ValueError as error:
            raise ValueError(f"{table.name}: {error}") from None

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
            raise ValueError(f"it lacks the column {absent[0]!r} that the model needs; {told}")
        return table.X[list(names)]
