"""Fixtures that several parts of the test suite share."""

from __future__ import annotations

import os
import time
from itertools import zip_longest
from pathlib import Path

import pytest

START = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seconds",
        type=float,
        help="run the first case of each test that is not slow, file by file in turns, for so many seconds",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--seconds") is None:
        return
    files: dict[Path, dict[str, pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            files.setdefault(item.path, {}).setdefault(item.nodeid.partition("[")[0], item)
    rounds = zip_longest(*(first.values() for first in files.values()))
    chosen = [item for items_of_round in rounds for item in items_of_round if item is not None]
    config.hook.pytest_deselected(items=list(set(items) - set(chosen)))
    items[:] = chosen


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds = item.config.getoption("--seconds")
    if seconds is not None and time.monotonic() - START > seconds:
        pytest.skip("the time is over")


@pytest.fixture(scope="session")
def paper_data() -> Path:
    """The folder of the ten data sets of the paper, which are not part of the project."""
    own = os.environ.get("REFPAIR_DATA")
    folder = Path(own) if own else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "scene" / "scene.arff").is_file():
        pytest.skip("the paper's data sets are not here; set REFPAIR_DATA to their folder")
    return folder
