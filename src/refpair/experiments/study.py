"""A study: experiments on data sets under costs, with results in one folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from refpair._extras import pd
from refpair.costs import get_cost
from refpair.experiments.algorithms import ALGORITHMS, find_algorithm
from refpair.experiments.data import Source, find_sources
from refpair.experiments.names import find_cost, name_cost
from refpair.experiments.report.comparison import compare_section
from refpair.experiments.report.pages import write_report
from refpair.experiments.report.sections import About, Section, describe_missing, describe_runs
from refpair.experiments.report.studies import code_length_section, relevant_set_section, simulate_section
from refpair.experiments.runner import run_tasks
from refpair.experiments.settings import QUICK, Settings
from refpair.experiments.simulation import STRATEGIES, find_classifier, find_strategy
from refpair.experiments.store import Failure, Key, Store
from refpair.experiments.tasks import EXTENDED, Experiment, Task, fingerprint, source_digest
from refpair.tables import TableOptions

PAPER_COSTS = ("f1", "jaccard", "hamming", "rank")


@dataclass(frozen=True)
class Part:
    """One experiment of a study.

    Attributes
    ----------
    experiment : {"compare", "code-length", "relevant-set", "simulate"}
        Compare algorithms; CSRPE with codes of several lengths; CSRPE with the label vectors of the test half
        added to those that it can predict; compare query strategies.
    splits : int
        Number of random half splits.
    competitor_splits : int, optional
        Number of splits for algorithms other than CSRPE, if fewer.
    algorithms : tuple of str, optional
        By default all, or both forms of CSRPE if the experiment is about CSRPE. For "simulate", strategies.
    first_split : int
        The number of the first split, which is the random state that halves are drawn with.
    """

    experiment: Experiment
    splits: int = 20
    competitor_splits: int | None = None
    algorithms: tuple[str, ...] | None = None
    first_split: int = 0

    def names(self) -> tuple[str, ...]:
        """Return the names of the algorithms."""
        if self.algorithms is not None:
            return tuple(dict.fromkeys(self.algorithms))
        known: dict[Experiment, Iterable[str]] = {"compare": ALGORITHMS, "simulate": STRATEGIES}
        return tuple(known.get(self.experiment, EXTENDED))


class Study:
    """Experiments with results in a folder.

    Each result is stored at once; a study that was stopped or extended only runs what is missing. Results of
    other versions of this package count as missing. Several processes may run the same study in the same
    folder.

    Parameters
    ----------
    folder : path
    parts : sequence of Part
    data : sequence of str
        Names of data sets, files, and folders of data sets.
    costs : sequence of str, default=("f1", "jaccard", "hamming", "rank")
        Names of costs; "module:name" is one of your own.
    table : TableOptions, optional
        How files are read: their label columns, the kinds of columns, and so on.
    settings : Settings, optional
        Those of the paper by default.
    any_sources : bool, default=False
        Whether results of other versions of this package are shown where there are no others; the report says
        so. A run computes them again.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from refpair.experiments import QUICK, Part, Study
    >>> part = Part("compare", splits=2, algorithms=("BR", "CC"))
    >>> if __name__ == "__main__":  # workers are processes, which import this file
    ...     with TemporaryDirectory() as folder:
    ...         study = Study(folder, [part], ["digits"], costs=["f1"], settings=QUICK)
    ...         failures = study.run(jobs=1)
    ...         print(study.results("compare").groupby("algorithm")["score"].mean().round(2))
    """

    def __init__(
        self,
        folder: str | Path,
        parts: Sequence[Part],
        data: Sequence[str],
        costs: Sequence[str] = PAPER_COSTS,
        *,
        table: TableOptions | None = None,
        settings: Settings | None = None,
        any_sources: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self.store_path = self.folder / "store.sqlite"
        self.failures_path = self.folder / "failures.txt"  # the tracebacks of the last run, if any
        self.parts = tuple(parts)
        self.settings = Settings() if settings is None else settings
        self.any_sources = any_sources
        costs = list(dict.fromkeys(map(name_cost, costs)))
        self.costs = costs
        sources = find_sources(data, table or TableOptions(), costs)
        if len({part.experiment for part in self.parts}) < len(self.parts):
            raise ValueError("parts must be different experiments: give one of them all its algorithms")
        for part in self.parts:
            _check_unknown(part, sources, self.settings)
        self.tasks: dict[Experiment, list[Task]] = {
            part.experiment: plan_tasks(part, sources, costs, self.settings) for part in parts
        }

    def run(self, *, jobs: int = 1, verbose: int = 0) -> list[Failure]:
        """Run what is missing, and return what failed.

        Parameters
        ----------
        jobs : int, default=1
            Processes; −1 is one for each processor.
        verbose : int, default=0
            1 shows a progress bar with the time left, or a line a minute if there is no terminal.
        """
        tasks = [task for group in self.tasks.values() for task in group]
        failures = run_tasks(self.store_path, tasks, jobs=jobs, verbose=verbose)
        if failures:
            texts = (f"{failure.task}\n{failure.traceback}" for failure in failures)
            self.failures_path.write_text("\n".join(texts), encoding="utf-8")
        else:
            self.failures_path.unlink(missing_ok=True)
        return failures

    def results(self, experiment: Experiment) -> pd.DataFrame:
        """Return the stored results: a row for each data set, cost, algorithm, length and split."""
        with Store(self.store_path) as store:
            found = store.results(self._keys(experiment), any_sources=self.any_sources)
        return _name_size(found, experiment)

    def planned(self, experiment: Experiment) -> pd.DataFrame:
        """Return the planned results, in the same columns."""
        keys = pd.DataFrame(self._keys(experiment), columns=list(Key._fields))
        return _name_size(keys, experiment)

    def _keys(self, *experiments: Experiment) -> list[Key]:
        return [key for name in experiments for task in self.tasks[name] for key in task.result_keys()]

    def count(self) -> tuple[int, int]:
        """Return the number of stored and of planned results."""
        wanted = self._keys(*self.tasks)
        if not self.store_path.exists():  # to count must not create it
            return 0, len(wanted)
        with Store(self.store_path) as store:
            return len(store.results(wanted, any_sources=self.any_sources)), len(wanted)

    def sections(self) -> list[Section]:
        """Return tables and figures of the results of each experiment."""
        return [_SECTIONS[name](self.results(name)) for name in self.tasks]

    def report(
        self, command: str, failures: Sequence[Failure] = (), sections: Sequence[Section] | None = None
    ) -> Path:
        """Write a report of all stored results, and return the path of its page.

        It is ``report.html``, the same as ``report.md``, a ``.csv`` and a ``.tex`` file for each table, and
        the figures, which need matplotlib.

        Parameters
        ----------
        command : str
            The command that the report names.
        failures : sequence of Failure, default=()
            Failures to report.
        sections : sequence of Section, optional
            Those of the method `sections`, if already computed.
        """
        results = {name: self.results(name) for name in self.tasks}
        everything = pd.concat(results.values())
        with Store(self.store_path) as store:
            machines = store.machines(set(everything["run"]))
        made_by = sorted(everything["sources"].unique())
        settings = self.settings.describe(self.tasks)
        about = describe_runs(
            everything, command=command, settings=settings, machines=machines, sources=made_by
        )
        warnings = []
        if replace(self.settings, n_bits=QUICK.n_bits) == QUICK:  # with longer codes, too
            warnings.append("Made with quick settings, to see that everything works: the scores say little.")
        if others := [digest for digest in made_by if digest != source_digest()]:
            warnings.append(
                f"Made by other sources of refpair ({', '.join(others)}) than the present ones: a run would "
                "make these results anew."
            )
        warnings += [f"Failed: {text}." for text in summarize_failures(failures)]
        for name, found in results.items():
            warnings += describe_missing(name, self.planned(name), found)
        sections = self.sections() if sections is None else sections
        write_report(self.folder, "Cost-sensitive multi-label learning", sections, About(about, warnings))
        return self.folder / "report.html"


def plan_tasks(part: Part, sources: Sequence[Source], costs: Sequence[str], settings: Settings) -> list[Task]:
    """Return the tasks of an experiment, split by split: what is done first is a small table."""
    fits_once = {name: _fits_once(part.experiment, name) for name in part.names()}
    if part.experiment == "simulate":
        find_classifier(settings.simulation.classifier)  # an unknown name is an error
    fewer = part.splits if part.competitor_splits is None else part.competitor_splits
    tasks = []
    for number in range(part.splits):
        split = part.first_split + number
        for source in sources:
            for algorithm in part.names():
                if number >= (part.splits if algorithm in EXTENDED else fewer):
                    continue
                for group in _together(costs) if fits_once[algorithm] else [(name,) for name in costs]:
                    known = source.digest, part.experiment, algorithm
                    marks = tuple(fingerprint(*known, cost, settings) for cost in group)
                    what = part.experiment, source, group, algorithm, split, settings, marks
                    tasks.append(Task(*what, source_digest()))
    return tasks


def _together(costs: Sequence[str]) -> list[tuple[str, ...]]:
    """Return groups of costs that one fitted model answers for; thresholds for a measure are found in fit."""
    of_vectors = tuple(name for name in costs if find_cost(name).compares_vectors)
    groups = [of_vectors, *((name,) for name in costs if name not in of_vectors)]
    return [group for group in groups if group]


def _fits_once(experiment: Experiment, name: str) -> bool:
    """Return whether one fitted model answers for all costs; an unknown name is an error."""
    if experiment == "simulate":  # the parameters of the classifier are chosen by cost
        find_strategy(name)
        return False
    return find_algorithm(name).one_fit


def summarize_failures(failures: Sequence[Failure]) -> list[str]:
    """Say what failed, once for each algorithm, data set and error."""
    splits: dict[tuple[str, str, str], set[int]] = {}
    for failure in failures:
        splits.setdefault((failure.algorithm, failure.data, failure.error), set()).add(failure.split)
    return [
        f"{algorithm} on {data}, {len(which)} {'split' if len(which) == 1 else 'splits'}: {error}"
        for (algorithm, data, error), which in splits.items()
    ]


def _name_size(results: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    return results.rename(columns={"size": "n_labeled" if experiment == "simulate" else "n_bits"})


_SECTIONS: dict[Experiment, Callable[[pd.DataFrame], Section]] = {
    "compare": compare_section,
    "code-length": code_length_section,
    "relevant-set": relevant_set_section,
    "simulate": simulate_section,
}


def _check_unknown(part: Part, sources: Sequence[Source], settings: Settings) -> None:
    """Refuse experiments on labels that are not all known, and algorithms that cannot learn from them."""
    for source in sources:
        if not source.n_unknown:
            continue
        told = f"{source.name}: {source.n_unknown:,} labels are not known (empty cells)"
        if part.experiment != "compare":
            raise ValueError(f"{told}, which only the experiment compare can do with; fill them in")
        can = [
            name
            for name, algorithm in ALGORITHMS.items()
            if algorithm.make(get_cost("f1"), settings, 2)._takes_unknown_labels
        ]
        refused = [name for name in part.names() if name in ALGORITHMS and name not in can]
        if refused:
            raise ValueError(
                f"{told}, and {', '.join(refused)} cannot learn from such rows; compare {', '.join(can)}, "
                "or fill them in"
            )
