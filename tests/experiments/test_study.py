"""Studies with models that take no time: what is planned, stored, resumed, and told."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refpair import get_cost
from refpair.datasets import load_dataset
from refpair.experiments import QUICK, Part, Study, runner, tasks
from refpair.experiments import study as study_module
from refpair.experiments.algorithms import Algorithm, find_algorithm
from refpair.experiments.protocols import make_model
from refpair.experiments.settings import half_split
from refpair.experiments.store import Failure, Key, Store
from refpair.experiments.study import summarize_failures
from refpair.experiments.tasks import source_digest
from refpair.tables import TableOptions
from tests.experiments import own

JOY = TableOptions(("joy",))
BOTH = TableOptions(("joy", "anger"))

OWN = "tests.experiments.own:"
CONSTANT, SLOW, AWARE, FAILING = f"{OWN}Constant", f"{OWN}Slow", f"{OWN}Aware", f"{OWN}Failing"
HERE = "tests.experiments.test_study:"


class Quitting(own.Constant):
    def fit(self, X, Y):
        raise SystemExit(3)


class Vanishing(own.Constant):
    def fit(self, X, Y):
        os._exit(3)


class KilledOnce(own.Constant):
    def fit(self, X, Y):
        if not Path("killed").exists():
            Path("killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, Y)


class Plain:
    """Has nothing of scikit-learn's."""

    def __init__(self, seed):
        self.seed = seed


def make_plain(random_state):
    return Plain(random_state)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)).round(2)
    Y = (X[:, :2] + rng.normal(size=(40, 2)) > 0).astype(int)
    frame = pd.DataFrame(np.hstack([X, Y]), columns=["a", "b", "c", "joy", "anger"])
    frame[["joy", "anger"]] = frame[["joy", "anger"]].astype(int)
    path = tmp_path_factory.mktemp("data") / "songs.csv"
    frame.to_csv(path, index=False)
    return path


def make_study(folder, table, *algorithms, splits=2, costs=("f1", "hamming"), settings=QUICK, **more):
    part = Part("compare", splits, algorithms=algorithms or (CONSTANT,), **more)
    return Study(folder, [part], [str(table)], costs, table=BOTH, settings=settings)


@pytest.mark.slow
def test_each_cell_is_what_python_gives(tmp_path, table):
    study = make_study(tmp_path, table, CONSTANT, "CC")
    assert study.run() == []
    results = study.results("compare")
    assert len(results) == 2 * 2 * 2
    frame = pd.read_csv(table)
    X, Y = frame[["a", "b", "c"]].to_numpy(), frame[["joy", "anger"]].to_numpy()
    for row in results[results.algorithm == CONSTANT].itertuples():
        train, test = half_split(len(Y), row.split)
        predicted = own.Constant(random_state=row.split).fit(X[train], Y[train]).predict(X[test])
        assert row.score == get_cost(row.cost).mean(Y[test], predicted)
    assert study.count() == (8, 8)


@pytest.mark.slow
def test_a_second_run_only_adds_what_is_missing(tmp_path, table):
    first = make_study(tmp_path, table, CONSTANT)
    first.run()
    before = first.results("compare")
    larger = make_study(tmp_path, table, CONSTANT, AWARE, splits=3)
    assert larger.count() == (4, 12)
    larger.run()
    assert larger.count() == (12, 12)
    pd.testing.assert_frame_equal(first.results("compare"), before)
    after = larger.results("compare")
    assert (after["run"] == 2).sum() == 8  # a split more, and the other algorithm


@pytest.mark.slow
def test_other_settings_or_other_data_are_other_results(tmp_path, table):
    make_study(tmp_path, table).run()
    changed = tmp_path / "songs.csv"
    changed.write_text(table.read_text().replace("joy,anger\n", "joy,anger\n9,9,9,1,1\n", 1))
    assert make_study(tmp_path, changed).count() == (0, 4)
    assert make_study(tmp_path, table).count() == (4, 4)
    part = Part("compare", 2, algorithms=(CONSTANT,))
    assert Study(tmp_path, [part], [str(table)], ["f1"], table=BOTH).count() == (
        0,
        2,
    )


def test_results_of_other_sources_are_run_anew(tmp_path, table, monkeypatch):
    make_study(tmp_path, table).run()
    monkeypatch.setattr(study_module, "source_digest", lambda: "changed")
    changed = make_study(tmp_path, table)
    assert changed.count() == (0, 4)
    changed.any_sources = True
    assert changed.count() == (4, 4)
    page = changed.report("refpair").read_text()
    assert f"Made by other sources of refpair ({source_digest()}) than the present ones:" in page
    assert "Made by other sources" not in make_study(tmp_path, table).report("refpair").read_text()


