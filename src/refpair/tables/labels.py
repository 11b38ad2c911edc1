"""Labels in any form: read into a 0/1 matrix, and written back in the form they were given in.

A form is either a matrix, one column a label (0/1, booleans, yes/no, −1/1), or names: each sample has a list
of label names, or one string of joined names such as ``"joy|calm"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from refpair._saved import Savable, require

__all__ = ["LabelFormat", "LabelMatrix", "label_columns", "labelled_rows", "read_labels", "truth_values"]

Kind = Literal["classes", "array", "sparse", "spmatrix", "pandas", "polars", "names"]
Within = Literal["list", "array", "series", "frame"]
Container = Literal["list", "tuple", "set", "frozenset", "joined"]
LabelMatrix: TypeAlias = Any  # an ndarray of uint8 or a csr_array of ones, which carries no types

SEPARATORS = ("|", ";", ",", "\t")
"""What may stand between names in a string, the first one that occurs."""

_SEPARATOR = "label separator"  # in the attrs of a Series or DataFrame: the one that the user has given
_CONTAINERS: dict[str, type] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
_WORDS = (("0", "1"), ("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("0.0", "1.0"), ("-1", "1"))


@dataclass(frozen=True, eq=False)
class LabelFormat(Savable):
    """The form that Y was given in, so that predictions can be given back in the same form.

    Attributes
    ----------
    kind : {"classes", "array", "sparse", "spmatrix", "pandas", "polars", "names"}
        "classes" is a one-dimensional y of one or two classes; "sparse" and "spmatrix" are SciPy's two kinds
        of sparse matrices; "names" are names of labels, several a sample.
    classes : ndarray
        The names of the labels; the classes themselves if the kind is "classes".
    dtype : numpy dtype
        Of a matrix.
    values : list of [absent, present], optional
        How each column of a matrix says that a label is absent or present, unless that is 0 and 1.
    within : {"list", "array", "series", "frame"}, default="list"
        What held the names; "frame" is a DataFrame of one column.
    container : {"list", "tuple", "set", "frozenset", "joined"}, default="list"
        What the names of one sample are in; "joined" is a string.
    separator : str, default="|"
        What stands between joined names.
    name : str, optional
        The name of the Series or column.
    """

    kind: Kind
    classes: npt.NDArray[Any]
    dtype: np.dtype[Any]
    values: list[list[Any]] | None = None
    within: Within = "list"
    container: Container = "list"
    separator: str = "|"
    name: str | None = None

    @property
    def n_labels(self) -> int:
        """The number of labels: one for the classes of a one-dimensional y."""
        return 1 if self.kind == "classes" else len(self.classes)

    def _check_saved(self) -> None:
        names = self.classes
        right = len(names) in (1, 2) if self.kind == "classes" else len(names) > 0
        numbers = self.kind in ("classes", "names") or self.values is not None or self.dtype.kind in "biuf"
        require(names.ndim == 1 and right and numbers, "labels lack names, or a type of numbers")
        strings = len({name for name in names if isinstance(name, str)})
        require(self.kind != "polars" or strings == len(names), "polars has no columns of such names")
        joined = self.kind == "names" and self.container == "joined"
        require(not joined or (strings == len(names) and self.separator), "labels cannot be joined")
        if self.values is not None:
            pairs = len(self.values) == len(names) and all(len(pair) == 2 for pair in self.values)
            plain = pairs and all(isinstance(one, str | int | float) for pair in self.values for one in pair)
            require(plain and self.dtype.kind in "biufOU", "labels have no values")

    def write(self, labels: npt.NDArray[np.uint8], X: object) -> Any:
        """Return a 0/1 matrix in this format; rows of a pandas object are named as those of X."""
        index = X.index if isinstance(X, pd.DataFrame) else None
        if self.kind == "classes":
            return self.classes[labels[:, 0]]
        if self.kind == "names":
            return self._write_names(labels, index)
        matrix = labels.astype(self.dtype) if self.values is None else self._write_values(labels)
        if self.kind == "sparse":
            return sp.csr_array(matrix)
        if self.kind == "spmatrix":
            return sp.csr_matrix(matrix)
        if self.kind == "pandas":
            frame = pd.DataFrame(matrix, columns=self.classes, index=index)
            return frame if self.values is None else frame.infer_objects()
        if self.kind == "polars":
            schema = self.classes.tolist()
            return import_module("polars").DataFrame(matrix.tolist(), schema=schema, orient="row")
        return matrix

    def _write_values(self, labels: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        assert self.values is not None
        columns = [np.array(pair, self.dtype)[labels[:, i]] for i, pair in enumerate(self.values)]
        return np.column_stack(columns)

    def _write_names(self, labels: npt.NDArray[np.uint8], index: Any) -> Any:
        rows = np.empty(len(labels), object)
        for i, row in enumerate(labels):
            names = self.classes[np.flatnonzero(row)].tolist()
            joined = self.container == "joined"
            rows[i] = self.separator.join(names) if joined else _CONTAINERS[self.container](names)
        if self.within == "list":
            return rows.tolist()
        if self.within == "array":
            return rows
        if self.within == "series":
            return pd.Series(rows, index=index, name=self.name)
        return pd.DataFrame({self.name: rows}, index=index)

    def write_probabilities(self, marginals: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the probabilities of labels; of a one-dimensional y, those of its classes."""
        if self.kind != "classes":
            return marginals
        if len(self.classes) == 1:
            return np.ones((len(marginals), 1))
        return np.column_stack([1.0 - marginals, marginals])

    def read_more(self, Y: Any, name: str = "Y") -> LabelMatrix:
        """Read more labels, which must be those that this format was made of.

        Parameters
        ----------
        Y : labels in any form, see :func:`read_labels`
            Names and matrices may stand for each other.
        name : str
            The argument to name in the ValueError.
        """
        if self.kind == "classes":
            return self._read_more_classes(Y)
        if self.kind != "names" and not sp.issparse(Y) and np.ndim(Y) == 1 and len(self.classes) == 1:
            Y = np.asarray(Y)[:, None]
        classes = self.classes.tolist()
        known = None if self.kind == "array" else classes
        separator = self.separator if self.container == "joined" else None
        labels, given = read_labels(Y, name, classes=known, separator=separator)
        if given.kind == "classes":
            raise ValueError(f"{name} must have the labels of the model: {_listed(classes)}")
        if labels.shape[1] != len(classes):
            raise ValueError(
                f"{name} has {labels.shape[1]} labels (columns), but the model has {len(classes)}"
            )
        if given.kind in ("pandas", "polars") and self.kind in ("pandas", "polars", "names"):
            columns = list(given.classes)
            same = set(columns) == set(classes) if self.kind == "names" else columns == classes
            if not same:
                raise ValueError(
                    f"the columns of {name} are {columns}, but the labels of the model are {classes}, "
                    "in this order"
                )
            labels = labels[:, [columns.index(one) for one in classes]]
        return labels

    def _read_more_classes(self, y: Any) -> npt.NDArray[np.uint8]:
        y = column_or_1d(np.asarray(y))
        if len(self.classes) == 2 and not (known := np.isin(y, self.classes)).all():
            raise ValueError(f"y has the class {y[known.argmin()]!r}, but the model knows {self.classes}")
        # A model of a single class knows no other: whatever else y holds is not that class.
        return np.asarray(y != self.classes[0], np.uint8)[:, None]


