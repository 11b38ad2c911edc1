"""From what a user asks for to tasks: everything is looked up and read once before anything is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from refpair.costs import Cost
from refpair.datasets import MultiLabelData, list_datasets
from refpair.datasets.find import find_data, is_file
from refpair.experiments.algorithms import find_algorithm
from refpair.experiments.names import find_cost, is_own
from refpair.experiments.settings import Settings
from refpair.experiments.strategies import find_strategy
from refpair.experiments.tasks import EXTENDED, Experiment, Source, Task, digest_table, fingerprint
from refpair.tables import TableOptions

__all__ = ["Subject", "find_subjects", "plan_tasks"]


@dataclass(frozen=True)
class Subject:
    """A data set, with a digest of what is in it."""

    source: Source
    digest: str


def find_subjects(
    data: Sequence[str],
    options: TableOptions = TableOptions(),  # noqa: B008  (it cannot be changed)
    costs: Sequence[str] = (),
) -> list[Subject]:
    """Return the data sets that words stand for; each is read, so that a mistake shows now.

    Parameters
    ----------
    data : sequence of str
        Files, folders of data sets, and names of data sets.
    options : TableOptions
        How files are read; data sets by name have their own labels.
    costs : sequence of str, default=()
        Those of the user's own are tried on the first labels of each data set.

    Examples
    --------
    >>> [subject.source.name for subject in find_subjects(["digits"])]
    ['digits']
    """
    words = [word for given in data for word in find_data(given)]
    if (options.labels is not None or options.drop) and not any(map(is_file, words)):
        raise ValueError(
            "data sets by name have their own labels and features; leave out --labels and --drop"
        )
    subjects: dict[str, Subject] = {}
    for word in words:
        if word == "-":
            raise ValueError("standard input can be read only once; experiments need a file")
        source = Source(Path(word).stem, word)
        if is_file(word):
            source = replace(source, options=options)
        table = source.read()
        if _is_another(table, source.name):  # results on it do not belong beside the paper's
            source = replace(source, name=Path(word).name)
        known = subjects.get(source.name)
        if known is not None and known.source != source:
            raise ValueError(f"{known.source.data} and {word} would both be called {source.name}; rename one")
        if table.X.shape[0] < 4:
            raise ValueError(f"{word}: {table.X.shape[0]} rows are too few to be split into halves")
        for name in filter(is_own, costs):
            _try_cost(name, table)
        subjects[source.name] = Subject(source, digest_table(table))
    return list(subjects.values())


def _try_cost(name: str, table: MultiLabelData) -> None:
    """Ask for the cost of some label vectors: one that fails should do so now, not after hours."""
    labels = table.Y[:5]
    try:
        find_cost(name).rows(labels, labels[::-1])
    except Exception as error:  # the user's own code may do anything
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"the cost {name} fails on labels of {table.name} ({why})") from error


def _is_another(table: MultiLabelData, name: str) -> bool:
    """Whether a table has the name of a data set of the paper, but is not of its size."""
    sizes = {info.name: (info.n_instances, info.n_features, info.n_labels) for info in list_datasets()}
    return name in sizes and (*table.X.shape, len(table.label_names)) != sizes[name]


def plan_tasks(
    experiment: Experiment,
    subjects: Sequence[Subject],
    costs: Sequence[str],
    algorithms: Sequence[str],
    splits: int,
    settings: Settings,
    *,
    competitor_splits: int | None = None,
) -> list[Task]:
    """Return the tasks of an experiment, split by split: what is done first is a small table, not a corner.

    Examples
    --------
    >>> subjects = find_subjects(["digits"])
    >>> for task in plan_tasks("compare", subjects, ["f1", "rank"], ["BR", "CFT"], 1, Settings()):
    ...     print(task)
    compare: BR on digits for f1, rank, split 0
    compare: CFT on digits for f1, split 0
    compare: CFT on digits for rank, split 0
    """
    found: dict[str, Cost] = {name: find_cost(name) for name in costs}
    fits_once = {name: _fits_once(experiment, name) for name in algorithms}
    tasks = []
    for split in range(splits):
        for subject in subjects:
            for algorithm in algorithms:
                if split >= _n_splits(algorithm, splits, competitor_splits):
                    continue
                together = [tuple(found)] if fits_once[algorithm] else [(name,) for name in found]
                for group in together:
                    marks = tuple(
                        fingerprint(subject.digest, experiment, algorithm, cost, settings) for cost in group
                    )
                    tasks.append(Task(experiment, subject.source, group, algorithm, split, settings, marks))
    return tasks


def _fits_once(experiment: Experiment, name: str) -> bool:
    """Return whether one fitted model answers for all costs; an unknown name is an error."""
    if experiment == "simulate":  # the parameters of the classifier are chosen by cost
        find_strategy(name)
        return False
    return find_algorithm(name).one_fit


def _n_splits(algorithm: str, splits: int, competitor_splits: int | None) -> int:
    return splits if competitor_splits is None or algorithm in EXTENDED else competitor_splits