def test_the_digest_of_the_sources_is_that_of_the_files(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("x = 1\n")
    monkeypatch.setattr(tasks, "files", lambda _: tmp_path)
    digest = source_digest.__wrapped__
    first = digest()
    (tmp_path / "notes.txt").write_text("no code")
    assert digest() == first
    (tmp_path / "sub" / "a.py").write_text("x = 2\n")
    assert digest() != first


@pytest.mark.slow
def test_a_failure_is_told_and_the_rest_goes_on(tmp_path, table):
    study = make_study(tmp_path, table, FAILING, CONSTANT)
    failures = study.run(jobs=2)
    assert [failure.error for failure in failures] == [f"RuntimeError: no idea with seed {n}" for n in (0, 1)]
    assert study.failures_path.read_text().count("Traceback (most recent call last)") == 2
    assert set(study.results("compare").algorithm) == {CONSTANT}
    assert len(study.run()) == 2  # tried again
    make_study(tmp_path, table, CONSTANT).run()
    assert not study.failures_path.exists()


def test_failures_alike_are_told_once():
    failures = [
        Failure(f"{cost} {split} [ab12]", "songs", "BR", split, error, "")
        for cost in ("f1", "rank")
        for split, error in ((0, "ValueError: a"), (1, "ValueError: a"), (2, "ValueError: b"))
    ]
    assert summarize_failures(failures) == [
        "BR on songs, 2 splits: ValueError: a",
        "BR on songs, 1 split: ValueError: b",
    ]


def test_a_model_that_exits_has_failed(tmp_path, table):
    (failure,) = make_study(tmp_path, table, f"{HERE}Quitting", splits=1).run()
    assert failure.error == "SystemExit: 3"


def test_a_killed_worker_is_no_error_if_others_finish(tmp_path, table, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    study = make_study(tmp_path / "x", table, f"{HERE}KilledOnce")
    assert study.run(jobs=2) == []
    assert study.count() == (4, 4)
    assert "1 of 2 worker processes: killed (signal 9), for want of memory perhaps" in capfd.readouterr().err
    assert [path.name for path in (tmp_path / "x").iterdir()] == ["store.sqlite"]


def test_a_killed_worker_is_an_error_if_tasks_are_left(tmp_path, table, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ChildProcessError, match=r"killed \(signal 9\).* the same command continues"):
        make_study(tmp_path / "x", table, f"{HERE}KilledOnce").run()
    with pytest.raises(ChildProcessError, match="1 of 1 worker processes: ended with exit code 3; what is"):
        make_study(tmp_path / "y", table, f"{HERE}Vanishing").run()
    assert [path.name for path in (tmp_path / "y").iterdir()] == ["store.sqlite"]


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_number_of_jobs_that_makes_no_sense_is_refused(tmp_path, table, jobs):
    with pytest.raises(ValueError, match="jobs must be -1, one for each processor, or at least 1"):
        make_study(tmp_path, table).run(jobs=jobs)
    assert list(tmp_path.iterdir()) == []


def test_without_a_terminal_lines_tell_how_far_it_is(tmp_path, table, monkeypatch, capsys):
    monkeypatch.setattr(runner, "_TELL_EACH", 0.0)
    make_study(tmp_path, table, SLOW, splits=3).run(verbose=1)
    assert "0 of 3 tasks, ? left\n" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("n_bits", [QUICK.n_bits, 50])
def test_a_quick_report_says_so_whatever_the_bits(tmp_path, table, n_bits):
    study = make_study(tmp_path, table, settings=replace(QUICK, n_bits=n_bits))
    study.run()
    assert "Made with quick settings" in study.report("refpair").read_text()


def test_files_and_named_data_sets_in_one_study(tmp_path, table):
    part = Part("compare", 1, algorithms=(CONSTANT,))
    study = Study(tmp_path, [part], ["digits", str(table)], table=TableOptions(("joy", "anger"), drop=("c",)))
    digits, songs = (task.source for task in study.tasks["compare"])
    assert (digits.name, digits.options.labels, digits.options.drop) == ("digits", None, ())
    assert (songs.name, songs.options.labels, songs.options.drop) == ("songs", ("joy", "anger"), ("c",))
    table = load_dataset("digits")
    labels, twin = [f"l{n}" for n in range(table.Y.shape[1])], tmp_path / "digits.csv"
    columns = [*table.feature_names, *labels]
    pd.DataFrame(np.hstack([table.X, table.Y]).astype(int), columns=columns).to_csv(twin, index=False)
    with pytest.raises(ValueError, match="would both be called digits; rename one"):
        Study(tmp_path, [part], ["digits", str(twin)], table=TableOptions(tuple(labels)))
    with pytest.raises(ValueError, match="leave out --labels and --drop"):
        Study(tmp_path, [part], ["digits"], table=TableOptions(drop=("c",)))


def test_a_cost_has_one_name(tmp_path, table):
    study = Study(
        tmp_path,
        [Part("compare", 1)],
        [str(table)],
        ["jaccard", "f1.0", "accuracy"],
        table=JOY,
    )
    assert study.costs == ["jaccard", "f1"]


def test_models_of_ones_own_get_their_seed():
    cost = get_cost("f1")
    assert make_model(find_algorithm(f"{HERE}make_plain"), cost, QUICK, 3, seed=7).seed == 7
    assert make_model(find_algorithm(CONSTANT), cost, QUICK, 3, seed=7).random_state == 7
    unseeded = Algorithm(lambda cost, settings, n_labels: Plain(None))
    assert make_model(unseeded, cost, QUICK, 3, seed=7).seed is None


def test_fewer_splits_for_competitors(tmp_path, table):
    study = make_study(tmp_path, table, "CSRPE-nearest", "BR", splits=4, competitor_splits=1)
    names = [(task.algorithm, task.split) for task in study.tasks["compare"]]
    assert [split for name, split in names if name == "BR"] == [0]
    assert sorted({split for name, split in names if name == "CSRPE-nearest"}) == [0, 1, 2, 3]


def test_mistakes_are_told_before_anything_runs(tmp_path, table):
    part = Part("compare", 1)
    with pytest.raises(FileNotFoundError, match="no such file"):
        Study(tmp_path, [part], ["missing.csv"])
    with pytest.raises(ValueError, match="unknown cost"):
        Study(tmp_path, [part], ["digits"], ["f"])
    with pytest.raises(ValueError, match="unknown algorithm"):
        Study(tmp_path, [Part("compare", 1, algorithms=("BR", "RB"))], ["digits"])
    twin = tmp_path / "songs.csv"
    twin.write_text(table.read_text())
    with pytest.raises(ValueError, match=r"would both be called songs; rename one"):
        Study(tmp_path, [part], [str(table), str(twin)], table=BOTH)
    (tmp_path / "three.csv").write_text("a,joy\n1,0\n2,1\n3,0\n")
    with pytest.raises(ValueError, match="3 rows are too few"):
        Study(tmp_path, [part], [str(tmp_path / "three.csv")], table=JOY)
    assert not (tmp_path / "store.sqlite").exists()


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_table(tmp_path, table):
    undisturbed = make_study(tmp_path / "calm", table, SLOW, AWARE, splits=10)
    undisturbed.run(jobs=2)
    code = (
        "from tests.experiments.test_study import *\n"
        f"make_study({str(tmp_path / 'wild')!r}, {str(table)!r}, SLOW, AWARE, splits=10).run(jobs=2)"
    )
    disturbed = make_study(tmp_path / "wild", table, SLOW, AWARE, splits=10)
    seen = []
    rng = random.Random(0)
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"SLOW_SECONDS": "1.5"})
        _wait_for_more_results(disturbed, process, rng.randint(1, 4))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        seen.append(disturbed.count()[0])
    assert 0 < seen[0] < seen[-1] < disturbed.count()[1]
    disturbed.run(jobs=2)
    columns = ["n_bits" if name == "size" else name for name in Key._fields] + ["score", "chosen"]
    pd.testing.assert_frame_equal(
        disturbed.results("compare")[columns], undisturbed.results("compare")[columns], check_exact=True
    )
    assert sorted(path.name for path in (tmp_path / "wild").iterdir() if path.name != "store.sqlite") == []


def _wait_for_more_results(study, process, n_more):
    before = study.count()[0]
    deadline = time.monotonic() + 60
    while study.count()[0] < before + n_more:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_two_commands_share_the_work(tmp_path, table):
    code = (
        "from tests.experiments.test_study import *\n"
        f"make_study({str(tmp_path)!r}, {str(table)!r}, SLOW, splits=40).run()"
    )
    both = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    study = make_study(tmp_path, table, SLOW, splits=40)
    assert study.count() == (80, 80)
    with Store(study.store_path) as store:
        runs = pd.Series([row[0] for row in store._connection.execute("SELECT run FROM results")])
    assert set(runs) == {1, 2}  # each did a part
    assert len(runs) == 80
