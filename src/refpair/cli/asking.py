"""``refpair predict --ask``: answers, and questions to a person where these are worth their price."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refpair._extras import pd
from refpair.cli.data import TableModel, beside, price_of
from refpair.cli.prices import check_label
from refpair.costs import Cost
from refpair.tables import Table
from refpair.tables._cells import dense
from refpair.tables.labels import with_gaps
from refpair.tables.write import check_table_path

_COLUMNS = ("price", "gain", "ask", "guess")  # of a table of questions


def check_asking(
    ask: list[str] | None, questions: Path | None, output: Path | None, *, known: bool, for_spreadsheets: bool
) -> None:
    """Refuse options of questions that do not go together, before anything is read."""
    if not ask:
        if questions is not None or known:
            given = "--known" if questions is None else "--questions"
            raise ValueError(f"{given} goes with --ask, the price of a question, as in --ask 0.2")
        return
    if questions is None:
        raise ValueError("--ask needs a file for the rows to ask a person about, as in --questions ask.csv")
    check_table_path(questions, for_spreadsheets=for_spreadsheets)
    if output is not None and output.resolve() == questions.resolve():
        raise ValueError(f"{output}: --questions and --output need a file each")


def question_prices(given: list[str], fitted: TableModel, table: Table) -> Any:
    """Return the price of a question about a row, of that about each row, or of those about labels."""
    parts = [part.strip() for part in ",".join(given).split(",")]
    pairs = [part.rpartition("=") for part in parts]
    if not any(equals for _, equals, _ in pairs):
        if len(parts) > 1:
            raise ValueError(f"--ask: {', '.join(parts)} are several prices of a row; give one")
        return price_of("--ask", parts[0], parts[0], fitted.labels, table)
    names = dict(zip(fitted.labels, fitted.form.label_names, strict=True))
    prices: dict[Any, float] = {}
    for part, (label, equals, number) in zip(parts, pairs, strict=True):
        if not equals:
            raise ValueError(f"--ask: {part!r} is a price of rows among prices of labels; give either")
        check_label("--ask", label.strip(), number.strip(), fitted.labels, None)
        prices[names[label.strip()]] = price_of("--ask", part, number.strip(), fitted.labels, None)
    return prices


def known_labels(fitted: TableModel, table: Table) -> Any:
    """Return the labels that a table tells in columns of their names: 0, 1, and NaN where nothing is told."""
    frame = table.X if table.Y is None else pd.concat([table.X, table.Y], axis=1)
    if not set(fitted.labels) & set(frame.columns):
        raise ValueError(
            f"{table.name}: --known needs columns of labels, and there are none of {', '.join(fitted.labels)}"
        )
    cells = frame.reindex(columns=fitted.labels).set_axis(fitted.form.label_names, axis=1)
    return with_gaps(fitted.form.read_more(cells, f"{table.name}: the known labels", may_miss=True))


@dataclass(frozen=True, eq=False)
class Asking:
    """What a model answers of a table, and what it asks a person.

    `asks` has a column ``ask`` of all rows: yes or no, or the labels to ask about; `rows` are those to ask
    about, in order.
    """

    fitted: TableModel
    table: Table
    found: Any
    prices: Any
    labels: Any
    asks: pd.Series
    rows: Any

    @classmethod
    def of(
        cls, fitted: TableModel, table: Table, ask: list[str], cost: Cost | None, *, known: bool
    ) -> Asking:
        """Ask the model."""
        if not hasattr(fitted.classifier, "predict_or_ask"):
            kind = type(fitted.classifier).__name__
            raise ValueError(f"{fitted.name}: --ask needs expected costs, which a {kind} does not know")
        prices = question_prices(ask, fitted, table)
        told = known_labels(fitted, table) if known else None
        found = fitted.classifier.predict_or_ask(fitted.features(table), prices, cost=cost, known=told)
        questions = found.questions
        if isinstance(prices, dict):
            joined = questions.groupby("row")["label"].agg(
                lambda some: fitted.form.separator.join(map(str, some))
            )
            asks = joined.reindex(range(len(table.X)), fill_value="")
        else:
            asks = pd.Series(np.where(found.asked, "yes", "no"))
        labels = np.asarray(dense(fitted.form.read_more(found.answers)))
        return cls(fitted, table, found, prices, labels, asks, questions["row"].drop_duplicates().to_numpy())

    def questions(self, *, known: bool) -> pd.DataFrame:
        """Return the rows to ask about as a table, in order: their cells, and what there is to ask.

        Known labels may come from such a table, which then has columns of questions from before.
        """
        cells = self.table.X
        if known and set(_COLUMNS) <= set(cells.columns):
            cells = cells.drop(columns=list(_COLUMNS))
        first = self.found.questions.drop_duplicates("row").reset_index(drop=True)
        columns = first[["price", "gain"]].round({"gain": 6})
        if isinstance(self.prices, dict):
            columns["ask"] = self.asks[self.rows].to_numpy()
        names = np.array(self.fitted.labels, object)
        columns["guess"] = [
            self.fitted.form.separator.join(names[np.flatnonzero(self.labels[row])]) for row in self.rows
        ]
        return beside(cells.iloc[self.rows], columns)

    def told(self, path: Path, written: pd.DataFrame, id_column: str | None) -> str:
        """Say how much is asked, what that is expected to cost, and how to go on with the written table."""
        found, n, n_rows = self.found, len(self.table.X), len(self.rows)
        alone = f"answers alone {found.expected_costs.sum():,.2f}"
        if isinstance(self.prices, dict):
            told = f"{len(found.questions):,} labels of {n_rows:,} of {n:,} rows are asked about; {path}"
            what = f"answers and about {found.expected_questions:,.1f} questions"
        else:
            told = f"{n_rows:,} of {n:,} rows are asked about; {path}"
            what = f"answers and {n_rows:,} questions"
            alone += f", {n:,} questions {np.broadcast_to(self.prices, n).sum():,.2f}"
        lines = [told, f"{what} are expected to cost {found.expected_total:,.2f} in all; {alone}"]
        if n_rows:
            drop = ",".join(written.columns[-4 if isinstance(self.prices, dict) else -3 :])
            asked = self.prices if isinstance(self.prices, dict) else self.fitted.labels
            labels = shlex.quote(",".join(map(str, asked)))
            again = f"{shlex.quote(str(path))} --labels {labels} --drop {drop} --in-order"
            if id_column is not None:
                again += f" --id {shlex.quote(id_column)}"
            lines.append(f"to ask a person: refpair label {again}")
        return "\n".join(lines)
