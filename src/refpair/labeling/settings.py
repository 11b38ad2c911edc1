"""How a session reads its table: what its file remembers, so that the table comes again as it came first."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from refpair.labeling.ids import IdRule
from refpair.labeling.labels import LabelForm
from refpair.labeling.store import AnswerStore

__all__ = ["Settings"]

_NAME = "table"  # what it is noted under


@dataclass(frozen=True)
class Settings:
    """How a session reads its table.

    Attributes
    ----------
    ids : IdRule or None
        Where ids of rows come from; None if that is not settled.
    labels : LabelForm
    drop : tuple of str
        Columns that are shown, but not learnt from.
    kinds : dict of str to str
        What columns are, where that is not guessed.
    folder, features : str or None
        Where paths of images start, and the file with features, both as seen from the folder of the session.
    """

    ids: IdRule | None = None
    labels: LabelForm = field(default_factory=LabelForm)
    drop: tuple[str, ...] = ()
    kinds: dict[str, Any] = field(default_factory=dict)
    folder: str | None = None
    features: str | None = None

    @classmethod
    def read(cls, store: AnswerStore | None) -> Settings:
        """Return what is noted in a file, or the defaults."""
        noted = None if store is None else store.about(_NAME)
        if noted is None:
            return cls()
        ids = None if noted["ids"] is None else IdRule(*noted["ids"])
        return cls(
            **{**noted, "ids": ids, "labels": LabelForm(*noted["labels"]), "drop": tuple(noted["drop"])}
        )

    def note(self, store: AnswerStore) -> None:
        """Note it in the file of a session."""
        store.note(_NAME, asdict(self) | {"ids": self.ids, "labels": self.labels})

    def changed(
        self,
        path: Path,
        *,
        drop: Sequence[str],
        kinds: Mapping[str, Any] | None,
        folder: str | os.PathLike[str] | None,
        features: Any,
    ) -> Settings:
        """Return it with what is given anew; what is not given stays as it is."""
        changes: dict[str, Any] = {}
        if drop:
            changes["drop"] = tuple(drop)
        if kinds is not None:
            changes["kinds"] = dict(kinds)
        if folder is not None:
            changes["folder"] = os.path.relpath(folder, path.parent)
        if isinstance(features, str | os.PathLike):
            changes["features"] = os.path.relpath(features, path.parent)
        return replace(self, **changes)
