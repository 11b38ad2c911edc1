from __future__ import annotations

import pytest

from refpair.datasets import DatasetUnavailableError, list_datasets, load, load_dataset
from refpair.datasets.load import COMMIT, REGISTRY, URL


def test_list(cache):
    infos = list_datasets()
    assert [info.name for info in infos] == ["digits", *REGISTRY]
    assert [info.is_local for info in infos] == [True] + 10 * [False]
    digits = load_dataset("digits")
    assert (infos[0].n_labels, infos[0].n_instances, infos[0].n_features) == (10, *digits.X.shape)


def test_registry_is_pinned():
    assert COMMIT in URL
    sums = [each for source in REGISTRY.values() for each in (source.arff_sha256, source.xml_sha256)]
    assert len(set(sums)) == 20
    assert all(len(each) == 64 for each in sums)


def test_unknown_name():
    with pytest.raises(ValueError, match="unknown data set 'seen'; did you mean 'scene'"):
        load_dataset("seen")
    with pytest.raises(ValueError, match="unknown data set 'mnist'; there are 'digits', 'Corel5k'"):
        load_dataset("mnist")


def test_absent_without_download(cache, monkeypatch):
    monkeypatch.setenv("REFPAIR_DATA", str(cache / "nowhere"))
    with pytest.raises(DatasetUnavailableError, match="'scene' is not available: downloads are switched off"):
        load_dataset("scene", download=False)


def test_cache_is_the_users(cache):
    assert load.cache_dir() == cache / "datasets"
