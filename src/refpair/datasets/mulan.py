"""The ten data sets of the paper by name, from a folder, the user's cache or Mulan's repository."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import platformdirs

from refpair.tables._arff import SparseOption, check_sparse_option, store
from refpair.tables._names import unknown_name

from ._download import DatasetUnavailableError, fetch, is_intact
from .arff import MultiLabelData, read_arff
from .digits import N_CLASSES, N_PICTURES, make_overlaid_digits

COMMIT = "43f6389095ad71984264db4387a8074b22bc7d4a"
URL = f"https://raw.githubusercontent.com/tsoumakas/mulan/{COMMIT}/data/multi-label"


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
    """What is known of a data set before it is loaded.

    Attributes
    ----------
    name : str
        The name to give to `load_dataset`.
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


def load_dataset(name: str, *, sparse: SparseOption = "auto", download: bool = True) -> MultiLabelData:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        "digits", which needs no files, or a data set of the paper: Corel5k, CAL500, bibtex, enron, medical,
        genbase, yeast, flags, scene or emotions. Case does not matter.
    sparse : {"auto", True, False}, default="auto"
        Whether the features are a ``scipy.sparse.csr_array``; see `read_arff` for "auto".
    download : bool, default=True
        Whether to download what is not on this machine, about 6 MB at most, into the user's cache.

    Returns
    -------
    MultiLabelData
        The data; see `read_arff` for how nominal features become numbers.

    Raises
    ------
    DatasetUnavailableError
        If the data set is not on this machine and cannot be downloaded.

    Notes
    -----
    "digits" are 3000 pictures of 8 x 8 pixels, each of one to three handwritten digits laid over each other,
    and the labels say which. They are the same, bit for bit, on every machine.

    The folder ``$REFPAIR_DATA`` comes first, if it has ``<name>/<name>.arff`` and ``<name>/<name>.xml``;
    these are taken as they are. Then comes the user's cache, then the repository of Mulan on GitHub or
    the mirror ``$REFPAIR_DATA_URL``; these files are checked against known checksums at every use.

    Examples
    --------
    >>> from refpair.datasets import load_dataset
    >>> data = load_dataset("digits")
    >>> data
    MultiLabelData('digits': 3000 instances, 64 features, 10 labels)
    >>> [[name for name, there in zip(data.label_names, row) if there] for row in data.Y[:3]]
    [['0', '5'], ['3'], ['0', '5', '6']]
    """
    check_sparse_option(sparse)
    known = {"digits": "digits", **{each.lower(): each for each in REGISTRY}}
    if name.lower() not in known:
        raise ValueError(unknown_name("data set", name, known.values()))
    name = known[name.lower()]
    if name == "digits":
        data = make_overlaid_digits()
        # Half the pixels are not zero, so only an explicit wish makes it sparse.
        return MultiLabelData(name, store(data.X, sparse), data.Y, data.feature_names, data.label_names)
    path = _find(name, REGISTRY[name]) or _bring(name, REGISTRY[name], allowed=download)
    return read_arff(path, sparse=sparse)


def cache_dir() -> Path:
    """Return the folder that downloads go to."""
    return Path(platformdirs.user_cache_dir("refpair")) / "datasets"


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / name / f"{name}.arff", folder / name / f"{name}.xml"


def _find(name: str, source: Source) -> Path | None:
    own = os.environ.get("REFPAIR_DATA")
    if own:
        arff, xml = _files(Path(own).expanduser(), name)
        if arff.is_file() and xml.is_file():
            return arff
    arff, xml = _files(cache_dir(), name)
    if is_intact(arff, source.arff_sha256) and is_intact(xml, source.xml_sha256):
        return arff
    return None


def _bring(name: str, source: Source, *, allowed: bool) -> Path:
    arff, xml = _files(cache_dir(), name)
    try:
        if not allowed:
            raise DatasetUnavailableError("downloads are switched off")
        base = (os.environ.get("REFPAIR_DATA_URL") or URL).rstrip("/")
        for path, remote, sha256 in (
            (xml, source.xml, source.xml_sha256),
            (arff, source.arff, source.arff_sha256),
        ):
            if not is_intact(path, sha256):
                fetch(f"{base}/{remote}", path, sha256)
    except DatasetUnavailableError as error:
        raise DatasetUnavailableError(
            f"the data set {name!r} is not available: {error}; try again later with a network, or set "
            f"REFPAIR_DATA to a folder that holds {name}/{name}.arff and {name}/{name}.xml"
        ) from error
    return arff
