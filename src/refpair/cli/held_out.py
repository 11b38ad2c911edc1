"""Rows of a table that ``refpair fit`` keeps from the model."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair.model_selection import MultilabelStratifiedShuffleSplit
from refpair.tables import Table
from refpair.tables._cells import dense
from refpair.tables.labels import has_unknown, read_labels, with_gaps

_FEWEST = 40  # rows, of which a quarter is kept to promise by


def split_holdout(table: Table, share: float, seed: int) -> tuple[Table, Table]:
    """Return the rows to learn from, and a share of all, stratified by label, to score the model on."""
    n, n_out = len(table.X), round(share * len(table.X))
    if not 0 < n_out < n - 1:
        raise ValueError(
            f"{table.name}: --holdout {share:g} of {n:,} rows leaves nothing to learn or to measure"
        )
    Y, _ = read_labels(table.Y, f"{table.name}: the labels", may_miss=True)
    splits = MultilabelStratifiedShuffleSplit(1, test_size=n_out, random_state=seed)
    rest, out = next(splits.split(None, with_gaps(Y)))
    return _part(table, rest), _part(table, out)


def split_promise(table: Table, seed: int) -> tuple[Table, Table]:
    """Return the rows to learn from, and a quarter of all to promise by: random ones, as new rows are."""
    n, (Y, form) = len(table.X), read_labels(table.Y, f"{table.name}: the labels", may_miss=True)
    if n < _FEWEST:
        raise ValueError(f"{table.name}: --promise needs {_FEWEST} rows at least, and there are {n:,}")
    kept, rest = np.split(np.random.default_rng(seed).permutation(n), [round(n / 4)])
    labels = np.asarray(dense(Y))
    if has_unknown(labels[kept]):
        raise ValueError(
            f"{table.name}: --promise needs rows whose labels are all known; leave it out here, and give "
            "such rows to refpair evaluate --promise"
        )
    absent = np.flatnonzero(~(labels[rest] == 1).any(axis=0))
    if form.kind == "names" and len(absent):
        raise ValueError(
            f"{table.name}: only rows that --promise keeps from the model have the label "
            f"{str(form.classes[absent[0]])!r}: choose another --seed, or leave it out here, and give other "
            "rows to refpair evaluate --promise"
        )
    return _part(table, rest), _part(table, kept)


def _part(table: Table, rows: npt.NDArray[np.intp]) -> Table:
    assert table.Y is not None
    rows = np.sort(rows)
    return Table(table.name, table.X.iloc[rows], table.Y.iloc[rows], table.folder)
