"""The programs in examples/ print what is kept beside them."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.pages import ROOT

EXAMPLES = ROOT / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
NEEDS = {"dask_cluster": "distributed", "plots": "matplotlib"}


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_prints_what_is_kept(program, tmp_path):
    if program.stem in NEEDS:
        pytest.importorskip(NEEDS[program.stem])
    done = subprocess.run(
        [sys.executable, "-W", "error", program],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == program.with_suffix(".txt").read_text()
    assert list(tmp_path.iterdir()) == []  # it leaves nothing behind


def test_programs_are_short_and_listed():
    assert len(PROGRAMS) >= 8
    listed = (EXAMPLES / "README.md").read_text()
    shown = (ROOT / "docs" / "examples.md").read_text()
    for program in PROGRAMS:
        assert len(program.read_text().splitlines()) < 75, program.name
        assert f"({program.name})" in listed
        assert f"({program.stem}.txt)" in listed
        assert f'"examples/{program.name}"' in shown
        assert f'"examples/{program.stem}.txt"' in shown


def test_tickets_are_what_their_script_writes(tmp_path):
    tickets = EXAMPLES / "tickets"
    script = shutil.copy(tickets / "make.py", tmp_path)
    subprocess.run([sys.executable, script], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")}
    assert made == {path.name: path.read_bytes() for path in tickets.glob("*.csv")}
    assert len(made) == 3
