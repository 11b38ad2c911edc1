"""DATA as a user names it: a file, a folder of data sets, or the name of a data set."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from ._data import unknown_name
from ._registry import REGISTRY
from .files import Table, match_columns, read_table
from .mulan import load_dataset

__all__ = ["data_set", "find_data", "is_file", "read_data"]

_KNOWN = {name.lower(): name for name in ("digits", *REGISTRY)}


def read_data(data: str, labels: Sequence[str] | None = None, drop: Sequence[str] = ()) -> Table:
    """Read a table with labels: a file, or a data set by its name.

    Parameters
    ----------
    data : str
        A file that `read_table` can read, or a name that `load_dataset` knows.
    labels : sequence of str, optional
        The label columns of a file.
    drop : sequence of str, default=()
        Columns that are no features.

    Examples
    --------
    >>> from refpair.datasets import read_data
    >>> read_data("digits")
    Table('digits': 3000 instances, 64 features, 10 labels)
    """
    if is_file(data):
        return read_table(data, labels, drop=drop)
    table = data_set(data)
    if labels is not None:
        raise ValueError(f"the data set {table.name!r} has its own labels; leave out --labels")
    for name in drop:
        if name not in table.feature_names:
            raise ValueError(f"{data}: {unknown_name('column', name, table.feature_names)}")
    return match_columns(table, [name for name in table.feature_names if name not in drop])


def find_data(data: str) -> list[str]:
    """Return what a word stands for: a file or data set, or all ``<name>/<name>.arff`` in that folder.

    Known data sets are named as they name themselves, whatever the capitals; a folder that is called as one
    is ``./<name>``. Of a folder, those of the paper come first, in its order.

    Examples
    --------
    >>> from refpair.datasets import find_data
    >>> find_data("emotions")
    ['emotions']
    """
    folder = Path(data)
    if data.lower() in _KNOWN or not folder.is_dir():
        return [_KNOWN.get(data.lower(), data)]
    order = {name: place for place, name in enumerate(REGISTRY)}
    found = [path for path in folder.glob("*/*.arff") if path.stem == path.parent.name]
    found += [path for path in [folder / f"{folder.resolve().name}.arff"] if path.is_file()]
    if not found:
        raise ValueError(f"{data}: the folder has no data sets <name>/<name>.arff; name a file instead")
    return [str(path) for path in sorted(found, key=lambda p: (order.get(p.stem, len(order)), p.stem))]


def data_set(name: str) -> Table:
    """Load a data set by its name, as a table."""
    try:
        found = load_dataset(name)
    except ValueError as error:
        raise ValueError(f"{name}: there is no such file; {error}") from None
    return Table(found.name, found.X, found.Y, found.feature_names, found.label_names)


def is_file(data: str) -> bool:
    """Whether a word is meant as a file; data sets have no dots and slashes in their names."""
    path = Path(data)
    if path.is_file():
        return True
    if path.suffix or len(path.parts) != 1:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", data)
    return False
