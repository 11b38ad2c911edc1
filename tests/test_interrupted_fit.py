"""Ctrl-C in the middle of a second fit: the model is the old one or the new one, never half of each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interrupted_fit import KINDS

N_MOMENTS = int(os.environ.get("REFPAIR_INTERRUPTIONS", "6"))  # a kind and form


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_fit_leaves_one_model(kind):
    ran = subprocess.run(
        [sys.executable, "-m", "tests.interrupted_fit", kind, str(N_MOMENTS)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert all(int(n_interrupted) > 0 for n_interrupted in ran.stdout.split())
