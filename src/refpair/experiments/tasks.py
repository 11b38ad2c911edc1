"""Tasks: what is learned from one half of a data set at a time, and done again after a crash as a whole."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from refpair.experiments.algorithms import NEAREST, POSTERIOR
from refpair.experiments.data import Source
from refpair.experiments.names import code_digest, is_own
from refpair.experiments.settings import Settings
from refpair.experiments.store import Key

Experiment = Literal["compare", "code-length", "relevant-set", "simulate"]

EXTENDED = {NEAREST: "CSRPE-ext-nearest", POSTERIOR: "CSRPE-ext-posterior"}


@dataclass(frozen=True)
class Task:
    """A part of an experiment."""

    experiment: Experiment
    source: Source
    costs: tuple[str, ...]  # several only if one fitted model answers for all
    algorithm: str  # or the strategy, in a simulation
    split: int
    settings: Settings
    fingerprints: tuple[str, ...]  # for each cost, see `fingerprint`
    sources: str = ""  # that the study was planned with, whatever a worker finds on the disk later

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
            Key(self.experiment, self.source.name, name, algorithm, size, self.split, mark, self.sources)
            for name, mark in zip(self.costs, self.fingerprints, strict=True)
            if cost is None or name == cost
            for algorithm, size in self._variants()
        ]

    def _variants(self) -> list[tuple[str, int]]:
        if self.experiment == "code-length":
            return [(self.algorithm, length) for length in self.settings.lengths]
        if self.experiment == "simulate":
            return [(self.algorithm, n_labeled) for n_labeled in self.settings.simulation.sizes()]
        n_bits = self.settings.most_bits if self.algorithm in EXTENDED else 0
        if self.experiment == "relevant-set":
            return [(self.algorithm, n_bits), (EXTENDED[self.algorithm], n_bits)]
        return [(self.algorithm, n_bits)]


def fingerprint(
    data_digest: str, experiment: Experiment, algorithm: str, cost: str, settings: Settings
) -> str:
    """Return a digest of the data, the settings and the user's own code that a result depends on."""
    classifier = settings.simulation.classifier if experiment == "simulate" else ""
    own_code = [code_digest(name) for name in (algorithm, cost, classifier)]
    known = [data_digest, _used_by(experiment, algorithm, settings), own_code]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:12]


@cache
def source_digest() -> str:
    """Return a digest of this package's Python files: it marks results of other versions."""
    root = Path(str(files("refpair")))
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _used_by(experiment: Experiment, algorithm: str, settings: Settings) -> dict[str, object]:
    """Return the settings that an algorithm sees."""
    used: dict[str, object] = {"max_rows": settings.max_rows}
    if settings.stratified:
        used["stratified"] = True
    if experiment == "simulate":
        return used | asdict(settings.simulation)
    if is_own(algorithm):
        return used
    used["search"] = settings.search
    if algorithm not in EXTENDED:
        n_rounds = settings.n_rounds if algorithm == "CFT" else 0
        return used | {"n_trees": settings.n_trees, "n_rounds": n_rounds}
    if experiment == "code-length":
        return used | {"lengths": settings.lengths}
    return used | {"n_bits": settings.n_bits if algorithm == POSTERIOR else settings.most_bits}
