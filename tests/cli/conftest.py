from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.cli.running import FEATURES, FIT, LABELS, works


@pytest.fixture(scope="session")
def songs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)).round(2)
    Y = (X[:, :3] + rng.normal(size=(80, 3)) / 3 > 0).astype(int)
    frame = pd.DataFrame(X, columns=FEATURES)
    frame.loc[3, "pitch"] = np.nan
    frame.insert(0, "id", [f"{i:03d}" for i in range(80)])
    frame[LABELS] = Y
    return frame


@pytest.fixture
def folder(tmp_path, songs, monkeypatch):
    monkeypatch.chdir(tmp_path)
    songs.to_csv("songs.csv", index=False)
    return tmp_path


@pytest.fixture
def model(folder):
    works("fit", "songs.csv", *FIT)
    return folder / "model"
