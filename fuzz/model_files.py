"""Model files: any bytes, damaged files, and forged ones with a right checksum."""

from __future__ import annotations

import re
import resource
import warnings
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from fuzz.choices import Choices
from fuzz.forging import forge, signed, zipped
from fuzz.limits import MEGABYTES_IN_USE
from fuzz.models import X, saved
from fuzz.scratch import result_or_refusal, scratch_folder
from refpair import TableVectorizer, load
from refpair.persistence._values import OWN

INSTRUMENTED = ("refpair.persistence", "refpair._saved", "refpair.tables.vectorizer")
CHECKS_BOUNDS = True
_N_MODELS = 80  # or a few more
SEEDS = (
    b"\0PK\5\6" + bytes(18),
    b"\0",
    *(bytes([1, model]) + bytes(range(20)) for model in range(_N_MODELS)),
    *(bytes([2, model, 0, 255]) for model in range(_N_MODELS)),
    *(
        bytes([kind, model, how % 3, how]) + bytes(range(model, 200, 3))
        for kind in (2, 3)
        for model in range(0, _N_MODELS, 3)
        for how in range(0, 32, 3)
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

_METHODS = (
    "predict", "predict_proba", "expected_cost", "predict_set_proba", "predict_code", "decision_function",
)  # fmt: skip
_MOST_FEATURES = 100_000  # that rows are made of
_OUT_OF_BOUNDS = "index is out of bounds"  # what numba says; NumPy names the index


def check(data: bytes) -> None:
    """Let the first byte say what the rest is: of sixteen files, fourteen are forged."""
    choices = Choices(data[1:])
    kind = data[0] % 16 if data else 0
    rows: Any = X
    if kind == 0:
        content = choices.rest()
    else:
        found, rows = saved()[choices.below(len(saved()))]
        entries = dict(found)
        if kind == 1:
            content = choices.damage(zipped(entries))
        else:
            for _ in range(1 + choices.below(3)):
                forge(entries, choices)
            content = zipped(signed(entries))
    with scratch_folder() as folder:
        path = folder / "songs.refpair"
        path.write_bytes(content)
        before = _reset_peak()
        _check_file(path, rows[:4])
        assert _peak() - before <= MEGABYTES_IN_USE << 10, "this file takes too much memory"


def _check_file(path: Path, rows: Any) -> None:
    model = result_or_refusal(partial(_load, path), path)
    if model is None:
        return
    # Whatever a file held, a model that was loaded predicts, if it is given as many features as it wants.
    # What scikit-learn makes of its own estimators may be an error, but neither a crash nor a hang.
    of_scikit_learn = _classes(path) - OWN.keys() - {"Pipeline", "OneVsRestClassifier", "LabelBinarizer"}
    for given in _inputs(model, rows, own=not of_scikit_learn):
        for method in _METHODS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    if hasattr(model, method):
                        answer = getattr(model, method)(given)
                        assert method != "predict" or len(_dense(answer)) == _n_rows(given)
                except Exception as error:
                    known = not isinstance(error, MemoryError) and str(error) != _OUT_OF_BOUNDS
                    if not (of_scikit_learn and known):
                        raise


def _load(path: Path) -> Any:
    try:
        return load(path)
    except ValueError as error:
        if isinstance(error.__cause__, MemoryError):
            raise error.__cause__ from error
        raise


def _classes(path: Path) -> set[str]:
    """Return the names of the classes in a file, which can be loaded."""
    with zipfile.ZipFile(path) as archive:
        return set(re.findall(r'"class": "(\w+)"', archive.read("header.json").decode()))


def _inputs(model: Any, rows: Any, *, own: bool) -> list[Any]:
    """Return rows in several forms, as wide as the model says it wants them."""
    if isinstance(model, Pipeline) and isinstance(model[0], TableVectorizer):
        columns = model[0].columns_.index
        made = pd.DataFrame({name: [1.0, np.nan, 0.0, 2.0] for name in columns})
        return [made, rows] if isinstance(rows, pd.DataFrame) and set(columns) <= set(rows) else [made]
    if isinstance(rows, pd.DataFrame) and not own:
        return [rows, rows.to_numpy()]
    rows = X[:4]
    last = model[-1] if isinstance(model, Pipeline) else model  # the first step may let all pass
    n_features = getattr(model, "n_features_in_", getattr(last, "n_features_in_", 3))
    names = getattr(model, "feature_names_in_", None)
    if not isinstance(n_features, int) or n_features > _MOST_FEATURES:
        return [rows]
    wide = np.resize(rows, (4, n_features))
    first = wide if names is None else pd.DataFrame(wide, columns=names)
    return [first, sp.csr_array(wide), wide[:1].astype(np.float32)]


def _n_rows(given: Any) -> int:
    return int(given.shape[0])


def _dense(answer: Any) -> Any:
    return answer.toarray() if sp.issparse(answer) else answer


def _reset_peak() -> int:
    """Forget the largest memory so far where the system can, and return what it says now, in KB."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")
    return _peak()


def _peak() -> int:
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+)", status.read_text())[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
