"""Multi-label data, and Mulan's files of it: ARFF, and the names of the labels in an XML file beside it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refpair.tables._arff import ArffFile, labels_beside, parse_arff, sparsified
from refpair.tables._cells import Matrix, dense
from refpair.tables._names import TableError, check_known, naming, unknown_name
from refpair.tables._source import check_cells


@dataclass(frozen=True, eq=False, repr=False)
class MultiLabelData:
    """A multi-label data set.

    Attributes
    ----------
    name : str
        The name of the data set.
    X : ndarray or sparse matrix (CSR) of shape (n_instances, n_features)
        The features, float64; missing values are NaN.
    Y : ndarray of shape (n_instances, n_labels)
        The labels, uint8: 1 where a label applies, else 0. In experiments on tables where some are not known,
        float64, with NaN for these.
    feature_names : list of str
        The names of the columns of ``X``, each one unique.
    label_names : list of str
        The names of the columns of ``Y``, each one unique.

    Examples
    --------
    >>> from refpair.datasets import load_dataset
    >>> load_dataset("digits")
    MultiLabelData('digits': 3000 instances, 64 features, 10 labels)
    """

    name: str
    X: Matrix
    Y: NDArray[Any]
    feature_names: list[str]
    label_names: list[str]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}: {self.X.shape[0]} instances, "
            f"{self.X.shape[1]} features, {len(self.label_names)} labels)"
        )


def read_arff(
    path: str | os.PathLike[str], labels: Sequence[str] | None = None, *, drop: Sequence[str] = ()
) -> MultiLabelData:
    """Read a multi-label data set from an ARFF file, dense or sparse, in UTF-8 or else Latin-1.

    Labels stand in the order of `labels`, by default those of the XML file of the same name beside the ARFF
    file; see `load_dataset` for the features. A name that several features share gets ``#2``, ``#3``, ...
    from its second use on.
    """
    path = Path(path)
    labels = labels_beside(path) if labels is None else labels
    if labels is None:
        raise ValueError(f"{path}: there is no {path.stem}.xml beside it; add it or name the labels")
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    with naming(str(path)):
        X, Y, names = _split_labels(parse_arff(text, len(raw)), labels, drop)
    return MultiLabelData(path.stem, sparsified(X), Y, names, list(labels))


def _split_labels(
    file: ArffFile, labels: Sequence[str], drop: Sequence[str]
) -> tuple[Matrix, NDArray[np.uint8], list[str]]:
    """Part the columns into features, labels in the given order, and the names of the features."""
    check_known(drop, [attribute.name for attribute in file.attributes])
    position = {one.name: i for i, one in enumerate(file.attributes) if one.name not in drop}
    for attribute in (file.attributes[i] for i in position.values()):
        if not attribute.is_readable:
            told = f"column {attribute.name!r} is of type {attribute.kind}; drop it, or use read_table"
            raise TableError(told, f"line {attribute.line}")
    for label, times in Counter(labels).items():
        if times > 1:
            raise TableError(f"the label {label!r} is named twice; remove one")
        if label not in position:
            raise TableError(unknown_name("label", label, position))
        if label in file.repeated:
            raise TableError(f"several attributes are named {label!r}; rename all but the label")
        attribute = file.attributes[position[label]]
        if attribute.values and not attribute.is_integer:
            told = f"label {label!r} has the values {', '.join(attribute.values[:5])}; write 0 and 1"
            raise TableError(told, f"line {attribute.line}")
    check_cells(file.n_bytes, file.matrix.shape[0], len(labels), "labels")
    Y = dense(file.matrix[:, [position.pop(label) for label in labels]])
    for row, column in np.argwhere((Y != 0) & (Y != 1))[:1]:
        value = f"{Y[row, column]:g}".replace("nan", "missing")
        raise TableError(f"label {labels[column]!r} is {value}; write 0 or 1", f"line {file.lines[row]}")
    return file.matrix[:, list(position.values())], Y.astype(np.uint8), list(position)
