from __future__ import annotations

import io
import sys

import pandas as pd
import pytest

from refpair.datasets.load import find_data, read_data


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


def test_a_named_data_set_as_a_table(paper_data, monkeypatch):
    monkeypatch.setenv("REFPAIR_DATA", str(paper_data))
    table = read_data("medical")
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in table.X.dtypes)
    assert table.folder is None
    digits = read_data("digits", drop=["pixel_0_0"])
    assert (digits.X.shape, digits.Y.shape) == ((3000, 63), (3000, 10))
    assert digits.X.dtypes.eq(float).all()
    with pytest.raises(ValueError, match="unknown column 'pixel_9_9'"):
        read_data("digits", drop=["pixel_9_9"])


def test_files_and_standard_input(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes("a:größe:joy\n1:2:0\n".encode("latin-1"))
    table = read_data(str(path), ["joy"], drop=["a"], sep=":", encoding="latin-1")
    assert list(table.X) == ["größe"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a;joy\n1;0\n")))
    assert find_data("-") == ["-"]
    assert read_data("-", ["joy"]).name == "standard input"
    with pytest.raises(ValueError, match="mnist: there is no such file; unknown data set 'mnist'"):
        read_data("mnist")
    with pytest.raises(FileNotFoundError):
        read_data("mnist.csv")
