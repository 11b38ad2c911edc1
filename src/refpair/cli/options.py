"""The options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        help="A .csv, .tsv, .jsonl, .parquet, .xlsx, .arff or .svm file, - for standard input, or the name "
        "of a data set (see refpair datasets).",
        metavar="DATA",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        help="The label columns, as in joy,anger; or one column of joined names, as in tags.",
        show_default=False,
    ),
]
LabelSep = Annotated[
    str | None,
    typer.Option(help="The separator of joined names.", metavar="SEP", show_default="detected: | ; or ,"),
]
FalsePositive = Annotated[
    list[str] | None,
    typer.Option(
        help="Instead of --cost, the price of a false label: a number for all labels, label=number "
        "for one; in fit, predict and evaluate also a column of DATA. Can be repeated.",
        metavar="PRICE",
    ),
]
FalseNegative = Annotated[
    list[str] | None,
    typer.Option(
        help="The price of a missed label, likewise; as in fraud=50 or fraud=amount.", metavar="PRICE"
    ),
]
RuleTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        help="What answers must keep: at most 3, at least 1, exactly 1 of a,b, one of a,b (at most one), "
        "or child -> parent. Can be repeated.",
        metavar="RULE",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(help="The columns to leave out, as in id,date. Can be repeated.", metavar="COLUMNS"),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help="The kind of a column, as in size=number: number, boolean, date, category, string, text, image "
        "or ignored. Can be repeated.",
        metavar="COLUMN=KIND",
        show_default="detected",
    ),
]
Sep = Annotated[
    str | None,
    typer.Option(help="The separator of CSV cells.", show_default="detected: , ; tab or |"),
]
Encoding = Annotated[
    str | None, typer.Option(help="The encoding of text, such as latin-1.", show_default="utf-8")
]
ForSpreadsheets = Annotated[
    bool,
    typer.Option(
        "--for-spreadsheets",
        help="In CSV and TSV, put a ' before cells that a spreadsheet would take for formulas. It changes "
        "the data.",
    ),
]
