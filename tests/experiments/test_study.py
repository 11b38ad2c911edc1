"""Studies with models that take no time: what is planned, stored, resumed, and told."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from refpair import get_cost
from refpair.experiments import QUICK, Part, Study
from refpair.experiments.runner import seconds_left
from refpair.experiments.settings import half_split
from refpair.experiments.store import Key, Store
from tests.experiments import own

OWN = "tests.experiments.own:"
CONSTANT, SLOW, AWARE, FAILING = f"{OWN}Constant", f"{OWN}Slow", f"{OWN}Aware", f"{OWN}Failing"


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


def make_study(folder, table, *algorithms, splits=2, costs=("f1", "hamming"), **more):
    part = Part("compare", splits, algorithms=algorithms or (CONSTANT,), **more)
    return Study(folder, [part], [str(table)], costs, labels=["joy", "anger"], settings=QUICK)


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
        assert row.score == get_cost(row.cost).score(Y[test], predicted)
    assert study.count() == (8, 8)


def test_a_second_run_only_adds_what_is_missing(tmp_path, table):
    make_study(tmp_path, table, CONSTANT).run()
    with Store(tmp_path / "store.sqlite") as store:
        before = store.times()
    larger = make_study(tmp_path, table, CONSTANT, AWARE, splits=3)
    assert larger.count() == (4, 12)
    larger.run()
    assert larger.count() == (12, 12)
    with Store(tmp_path / "store.sqlite") as store:
        after = store.times()
    assert len(after) == len(before) + 1 + 2 * 3  # a split more, and the other algorithm, once a cost
    assert after[after.task.isin(before.task)].seconds.tolist() == before.seconds.tolist()


def test_other_settings_or_other_data_are_other_results(tmp_path, table):
    make_study(tmp_path, table).run()
    changed = tmp_path / "songs.csv"
    changed.write_text(table.read_text().replace("joy,anger\n", "joy,anger\n9,9,9,1,1\n", 1))
    assert make_study(tmp_path, changed).count() == (0, 4)
    assert make_study(tmp_path, table).count() == (4, 4)
    part = Part("compare", 2, algorithms=(CONSTANT,))
    assert Study(tmp_path, [part], [str(table)], ["f1"], labels=["joy", "anger"]).count() == (0, 2)


def test_a_failure_is_told_and_the_rest_goes_on(tmp_path, table):
    study = make_study(tmp_path, table, FAILING, CONSTANT)
    failures = study.run(jobs=2)
    assert len(failures) == 2
    assert all("RuntimeError: no idea with seed" in failure.reason for failure in failures)
    assert set(study.results("compare").algorithm) == {CONSTANT}
    assert len(study.run()) == 2  # tried again


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
        Study(tmp_path, [part], [str(table), str(twin)], labels=["joy", "anger"])
    (tmp_path / "three.csv").write_text("a,joy\n1,0\n2,1\n3,0\n")
    with pytest.raises(ValueError, match="3 rows are too few"):
        Study(tmp_path, [part], [str(tmp_path / "three.csv")], labels=["joy"])
    assert not (tmp_path / "store.sqlite").exists()


def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_table(tmp_path, table):
    undisturbed = make_study(tmp_path / "calm", table, SLOW, AWARE, splits=8)
    undisturbed.run(jobs=2)
    code = (
        "from tests.experiments.test_study import *\n"
        f"make_study({str(tmp_path / 'wild')!r}, {str(table)!r}, SLOW, AWARE, splits=8).run(jobs=2)"
    )
    disturbed = make_study(tmp_path / "wild", table, SLOW, AWARE, splits=8)
    seen = []
    rng = random.Random(0)
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", code])
        _wait_for_more_results(disturbed, process, rng.randint(1, 4))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        seen.append(disturbed.count()[0])
    assert 0 < seen[0] < seen[-1] < disturbed.count()[1]
    disturbed.run(jobs=2)
    columns = [*Key._fields, "score", "chosen"]
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


def test_time_left_goes_by_tasks_alike(tmp_path, table):
    tasks = make_study(tmp_path, table, CONSTANT, SLOW, splits=1).tasks["compare"]
    times = pd.DataFrame({"data": "songs", "algorithm": [CONSTANT, CONSTANT], "seconds": [1.0, 3.0]})
    assert seconds_left(times, tasks) == 2.0 + 2.0  # the other is taken for as long
    more = pd.DataFrame({"data": ["songs"], "algorithm": [SLOW], "seconds": [10.0]})
    assert seconds_left(pd.concat([times, more]), tasks) == 2.0 + 10.0
    assert np.isnan(seconds_left(times[:0], tasks))
