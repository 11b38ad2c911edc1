"""Sparse results are arrays or matrices, as scikit-learn is configured, whatever kind was given."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context, get_config

from refpair import BinaryRelevance, TableVectorizer
from refpair.datasets import load_dataset

INTERFACES = ["default", *(["spmatrix", "sparray"] if "sparse_interface" in get_config() else [])]


@pytest.fixture(params=INTERFACES)
def kind(request):
    wanted = {} if request.param == "default" else {"sparse_interface": request.param}
    with config_context(**wanted):
        yield sp.csr_array if request.param == "sparray" else sp.csr_matrix


@pytest.mark.parametrize("given", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_matrix])
def test_labels(kind, given):
    X = np.arange(40.0)[:, None] % 7
    Y = np.hstack([X > 3, X < 2]).astype(int)
    model = BinaryRelevance("tree", random_state=0).fit(given(X), given(Y))
    assert type(model.predict(given(X))) is kind
    assert type(model.predict(X)) is kind
    np.testing.assert_array_equal(model.predict(X).toarray(), Y)
    assert model.score(X, given(Y)) == 1.0


def test_labels_of_dask(kind):
    da = pytest.importorskip("dask.array")
    X = np.arange(40.0)[:, None] % 7
    Y = np.hstack([X > 3, X < 2]).astype(int)
    model = BinaryRelevance("tree", random_state=0).fit(X, sp.csr_array(Y))
    predicted = model.predict(da.from_array(X, chunks=(20, 1)))
    assert type(predicted.compute(scheduler="threads")) is kind  # threads have a configuration of their own
    assert type(predicted[:0].compute()) is kind


def test_features(kind):
    words = [3 * word for word in "abcdefghijklmnopqrst"]
    texts = pd.DataFrame({"text": [f"{one} {other}" for one, other in pairwise(words)] * 3})
    vectorizer = TableVectorizer({"text": "text"})
    fitted = vectorizer.fit_transform(texts)
    assert type(fitted) is kind
    assert type(vectorizer.transform(texts)) is kind
    assert fitted.nnz == vectorizer.transform(texts).nnz > 0


def test_data_sets(kind, tmp_path, monkeypatch):
    folder = tmp_path / "yeast"
    folder.mkdir()
    (folder / "yeast.arff").write_text(
        "@relation r\n@attribute a real\n@attribute b real\n@attribute y {0,1}\n@data\n{0 2,2 1}\n{}\n"
    )
    (folder / "yeast.xml").write_text('<labels><label name="y"></label></labels>')
    monkeypatch.setenv("REFPAIR_DATA", str(tmp_path))
    assert type(load_dataset("yeast").X) is kind
