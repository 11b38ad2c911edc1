"""Data by name: a file, a folder of data sets, or a known data set, which may be downloaded."""

from __future__ import annotations

import csv
import errno
import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http.client import HTTPException
from importlib import resources
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from scipy.sparse import issparse

from refpair._extras import pd
from refpair._files import written_whole
from refpair._folders import cache_folder
from refpair._sparse import sparse_kind
from refpair.tables import Table, read_table
from refpair.tables._cells import frame_of_matrix
from refpair.tables._names import check_known, unknown_name

from .arff import MultiLabelData, read_arff
from .digits import N_CLASSES, N_PICTURES, make_overlaid_digits

COMMIT = "43f6389095ad71984264db4387a8074b22bc7d4a"
URL = f"https://raw.githubusercontent.com/tsoumakas/mulan/{COMMIT}/data/multi-label"
_TIMEOUT = 30.0  # seconds without an answer after which a server counts as out of reach


class DatasetUnavailableError(OSError):
    """A data set is not on this machine and cannot be downloaded.

    Examples
    --------
    >>> from refpair.datasets import DatasetUnavailableError
    >>> issubclass(DatasetUnavailableError, OSError)
    True
    """


@dataclass(frozen=True)
class Source:
    """The size of a data set and its two files: paths below ``URL`` and checksums."""

    n_labels: int
    n_instances: int
    n_features: int
    arff: str
    arff_sha256: str
    xml: str
    xml_sha256: str