def label_columns(Y: pd.DataFrame, separator: str | None = None) -> pd.DataFrame:
    """Return label columns of a table, ready to be given to ``fit``.

    Parameters
    ----------
    Y : DataFrame
        One column of joined names, or a column for each label.
    separator : str, optional
        What stands between joined names; found out by default.

    Examples
    --------
    >>> labels = label_columns(pd.DataFrame({"mood": ["joy calm", "calm"]}), separator=" ")
    >>> read_labels(labels)[1].classes.tolist()
    ['calm', 'joy']
    """
    Y = Y.copy(deep=False)
    if separator is not None:
        Y.attrs[_SEPARATOR] = separator
    return Y


def labelled_rows(Y: pd.DataFrame) -> tuple[npt.NDArray[np.bool_], str]:
    """Tell which rows of label columns have labels, and say in a sentence what becomes of the others.

    A row that is empty in all of several columns has no labels. In a single column of names, an empty cell
    says that a sample has none of them.

    Examples
    --------
    >>> labelled_rows(pd.DataFrame({"joy": [1, None, 0], "calm": [0, None, 0]}))
    (array([ True, False,  True]), '1 of 3 rows has no labels and is left out')
    """
    empty = Y.isna() | Y.map(lambda cell: isinstance(cell, str) and not cell.strip())
    without = empty.all(axis=1).to_numpy(dtype=bool)
    n = int(without.sum())
    if not n:
        return ~without, ""
    if n == len(Y):
        raise ValueError(f"no row has labels in {_listed(list(Y.columns))}")
    of_names = Y.shape[1] == 1 and truth_values(Y.iloc[:, 0][~without]) is None
    told = f"{n:,} of {len(Y):,} rows {'have' if n > 1 else 'has'}"
    if of_names:
        return np.ones(len(Y), bool), f"{told} an empty cell in {Y.columns[0]!r}, taken as none of the labels"
    return ~without, f"{told} no labels and {'are' if n > 1 else 'is'} left out"


