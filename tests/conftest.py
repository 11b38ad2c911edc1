"""Fixtures that several parts of the test suite share."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

_STARTED: dict[Path, float] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seconds",
        type=float,
        help="run the first case of each test that is not slow, for so many seconds a file",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--seconds") is None:
        return
    first: dict[str, pytest.Item] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            first.setdefault(item.nodeid.partition("[")[0], item)
    config.hook.pytest_deselected(items=list(set(items) - set(first.values())))
    items[:] = first.values()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds = item.config.getoption("--seconds")
    now = time.monotonic()
    if seconds is not None and now - _STARTED.setdefault(item.path, now) > seconds:
        pytest.skip("the time of this file is over")


@pytest.fixture(scope="session")
def paper_data() -> Path:
    """The folder of the ten data sets of the paper, which are not part of the project."""
    own = os.environ.get("REFPAIR_DATA")
    folder = Path(own) if own else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "scene" / "scene.arff").is_file():
        pytest.skip("the paper's data sets are not here; set REFPAIR_DATA to their folder")
    return folder
