"""Small files that would take much memory, or for ever: what a file may cost is limited before it is paid."""

from __future__ import annotations

import json
import os
import time
import tracemalloc
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest

from refpair import MLECC, BinaryRelevance, ProbabilisticChain, RAkEL, save
from refpair.persistence import ModelFileError, load
from tests.persistence.forging import entries_of, forge, write_entries

N_LABELS = 40


@contextmanager
def refused(says, megabytes=32):
    """A file is refused, in little memory and little time."""
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(ModelFileError, match=says):
        yield
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < megabytes << 20
    assert time.process_time() - began < 5


@pytest.fixture(scope="module")
def many():
    """Features, and more labels than there are chains to search for."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(1)
    return X, (X @ rng.normal(size=(3, N_LABELS)) + rng.normal(size=(60, N_LABELS)) > 0).astype(int)


def forged(model, path, **values):
    """Save a model, and put other values into the header of the file."""
    save(model, path)

    def put(header, arrays):
        header["model"].update(values)

    forge(path, put)


def test_a_long_word_in_answers(many, tmp_path):
    """All cells of an answer would be as wide as the longest word: 3 GB for four rows."""
    X, Y = many
    save(BinaryRelevance("tree", random_state=0).fit(X, np.where(Y, "yes", "no")), tmp_path / "m")
    entries = entries_of(tmp_path / "m")
    header = json.loads(entries["header.json"])
    header["model"]["_label_format"]["values"][0][1] = "x" * 1_000_000
    write_entries(tmp_path / "m", {**entries, "header.json": json.dumps(header).encode()})
    assert (tmp_path / "m").stat().st_size < 10_000
    with refused("the values of labels are too long"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("n_names", "longest", "says"), [(2, 5000, "broken"), (20_000, 4000, "far more memory")]
)
def test_names_of_fixed_width(n_names, longest, says, path):
    names = {"names": ["x" * longest, *map(str, range(n_names - 1))], "kind": "U"}

    def put(header, arrays):
        header["model"]["_label_format"]["classes"] = names

    forge(path, put)
    with refused(says):
        load(path)


@pytest.mark.parametrize("part", [b"{},", b"[],", b"1.5,", b'{"a":1},'])
def test_a_compressed_header(part, tmp_path):
    """A list or a dict that is empty takes three bytes in a file, and up to a hundred in memory."""
    header = b'{"format":"refpair model","version":1,"model":[' + part * 2_000_000 + b"0]}"
    with zipfile.ZipFile(tmp_path / "m", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", header)
        archive.writestr("filler", os.urandom(len(header) // 8))
    with refused("header", megabytes=64):
        load(tmp_path / "m")


def test_a_header_with_a_character_that_makes_all_wide(path):
    entries = entries_of(path)
    header = json.loads(entries["header.json"]) | {"refpair": "\N{GRINNING FACE}"}
    write_entries(path, {**entries, "header.json": json.dumps(header, ensure_ascii=False).encode()})
    with refused("not as refpair writes it"):
        load(path)


@pytest.mark.parametrize("width", [2**20, 2**40])
def test_beams_that_are_too_wide(width, many, tmp_path):
    model = ProbabilisticChain("forest", cost="zero_one", inference="beam", random_state=0)
    forged(model.fit(*many), tmp_path / "m", beam_width=width)
    with refused("far too long|too many for a model"):
        load(tmp_path / "m")


@pytest.mark.parametrize("n", [2**20, 2**40])
def test_draws_that_are_too_many(n, many, tmp_path):
    forged(ProbabilisticChain("forest", cost="f1", random_state=0).fit(*many), tmp_path / "m", _n_drawn=n)
    with refused("far too long|too many for a model"):
        load(tmp_path / "m")


@pytest.mark.parametrize("code", ["rep", "hamr"])
def test_codes_that_are_too_long(code, many, tmp_path):
    """Millions of bits, all of which are copies of a few."""
    save(MLECC("tree", code=code, code_length=280, random_state=0).fit(*many), tmp_path / "m")

    def put(header, arrays):
        n = 7 * (1 << 19)
        header["model"]["code_length"] = header["model"]["code_"]["code_length"] = n
        header["model"]["learners_"]["n_bits_"] = n
        arrays["learners_.problem_of_block_"] = np.resize(arrays["learners_.problem_of_block_"], n)

    forge(tmp_path / "m", put)
    with refused("more than a file may hold", megabytes=128):
        load(tmp_path / "m")


def test_a_problem_of_two_billion_classes(many, tmp_path):
    forged(RAkEL("logistic", random_state=0).fit(*many), tmp_path / "m")

    def put(header, arrays):
        arrays["learners_.learners_.n_classes_"][0] = 2**62

    forge(tmp_path / "m", put)
    with refused("class that does not exist"):
        load(tmp_path / "m")


def test_what_is_large_for_good_reasons_is_saved(many, tmp_path):
    """Wide beams over few labels, and long codes of many learners."""
    X, Y = many
    for model, labels in (
        (ProbabilisticChain("tree", cost="zero_one", inference="beam", beam_width=4096), Y[:, :5]),
        (ProbabilisticChain("logistic", cost="f1", n_samples=2000, random_state=0), Y[:, :5]),
        (MLECC("tree", code_length=100_000, random_state=0), Y),
    ):
        save(model.fit(X, labels), tmp_path / "m")
        np.testing.assert_array_equal(load(tmp_path / "m").predict(X[:9]), model.predict(X[:9]))
