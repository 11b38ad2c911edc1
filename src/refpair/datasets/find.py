"""DATA as a user names it: a file, a folder of data sets, or the name of a data set."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from refpair.tables import Table, read_table
from refpair.tables._cells import frame_of_matrix
from refpair.tables._names import check_known

from .mulan import REGISTRY, load_dataset

_KNOWN = {name.lower(): name for name in ("digits", *REGISTRY)}


def read_data(
    data: str,
    labels: Sequence[str] | None = None,
    *,
    drop: Sequence[str] = (),
    sep: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a table: a file that `read_table` can read, ``-`` for standard input, or a data set by its name.

    Data sets by name have columns of numbers (sparse if the data set is) and labels of 0 and 1.
    """
    if is_file(data):
        return read_table(data, labels, drop=drop, sep=sep, encoding=encoding)
    try:
        found = load_dataset(data)
    except ValueError as error:
        raise ValueError(f"{data}: there is no such file; {error}") from None
    if labels is not None:
        raise ValueError(f"the data set {found.name!r} has its own labels; leave out --labels")
    check_known(drop, found.feature_names, data)
    kept = [place for place, name in enumerate(found.feature_names) if name not in set(drop)]
    X = frame_of_matrix(found.X[:, kept] if drop else found.X, [found.feature_names[place] for place in kept])
    return Table(found.name, X, pd.DataFrame(found.Y, columns=found.label_names), None)


def find_data(data: str) -> list[str]:
    """Return what a word stands for: a file or data set, or all ``<name>/<name>.arff`` in that folder.

    Known data sets are named as they name themselves, whatever the capitals; a folder that is called as one
    is ``./<name>``. Of a folder, those of the paper come first, in its order.
    """
    folder = Path(data)
    if data.lower() in _KNOWN or not folder.is_dir():  # standard input, too
        return [_KNOWN.get(data.lower(), data)]
    order = {name: place for place, name in enumerate(REGISTRY)}
    found = [path for path in folder.glob("*/*.arff") if path.stem == path.parent.name]
    found += [path for path in [folder / f"{folder.resolve().name}.arff"] if path.is_file()]
    if not found:
        raise ValueError(f"{data}: the folder has no data sets <name>/<name>.arff; name a file instead")
    return [str(path) for path in sorted(found, key=lambda p: (order.get(p.stem, len(order)), p.stem))]


def is_file(data: str) -> bool:
    """Whether a word is meant as a file; data sets have no dots and slashes in their names."""
    path = Path(data)
    if data == "-" or path.is_file():
        return True
    if path.suffix or len(path.parts) != 1:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", data)
    return False
