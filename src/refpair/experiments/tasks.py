"""Tasks: what is learnt from one half of a data set at a time, and done again after a crash as a whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

from refpair.datasets import Table, read_data
from refpair.experiments.algorithms import NEAREST, POSTERIOR
from refpair.experiments.names import code_digest
from refpair.experiments.settings import Settings
from refpair.experiments.store import Key

__all__ = ["EXTENDED", "Experiment", "Source", "Task", "digest_table", "fingerprint"]

Experiment = Literal["compare", "code-length", "relevant-set"]

EXTENDED = {NEAREST: "CSRPE-ext-nearest", POSTERIOR: "CSRPE-ext-posterior"}


@dataclass(frozen=True)
class Source:
    """Where a data set comes from.

    Attributes
    ----------
    name : str
        What tables call it.
    data : str
        A file, or the name of a data set.
    labels : tuple of str or None
        The label columns of a file that does not tell them.
    drop : tuple of str
        Columns that are no features.
    """

    name: str
    data: str
    labels: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()

    def read(self) -> Table:
        """Read the data set."""
        return read_data(self.data, self.labels, self.drop)


@dataclass(frozen=True)
class Task:
    """A part of an experiment.

    Attributes
    ----------
    experiment : {"compare", "code-length", "relevant-set"}
    source : Source
    costs : tuple of str
        More than one only if one fitted model answers for all.
    algorithm : str
    split : int
    settings : Settings
    fingerprints : tuple of str
        Of all that the results depend on besides, one for each cost: see `fingerprint`.
    """

    experiment: Experiment
    source: Source
    costs: tuple[str, ...]
    algorithm: str
    split: int
    settings: Settings
    fingerprints: tuple[str, ...]

    @property
    def name(self) -> str:
        """What the store calls the task."""
        return f"{self} [{' '.join(self.fingerprints)}]"

    def __str__(self) -> str:
        costs = ", ".join(self.costs)
        return f"{self.experiment}: {self.algorithm} on {self.source.name} for {costs}, split {self.split}"

    def result_keys(self, cost: str | None = None) -> list[Key]:
        """Return what the results will be results of, all or those for one of the costs."""
        return [
            Key(self.experiment, self.source.name, name, algorithm, n_bits, self.split, mark)
            for name, mark in zip(self.costs, self.fingerprints, strict=True)
            if cost is None or name == cost
            for algorithm, n_bits in self._variants()
        ]

    def _variants(self) -> list[tuple[str, int]]:
        if self.experiment == "code-length":
            return [(self.algorithm, length) for length in self.settings.lengths]
        n_bits = self.settings.n_bits if self.algorithm in EXTENDED else 0
        if self.experiment == "relevant-set":
            return [(self.algorithm, n_bits), (EXTENDED[self.algorithm], n_bits)]
        return [(self.algorithm, n_bits)]


def fingerprint(data_digest: str, settings: Settings, names: Iterable[str]) -> str:
    """Return a digest of the data, the settings, and the code of those names that are the user's own.

    Examples
    --------
    >>> fingerprint("ab12", Settings(), ["BR", "f1"]) == fingerprint("ab12", Settings(n_bits=9), ["BR", "f1"])
    False
    """
    known = json.dumps([data_digest, asdict(settings), [code_digest(name) for name in names]])
    return hashlib.sha256(known.encode()).hexdigest()[:12]


def digest_table(table: Table) -> str:
    """Return a digest of features and labels."""
    digest = hashlib.sha256()
    X = table.X
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    for part in (*parts, np.asarray(table.Y)):
        digest.update(str((part.shape, part.dtype)).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
