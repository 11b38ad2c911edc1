"""Fixtures that several parts of the test suite share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def paper_data() -> Path:
    """The folder of the ten data sets of the paper, which are not part of the project."""
    own = os.environ.get("REFPAIR_DATA")
    folder = Path(own) if own else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "scene" / "scene.arff").is_file():
        pytest.skip("the paper's data sets are not here; set REFPAIR_DATA to their folder")
    return folder
