"""ARFF files and the XML files beside them that name the labels.

Each form, dense and sparse, has two readers. The fast one splits the whole text at once and gives up (returns
None) at anything unusual: a quote, a comment, blanks as separators, an odd value. The careful one then knows
all of Weka's rules and, for a broken file, the line to blame.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from refpair._extras import pd

from ._arff_header import BRACES, QUOTED, Attribute, Cell, LineError, cell_of, read_header, split_cells
from ._cells import Floats, Matrix, dense, frame_of_matrix, with_short_indices
from ._source import check_cells

Attributes: TypeAlias = Sequence[Attribute]
Row: TypeAlias = tuple[int, str]  # the number of a line and its text
Triples: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], Floats]  # row, column, value

_SPARSE_BELOW = 0.1  # of the features are not zero
_UNPLAIN = re.compile(r"['\"%\\]")
_PLAIN_SPARSE = re.compile(r"\{\s*(?:\d+\s+[^\s,{}]+\s*(?:,\s*\d+\s+[^\s,{}]+\s*)*)?\}", re.ASCII)
_ENTRY = re.compile(rf"\s*(\d+)\s+(?:{QUOTED}\s*(?=,|$)|([^\s,'\"][^,]*))(?:(,)|$)")
_MOST_DIGITS = 18  # of an index; int() refuses texts of thousands


def read_label_names(path: Path) -> list[str]:
    """Read the names of the labels from a Mulan XML file; a hierarchy of labels counts as a list."""
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
    """The columns of an ARFF file as numbers, nominal values and texts by their codes.

    ``repeated`` are names that the file uses more than once; ``lines[i]`` is the line of row ``i``.
    """

    n_bytes: int
    attributes: list[Attribute]
    matrix: Matrix
    repeated: set[str]
    lines: list[int]


def parse_arff(text: str, n_bytes: int) -> ArffFile:
    """Read the columns of an ARFF file."""
    # Not splitlines(): that also splits at characters that may stand inside a quoted value.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    attributes, start = read_header(lines)
    names = [attribute.name for attribute in attributes]
    stripped = ((number, line.strip()) for number, line in enumerate(lines[start:], start=start + 1))
    rows = [(number, line) for number, line in stripped if line and line[0] != "%"]
    if not rows:
        raise LineError(start, "no rows follow @data; is the file whole?")
    return ArffFile(
        n_bytes,
        [replace(one, name=name) for one, name in zip(attributes, _unique(names), strict=True)],
        _read_rows(rows, attributes, n_bytes),
        {name for name, times in Counter(names).items() if times > 1},
        [number for number, _ in rows],
    )


def arff_frame(file: ArffFile) -> pd.DataFrame:
    """Make a table: nominal values as they are written, numbers in sparse columns if they are sparse."""
    names = [attribute.name for attribute in file.attributes]
    numbers = [place for place, attribute in enumerate(file.attributes) if attribute.is_number]
    if len(numbers) == len(names):
        return frame_of_matrix(sparsified(file.matrix), names)
    frame = frame_of_matrix(sparsified(file.matrix[:, numbers]), [names[place] for place in numbers])
    decoded = {
        attribute.name: _values(attribute, dense(file.matrix[:, [place]])[:, 0])
        for place, attribute in enumerate(file.attributes)
        if not attribute.is_number
    }
    return pd.concat([frame, pd.DataFrame(decoded)], axis=1)[names]


def _values(attribute: Attribute, codes: Any) -> Any:
    """Turn codes back into what is written: numbers if all values are, else texts."""
    texts: list[str | float] = [text.strip() or np.nan for text in attribute.codes]
    with suppress(ValueError):
        numbers = list(map(float, attribute.values or ()))
        if numbers and len(set(numbers)) == len(numbers):
            texts = list(numbers)
    written = dict(zip(attribute.codes.values(), texts, strict=True))
    return pd.Series([written.get(code, np.nan) for code in codes.tolist()]).array


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
    xml = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).with_suffix(".xml")
    return read_label_names(xml) if xml.is_file() else None


def sparsified(matrix: Matrix) -> Matrix:
    """Return a dense matrix of few values other than zero as a sparse one."""
    if isinstance(matrix, csr_array) or np.count_nonzero(matrix) >= _SPARSE_BELOW * matrix.size:
        return matrix
    return csr_array(matrix)


def _read_rows(rows: Sequence[Row], attributes: Attributes, n_bytes: int) -> Matrix:
    """Read all rows into one matrix, a ``csr_array`` if the rows are in the sparse form."""
    is_sparse = rows[0][1].startswith("{")
    for line, text in rows:
        if text.startswith("{") != is_sparse:
            raise LineError(line, "a file must not mix sparse {...} and dense rows; rewrite it in one form")
    texts = [text for _, text in rows]
    plain = _UNPLAIN.search("\n".join(texts)) is None
    if is_sparse:
        triples = _fast_sparse(texts, attributes) if plain else None
        if triples is None:
            triples = _careful_sparse(rows, attributes)
        return _to_csr(triples, len(rows), attributes, n_bytes)
    matrix = _fast_dense(texts, attributes) if plain else None
    return _careful_dense(rows, attributes) if matrix is None else matrix


def _encode(attribute: Attribute, cell: Cell, line: int) -> float:
    """Turn the text of one cell into its number."""
    text, quoted = cell
    if text == "?" and not quoted:
        return np.nan
    if text in attribute.codes:
        return attribute.codes[text]
    if not attribute.is_readable:
        return attribute.code_of_text(text)
    try:
        number = float(text) if attribute.is_number else None
    except ValueError:
        number = None
    if number is None or (attribute.is_integer and number not in attribute.allowed):
        wanted = "a number" if attribute.values is None else f"one of {{{', '.join(attribute.values[:10])}}}"
        raise LineError(line, f"{text!r} in column {attribute.name!r} is not {wanted}; correct it or use ?")
    return number


def _fast_dense(texts: Sequence[str], attributes: Attributes) -> Floats | None:
    width = len(attributes)
    if any(text.count(",") != width - 1 for text in texts):
        return None
    cells = [cell.strip() for cell in ",".join(texts).split(",")]
    table = np.array(cells, dtype=object).reshape(len(texts), width)
    matrix = np.zeros(table.shape)
    numbers = [i for i, attribute in enumerate(attributes) if attribute.is_number]
    numeric = table[:, numbers]
    missing = numeric == "?"
    numeric[missing] = "nan"
    try:
        matrix[:, numbers] = numeric.astype(np.float64)
        for i, attribute in enumerate(attributes):
            if not attribute.is_number:
                code = attribute.codes.__getitem__ if attribute.is_readable else attribute.code_of_text
                matrix[:, i] = [np.nan if cell == "?" else code(cell) for cell in table[:, i]]
    except (KeyError, ValueError):
        return None
    if not np.array_equal(np.isnan(matrix[:, numbers]), missing):  # someone wrote "nan"
        return None
    return matrix if _all_allowed(matrix, np.arange(width), attributes) else None


def _careful_dense(rows: Sequence[Row], attributes: Attributes) -> Floats:
    matrix = np.empty((len(rows), len(attributes)))
    for i, (line, text) in enumerate(rows):
        cells = split_cells(text, expected=len(attributes))
        if cells is None:
            raise LineError(line, "a quote is not closed, or text follows a closing quote")
        if len(cells) != len(attributes):
            raise LineError(
                line,
                f"{len(cells)} values for {len(attributes)} attributes; quote values that hold a comma, "
                "write ? for a missing one",
            )
        matrix[i] = [_encode(a, cell, line) for a, cell in zip(attributes, cells, strict=True)]
    return matrix


def _fast_sparse(texts: Sequence[str], attributes: Attributes) -> Triples | None:
    if not all(attribute.is_number for attribute in attributes):
        return None
    if not all(map(_PLAIN_SPARSE.fullmatch, texts)):
        return None
    words = " ".join(text[1:-1] for text in texts).replace(",", " ").split()
    counts = [text.count(",") + 1 if len(text) > 2 and not text[1:-1].isspace() else 0 for text in texts]
    try:
        columns = np.array(words[0::2], dtype=object).astype(np.int64)
        values = np.array(words[1::2], dtype=object).astype(np.float64)
    except (ValueError, OverflowError):
        return None
    rows = np.repeat(np.arange(len(texts)), counts)
    keys = np.sort(rows * len(attributes) + columns)
    if (
        (columns >= len(attributes)).any()
        or (keys[1:] == keys[:-1]).any()
        or np.isnan(values).any()
        or not _all_allowed(values, columns, attributes)
    ):
        return None
    return rows, columns, values


def _careful_sparse(rows: Sequence[Row], attributes: Attributes) -> Triples:
    entries: list[tuple[int, int, float]] = []
    for i, (line, text) in enumerate(rows):
        braces = BRACES.fullmatch(text)
        if braces is None:
            raise LineError(
                line, "a sparse row is {index value, ...} and nothing more; close quotes and braces"
            )
        inside, seen = braces[1], set[int]()
        position, more = 0, bool(inside.strip())
        while more:
            match = _ENTRY.match(inside, position)
            if match is None:
                raise LineError(line, f"expected 'index value' at {inside[position : position + 30]!r}")
            digits = match[1]
            column = int(digits) if len(digits) <= _MOST_DIGITS else len(attributes)
            if column >= len(attributes):
                raise LineError(
                    line,
                    f"index {digits[:30]}, but indices end at {len(attributes) - 1} (the first is 0)",
                )
            if column in seen:
                raise LineError(line, f"index {column} comes twice; remove one")
            seen.add(column)
            cell = cell_of(match[2], match[3], match[4])
            entries.append((i, column, _encode(attributes[column], cell, line)))
            position, more = match.end(), match[5] is not None
    table = np.array(entries, dtype=np.float64).reshape(-1, 3)
    return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]


def _to_csr(triples: Triples, n_rows: int, attributes: Attributes, n_bytes: int) -> Matrix:
    rows, columns, values = triples
    shape = (n_rows, len(attributes))
    matrix = csr_array((values, (rows, columns)), shape=shape)
    # What a row leaves out is zero, or the first of a nominal's values: if that is not 0, write it out.
    defaults = np.array([a.codes[a.values[0]] if a.values else 0.0 for a in attributes])
    filled = np.flatnonzero(defaults)
    if filled.size:
        check_cells(n_bytes, n_rows, filled.size, "columns whose first value is not 0")
        written = csr_array((np.ones(len(rows), bool), (rows, columns)), shape=shape)[:, filled].toarray()
        more_rows, which = np.nonzero(~written)
        more = csr_array((defaults[filled[which]], (more_rows, filled[which])), shape=shape)
        matrix = (matrix + more).tocsr()
    matrix.eliminate_zeros()
    return with_short_indices(matrix)


def _all_allowed(values: Floats, columns: NDArray[np.int64], attributes: Attributes) -> bool:
    """Whether the cells of whole-number nominals, values[..., i] in columns[i], are listed or missing."""
    lists: dict[frozenset[float] | None, int] = {}
    # The number of the list of values that each column has; columns of labels mostly share one.
    list_of = np.array(
        [lists.setdefault(a.allowed if a.is_integer and a.values else None, len(lists)) for a in attributes]
    )
    by_list = np.argsort(list_of[columns], kind="stable")  # so that each cell is looked at once
    ends = np.searchsorted(list_of[columns][by_list], np.arange(len(lists) + 1))
    for allowed, first, last in zip(lists, ends, ends[1:], strict=False):
        held = values[..., by_list[first:last]]
        if allowed is not None and not np.isin(held[~np.isnan(held)], list(allowed)).all():
            return False
    return True