def read_labels(
    Y: Any, name: str = "Y", *, classes: Sequence[Any] | None = None, separator: str | None = None
) -> tuple[LabelMatrix, LabelFormat]:
    """Read Y into a 0/1 matrix, dense or CSR, and note the form it was given in.

    Parameters
    ----------
    Y : labels in any form
        A matrix (array, sparse matrix, DataFrame of pandas or polars) of 0 and 1, booleans, −1 and 1, or
        words such as "yes" and "no"; or names of labels: lists, tuples, sets or joined strings (``"a|b"``),
        one for each sample, in a list, array, Series or DataFrame of one column. A one-dimensional y of two
        values is a single label.
    name : str
        The argument to name in the ValueError.
    classes : sequence, optional
        The label names, if they are known; others are refused.
    separator : str, optional
        What stands between joined names; found out by default.

    Examples
    --------
    >>> matrix, form = read_labels(pd.DataFrame({"joy": [True, False], "calm": [True, True]}))
    >>> matrix
    array([[1, 1],
           [0, 1]], dtype=uint8)
    >>> form.kind, list(form.classes)
    ('pandas', ['joy', 'calm'])
    >>> matrix, form = read_labels(["joy|calm", "calm", "anger"])
    >>> matrix.tolist(), form.classes.tolist()
    ([[0, 1, 1], [0, 1, 0], [1, 0, 0]], ['anger', 'calm', 'joy'])
    >>> form.write(matrix[:1], None)
    ['calm|joy']
    """
    if Y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if sp.issparse(Y):
        return _read_sparse(Y, name)
    if isinstance(Y, pd.DataFrame):
        if Y.shape[1] == 1 and (rows := _rows_of_names(Y.iloc[:, 0], classes, of_frame=True)) is not None:
            return _read_names(rows, "frame", Y.iloc[:, 0], name, classes, Y.attrs.get(_SEPARATOR, separator))
        return _read_frame(Y, name)
    if type(Y).__module__.startswith("polars.") and hasattr(Y, "columns"):
        matrix, form = _read_frame(pd.DataFrame({one: Y[one].to_list() for one in Y.columns}), name)
        return matrix, LabelFormat("polars", form.classes, form.dtype, form.values)
    rows = _rows_of_names(Y, classes)
    if rows is not None:
        within: Within = "series" if isinstance(Y, pd.Series) else "list" if isinstance(Y, list) else "array"
        return _read_names(rows, within, Y, name, classes, getattr(Y, "attrs", {}).get(_SEPARATOR, separator))
    return _read_array(np.asarray(Y), name)


def _read_array(array: npt.NDArray[Any], name: str) -> tuple[LabelMatrix, LabelFormat]:
    if array.ndim == 1:
        return _read_classes(array)
    _check_shape(array.shape, name)
    labels = np.arange(array.shape[1])
    if array.dtype.kind in "biuf":
        return _read_numbers(array, labels, "array", name)
    matrix, values, plain = _read_columns([array[:, i] for i in labels], labels, name)
    dtype = np.dtype(np.int64) if plain else array.dtype
    return matrix, LabelFormat("array", labels, dtype, None if plain else values)


def _read_frame(Y: pd.DataFrame, name: str) -> tuple[LabelMatrix, LabelFormat]:
    _check_shape(Y.shape, name)
    names = np.asarray(Y.columns)
    array = Y.to_numpy()
    if array.dtype.kind in "biuf":
        return _read_numbers(array, names, "pandas", name)
    matrix, values, plain = _read_columns([Y.iloc[:, i] for i in range(len(names))], names, name)
    dtype = np.dtype(np.int64 if plain else object)
    return matrix, LabelFormat("pandas", names, dtype, None if plain else values)


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or shape[1] == 0:
        raise ValueError(f"{name} must have a row for each sample and a column for each label")


