"""Help, data sets, and how a process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import refpair
from refpair.cli.app import app
from tests.cli.running import FIT, works


def test_datasets_tells_where_each_is(tmp_path, monkeypatch):
    for name in ("emotions.arff", "emotions.xml"):
        (tmp_path / "emotions").mkdir(exist_ok=True)
        (tmp_path / "emotions" / name).touch()
    runner = CliRunner(env={"COLUMNS": "160", "REFPAIR_DATA": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)})
    printed = runner.invoke(app, ["datasets"]).stdout
    rows = {
        line.split("│")[1].strip(): line.split("│")[5].strip() for line in printed.splitlines() if "│" in line
    }
    assert len(rows) == 11
    assert rows["digits"] == "in the package"
    assert rows["emotions"] == "$REFPAIR_DATA/emotions"
    assert rows["yeast"] == "not here yet"
    assert "set REFPAIR_DATA" in printed


def test_version():
    assert works("--version") == f"refpair {refpair.__version__}\n"


@pytest.mark.parametrize("command", ["demo", "fit", "predict", "evaluate", "datasets"])
def test_every_command_explains_itself(command):
    assert f"Usage: refpair {command}" in works(command, "--help")
    assert command in works("--help")


def test_help_does_not_wait_for_slow_imports():
    script = (
        "import sys\n"
        "from refpair.cli import main\n"
        "sys.argv = ['refpair', 'fit', '--help']\n"
        "try:\n    main()\n"
        "finally:\n"
        "    slow = {'numba', 'numpy', 'pandas', 'scipy', 'sklearn'} & sys.modules.keys()\n"
        "    sys.exit(f'imported {slow}' if slow else 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def process(script, **how):
    """Start ``refpair datasets`` with other work to do, and with output that is buffered as usual."""
    prepare = (
        "import sys, time, refpair.datasets\nfrom refpair.cli import main\nsys.argv[1:] = ['datasets']\n"
        "def list_datasets():\n    print('ready', flush=True)\n"
    )
    ending = "    return []\nrefpair.datasets.list_datasets = list_datasets\nmain()"
    return subprocess.Popen(
        [sys.executable, "-c", f"{prepare}    {script}\n{ending}"],
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how,
    )  # fmt: skip


@pytest.mark.slow
def test_ctrl_c_ends_with_code_130_and_without_a_traceback():
    running = process("time.sleep(60)")
    assert running.stdout.readline() == "ready\n"
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert (running.returncode, said) == (130, "interrupted\n")


@pytest.mark.parametrize("n_lines", [1, 10**6])
@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(n_lines):
    """Neither when a write fails nor when a few lines are flushed at the end."""
    script = f"sys.stdin.readline(), [print('line') for _ in range({n_lines})]"
    running = process(script, stdin=subprocess.PIPE)
    assert running.stdout.readline() == "ready\n"
    running.stdout.close()
    running.stdin.close()
    said = running.stderr.read()
    assert (running.wait(timeout=30), said) == (141, "")
    running.stderr.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.slow
def test_a_full_disk_is_told():
    script = "import sys\nfrom refpair.cli import main\nsys.argv = ['refpair', 'datasets']\nmain()"
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", script], check=False, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == 2
    assert ended.stderr == "error: no space left on device\n"


@pytest.mark.slow
def test_the_command_is_installed(folder):
    command = os.path.join(os.path.dirname(sys.executable), "refpair")
    subprocess.run([command, "fit", "songs.csv", *FIT], check=True, stdout=subprocess.DEVNULL)
    printed = subprocess.check_output([command, "predict", "model", "songs.csv"], text=True)
    assert printed == works("predict", "model", "songs.csv")


def test_the_package_is_a_command_too():
    printed = subprocess.check_output([sys.executable, "-m", "refpair", "--version"], text=True)
    assert printed == f"refpair {refpair.__version__}\n"
