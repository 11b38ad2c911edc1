from __future__ import annotations

import pytest

from refpair.datasets import load


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the user's and no settings in the environment."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(load, "cache_folder", lambda: folder)
    monkeypatch.delenv("REFPAIR_DATA", raising=False)
    monkeypatch.delenv("REFPAIR_DATA_URL", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return folder
