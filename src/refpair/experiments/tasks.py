"""Tasks: what is learnt from one half of a data set at a time, and done again after a crash as a whole."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Literal

import numpy as np
import scipy.sparse as sp

from refpair.datasets import MultiLabelData
from refpair.experiments.algorithms import NEAREST, POSTERIOR
from refpair.experiments.data import read_numeric
from refpair.experiments.names import code_digest, is_own
from refpair.experiments.settings import Settings
from refpair.experiments.store import Key
from refpair.tables import TableOptions

__all__ = ["EXTENDED", "Experiment", "Source", "Task", "digest_table", "fingerprint"]

Experiment = Literal["compare", "code-length", "relevant-set", "simulate"]

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
    options : TableOptions
        How a file is read.
    """

    name: str
    data: str
    options: TableOptions = field(default_factory=TableOptions)

    def read(self) -> MultiLabelData:
        """Read the data set."""
        return read_numeric(self.data, self.options)


@dataclass(frozen=True)
class Task:
    """A part of an experiment.

    Attributes
    ----------
    experiment : {"compare", "code-length", "relevant-set", "simulate"}
    source : Source
    costs : tuple of str
        More than one only if one fitted model answers for all.
    algorithm : str
        Or the strategy, in a simulation.
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
            Key(self.experiment, self.source.name, name, algorithm, size, self.split, mark)
            for name, mark in zip(self.costs, self.fingerprints, strict=True)
            if cost is None or name == cost
            for algorithm, size in self._variants()
        ]

    def _variants(self) -> list[tuple[str, int]]:
        if self.experiment == "code-length":
            return [(self.algorithm, length) for length in self.settings.lengths]
        if self.experiment == "simulate":
            return [(self.algorithm, n_labelled) for n_labelled in self.settings.simulation.sizes()]
        n_bits = self.settings.n_bits if self.algorithm in EXTENDED else 0
        if self.experiment == "relevant-set":
            return [(self.algorithm, n_bits), (EXTENDED[self.algorithm], n_bits)]
        return [(self.algorithm, n_bits)]


def fingerprint(
    data_digest: str, experiment: Experiment, algorithm: str, cost: str, settings: Settings
) -> str:
    """Return a digest of all that a result depends on besides its names.

    That is the data, the settings that take part, the version of this package, and the user's own code.

    Examples
    --------
    >>> names = "compare", "BR", "f1"
    >>> fingerprint("ab12", *names, Settings()) == fingerprint("ab12", *names, Settings(n_bits=9))
    True
    >>> fingerprint("ab12", *names, Settings()) == fingerprint("ab12", *names, Settings(n_trees=9))
    False
    """
    own_code = [code_digest(name) for name in (algorithm, cost)]
    known = [version("refpair"), data_digest, _used_by(experiment, algorithm, settings), own_code]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:12]


def _used_by(experiment: Experiment, algorithm: str, settings: Settings) -> dict[str, object]:
    """Return the settings that an algorithm sees."""
    used: dict[str, object] = {"max_rows": settings.max_rows}
    if experiment == "simulate":
        return used | asdict(settings.simulation)
    if is_own(algorithm):
        return used
    used["search"] = settings.search
    if algorithm not in EXTENDED:
        return used | {
            "n_trees": settings.n_trees,
            "n_rounds": settings.n_rounds if algorithm == "CFT" else 0,
        }
    if experiment == "code-length":
        return used | {"lengths": settings.lengths}
    return used | {"n_bits": settings.n_bits}


def digest_table(table: MultiLabelData) -> str:
    """Return a digest of features and labels."""
    digest = hashlib.sha256()
    X = table.X
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    for part in (*parts, table.Y):
        digest.update(str((part.shape, part.dtype)).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