def _read_registry() -> dict[str, Source]:
    """Read the table of data sets, in the order of the paper; Corel5k is there in its small, sparse form."""
    with resources.files(__package__).joinpath("mulan.csv").open(encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    return {name: Source(int(k), int(n), int(d), *files) for name, k, n, d, *files in rows}


REGISTRY = _read_registry()


@dataclass(frozen=True)
class DatasetInfo:
    """Name and size of a data set.

    Attributes
    ----------
    name : str
        The name for `load_dataset`.
    n_labels, n_instances, n_features : int
        The size of the data set.
    is_local : bool
        Whether it can be loaded without a download.

    Examples
    --------
    >>> from refpair.datasets import list_datasets
    >>> list_datasets()[0]
    DatasetInfo(name='digits', n_labels=10, n_instances=3000, n_features=64, is_local=True)
    """

    name: str
    n_labels: int
    n_instances: int
    n_features: int
    is_local: bool


def list_datasets() -> list[DatasetInfo]:
    """List the data sets that `load_dataset` knows.

    Returns
    -------
    list of DatasetInfo
        The embedded set "digits" first, then those of the paper in the order of its table.

    Examples
    --------
    >>> from refpair.datasets import list_datasets
    >>> [info.name for info in list_datasets()][:4]
    ['digits', 'Corel5k', 'CAL500', 'bibtex']
    """
    digits = DatasetInfo("digits", N_CLASSES, N_PICTURES, 64, is_local=True)
    return [digits] + [
        DatasetInfo(name, s.n_labels, s.n_instances, s.n_features, _find(name, s) is not None)
        for name, s in REGISTRY.items()
    ]


def load_dataset(name: str, *, download: bool = True) -> MultiLabelData:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        "digits", which needs no files, or a data set of the paper: Corel5k, CAL500, bibtex, enron, medical,
        genbase, yeast, flags, scene or emotions. Case does not matter.
    download : bool, default=True
        Whether to download what is not on this machine, about 6 MB at most, into the user's cache.

    Returns
    -------
    MultiLabelData
        The data. Features are sparse (CSR, an array or a matrix, as scikit-learn's ``sparse_interface`` says)
        if the file is, or if less than 10 % of the values are not zero.

    Raises
    ------
    DatasetUnavailableError
        If the data set is not on this machine and cannot be downloaded.

    Notes
    -----
    "digits" are 3000 pictures of 8 x 8 pixels, each of one to three overlaid handwritten digits, which are
    the labels. They are identical on every machine.

    The folder ``$REFPAIR_DATA`` comes first, if it has ``<name>/<name>.arff`` and ``<name>/<name>.xml``;
    these files are not checked. Then comes the user's cache, then the repository of Mulan on GitHub or
    the mirror ``$REFPAIR_DATA_URL``; these files are checked against known checksums at every use.

    Nominal features whose values are all whole numbers, such as ``{1, 2, 3}``, become these numbers; others
    become the positions of the values in the declared list, from 0. Missing values are NaN.

    Examples
    --------
    >>> from refpair.datasets import load_dataset
    >>> data = load_dataset("digits")
    >>> data
    MultiLabelData('digits': 3000 instances, 64 features, 10 labels)
    >>> [[name for name, there in zip(data.label_names, row) if there] for row in data.Y[:3]]
    [['0', '5'], ['3'], ['0', '5', '6']]
    """
    known = _known()
    if name.lower() not in known:
        raise ValueError(unknown_name("data set", name, known.values()))
    name = known[name.lower()]
    if name == "digits":
        return make_overlaid_digits()
    path = _find(name, REGISTRY[name]) or _bring(name, REGISTRY[name], allowed=download)
    data = read_arff(path)
    return replace(data, X=sparse_kind()(data.X)) if issparse(data.X) else data


def _known() -> dict[str, str]:
    return {name.lower(): name for name in ("digits", *REGISTRY)}


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
    if data.lower() in _known() or not folder.is_dir():  # standard input, too
        return [_known().get(data.lower(), data)]
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


def cache_dir() -> Path:
    """Return the folder that downloads go to."""
    return cache_folder() / "datasets"


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / name / f"{name}.arff", folder / name / f"{name}.xml"


def _find(name: str, source: Source) -> Path | None:
    if own := os.environ.get("REFPAIR_DATA"):
        arff, xml = _files(Path(own).expanduser(), name)
        if arff.is_file() and xml.is_file():
            return arff
    arff, xml = _files(cache_dir(), name)
    is_there = _is_intact(arff, source.arff_sha256) and _is_intact(xml, source.xml_sha256)
    return arff if is_there else None


def _is_intact(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def _bring(name: str, source: Source, *, allowed: bool) -> Path:
    """Download what is not in the cache, which only ever holds the right content."""
    arff, xml = _files(cache_dir(), name)
    try:
        if not allowed:
            raise DatasetUnavailableError("downloads are switched off")
        base = (os.environ.get("REFPAIR_DATA_URL") or URL).rstrip("/")
        _fetch(f"{base}/{source.xml}", xml, source.xml_sha256)
        _fetch(f"{base}/{source.arff}", arff, source.arff_sha256)
    except DatasetUnavailableError as error:
        raise DatasetUnavailableError(
            f"the data set {name!r} is not available: {error}; try again later with a network, or set "
            f"REFPAIR_DATA to a folder that holds {name}/{name}.arff and {name}/{name}.xml"
        ) from error
    return arff


def _fetch(url: str, path: Path, sha256: str) -> None:
    """Bring a file from the URL to the path unless it is there: the whole, right file or nothing."""
    if _is_intact(path, sha256):
        return
    if sys.stderr.isatty():
        print(f"downloading {path.name}", file=sys.stderr)
    try:
        with urlopen(url, timeout=_TIMEOUT) as answer:
            content = answer.read()
    except HTTPError as error:
        answered = f"the server answered {error.code}"
        raise DatasetUnavailableError(f"downloading {url} failed ({answered})") from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        raise DatasetUnavailableError(
            f"downloading {url} failed (no connection or a broken transfer: {reason})"
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DatasetUnavailableError(f"what {url} sent has the wrong checksum (broken or changed)")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as file:
            file.write(content)
    except OSError as error:
        raise DatasetUnavailableError(f"cannot write to {path.parent} ({error})") from error
