"""MMC, adaptive active learning and binary minimisation ask as libact's do."""

import json
from pathlib import Path

import numpy as np
import pytest

from refpair import Logistic
from refpair.active import MMC, AdaptiveActive, BinaryMinimization
from refpair.datasets import load_dataset

# In which order libact asked for 12 of 300 rows of yeast, beginning with 5 labeled ones, for three draws of
# them; in all of them there are labels that no or all labeled rows have. No ties, so no seeds.
EXPECTED = json.loads(Path(__file__).with_name("libact.json").read_text())
STRATEGIES = {"mmc": MMC, "adaptive": AdaptiveActive, "binmin": BinaryMinimization}


@pytest.fixture
def yeast(paper_data, monkeypatch):
    monkeypatch.setenv("REFPAIR_DATA", str(paper_data))
    return load_dataset("yeast")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", STRATEGIES)
def test_rows_are_asked_for_in_the_order_of_libact(yeast, name, seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(yeast.Y), 300, replace=False)
    start = rng.choice(300, 5, replace=False)
    X, truth = yeast.X[rows], np.asarray(yeast.Y)[rows]
    Y = np.full(truth.shape, np.nan)
    Y[start] = truth[start]
    strategy = STRATEGIES[name](Logistic(C=1.0))
    asked = []
    for _ in EXPECTED[name][seed]:
        (row,) = strategy.query(X, Y)
        asked.append(int(row))
        Y[row] = truth[row]
    assert asked == EXPECTED[name][seed]
