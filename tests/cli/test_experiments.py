"""``refpair compare``, ``code-length``, ``relevant-set`` and ``paper``."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pandas as pd
import pytest

from refpair.experiments import Part
from refpair.experiments.store import Store
from tests.cli.running import refpair_, refuses, works

SONGS = ("--data", "songs.csv", "--labels", "joy,anger,calm", "--drop", "id")


@pytest.mark.slow
def test_compare_writes_store_tables_figures_and_report(folder):
    said = works(
        "compare", *SONGS, "--cost", "f1", "--algorithm", "BR", "--algorithm", "CSRPE-nearest", "--splits", 2,
        "--quick", "--out", "there", "--jobs", 1,
    )  # fmt: skip
    assert re.match(r"Comparison of algorithms\n +splits +cells +best .*\nalgorithm *\nBR +2 +1 ", said)
    assert said.endswith("\n\n4 of 4 results; there/report.html\n")
    written = {path.name for path in (folder / "there").iterdir()}
    assert {"store.sqlite", "report.html", "report.md", "comparison-f1.csv", "comparison-f1.tex"} <= written
    table = pd.read_csv(folder / "there" / "comparison-f1.csv")
    assert set(table["algorithm"]) == {"BR", "CSRPE-nearest"}
    assert table["data"].unique().tolist() == ["songs"]
    page = (folder / "there" / "report.html").read_text()
    assert "refpair " in page
    assert "Made with quick settings" in page
    again = works(
        "compare", *SONGS, "--cost", "f1", "--algorithm", "BR", "--algorithm", "CSRPE-nearest", "--splits", 2,
        "--quick", "--out", "there", "--report-only",
    )  # fmt: skip
    assert again == said


@pytest.mark.slow
def test_results_of_other_sources_are_shown_but_not_taken(folder):
    how = (*SONGS, "--cost", "f1", "--algorithm", "BR", "--splits", 1, "--quick", "--out", "x", "--jobs", 1)
    works("compare", *how)
    with closing(sqlite3.connect(folder / "x" / "store.sqlite", isolation_level=None)) as store:
        store.execute("UPDATE results SET sources = 'older'")
    works("compare", *how, "--report-only")
    assert "Made by other sources of refpair (older)" in (folder / "x" / "report.md").read_text()
    again = refpair_("compare", *how)
    assert again.stderr == "1 results are of another version of refpair, and are computed again\n"
    assert "Made by other sources" not in (folder / "x" / "report.md").read_text()
    assert "made by other" not in refpair_("compare", *how).stderr


def test_simulate_writes_curves_and_says_who_is_best(folder):
    said = works(
        "simulate", *SONGS, "--cost", "f1", "--strategies", "random,MMC", "--strategies", "representative",
        "--runs", 2, "--start", 8, "--queries", 6, "--batch", 2, "--bits", 20, "--out", "there", "--jobs", 1,
    )  # fmt: skip
    assert re.match(
        r"Active learning\n +panels +best +better than random .*\nstrategy *\nrepresentative +1 ", said
    )
    assert said.endswith("\n\n18 of 18 results; there/report.html\n")
    assert set(pd.read_csv(folder / "there" / "areas-f1.csv")["algorithm"]) == {
        "random",
        "MMC",
        "representative",
    }
    assert "6 rows asked for, 2 at a time, after 8" in (folder / "there" / "report.html").read_text()
    assert "unknown strategy 'MCC'" in refuses("simulate", *SONGS, "--strategies", "MCC")


def test_a_cost_and_an_algorithm_of_ones_own(folder):
    (folder / "my_module.py").write_text(
        "from refpair import BinaryRelevance, Cost, Forest\n"
        "price = Cost.per_label(false_positive=3, name='price')\n"
        "def half(random_state=None):\n    return BinaryRelevance(Forest(5), random_state=random_state)\n"
    )
    works(
        "compare", *SONGS, "--cost", "my_module:price", "--algorithm", "my_module:half", "--splits", 1,
        "--out", "own", "--jobs", 1,
    )  # fmt: skip
    (table,) = (folder / "own").glob("comparison-*.csv")
    assert pd.read_csv(table)["algorithm"].tolist() == ["my_module:half"]


@pytest.mark.slow
def test_the_other_experiments(folder):
    how = (*SONGS, "--cost", "hamming", "--quick", "--splits", 1, "--jobs", 2)
    assert works("code-length", *how, "--out", "a").endswith("\n10 of 10 results; a/report.html\n")
    assert "Length of codes" in (folder / "a" / "report.md").read_text()
    assert works("relevant-set", *how, "--out", "b").endswith("\n4 of 4 results; b/report.html\n")
    assert "Relevant set" in (folder / "b" / "report.md").read_text()


def test_failures_are_told_at_the_end(folder):
    (folder / "broken.py").write_text("def model():\n    raise RuntimeError('out of paint\\nand brushes')\n")
    result = refpair_(
        "compare", *SONGS, "--cost", "f1", "--algorithm", "broken:model", "--algorithm", "BR", "--splits", 2,
        "--quick", "--out", "x", "--jobs", 1,
    )  # fmt: skip
    assert result.exit_code == 1
    told = "broken:model on songs, 2 splits: RuntimeError: out of paint"
    assert result.stderr == f"failed: {told}\ntracebacks: x/failures.txt\n"
    assert (folder / "x" / "failures.txt").read_text().count("out of paint\nand brushes\n") == 2
    assert result.stdout.endswith("\n2 of 4 results; x/report.html\n")
    assert f"Failed: {told}" in (folder / "x" / "report.md").read_text()


def test_a_model_that_must_be_given_its_seed(folder):
    (folder / "seeded.py").write_text(
        "from refpair import BinaryRelevance, Forest\n"
        "def model(random_state):\n    return BinaryRelevance(Forest(random_state + 1))\n"
    )
    how = ("--cost", "f1", "--algorithm", "seeded:model", "--splits", 1, "--jobs", 1)
    assert works("compare", *SONGS, *how).endswith("\n1 of 1 results; refpair-compare/report.html\n")


@pytest.fixture
def start_slow_run(folder):
    """Start a run of many slow tasks, in a group of processes of its own as in a terminal."""
    (folder / "slow.py").write_text(
        "import time\nfrom refpair import BinaryRelevance\n"
        "class Model(BinaryRelevance):\n    def fit(self, X, y):\n        time.sleep(0.5)\n"
        "        return super().fit(X, y)\n"
    )
    command = [
        sys.executable, "-c", "from refpair.cli import main; main()", "compare", *SONGS, "--cost", "f1",
        "--algorithm", "slow:Model", "--splits", "50", "--quick", "--out", "x", "--jobs", "2",
    ]  # fmt: skip
    return lambda: subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def _wait_until(condition, process):
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(folder, start_slow_run):
    with start_slow_run() as process:
        _wait_until(lambda: (folder / "x" / "store.sqlite").exists() and _n_results(folder / "x"), process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        said = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert re.fullmatch(r"\d+ of 50 results are stored; the same command continues\ninterrupted\n", said)
    assert 0 < _n_results(folder / "x") < 50
    assert list((folder / "x").glob(".worker-*")) == []


def test_ctrl_c_while_workers_start_shows_no_tracebacks(folder, start_slow_run):
    with start_slow_run() as process:
        _wait_until((folder / "x" / "store.sqlite").exists, process)
        time.sleep(0.6)  # workers are there, and import
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert said == "0 of 50 results are stored; the same command continues\ninterrupted\n"


def test_results_of_stratified_halves_are_their_own(folder):
    how = (*SONGS, "--cost", "f1", "--algorithm", "BR", "--splits", 1, "--quick", "--jobs", 1)
    assert "1 of 1 results" in works("compare", *how, "--stratified")
    assert "has no results" in refuses("compare", *how, "--report-only")
    assert "1 of 1 results" in works("compare", *how, "--stratified", "--report-only")


def test_a_report_of_nothing_is_refused_and_nothing_is_made(folder):
    how = (*SONGS, "--cost", "f1", "--algorithm", "BR", "--splits", 1, "--out", "x", "--report-only")
    told = "x has no results of these data, costs, algorithms and settings; were they made with --quick"
    assert told in refuses("compare", *how)
    assert not (folder / "x").exists()
    works("compare", *how[:-1], "--quick", "--jobs", 1)
    (folder / "x" / "report.html").unlink()
    assert told in refuses("compare", *how)
    assert not (folder / "x" / "report.html").exists()


def _n_results(folder):
    with Store(folder / "store.sqlite") as store:
        return len(store.keys())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--data", "nothing"), "nothing: there is no such file"),
        (("--data", "nothing.csv"), "nothing.csv: there is no such file"),
        (("--data", "."), "the folder has no data sets"),
        (("--cost", "f"), "unknown cost 'f'"),
        (("--algorithm", "CFD"), "unknown algorithm 'CFD'; did you mean 'CFT'"),
        (("--cost", "nowhere:cost"), "there is no module nowhere"),
        (("--data", "digits", "--labels", "a"), "have their own labels"),
        (("--algorithm", "unfinished:model"), "'(' was never closed (unfinished.py, line 1)"),
        (("--jobs", "0"), "jobs must be -1"),
        (("--out", "taken"), "taken/store.sqlite: unable to open database file"),
        (("--out", "other"), "other/store.sqlite is no store of refpair; choose another --out"),
    ],
)
def test_mistakes_are_told_in_a_sentence(folder, options, message):
    (folder / "unfinished.py").write_text("def model(")
    (folder / "taken" / "store.sqlite").mkdir(parents=True)
    (folder / "other").mkdir()
    with closing(sqlite3.connect(folder / "other" / "store.sqlite")) as other:
        other.execute("PRAGMA user_version = 3")
    assert message in refuses("compare", *options)


@pytest.mark.parametrize(
    ("given", "parts", "n_data"),
    [
        (["paper"], [Part("compare", 20, 5), Part("code-length", 3), Part("relevant-set", 3)], 10),
        (
            ["paper", "--splits", 2, "--algorithm", "BR"],
            [Part("compare", 2, 2, ("BR",)), Part("code-length", 2), Part("relevant-set", 2)],
            10,
        ),
        (["compare", "--quick"], [Part("compare", 2)], 1),
        (["code-length", "--splits", 7], [Part("code-length", 7)], 1),
        (["simulate", "--strategies", "random,MMC"], [Part("simulate", 10, None, ("random", "MMC"))], 1),
    ],
)
def test_the_parts_of_each_command(given, parts, n_data, monkeypatch):
    def study(folder, parts, data, costs, **how):
        raise ValueError(f"{len(data)} {parts}")

    monkeypatch.setattr("refpair.experiments.Study", study)
    assert f"{n_data} {parts}" in refuses(*given)


BITS = "3000; for CSRPE-posterior auto; with --quick 500"


@pytest.mark.parametrize(
    ("command", "defaults"),
    [
        ("compare", ["digits", "f1, hamming", "5, with --quick 2", BITS]),
        ("code-length", ["digits", "f1, hamming", "5, with --quick 2"]),
        ("relevant-set", ["digits", "f1, hamming", "5, with --quick 2", BITS]),
        ("paper", ["the paper's ten", "f1, jaccard, hamming, rank", "20, with --quick 2;", BITS]),
    ],
)
def test_the_help_tells_the_defaults_of_each_command(command, defaults):
    said = re.sub(r"[\s│]+", " ", works(command, "--help"))
    for default in [*defaults, f"refpair-{command}"]:
        assert f"[default: ({default}" in said
