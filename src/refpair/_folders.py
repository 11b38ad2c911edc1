"""The user's own folders, where each system keeps them."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder for what can be made or fetched again; a RuntimeError if the user has no home."""
    if sys.platform == "win32":
        return _on_windows() / "refpair" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "refpair"
    return _of_variable("XDG_CACHE_HOME", ".cache") / "refpair"


def state_folder() -> Path:
    """Return the folder for what the program remembers from run to run."""
    if sys.platform == "win32":
        return _on_windows() / "refpair"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "refpair"
    return _of_variable("XDG_STATE_HOME", ".local/state") / "refpair"


def _of_variable(name: str, below_home: str) -> Path:
    folder = Path(os.environ.get(name, ""))
    return folder if folder.is_absolute() else Path.home() / below_home  # others are to be ignored


def _on_windows() -> Path:
    folder = os.environ.get("LOCALAPPDATA")
    return Path(folder) if folder else Path.home() / "AppData" / "Local"
