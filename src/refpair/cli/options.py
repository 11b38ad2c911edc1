"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
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
Ask = Annotated[
    list[str] | None,
    typer.Option(
        help="Leave rows to a person where that costs less: the price of a question about a row, a number "
        "or a column of DATA; or label=number, the price of a question about a single label, as in "
        "fraud=1,spam=0.1. In units of the cost. Can be repeated.",
        metavar="PRICE",
    ),
]
Questions = Annotated[
    Path | None,
    typer.Option(
        help="With --ask: the table to write the rows for a person to, in the order to ask them; refpair "
        "label FILE --in-order takes it.",
        metavar="FILE",
        show_default=False,
    ),
]
Known = Annotated[
    bool,
    typer.Option(
        "--known",
        help="With --ask: the labels that are filled in in DATA, in columns of their names, are known.",
    ),
]
Promise = Annotated[
    float | None,
    typer.Option(
        help="Tell how many rows can be answered so that these cost at most so much on average, as in 0.1, "
        "and by which --ask. The recall or precision of labels can be promised in Python: CostGuarantee.",
        metavar="COST",
    ),
]
Confidence = Annotated[
    float | None, typer.Option(help="With --promise: how sure that has to be.", show_default="0.95")
]
