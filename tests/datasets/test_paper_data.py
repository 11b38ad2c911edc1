"""The ten data sets, where they are at hand, against the paper's table and a slow, plain reader."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.sparse import issparse

from refpair.datasets import list_datasets, load_dataset
from refpair.datasets.arff import read_arff
from refpair.datasets.load import REGISTRY, _is_intact
from refpair.tables import _arff

# Table "Dataset statistics" of the paper: labels, instances, features, density, distinct label vectors.
STATISTICS = {
    "Corel5k": (374, 5000, 499, 0.009, 3175),
    "CAL500": (174, 502, 68, 0.150, 502),
    "bibtex": (159, 7395, 1836, 0.015, 2856),
    "enron": (53, 1702, 1001, 0.064, 753),
    "medical": (45, 978, 1449, 0.028, 94),
    "genbase": (27, 662, 1186, 0.046, 32),
    "yeast": (14, 2417, 103, 0.303, 198),
    "flags": (7, 194, 19, 0.485, 54),
    "scene": (6, 2407, 294, 0.179, 15),
    "emotions": (6, 593, 72, 0.311, 27),
}
SPARSE = {"Corel5k", "bibtex", "enron", "medical"}


def dense(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


@pytest.fixture(autouse=True)
def _use_paper_data(paper_data, cache, monkeypatch):
    monkeypatch.setenv("REFPAIR_DATA", str(paper_data))


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics(name):
    data = load_dataset(name, download=False)
    n_labels, n_instances, n_features, density, distinct = STATISTICS[name]
    assert data.name == name
    assert data.X.shape == (n_instances, n_features)
    assert data.Y.shape == (n_instances, n_labels)
    assert len(data.feature_names) == len(set(data.feature_names)) == n_features
    assert len(data.label_names) == n_labels
    assert data.Y.mean() == pytest.approx(density, abs=0.0005)
    assert len(np.unique(data.Y, axis=0)) == distinct
    assert issparse(data.X) == (name in SPARSE)
    assert np.isfinite(data.X.data if name in SPARSE else data.X).all()


def test_list_agrees():
    infos = {info.name: info for info in list_datasets()[1:]}
    assert list(infos) == list(STATISTICS)
    for name, (n_labels, n_instances, n_features, *_) in STATISTICS.items():
        info = infos[name]
        assert (info.n_labels, info.n_instances, info.n_features) == (n_labels, n_instances, n_features)
        assert info.is_local


@pytest.mark.parametrize("name", STATISTICS)
def test_checksums(paper_data, name):
    source = REGISTRY[name]
    assert _is_intact(paper_data / name / f"{name}.arff", source.arff_sha256)
    assert _is_intact(paper_data / name / f"{name}.xml", source.xml_sha256)


@pytest.mark.parametrize("name", ["enron", "yeast"])
def test_labels_are_matched_by_name(paper_data, name):
    path = paper_data / name / f"{name}.arff"
    lines = path.read_text().splitlines()
    start = lines.index("@data")
    columns = [line.split()[1] for line in lines[:start] if line.startswith("@attribute")]
    labels = _arff.read_label_names(path.with_suffix(".xml"))
    assert labels != [column for column in columns if column in set(labels)]

    plain = np.zeros((len(lines) - start - 1, len(columns)))
    for row, line in zip(plain, lines[start + 1 :], strict=True):
        if line.startswith("{"):
            for index, value in re.findall(r"(\d+) (\d+)", line):
                row[int(index)] = float(value)
        else:
            row[:] = [float(value) for value in line.split(",")]
    data = load_dataset(name)
    assert data.label_names == labels
    np.testing.assert_array_equal(data.Y, plain[:, [columns.index(label) for label in labels]])
    np.testing.assert_array_equal(
        dense(data.X), plain[:, [columns.index(each) for each in data.feature_names]]
    )


def test_nominal_features():
    flags = load_dataset("flags")
    assert set(flags.X[:, flags.feature_names.index("landmass")]) == {1, 2, 3, 4, 5, 6}
    genbase = load_dataset("genbase")
    np.testing.assert_array_equal(np.sort(genbase.X[:, 0]), np.arange(662))  # the row's name, "protein"
    assert set(np.unique(genbase.X[:, 1:])) == {0, 1}


@pytest.mark.parametrize("name", ["flags", "medical", "yeast"])
def test_both_readers_agree(paper_data, monkeypatch, name):
    path = paper_data / name / f"{name}.arff"
    fast = read_arff(path)
    monkeypatch.setattr(_arff, "_UNPLAIN", re.compile(""))
    careful = read_arff(path)
    np.testing.assert_array_equal(dense(fast.X), dense(careful.X))
    np.testing.assert_array_equal(fast.Y, careful.Y)


@pytest.mark.parametrize("name", STATISTICS)
def test_the_fast_readers_suffice(monkeypatch, name):
    monkeypatch.setattr(_arff, "_careful_dense", None)
    monkeypatch.setattr(_arff, "_careful_sparse", None)
    load_dataset(name)
