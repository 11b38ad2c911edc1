"""What the base installation can do, and what it says of the rest."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

# In a new process, as if these packages, which are all that extras bring to the library, were not installed.
WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

class NotInstalled(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"pandas", "typer", "click", "rich", "pooch", "platformdirs"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NotInstalled())
import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
import refpair
from refpair import BayesDecisionClassifier, CSRPEClassifier, TableVectorizer, get_cost
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
Y = (X @ rng.standard_normal((4, 3)) > 0).astype(int)
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT + script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def printed(script: str, *arguments: str) -> str:
    done = run(script, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_model_is_fitted_saved_and_asked(tmp_path):
    out = printed(
        """
model = CSRPEClassifier("f1", n_bits=30, random_state=0).fit(X, Y)
refpair.save(model, sys.argv[1])
again = refpair.load(sys.argv[1])
assert (again.predict(X) == model.predict(X)).all()
assert (again.predict_proba(X) == model.predict_proba(X)).all()
assert again.decide(X, "hamming").shape == Y.shape and again.score(X, Y) > 0.9
assert {column.shape for column in again.oob_search_.values()} == {model.oob_search_["cost"].shape}
names = [[name for name, there in zip("abc", row) if there] for row in Y]
print(model.fit(X, names).predict(X[:1]), model.fit(sp.csr_array(X), Y[:, 0]).predict(X[:1]))
""",
        str(tmp_path / "model.refpair"),
    )
    assert out.startswith("[[")


@pytest.mark.slow
def test_decisions_of_another_classifier_and_queries():
    printed(
        """
forest = RandomForestClassifier(5, random_state=0)
assert BayesDecisionClassifier(forest, cost="f1").fit(X, Y).score(X, Y) > 0.8
from refpair.active import CostSensitiveUncertainty, RandomQuery, learning_curve
asked = np.where(np.arange(60)[:, None] < 20, Y, np.nan)
assert get_cost("f1").mean(np.where(np.isnan(asked), None, asked), Y) == 1.0
assert CostSensitiveUncertainty(n_bits=30, random_state=0).query(X, asked).shape == (1,)
curve = learning_curve(RandomQuery(random_state=0), forest, X, Y, X, Y, start=range(20), n_queries=2)
assert curve["n_labeled"].tolist() == [20, 21, 22]
from refpair.datasets import load_dataset
assert load_dataset("digits").X.shape == (3000, 64)
"""
    )


def test_progress_is_lines():
    done = run('CSRPEClassifier("f1", n_bits=30, decoder="nearest", verbose=1).fit(X, Y)')
    assert done.returncode == 0, done.stderr
    assert done.stderr == "learning bits: 28 of 28, 0:00:00 left\n"


def test_what_needs_pandas_names_the_extra(tmp_path):
    (tmp_path / "songs.csv").write_text("tempo,joy\n120,1\n90,0\n")
    out = printed(
        """
import os
import refpair.tables
from refpair.experiments import Study
os.chdir(sys.argv[1])
for use in (
    lambda: TableVectorizer().fit(X),
    lambda: refpair.tables.read_table("songs.csv"),
    lambda: CSRPEClassifier(n_bits=30).fit(X, Y).predict_proba(X, as_frame=True),
    lambda: Study("here", [], ["digits"]).results(),
):
    try:
        use()
    except ImportError as error:
        print(error)
""",
        str(tmp_path),
    )
    assert out.splitlines() == ["tables need pandas: pip install 'refpair[tables]'"] * 4


def test_the_command_names_its_extra():
    done = run("from refpair.cli import main; main()", "--help")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "the command refpair needs typer: pip install 'refpair[cli]'\n"


def test_extras_have_what_their_commands_need():
    base = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {one.partition(">=")[0] for one in base} == {
        "numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl"
    }  # fmt: skip
    assert "refpair[cli]" in EXTRAS["label"]
    assert all("refpair[tables]" in EXTRAS[one] for one in ("cli", "excel", "image", "parquet", "text"))


def test_the_import_waits_for_nothing():
    script = "import sys, refpair; print({'numpy', 'importlib.metadata', 'email'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
