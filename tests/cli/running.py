"""How the tests of the command line run it."""

from __future__ import annotations

from typer.testing import CliRunner

from refpair import CSRPEClassifier
from refpair.cli.app import app

LABELS = ["joy", "anger", "calm"]
FEATURES = ["tempo", "volume", "pitch", "length"]


def refpair_(*args):
    """Run the command in this process."""
    return CliRunner(env={"COLUMNS": "160", "REFPAIR_DATA": ""}).invoke(app, [str(arg) for arg in args])


def works(*args):
    result = refpair_(*args)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def refuses(*args):
    """Run the command, which must end in one sentence, and return that."""
    result = refpair_(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("error: ").strip()


FIT = ("--labels", "joy,anger,calm", "--drop", "id", "--n-bits", "28", "-o", "model")


def same_in_python(songs, **how):
    how = {"n_bits": 28, "random_state": 0, **how}
    return CSRPEClassifier(**how).fit(songs[FEATURES], songs[LABELS])
