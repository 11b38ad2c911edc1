"""The rows of a session: what they are called, what is in them, and what models see of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array

from refpair.labeling.features_file import read_features
from refpair.labeling.ids import Id, id_key, id_of_key, make_ids
from refpair.labeling.labels import LabelForm
from refpair.labeling.settings import Settings
from refpair.tables._names import unknown_name
from refpair.tables.columns import Kind, find_kinds

__all__ = ["Rows", "read_rows"]


class Rows:
    """The rows of a session.

    Parameters
    ----------
    ids : sequence of str or int, or None
        None if it is not known which rows there are: any id may be one, then.
    table : DataFrame, optional
        The cells, with those of labels; None for arrays.
    without : sequence of str
        The columns of labels.
    folder : Path, optional
        Where images are.
    id_column : str, optional
        What a column with the ids is called in files; None if they are among the cells, or follow from them.

    Attributes
    ----------
    ids : list of str or int
    keys : list of str
        The ids as they are stored.
    places : dict of str to int
        Where each row is.
    cells : DataFrame or None
        Those that are no labels.
    kinds : dict of str to str
        What kind each column is, as it is shown.

    Examples
    --------
    >>> rows = Rows(["Hey", 7])
    >>> rows.keys_of([7]), rows.places
    (['7'], {'"Hey"': 0, '7': 1})
    >>> list(rows.ranked([1]))
    ['7', '"Hey"']
    """

    def __init__(
        self,
        ids: Sequence[Id] | None,
        table: pd.DataFrame | None = None,
        without: Sequence[str] = (),
        folder: Path | None = None,
        id_column: str | None = "id",
    ) -> None:
        self.are_known = ids is not None
        self.ids = list(ids or [])
        self.keys = [id_key(one) for one in self.ids]
        self.places = {key: place for place, key in enumerate(self.keys)}
        self.folder = folder
        self.cells: pd.DataFrame | None = None
        self.kinds: dict[str, Kind] = {}
        self._table = table
        self._id_column = id_column
        if table is not None:
            self.cells = table.drop(columns=[name for name in without if name in table.columns])
            self.kinds = {name: kind for name, (kind, _) in find_kinds(self.cells, None, folder).items()}

    def keys_of(self, ids: Iterable[Id]) -> list[str]:
        """Return ids as they are stored, and refuse those of no row."""
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            raise ValueError(f"ids must be a list of ids: [{ids!r}]")
        keys = [id_key(one) for one in ids]
        for key in keys:
            if key not in self:
                raise ValueError(f"there is no row with the id {id_of_key(key)!r}")
        return keys

    def __contains__(self, key: str) -> bool:
        return not self.are_known or key in self.places

    def ranked(self, order: Iterable[int]) -> Iterator[str]:
        """Yield the keys of the rows at these places, then those of all others."""
        first = list(order)
        yield from (self.keys[place] for place in first)
        ranked = set(first)
        yield from (key for place, key in enumerate(self.keys) if place not in ranked)

    def with_labels(self, answers: pd.DataFrame, form: LabelForm) -> pd.DataFrame:
        """Return the cells of answered rows and their labels, in the form in which the table has them.

        Parameters
        ----------
        answers : DataFrame
            0 and 1 for each label, by id; rows that are not in the table are left out.
        form : LabelForm
        """
        keys = [id_key(one) for one in answers.index]
        known = [place for place, key in enumerate(keys) if key in self]
        labels = form.write(answers.iloc[known]).reset_index(drop=True)
        ids = [answers.index[place] for place in known]
        if self._table is None:
            return pd.concat([pd.Series(ids, name="id", dtype=object).infer_objects(), labels], axis=1)
        found = self._table.iloc[[self.places[keys[place]] for place in known]].reset_index(drop=True)
        if self._id_column is not None and self._id_column not in found.columns:
            found.insert(0, self._id_column, pd.Series(ids, dtype=object).infer_objects())
        for name in labels.columns:
            found[name] = labels[name]
        return found


def read_rows(
    X: Any,
    labels: Sequence[str],
    settings: Settings,
    *,
    path: Path,
    ids: Iterable[Hashable] | None,
    id_column: str | None,
    features: Any,
) -> tuple[Rows, Any, dict[str, Kind] | None, Settings]:
    """Read the rows of a session.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or None
    labels : sequence of str
        All of the session's.
    settings : Settings
    path : Path
        Of the session.
    ids, id_column
        As :meth:`Session.open` takes them.
    features : array, sparse matrix, path or None

    Returns
    -------
    rows : Rows
    seen : DataFrame, array or None
        What models are to see of them.
    kinds : dict of str to str, or None
        What columns of that are, where that is not guessed; None if features are taken as they are.
    settings : Settings
        With the rule of the ids.
    """
    if X is None:
        if ids is not None or id_column is not None or features is not None:
            raise ValueError("ids are those of the rows of X: give X, too")
        return Rows(None), None, None, settings
    if not isinstance(X, pd.DataFrame):
        X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    without = settings.labels.columns(labels)
    found, rule = make_ids(X, ids=ids, id_column=id_column, without=without, remembered=settings.ids)
    settings = replace(settings, ids=rule)
    if features is None and settings.features is not None:
        features = path.parent / settings.features
    if isinstance(X, pd.DataFrame):
        folder = None if settings.folder is None else path.parent / settings.folder
        named = {"given": "id", "index": str(X.index.name or "id")}.get(rule.source)
        rows = Rows(found, X, without, folder, named)
        assert rows.cells is not None
        X, kinds = rows.cells, _kinds(rows.cells, settings)
    else:
        rows, kinds = Rows(found), None
    if features is not None:
        return rows, read_features(features, len(found)), {}, settings
    return rows, X, kinds, settings


def _kinds(cells: pd.DataFrame, settings: Settings) -> dict[str, Kind]:
    """Return what columns are, where that is not to be guessed."""
    kinds: dict[str, Kind] = dict(settings.kinds)
    for name in (*settings.drop, *settings.kinds):
        if name not in cells.columns:
            raise ValueError(unknown_name("column", name, cells.columns))
    kinds.update(dict.fromkeys(settings.drop, "ignored"))
    if settings.ids is not None and settings.ids.column is not None:
        kinds[settings.ids.column] = "ignored"
    return kinds