def _read_numbers(
    array: npt.NDArray[Any], names: npt.NDArray[Any], kind: Kind, name: str
) -> tuple[LabelMatrix, LabelFormat]:
    """Read a matrix of numbers: 0 and 1, or −1 and 1."""
    one = array == 1
    absent: Any = 0
    wrong = ~(one | (array == 0))
    if wrong.any():
        absent, wrong = -1, ~(one | (array == -1)) if (array == -1).any() else wrong
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(_not_a_label(name, array[row, column], row, names[column]))
    values = None if absent == 0 else [[-1, 1]] * array.shape[1]
    return np.ascontiguousarray(one, dtype=np.uint8), LabelFormat(kind, names, array.dtype, values)


def _read_columns(
    columns: Sequence[Any], names: npt.NDArray[Any], name: str
) -> tuple[npt.NDArray[np.uint8], list[list[Any]], bool]:
    """Read columns of several types, or of words, and tell how each writes its labels; and if all by 0/1."""
    matrix = np.empty((len(columns[0]), len(columns)), np.uint8)
    values = []
    for i, column in enumerate(columns):
        pair = truth_values(column)
        cells = np.asarray(column, object)
        if pair is None:
            pair = [0, 1]
            row = int(np.argmax([not _is_either(cell, pair) for cell in cells]))
            raise ValueError(_not_a_label(name, cells[row], row, names[i]))
        present = _plain(pair[1])
        matrix[:, i] = [_plain(cell) == present for cell in cells]
        values.append(pair)
    return matrix, values, all(not isinstance(pair[0], str) and pair[0] == 0 for pair in values)


def truth_values(column: Any) -> list[Any] | None:
    """Return how a column says that a label is absent and present, or None if it says something else.

    Examples
    --------
    >>> truth_values(["no", "yes", "no"]), truth_values([True, False]), truth_values(["joy", "calm"])
    (['no', 'yes'], [False, True], None)
    """
    cells = np.asarray(column, object)
    different = list(dict.fromkeys(_plain(cell) for cell in cells))
    if any(one is None for one in different) or not different:
        return None
    for words in _WORDS:
        if set(different) <= set(words):
            written: dict[Any, Any] = {_plain(cell): cell for cell in cells}
            return [_spelled(written, words, i) for i in (0, 1)]
    return None


def _plain(cell: Any) -> str | None:
    """Return a cell as a word in small letters; 1, 1.0 and True are "1", "1" and "true"."""
    if isinstance(cell, str):
        return cell.strip().lower()
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, int | float | np.integer | np.floating) and cell == cell and int(cell) == cell:
        return str(int(cell))
    return None


def _spelled(written: dict[Any, Any], words: tuple[str, str], which: int) -> Any:
    """Return a word as the column spells it; one that does not occur, as the other one is spelled."""
    if words[which] in written:
        found = written[words[which]]
        return found.item() if isinstance(found, np.generic) else found
    other = next(iter(written.values()))
    if isinstance(other, str):
        same = str.upper if other.isupper() else str.title if other.istitle() else str
        return same(words[which])
    return which == 1 if isinstance(other, bool | np.bool_) else int(words[which])


def _is_either(cell: Any, pair: list[Any]) -> bool:
    return not isinstance(cell, str) and _plain(cell) in [str(one) for one in pair]


def _not_a_label(name: str, value: object, row: int, column: object) -> str:
    told = "an empty cell" if _is_empty(value) else str(value)
    return f"{name} must be 0/1, boolean or yes/no: column {column!s} has {told} in row {row}"


def _rows_of_names(Y: Any, classes: Sequence[Any] | None, of_frame: bool = False) -> list[Any] | None:
    """Return Y as a list if its samples are lists of names or joined names, else None."""
    if isinstance(Y, np.ndarray) and (Y.ndim != 1 or Y.dtype.kind not in "OUT"):
        return None
    if not isinstance(Y, list | tuple | np.ndarray | pd.Series):
        return None
    if isinstance(Y, pd.Series) and pd.api.types.is_numeric_dtype(Y):
        return None
    rows = list(Y)
    filled = [row for row in rows if not _is_empty(row)]
    if filled and all(isinstance(row, str) for row in filled):
        return rows if _are_joined(rows, filled, classes, of_frame) else None
    if not filled or not all(isinstance(row, (*_CONTAINERS.values(), np.ndarray)) for row in filled):
        return None
    if any(isinstance(row, set | frozenset) for row in filled):
        return rows
    lengths = {len(row) for row in filled}
    if not lengths - {0}:
        return rows  # nothing but empty lists
    is_table = len(lengths) == 1 and len(filled) == len(rows)
    cells = {_plain(cell) for row in filled for cell in row}
    return None if is_table and any(cells <= set(words) for words in _WORDS) else rows


