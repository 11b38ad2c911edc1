from __future__ import annotations

import pytest

from refpair.datasets import find_data, read_data


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with a folder of data sets that is called as a known one."""
    for name in ("zoo", "scene"):
        (tmp_path / "emotions" / name).mkdir(parents=True)
        (tmp_path / "emotions" / name / f"{name}.arff").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["emotions", "EMOTIONS"])
def test_a_known_name_wins_over_a_folder(folder, name):
    (folder / "EMOTIONS").mkdir(exist_ok=True)
    assert find_data(name) == ["emotions"]


def test_a_path_is_a_folder_and_the_papers_data_come_first(folder):
    assert find_data("./emotions") == ["emotions/scene/scene.arff", "emotions/zoo/zoo.arff"]


def test_a_folder_without_data_sets_is_told(folder):
    with pytest.raises(ValueError, match=r"has no data sets <name>/<name>\.arff; name a file instead"):
        find_data(".")


def test_a_named_data_set_has_its_own_labels():
    with pytest.raises(ValueError, match="has its own labels; leave out --labels"):
        read_data("digits", ["joy"])
