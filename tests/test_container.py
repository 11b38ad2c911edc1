"""What people put into an image runs where nothing can be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import refpair
from refpair.cli import demo
from tests.cli.running import works
from tests.container import container

FIT = """\
from refpair import CSRPEClassifier
from refpair.datasets import load_dataset
digits = load_dataset("digits")
model = CSRPEClassifier("f1", n_bits=10, random_state=0).fit(digits.X, digits.Y)
print(model.predict(digits.X).shape)
"""
DEMO = """\
from refpair.cli import demo, main
demo.N_BITS, demo.N_TREES = 20, 5
main()
"""


@pytest.mark.slow
def test_fit_predict_and_the_demo_need_no_folder_to_write_to(monkeypatch):
    inside = container()
    monkeypatch.setattr(demo, "N_BITS", 20)
    monkeypatch.setattr(demo, "N_TREES", 5)
    works("demo")  # compiles, so that it need not be done once more inside

    def run(*arguments):
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(refpair.__file__).parents[1])}
        ran = subprocess.run(
            [*inside, sys.executable, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    assert run("-c", FIT) == "(3000, 10)\n"
    assert "By F1, CSRPE for F1" in run("-c", DEMO, "demo")
