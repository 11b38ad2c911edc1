"""Model files: any bytes, damaged files, and forged ones with a right checksum."""

from __future__ import annotations

import copy
import functools
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline, make_pipeline

from fuzz.choices import Choices
from fuzz.scratch import result_or_refusal, scratch_folder
from refpair import (
    MLECC,
    BinaryRelevance,
    CondensedFilterTree,
    CSRPEClassifier,
    LabelPowerset,
    ProbabilisticChain,
    TableVectorizer,
    load,
    save,
)

INSTRUMENTED = ("refpair.persistence", "refpair._saved", "refpair.tables.vectorizer")
SEEDS = (
    b"\0PK\5\6" + bytes(18),
    b"\0",
    *(bytes([1, model]) + bytes(range(20)) for model in range(12)),
    *(
        bytes([kind, model, how]) + bytes(range(model, 200, 3))
        for kind in (2, 3)
        for model in range(12)
        for how in range(4)
    ),
)
WORDS = (
    "PK\1\2",
    "PK\3\4",
    "PK\5\6",
    "header.json",
    "sha256",
    ".npy",
    "refpair model",
    "\\u0000",
)

_X = np.arange(36.0).reshape(12, 3) % 5
_Y = np.array([[i % 2, i // 2 % 2, i // 4 % 2] for i in range(12)])
_ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 255, 2**31, 2**63, -(2**63), 10**30, 0.5, 1e308, "", "a", "f1", "O",
    "U", "<f8", "tree", "posterior", [], {}, [[]], [1, 2], ["a", "a"], {"a": 1}, "x" * 1000, {"float": "inf"},
    {"float": "nan"}, {"names": ["a", 1, None], "kind": "O"}, {"names": ["a", "b"], "kind": "U"},
    {"function": "f"}, {"cost": {"name": "f1"}}, {"dtype": "O"}, {"tuple": [1]}, {"dict": {"a": 1}},
    {"class": "Logistic", "C": 1.0, "tol": None}, {"class": "Forest"},
    {"class": "PCA"}, {"set": [1]}, {"items": [[1, 2]]}, {"slice": [0, 1, None]}, {"type": "int"},
    {"ufunc": "exp"}, {"number": 1, "dtype": "<f4"}, {"cells": [1], "shape": [1], "dtype": "|O"},
)  # fmt: skip
_DTYPES = ("|u1", "|b1", "<i4", "<i8", "<f4", "<f8", ">f8", "<u8", "<c8", "<M8[s]", "<U4", "|V8")
_ODD_NUMBERS = (0, 1, -1, 2, 127, 255, 2**31 - 1, -(2**31), 2**62, float("nan"), float("inf"))

Entries = dict[str, bytes]


def check(data: bytes) -> None:
    """Let the first byte say what the rest is."""
    choices = Choices(data[1:])
    kind = data[0] % 4 if data else 0
    if kind == 0:
        content = choices.rest()
    else:
        entries = dict(_saved()[choices.below(len(_saved()))])
        if kind == 1:
            content = choices.damage(_zipped(entries))
        else:
            for _ in range(1 + choices.below(3)):
                _forge(entries, choices)
            content = _zipped(_signed(entries))
    with scratch_folder() as folder:
        path = folder / "songs.refpair"
        path.write_bytes(content)
        _check_file(path)


def _check_file(path: Path) -> None:
    model = result_or_refusal(partial(load, path), path)
    if model is None:
        return
    # Whatever a file held, a model that was loaded predicts, if it is given as many features as it wants.
    last = model[-1] if isinstance(model, Pipeline) else model
    X: Any = np.resize(_X, (4, last.n_features_in_))
    if isinstance(model, Pipeline) and isinstance(model[0], TableVectorizer):
        X = pd.DataFrame({name: [1.0, np.nan, 0.0, 2.0] for name in model[0].columns_.index})
    predicted = np.asarray(model.predict(X))
    assert len(predicted) == 4


@functools.cache
def _saved() -> list[Entries]:
    """Return the entries of some models' files."""
    models = [
        CSRPEClassifier("f1", n_bits=9, random_state=0),
        CSRPEClassifier("rank", n_bits=9, decoder="nearest", random_state=0),
        CSRPEClassifier("hamming", n_bits=9, estimator="logistic", random_state=0),
        BinaryRelevance("tree", random_state=0),
        BinaryRelevance("logistic", random_state=0),
        LabelPowerset("tree", random_state=0),
        ProbabilisticChain("tree", cost="f1", random_state=0),
        MLECC("tree", code="hamr", random_state=0),
        CondensedFilterTree("logistic", n_rounds=1, random_state=0),
        LabelPowerset("logistic", random_state=0),
        make_pipeline(CSRPEClassifier("f1", n_bits=9, random_state=0)),
    ]
    fitted = [model.fit(_X, _Y) for model in models]
    fitted.append(make_pipeline(TableVectorizer(), models[0]).fit(_table(), _Y))
    found = []
    with scratch_folder() as folder:
        for model in fitted:
            save(model, folder / "model")
            with zipfile.ZipFile(folder / "model") as archive:
                found.append({name: archive.read(name) for name in archive.namelist()})
    return found


def _table() -> pd.DataFrame:
    """Return the rows as a table with a column of each kind but images."""
    n = len(_X)
    return pd.DataFrame(
        {
            "age": np.where(np.arange(n) % 5, np.arange(n) / 2, np.nan),
            "kind": [("song", "hymn")[i % 2] for i in range(n)],
            "is_new": [("yes", "no")[i % 3 > 0] for i in range(n)],
            "day": pd.date_range("2024-01-30", periods=n).strftime("%d.%m.%Y"),
            "said": [
                f"it is {('good', 'bad')[i % 2]} and {('loud', 'low', 'long')[i % 3]}" for i in range(n)
            ],
        }
    )


def _zipped(entries: Entries) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def _signed(entries: Entries) -> Entries:
    """Give entries the checksum that the format asks for."""
    digest = hashlib.sha256()
    for name in sorted(entries.keys() - {"sha256"}):
        digest.update(f"{name}:{len(entries[name])}\n".encode() + entries[name])
    return {**entries, "sha256": digest.hexdigest().encode()}


def _forge(entries: Entries, choices: Choices) -> None:
    """Change something in the header, in an array or in the list of entries."""
    what = choices.below(8)
    arrays = [name for name in entries if name.endswith(".npy")]
    if what < 4 and "header.json" in entries:
        entries["header.json"] = _forged_header(entries["header.json"], choices)
    elif what < 7 and arrays:
        name = choices.one_of(arrays)
        entries[name] = _forged_array(entries[name], choices)
    else:
        first, second = choices.one_of(list(entries)), choices.one_of(list(entries))
        how = choices.below(4)
        if how == 0:
            del entries[first]
        elif how == 1:
            entries[first] = entries[second]
        elif how == 2:
            entries[choices.text()] = entries[second]
        else:
            entries[first] = choices.damage(entries[first])


def _forged_header(content: bytes, choices: Choices) -> bytes:
    try:
        header = json.loads(content)
    except ValueError:
        return choices.damage(content)
    places = list(_places(header))
    if not places:
        return content
    owner, key = places[choices.below(len(places))]
    how = choices.below(4)
    if how == 0:
        del owner[key]
    elif how == 1:
        other, place = places[choices.below(len(places))]
        owner[key] = copy.deepcopy(other[place])
    elif how == 2 and isinstance(owner, list):
        owner.append(copy.deepcopy(owner[key]))
    else:
        owner[key] = choices.one_of(_ODD_VALUES)
    return json.dumps(header).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """List all that a header holds, as containers and keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def _forged_array(content: bytes, choices: Choices) -> bytes:
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, TokenError):
        return choices.damage(content)
    how = choices.below(6)
    if how == 0 and array.size:
        with np.errstate(all="ignore"):
            value = np.array(choices.one_of(_ODD_NUMBERS)).astype(array.dtype)
        array = np.ascontiguousarray(array)
        array.reshape(-1)[choices.below(array.size)] = value
    elif how == 1:
        array = array[1:] if array.ndim else array.reshape(1)
    elif how == 2 and array.ndim:
        array = np.concatenate([array, array[:1]])
    elif how == 3:
        array = np.resize(array, [choices.below(5) for _ in range(choices.below(4))])
    elif how == 4:
        return _with_dtype(array, choices.one_of(_DTYPES))
    else:
        return choices.damage(content)
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _with_dtype(array: np.ndarray[Any, Any], dtype: str) -> bytes:
    """Write an array as another type: the same bytes, whatever they mean then."""
    raw = array.tobytes()
    size = np.dtype(dtype).itemsize
    stream = io.BytesIO()
    np.save(stream, np.frombuffer(raw[: len(raw) // size * size], dtype), allow_pickle=False)
    return stream.getvalue()