def _is_empty(row: Any) -> bool:
    return row is None or (pd.api.types.is_scalar(row) and bool(pd.isna(row)))


def _are_joined(rows: list[Any], filled: list[str], classes: Sequence[Any] | None, of_frame: bool) -> bool:
    """Whether strings are joined names, not the words of a single label."""
    if classes is not None:
        return True
    if any(separator in row for row in filled for separator in SEPARATORS):
        return True
    if of_frame:
        return truth_values(filled) is None
    return len(rows) > len(filled) or len(set(filled)) > 2


def _read_names(
    rows: list[Any],
    within: Within,
    given: Any,
    name: str,
    classes: Sequence[Any] | None,
    separator: str | None,
) -> tuple[LabelMatrix, LabelFormat]:
    """Read names into a 0/1 matrix; labels are sorted, as MultiLabelBinarizer sorts them."""
    filled = [row for row in rows if not _is_empty(row)]
    container: Container = "joined"
    if not isinstance(filled[0], str):
        kind = type(filled[0]).__name__
        container = kind if kind in _CONTAINERS else "list"  # type: ignore[assignment]  # one of its names
        names = [[] if _is_empty(row) else list(row) for row in rows]
    else:
        if separator is None:
            found = [one for one in SEPARATORS if any(one in row for row in filled)]
            separator = found[0] if found else "|"
        parts = [[] if _is_empty(row) else row.split(separator) for row in rows]
        names = [[part.strip() for part in row if part.strip()] for row in parts]
    known = _known_names(names, name) if classes is None else list(classes)
    place = {one: i for i, one in enumerate(known)}
    matrix = np.zeros((len(rows), len(known)), np.uint8)
    for i, row in enumerate(names):
        for one in row:
            if one not in place:
                raise ValueError(
                    f"{name}, row {i}: there is no label {one!r}; the labels are {_listed(known)}"
                )
            matrix[i, place[one]] = 1
    labels = np.array([*known, None], object)[:-1]
    labels = labels.astype(str) if all(isinstance(one, str) for one in known) else labels
    title = None if getattr(given, "name", None) is None else str(given.name)
    form = LabelFormat("names", labels, np.dtype(np.uint8), None, within, container, separator or "|", title)
    return matrix, form


def _known_names(names: list[list[Any]], name: str) -> list[Any]:
    different = {one for row in names for one in row}
    if not different:
        raise ValueError(f"{name} names no label in any row; there is nothing to learn")
    try:
        return sorted(different)
    except TypeError:
        raise ValueError(f"{name} has names of labels of several types; make them all strings") from None


def _listed(names: Sequence[Any], most: int = 8) -> str:
    return ", ".join(map(str, names[:most])) + (", …" if len(names) > most else "")


def _read_sparse(Y: Any, name: str) -> tuple[sp.csr_array, LabelFormat]:
    kind: Kind = "sparse" if isinstance(Y, sp.sparray) else "spmatrix"
    _check_shape(Y.shape, name)
    matrix = sp.csr_array(Y, copy=True)  # what follows works in place
    matrix.sum_duplicates()
    wrong = (matrix.data != 0) & (matrix.data != 1)
    if wrong.any():
        entry = int(wrong.argmax())
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise ValueError(_not_a_label(name, matrix.data[entry], row, matrix.indices[entry]))
    matrix.eliminate_zeros()
    return matrix.astype(np.uint8), LabelFormat(kind, np.arange(matrix.shape[1]), matrix.dtype)


def _read_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], LabelFormat]:
    """Read a one-dimensional y of one or two classes; the second one is the label."""
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}. "
            "Give several labels as a 0/1 matrix with one column each."
        )
    return codes.astype(np.uint8)[:, None], LabelFormat("classes", classes, classes.dtype)
