"""The short version of ``make fuzz``: some hundred inputs for each target; and what the tools do."""

from __future__ import annotations

import doctest
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz import choices
from fuzz.scratch import check_data, check_table, result_or_refusal
from fuzz.session import run_session
from fuzz.target import TARGETS, load_target
from refpair.datasets import MultiLabelData
from refpair.tables import Table

ROOT = Path(__file__).parents[1]
RUNS = {
    "arff": 1500,
    "csv_tables": 1000,
    "json_lines": 1000,
    "svmlight": 1000,
    "model_files": 1000,
    "costs": 4000,
}

needs_atheris = pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed")


@pytest.mark.slow
@needs_atheris
@pytest.mark.parametrize("name", TARGETS)
def test_many_inputs_find_nothing(tmp_path, name):
    outcome = run_session(name, RUNS[name], corpus=tmp_path / "corpus", found=tmp_path / "found", seed=1)
    assert outcome.is_clean, outcome.how_to_repeat()
    assert outcome.n_inputs >= RUNS[name]
    first, last = outcome.coverage
    assert 0 < first < last  # the search sees the branches and finds more of them
    assert list((tmp_path / "corpus" / name).iterdir())  # which the next session starts from


@pytest.mark.parametrize("name", TARGETS)
@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_hypothesis_finds_nothing(name, data):
    target = load_target(name)
    kind = st.integers(0, 4).map(lambda number: bytes([number]))
    anything = st.tuples(kind, st.binary(max_size=300)).map(b"".join)
    target.check(data.draw(st.one_of(st.sampled_from(target.SEEDS), anything)))


@needs_atheris
def test_a_fault_is_found_kept_and_repeated(tmp_path):
    outcome = run_session("tests.planted_target", 500_000, corpus=tmp_path, found=tmp_path / "found", seed=1)
    assert not outcome.is_clean
    assert outcome.found.read_bytes().startswith(b"boom")
    assert "MemoryError" in outcome.log
    assert f"python -m fuzz tests.planted_target {outcome.found}" in outcome.how_to_repeat()
    command = [sys.executable, "-m", "fuzz", "tests.planted_target"]
    again = subprocess.run([*command, outcome.found], cwd=ROOT, capture_output=True, text=True, check=False)
    assert again.returncode != 0
    assert "MemoryError" in again.stderr
    (tmp_path / "harmless").write_bytes(b"abcd")
    harmless = subprocess.run([*command, tmp_path / "harmless"], cwd=ROOT, capture_output=True, check=False)
    assert harmless.returncode == 0


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("something is wrong"), "does not name the file"),
        (KeyError("songs.csv"), "songs"),
        (UserWarning("songs.csv"), "songs"),
    ],
)
def test_only_errors_that_name_the_file_are_allowed(error, message):
    def fail():
        raise error

    with pytest.raises((AssertionError, KeyError, UserWarning), match=message):
        result_or_refusal(fail, Path("songs.csv"))
    assert result_or_refusal(partial(int, "songs"), Path("songs.csv")) is None
    assert result_or_refusal(lambda: 5, Path("songs.csv")) == 5


@pytest.mark.parametrize(
    "change",
    [
        {"X": np.zeros((2, 1), np.float32)},
        {"X": np.zeros((2, 2))},
        {"Y": np.full((2, 1), 2, np.uint8)},
        {"Y": np.zeros((3, 1), np.uint8)},
        {"feature_names": ["y"]},
        {"label_names": []},
    ],
    ids=str,
)
def test_data_that_do_not_fit_together_are_seen(change):
    right = {"X": np.zeros((2, 1)), "Y": np.ones((2, 1), np.uint8)}
    right |= {"feature_names": ["x"], "label_names": ["y"]}
    check_data(MultiLabelData("songs", **right))
    with pytest.raises(AssertionError):
        check_data(MultiLabelData("songs", **{**right, **change}))


@pytest.mark.parametrize(
    "change",
    [
        {"X": pd.DataFrame({"x": np.zeros(2, np.float32)})},
        {"X": pd.DataFrame({"x": ["", "a"]})},
        {"X": pd.DataFrame({"x": [" a", "b"]})},
        {"X": pd.DataFrame({1: [1, 2]})},
        {"X": pd.DataFrame({"x": [1, 2]}, index=[1, 2])},
        {"X": pd.DataFrame({"y": [1, 2]})},
        {"Y": pd.DataFrame({"y": [1, 2, 3]})},
        {"Y": pd.DataFrame(index=[0, 1])},
    ],
    ids=str,
)
def test_tables_that_do_not_fit_together_are_seen(change):
    right = {"X": pd.DataFrame({"x": [1, 2]}), "Y": pd.DataFrame({"y": ["a", "b"]}), "folder": None}
    check_table(Table("songs.csv", **right))
    with pytest.raises(AssertionError):
        check_table(Table("songs.csv", **{**right, **change}))


def test_choices_are_as_their_example_says():
    assert doctest.testmod(choices).attempted > 0
    assert doctest.testmod(choices).failed == 0
