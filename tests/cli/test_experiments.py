"""``refpair compare``, ``code-length``, ``relevant-set`` and ``paper``."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from refpair.cli.experiments import default_data, make_parts
from refpair.experiments import Part
from refpair.experiments.store import Store
from tests.cli.running import refpair_, refuses, works

SONGS = ("--data", "songs.csv", "--labels", "joy,anger,calm", "--drop", "id")


def test_compare_writes_store_tables_figures_and_report(folder):
    said = works(
        "compare", *SONGS, "--cost", "f1", "--algorithm", "BR", "--algorithm", "CSRPE-nearest", "--splits", 2,
        "--quick", "--out", "there", "--jobs", 1,
    )  # fmt: skip
    assert said == "4 of 4 results; there/report.html\n"
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


def test_the_other_experiments(folder):
    how = (*SONGS, "--cost", "hamming", "--quick", "--splits", 1, "--jobs", 2)
    assert works("code-length", *how, "--out", "a").startswith("10 of 10 results; ")
    assert "Length of codes" in (folder / "a" / "report.md").read_text()
    assert works("relevant-set", *how, "--out", "b").startswith("4 of 4 results; ")
    assert "Relevant set" in (folder / "b" / "report.md").read_text()


def test_a_failure_is_told_at_the_end(folder):
    (folder / "broken.py").write_text("def model():\n    raise RuntimeError('out of paint')\n")
    result = refpair_(
        "compare", *SONGS, "--cost", "f1", "--algorithm", "broken:model", "--algorithm", "BR", "--splits", 1,
        "--quick", "--out", "x", "--jobs", 1,
    )  # fmt: skip
    assert result.exit_code == 1
    assert "failed: compare: broken:model on songs for f1, split 0" in result.stderr
    assert "RuntimeError: out of paint" in result.stderr
    assert result.stdout == "1 of 2 results; x/report.html\n"
    assert "Failed: compare: broken:model" in (folder / "x" / "report.md").read_text()


def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(folder):
    (folder / "slow.py").write_text(
        "import time\nfrom refpair import BinaryRelevance\n"
        "class Model(BinaryRelevance):\n    def fit(self, X, y):\n        time.sleep(0.5)\n"
        "        return super().fit(X, y)\n"
    )
    command = [
        sys.executable, "-c", "from refpair.cli import main; main()", "compare", *SONGS, "--cost", "f1",
        "--algorithm", "slow:Model", "--splits", "50", "--quick", "--out", "x", "--jobs", "2",
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        deadline = time.monotonic() + 60
        while not (folder / "x" / "store.sqlite").exists() or not _n_results(folder / "x"):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        said = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert re.fullmatch(r"\d+ of 50 results are stored; the same command goes on\ninterrupted\n", said)
    assert 0 < _n_results(folder / "x") < 50


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
        (("--data", "digits", "--labels", "a"), "has its own labels"),
    ],
)
def test_mistakes_are_told_in_a_sentence(folder, options, message):
    assert message in refuses("compare", *options)


def test_the_parts_of_the_paper():
    assert make_parts("paper", None, None, None, quick=False) == [
        Part("compare", 20, 5), Part("code-length", 3), Part("relevant-set", 3),
    ]  # fmt: skip
    assert make_parts("paper", 2, None, ["BR"], quick=False)[0] == Part("compare", 2, 2, ("BR",))
    assert make_parts("compare", None, None, None, quick=True) == [Part("compare", 2)]
    assert make_parts("code-length", 7, None, None, quick=False) == [Part("code-length", 7)]
    assert default_data("compare") == ["digits"]
    assert len(default_data("paper")) == 10
