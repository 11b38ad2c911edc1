"""Fixtures that several parts of the test suite share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--first-cases", action="store_true", help="run only the first case of each test")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--first-cases"):
        return
    first: dict[str, pytest.Item] = {}
    others = [item for item in items if first.setdefault(item.nodeid.partition("[")[0], item) is not item]
    config.hook.pytest_deselected(items=others)
    items[:] = first.values()


@pytest.fixture(scope="session")
def paper_data() -> Path:
    """The folder of the ten data sets of the paper, which are not part of the project."""
    own = os.environ.get("REFPAIR_DATA")
    folder = Path(own) if own else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "scene" / "scene.arff").is_file():
        pytest.skip("the paper's data sets are not here; set REFPAIR_DATA to their folder")
    return folder
