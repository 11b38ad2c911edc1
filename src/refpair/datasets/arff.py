"""Mulan's files: the data in ARFF, the names of the labels in an XML file beside it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ._arff_header import Attribute, arff_error, read_header
from ._arff_rows import read_rows
from ._data import Matrix, MultiLabelData, SparseOption, check_sparse_option, store, unknown_name
from ._size import check_cells


def read_label_names(path: str | os.PathLike[str]) -> list[str]:
    """Read the names of the labels from a Mulan XML file.

    Parameters
    ----------
    path : path-like
        The XML file; labels inside labels (a hierarchy) count like all others.

    Returns
    -------
    list of str
        The names in the order of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from refpair.datasets import read_label_names
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "mood.xml")
    ...     _ = path.write_text('<labels><label name="joy"/><label name="anger"/></labels>')
    ...     read_label_names(path)
    ['joy', 'anger']
    """
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the latter two for odd encodings
        raise ValueError(f"{path}: not a valid XML file ({error}); it must list <label name=...>") from error
    names = [element.get("name") for element in root.findall(".//{*}label")]
    found = [name for name in names if name is not None]
    if not found or len(found) < len(names):
        raise ValueError(f"{path}: every label needs a line <label name=...></label>, and there must be one")
    twice = [name for name, count in Counter(found).items() if count > 1]
    if twice:
        raise ValueError(f"{path}: the label {twice[0]!r} is listed twice; remove one")
    return found


def read_arff(
    path: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    *,
    sparse: SparseOption = "auto",
) -> MultiLabelData:
    r"""Read a multi-label data set from an ARFF file, dense or sparse.

    Parameters
    ----------
    path : path-like
        The ARFF file.
    labels : sequence of str, optional
        The names of the attributes that are labels. By default they come from the XML file of the same
        name beside the ARFF file.
    sparse : {"auto", True, False}, default="auto"
        Whether the features are a ``scipy.sparse.csr_array``. "auto" means yes for the sparse form of
        ARFF and for dense files with fewer than 10 % of the features other than zero.

    Returns
    -------
    MultiLabelData
        Labels are matched by name and stand in the order of ``labels`` (so: of the XML file), which need
        not be the order of the columns. Features keep the order of the columns.

    Raises
    ------
    ValueError
        If something cannot be read: the message has the file, the line and what to do.

    Notes
    -----
    Numeric attributes are taken as they are and ``?`` becomes NaN. A nominal attribute whose values are all
    whole numbers, such as ``{0,1}`` or ``{1, 2, 3}``, becomes that number; any other becomes the position of
    the value in the declared list, from 0, so that ``{YES, NO}`` gives 0 for YES. A value left out of a
    sparse row is 0 for a numeric attribute and the *first* declared value for a nominal one. Labels must
    be 0 or 1. A name that several features share gets ``#2``, ``#3``, ... from its second use on.
    Files are UTF-8, or else Latin-1.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from refpair.datasets import read_arff
    >>> text = "@relation mood\n@attribute tempo real\n@attribute joy {0,1}\n@data\n0.5,1\n?,0\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "mood.arff")
    ...     _ = path.write_text(text)
    ...     data = read_arff(path, labels=["joy"])
    >>> data
    MultiLabelData('mood': 2 instances, 1 features, 1 labels)
    >>> data.X
    array([[0.5],
           [nan]])
    """
    check_sparse_option(sparse)
    path = Path(path)
    if labels is None:
        xml = path.with_suffix(".xml")
        if not xml.is_file():
            raise ValueError(f"{path}: there is no {xml.name} beside it; add it or name the labels")
        labels = read_label_names(xml)
    file = parse_arff(path)
    X, Y, names = split_labels(file, labels)
    return MultiLabelData(path.stem, store(X, sparse), Y, names, list(labels))


@dataclass(frozen=True)
class ArffFile:
    """The wanted columns of an ARFF file as numbers, with what messages and checks need.

    ``names`` are all columns of the file and ``repeated`` the names it uses more than once;
    ``lines[i]`` is the line of row ``i``.
    """

    source: str
    attributes: list[Attribute]
    matrix: Matrix
    names: list[str]
    repeated: set[str]
    lines: list[int]


def parse_arff(path: Path, is_wanted: Callable[[str], bool] = lambda name: True) -> ArffFile:
    """Read the columns with a wanted name; the others may be text."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    # Not splitlines(): that also splits at characters that may stand inside a quoted value.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    source = str(path)
    attributes, start = read_header(lines, source)
    counts = Counter(attribute.name for attribute in attributes)
    names = _unique([attribute.name for attribute in attributes])
    wanted = [i for i, name in enumerate(names) if is_wanted(name)]
    for attribute in (attributes[i] for i in wanted):
        if not attribute.is_readable:
            raise arff_error(
                source,
                attribute.line,
                f"column {attribute.name!r} is of type {attribute.kind}; encode it as numbers or drop it",
            )
    stripped = ((number, line.strip()) for number, line in enumerate(lines[start:], start=start + 1))
    rows = [(number, line) for number, line in stripped if line and line[0] != "%"]
    if not rows:
        raise arff_error(source, start, "no rows follow @data; is the file whole?")
    matrix = read_rows(rows, attributes, source)
    return ArffFile(
        source,
        [replace(attributes[i], name=names[i]) for i in wanted],
        matrix if len(wanted) == len(names) else matrix[:, wanted],
        names,
        {name for name, times in counts.items() if times > 1},
        [number for number, _ in rows],
    )


def split_labels(file: ArffFile, labels: Sequence[str]) -> tuple[Matrix, NDArray[np.uint8], list[str]]:
    """Part the columns into features, labels in the given order, and the names of the features."""
    position = {attribute.name: i for i, attribute in enumerate(file.attributes)}
    for label, times in Counter(labels).items():
        if times > 1:
            raise ValueError(f"{file.source}: the label {label!r} is named twice; remove one")
        if label not in position:
            raise ValueError(f"{file.source}: {unknown_name('label', label, position)}")
        if label in file.repeated:
            raise ValueError(
                f"{file.source}: several attributes are named {label!r}; rename all but the label"
            )
        attribute = file.attributes[position[label]]
        if attribute.values and not attribute.is_integer:
            raise arff_error(
                file.source,
                attribute.line,
                f"label {label!r} has the values {', '.join(attribute.values[:5])}; write 0 and 1",
            )
    check_cells(Path(file.source), file.matrix.shape[0], len(labels), "labels")
    Y = file.matrix[:, [position.pop(label) for label in labels]]
    Y = Y if isinstance(Y, np.ndarray) else Y.toarray()
    for row, column in np.argwhere((Y != 0) & (Y != 1))[:1]:
        value = f"{Y[row, column]:g}".replace("nan", "missing")
        raise arff_error(file.source, file.lines[row], f"label {labels[column]!r} is {value}; write 0 or 1")
    return file.matrix[:, list(position.values())], Y.astype(np.uint8), list(position)


def _unique(names: Sequence[str]) -> list[str]:
    taken, unique = set(names), list[str]()
    numbers: dict[str, count[int]] = {}
    for name in names:
        if name in numbers:
            name = next(new for n in numbers[name] if (new := f"{name}#{n}") not in taken)
            taken.add(name)
        numbers.setdefault(name, count(2))
        unique.append(name)
    return unique
