"""Stand-ins for what other parts of the package are about to have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refpair.classifiers._labels import LabelFormat
from refpair.features import make_features

_TRUE, _FALSE = {"1", "1.0", "true", "yes", "t", "y"}, {"0", "0.0", "false", "no", "f", "n", "-1", "-1.0"}


class JoinedFormat(LabelFormat):
    def write(self, labels, X):
        names = np.asarray(self.classes, object)
        return pd.Series([self.separator.join(names[row.astype(bool)]) for row in labels], name=self.column)


def joined_format(how, column, separator):
    made = JoinedFormat("array", how.classes, how.dtype)
    object.__setattr__(made, "column", column)
    object.__setattr__(made, "separator", separator)
    return made


def is_binary(column):
    values = {str(value).strip().lower() for value in column.dropna()} - {""}
    return bool(values) and values <= _TRUE | _FALSE


def zeros_and_ones(frame):
    out = np.zeros(frame.shape, np.uint8)
    for j, name in enumerate(frame.columns):
        for i, value in enumerate(frame[name].tolist()):
            told = str(value).strip().lower()
            if told not in _TRUE | _FALSE:
                row = frame.index[i]
                raise ValueError(
                    f"label column {name!r}, row {row + 1}: expected 0, 1, true or false, got {value!r}"
                )
            out[i, j] = told in _TRUE
    return out


def find_separator(cells):
    for one in "|;,":
        if any(one in str(cell) for cell in cells):
            return one
    return "|"


def split(cell, separator):
    return [name.strip() for name in str(cell).split(separator) if name.strip()]


class TableVectorizer:
    def __init__(self, kinds=None, *, folder=None, verbose=0):
        self.kinds, self.folder, self.verbose = kinds, folder, verbose

    def fit_transform(self, X, y=None):
        if not isinstance(X, pd.DataFrame):
            from sklearn.preprocessing import MaxAbsScaler, StandardScaler
            import scipy.sparse as sp

            self.columns_ = None
            return (MaxAbsScaler() if sp.issparse(X) else StandardScaler()).fit_transform(X)
        made = make_features(
            X.reset_index(drop=True), kinds=self.kinds, folder=self.folder and Path(self.folder), verbose=self.verbose
        )
        rows = {}
        for name, kind in made.kinds.items():
            rows[name] = (kind, "")
        self.columns_ = pd.DataFrame.from_dict(rows, orient="index", columns=["kind", "why"])
        self.columns_["missing"] = 0
        self.columns_["n_features"] = 1
        self.used_ = made.used
        return made.X

    def transform(self, X):
        raise NotImplementedError


class Table:
    def __init__(self, name, X, Y, folder):
        self.name, self.X, self.Y, self.folder = name, X, Y, folder


def read_data(data, labels=None, *, drop=(), sep=None, encoding=None):
    from refpair.datasets._frames import read_frame
    from refpair.datasets.files import read_table
    from refpair.datasets.find import data_set, is_file

    if is_file(data) and data.lower().endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq")):
        return Table(Path(data).name, read_frame(Path(data)), None, Path(data).parent)
    table = read_table(data, labels, require_labels=False) if is_file(data) else data_set(data)
    X = table.X
    frame = pd.DataFrame(X, columns=table.feature_names)
    Y = pd.DataFrame(table.Y, columns=table.label_names) if len(table.label_names) else None
    return Table(Path(data).name, frame, Y, None)
