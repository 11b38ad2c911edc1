"""A container whose root is read-only, with no network and no home."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def container(*options: str) -> list[str]:
    """Return how a command line begins that runs in one; skip the test where there can be none."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    root = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"]
    command = [
        "bwrap",
        *root,
        "--setenv",
        "HOME",
        "/nonexistent",
        "--setenv",
        "TMPDIR",
        "/nonexistent",
        *options,
    ]
    if (tried := subprocess.run([*command, "true"], capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"bubblewrap cannot make a container here: {tried.stderr.strip()}")
    return command
