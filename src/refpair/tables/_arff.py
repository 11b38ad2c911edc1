"""ARFF files and the XML files beside them that name the labels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from refpair.tables._arff_header import Attribute, arff_error, read_header
from refpair.tables._arff_rows import read_rows
from refpair.tables._matrix import Matrix, frame_of_matrix, store

__all__ = ["ArffFile", "arff_frame", "labels_beside", "parse_arff", "read_label_names"]


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


@dataclass(frozen=True)
class ArffFile:
    """The columns of an ARFF file as numbers, with what messages and checks need.

    Nominal values and texts are there by their codes; see `Attribute`. ``names`` are all columns of the file
    and ``repeated`` the names it uses more than once; ``lines[i]`` is the line of row ``i``.
    """

    source: str
    n_bytes: int
    attributes: list[Attribute]
    matrix: Matrix
    names: list[str]
    repeated: set[str]
    lines: list[int]


def parse_arff(text: str, source: str, n_bytes: int, numbers_but: Sequence[str] | None = None) -> ArffFile:
    """Read the columns of an ARFF file.

    Parameters
    ----------
    text : str
        What the file holds.
    source : str
        The file, for messages.
    n_bytes : int
        Its size.
    numbers_but : sequence of str, optional
        All columns but these, which are left out, must be numeric or nominal. By default, texts may be there.
    """
    # Not splitlines(): that also splits at characters that may stand inside a quoted value.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    attributes, start = read_header(lines, source)
    counts = Counter(attribute.name for attribute in attributes)
    names = _unique([attribute.name for attribute in attributes])
    dropped = set(numbers_but or ())
    wanted = [i for i, name in enumerate(names) if name not in dropped]
    for attribute in (attributes[i] for i in wanted):
        if numbers_but is not None and not attribute.is_readable:
            raise arff_error(
                source,
                attribute.line,
                f"column {attribute.name!r} is of type {attribute.kind}; drop it, or use read_table",
            )
    stripped = ((number, line.strip()) for number, line in enumerate(lines[start:], start=start + 1))
    rows = [(number, line) for number, line in stripped if line and line[0] != "%"]
    if not rows:
        raise arff_error(source, start, "no rows follow @data; is the file whole?")
    matrix = read_rows(rows, attributes, source, n_bytes)
    return ArffFile(
        source,
        n_bytes,
        [replace(attributes[i], name=names[i]) for i in wanted],
        matrix if len(wanted) == len(names) else matrix[:, wanted],
        names,
        {name for name, times in counts.items() if times > 1},
        [number for number, _ in rows],
    )


def arff_frame(file: ArffFile) -> pd.DataFrame:
    """Make a table: nominal values as they are written, numbers in sparse columns if they are sparse."""
    names = [attribute.name for attribute in file.attributes]
    decoded: dict[str, Any] = {}
    numbers = []
    for place, attribute in enumerate(file.attributes):
        if attribute.is_number:
            numbers.append(place)
        else:
            codes = file.matrix[:, [place]]
            codes = codes if isinstance(codes, np.ndarray) else codes.toarray()
            decoded[attribute.name] = _values(attribute, codes[:, 0])
    if not decoded:
        return frame_of_matrix(store(file.matrix, "auto"), names)
    frame = frame_of_matrix(store(file.matrix[:, numbers], "auto"), [names[place] for place in numbers])
    return pd.concat([frame, pd.DataFrame(decoded)], axis=1)[names]


def _values(attribute: Attribute, codes: Any) -> Any:
    """Turn codes back into what is written: numbers if all values are, else texts."""
    texts: list[str | float] = [text.strip() or np.nan for text in attribute.codes]
    place_of = {code: place for place, code in enumerate(attribute.codes.values())}
    if attribute.values is not None:
        try:
            numbers = [float(value) for value in attribute.values]
            if len(set(numbers)) == len(numbers):
                texts = list(numbers)
        except ValueError:
            pass
    cells = [texts[place_of[code]] if code in place_of else np.nan for code in codes.tolist()]
    return pd.Series(cells).array


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


def labels_beside(path: Path) -> list[str] | None:
    """Return the labels that the XML file of the same name lists, if there is one."""
    name = path.name[: -len(".gz")] if path.suffix.lower() == ".gz" else path.name
    xml = path.with_name(name).with_suffix(".xml")
    return read_label_names(xml) if xml.is_file() else None
