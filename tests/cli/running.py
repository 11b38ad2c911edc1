"""How the tests of the command line run it."""

from __future__ import annotations

from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from refpair import CSRPEClassifier, TableVectorizer
from refpair.cli.app import app

LABELS = ["joy", "anger", "calm"]
FEATURES = ["tempo", "volume", "pitch", "length"]


def refpair_(*args, stdin=None):
    """Run the command in this process."""
    runner = CliRunner(env={"COLUMNS": "160", "REFPAIR_DATA": ""})
    return runner.invoke(app, [str(arg) for arg in args], input=stdin)


def works(*args, stdin=None):
    result = refpair_(*args, stdin=stdin)
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
    return make_pipeline(TableVectorizer(), CSRPEClassifier(**how)).fit(songs[FEATURES], songs[LABELS])
