from __future__ import annotations

import hashlib

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score

from refpair.datasets.digits import make_overlaid_digits


def test_bit_identical_everywhere():
    data = make_overlaid_digits()
    digest = hashlib.sha256(data.X.astype("<f8").tobytes() + data.Y.tobytes()).hexdigest()
    assert digest == "1f9d87ef75726d13550f2f26441d370c9d2b4fbd418b581f85911a141eb035de"


def test_shape_and_names():
    data = make_overlaid_digits()
    assert data.X.shape == (3000, 64)
    assert data.X.dtype == np.float64
    assert data.Y.shape == (3000, 10)
    assert data.Y.dtype == np.uint8
    assert data.label_names == list("0123456789")
    assert data.feature_names[:2] == ["pixel_0_0", "pixel_0_1"]
    assert len(set(data.feature_names)) == 64


def test_one_to_three_digits():
    Y = make_overlaid_digits().Y
    counts = np.bincount(Y.sum(axis=1, dtype=int), minlength=4)
    assert counts[0] == 0
    assert (abs(counts[1:] - [1500, 1000, 500]) < 80).all()
    assert (abs(Y.mean(axis=0) - 1 / 6) < 0.02).all()


def test_neither_trivial_nor_hopeless():
    data = make_overlaid_digits()
    forest = RandomForestClassifier(n_estimators=50, random_state=0).fit(data.X[:1500], data.Y[:1500])
    predicted = forest.predict(data.X[1500:])
    assert 0.55 < f1_score(data.Y[1500:], predicted, average="samples", zero_division=0) < 0.85
