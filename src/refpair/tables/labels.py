"""Labels in any form: read into a 0/1 matrix, and written back in the form they were given in.

A form is either a matrix, one column a label (0/1, booleans, yes/no, −1/1), or names: each sample has a list
of label names, or one string of joined names such as ``"joy|calm"``. A cell of a matrix that is empty (NaN,
None, blank) says that nobody knows whether the label applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from refpair._extras import is_dataframe, is_series, pd
from refpair._saved import Savable, require
from refpair._sparse import check_sparse, sparse_kind

from ._cells import (
    from_polars,
    is_empty,
    is_present,
    is_unknown,
    listed,
    not_a_truth,
    row_name,
    truth_values,
)
from .label_names import CONTAINERS, Container, container_of, names_matrix, rows_of_names, split_rows

Kind = Literal["classes", "array", "sparse", "pandas", "polars", "names"]
Within = Literal["list", "array", "series", "frame", "polars series", "polars frame"]
LabelMatrix: TypeAlias = Any  # an ndarray of uint8 or a csr_array of ones, which carries no types

UNKNOWN = 2  # in an ndarray: whether the label applies is not known

_LONGEST_WORD = 256  # in the answers of a model from a file, but for names: NumPy makes all words as wide
_SEPARATOR = "label separator"  # in the attrs of a Series or DataFrame: the one that the user has given


@dataclass(frozen=True, eq=False)
class LabelFormat(Savable):
    """The form that Y was given in, so that predictions can be given back in the same form.

    A matrix says by ``values`` how each column writes [absent, present], unless that is 0 and 1. Names are
    held ``within`` a list, array, Series or DataFrame of one column, called ``name``; those of one sample are
    in a ``container``, or joined to one string by the ``separator``. Of a one-dimensional y, ``classes`` are
    its one or two classes, of all else the names of the labels.
    """

    kind: Kind
    classes: npt.NDArray[Any]
    dtype: np.dtype[Any]
    values: list[list[Any]] | None = None
    within: Within = "list"
    container: Container = "list"
    separator: str = "|"
    name: str | int | None = None

    @property
    def n_labels(self) -> int:
        """The number of labels: one for the classes of a one-dimensional y."""
        return 1 if self.kind == "classes" else len(self.classes)

    @property
    def label_names(self) -> list[Any]:
        """The names of the labels; of a one-dimensional y, the class that is the label."""
        return list(self.classes[-self.n_labels :].tolist())

    def _check_saved(self) -> None:
        names = self.classes
        right = len(names) in (1, 2) if self.kind == "classes" else len(names) > 0
        numbers = self.kind in ("classes", "names") or self.values is not None or self.dtype.kind in "biuf"
        require(names.ndim == 1 and right and numbers, "labels lack names, or a type of numbers")
        strings = len({name for name in names if isinstance(name, str)})
        require(self.kind != "polars" or strings == len(names), "polars has no columns of such names")
        joined = self.kind == "names" and self.container == "joined"
        require(not joined or (strings == len(names) and self.separator), "labels cannot be joined")
        require(len(self.separator) <= _LONGEST_WORD, "labels are joined by a long text")
        if self.values is not None:
            pairs = len(self.values) == len(names) and all(len(pair) == 2 for pair in self.values)
            plain = pairs and all(isinstance(one, str | int | float) for pair in self.values for one in pair)
            require(plain and self.dtype.kind in "biufOU", "labels have no values")
            longest = max(len(str(one)) for pair in self.values for one in pair)
            require(longest <= _LONGEST_WORD, "the values of labels are too long for a file")

    def write(self, labels: npt.NDArray[np.uint8], X: object) -> Any:
        """Return a 0/1 matrix in this format; rows of a pandas object are named as those of X."""
        index = X.index if is_dataframe(X) else None
        if self.kind == "classes":
            return self.classes[labels[:, 0]]
        if self.kind == "names":
            return self._write_names(labels, index)
        matrix = labels.astype(self.dtype)
        if self.values is not None:
            columns = [np.array(pair, self.dtype)[labels[:, i]] for i, pair in enumerate(self.values)]
            matrix = np.column_stack(columns)
        if self.kind == "sparse":
            return sparse_kind()(matrix)
        if self.kind == "pandas":
            frame = pd.DataFrame(matrix, columns=self.classes, index=index)
            return frame if self.values is None else frame.infer_objects()
        if self.kind == "polars":
            schema = self.classes.tolist()
            return import_module("polars").DataFrame(matrix.tolist(), schema=schema, orient="row")
        return matrix

    def _write_names(self, labels: npt.NDArray[np.uint8], index: Any) -> Any:
        rows = np.empty(len(labels), object)
        for i, row in enumerate(labels):
            names = self.classes[np.flatnonzero(row)].tolist()
            joined = self.container == "joined"
            rows[i] = self.separator.join(names) if joined else CONTAINERS[self.container](names)
        if self.within == "list":
            return rows.tolist()
        if self.within == "array":
            return rows
        if self.within == "series":
            return pd.Series(rows, index=index, name=self.name)
        if self.within == "frame":
            return pd.DataFrame({self.name: rows}, index=index)
        column = import_module("polars").Series(self.name, rows.tolist())
        return column if self.within == "polars series" else column.to_frame()

    def write_probabilities(self, marginals: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the probabilities of labels; of a one-dimensional y, those of its classes."""
        if self.kind != "classes":
            return marginals
        if len(self.classes) == 1:
            return np.ones((len(marginals), 1))
        return np.column_stack([1.0 - marginals, marginals])

    def read_more(self, Y: Any, name: str = "Y", *, may_miss: bool = False) -> LabelMatrix:
        """Read more labels, those of this format; names and matrices may stand for each other.

        With `may_miss`, some may be unknown, as in :func:`read_labels`, and even all of a label.
        """
        if self.kind == "classes":
            y, unknown = _known_classes(column_or_1d(_as_array(Y)))
            if len(self.classes) == 2 and not (right := np.isin(y, self.classes)).all():
                raise ValueError(f"y has the class {y[right.argmin()]!r}, but the model knows {self.classes}")
            # A model of a single class knows no other: whatever else y holds is not that class.
            labels = _with_unknown(y != self.classes[0], unknown)
            _check_unknown(labels, self, "y", None, may_miss=may_miss)
            return labels
        if self.kind != "names" and len(self.classes) == 1 and _is_one_column(Y):
            Y = np.asarray(Y)[:, None]
        classes = self.classes.tolist()
        separator = self.separator if self.container == "joined" else None
        names_first = self.kind == "names"
        labels, given, index = _read(Y, name, classes, separator, names_first=names_first)
        _check_unknown(labels, given, name, index, may_miss=may_miss)
        if given.kind == "classes":
            raise ValueError(f"{name} must have the labels of the model: {listed(list(map(str, classes)))}")
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


def label_columns(Y: pd.DataFrame, separator: str | None = None) -> pd.DataFrame:
    """Return label columns of a table, ready to be given to ``fit``; `separator` parts joined names."""
    Y = Y.copy(deep=False)
    if separator is not None:
        Y.attrs[_SEPARATOR] = separator
    return Y


def labeled_rows(Y: pd.DataFrame) -> tuple[npt.NDArray[np.bool_], str]:
    """Tell which rows of label columns have labels, and say in a sentence what becomes of the others.

    A row that is empty in all of several columns has no labels; what is empty in others is unknown. In a
    single column of names, an empty cell says that a sample has none of them.
    """
    blank = Y.map(lambda cell: isinstance(cell, str) and not cell.strip())
    empty = (Y.isna() | blank).to_numpy(dtype=bool)
    without = np.asarray(empty.all(axis=1))
    n = int(without.sum())
    if n and n == len(Y):
        raise ValueError(f"no row has labels in {listed(list(map(str, Y.columns)))}; fill in some first")
    told = f"{n:,} of {len(Y):,} rows {'have' if n > 1 else 'has'}"
    if n and Y.shape[1] == 1 and truth_values(Y.iloc[:, 0][~without]) is None:  # names
        return np.ones(len(Y), bool), f"{told} an empty cell in {Y.columns[0]!r}, taken as none of the labels"
    sentences = [f"{told} no labels and {'are' if n > 1 else 'is'} left out"] if n else []
    unknown = empty[~without]
    if m := int(unknown.sum()):
        is_one = (
            "are empty, which is taken as unknown labels"
            if m > 1
            else "is empty, and taken as an unknown label"
        )
        sentences.append(f"{m:,} of {unknown.size:,} cells in the label columns {is_one}")
    if sentences and all(_only_present(Y.iloc[:, i][~empty[:, i]]) for i in range(Y.shape[1])):
        sentences.append("no cell says that a label is absent: if empty ones do, write 0 or no into them")
    return ~without, "; ".join(sentences)


def _only_present(cells: pd.Series) -> bool:
    values = truth_values(cells)
    return values is not None and all(is_present(cell, values) for cell in cells)


def read_labels(
    Y: Any,
    name: str = "Y",
    *,
    classes: Sequence[Any] | None = None,
    separator: str | None = None,
    names_first: bool = True,
    may_miss: bool = False,
) -> tuple[LabelMatrix, LabelFormat]:
    """Read Y into a 0/1 matrix, dense or CSR, and note the form it was given in.

    Y is a matrix (array, sparse matrix, DataFrame of pandas or polars) of 0 and 1, booleans, −1 and 1, or
    words such as "yes" and "no"; or names of labels: lists, tuples, sets or joined strings (``"a|b"``), one
    for each sample, in a list, array, Series or DataFrame of one column. A one-dimensional y of two values is
    a single label. `name` is what messages call it; names beyond `classes` are refused; `separator` is found
    out by default. With `names_first`, lists that could be either are names, if `classes` has them all.

    Cells of a matrix that are NaN, None or blank are unknown labels. They are refused unless they `may_miss`;
    then the matrix is dense, and UNKNOWN there. A label of which nothing is known is refused in any case.
    """
    labels, form, index = _read(Y, name, classes, separator, names_first=names_first)
    if has_unknown(labels) and (nothing := (labels == UNKNOWN).all(axis=0)).any():
        raise ValueError(
            f"{_column_name(form, name, int(nothing.argmax()))} has empty cells only, so there is nothing to "
            "learn: fill in at least one of them, or leave the column out"
        )
    _check_unknown(labels, form, name, index, may_miss=may_miss)
    return labels, form


def _read(
    Y: Any, name: str, classes: Sequence[Any] | None, separator: str | None, *, names_first: bool
) -> tuple[LabelMatrix, LabelFormat, pd.Index | None]:
    """Read labels, known or not, for :func:`read_labels`; what rows are called comes with them."""
    if Y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if sp.issparse(Y):
        return *_read_sparse(Y, name), None
    is_polars = type(Y).__module__.startswith("polars.")
    given = from_polars(Y) if is_polars else Y
    is_frame = is_dataframe(given)
    column = given.iloc[:, 0] if is_frame and given.shape[1] == 1 else given
    separator = getattr(given, "attrs", {}).get(_SEPARATOR, separator)
    rows = None
    if not isinstance(column, np.ndarray) or (column.ndim == 1 and column.dtype.kind in "OUT"):
        rows = rows_of_names(column, classes, separator, of_frame=is_frame, names_first=names_first)
    if rows is not None:
        names, separator = split_rows(rows, separator)
        matrix, labels = names_matrix(names, classes, getattr(column, "index", None), name)
        within: Any = "frame" if is_frame else "series" if is_series(column) else "array"
        within = f"polars {within}" if is_polars else "list" if isinstance(column, list) else within
        title = getattr(column, "name", None)
        title = title if isinstance(title, str | int | None) else str(title)
        dtype = np.dtype(np.uint8)
        form = LabelFormat("names", labels, dtype, None, within, container_of(rows), separator, title)
        return matrix, form, None
    if is_frame:
        if is_polars:  # gaps have made floats of whole numbers
            whole = [one for one, kind in Y.schema.items() if kind.is_integer() and given[one].hasnans]
            given = given.astype(dict.fromkeys(whole, "Int64"))
        return *_read_matrix(given, "polars" if is_polars else "pandas", name), given.index
    array = _as_array(given)
    return *(_read_classes(array) if array.ndim == 1 else _read_matrix(array, "array", name)), None


def label_format_of(model: Any) -> LabelFormat | None:
    """Return the form that labels have for a model of this package, also within pipelines and searches."""
    while model is not None and not hasattr(model, "_label_format"):
        steps = getattr(model, "steps", None)
        model = steps[-1][1] if steps else getattr(model, "best_estimator_", None)
    return None if model is None else model._label_format


def read_predictions(
    model: Any, predicted: Any, y: Any, *, may_miss: bool = False
) -> tuple[LabelMatrix, LabelMatrix, list[Any]]:
    """Return true and predicted labels, in whatever form, as 0/1 matrices, and the names of the labels.

    A model of this package tells the form, also within pipelines and searches; for others it is that of y.
    With `may_miss`, true labels may be unknown.
    """
    form = label_format_of(model)
    if form is None:
        # Some rows may lack one of two classes.
        known = np.concatenate([np.ravel(y), predicted]) if np.ndim(predicted) == 1 else y
        _, form, _ = _read(known, "y", None, None, names_first=True)
    truths = form.read_more(y, "y", may_miss=may_miss)
    return truths, form.read_more(predicted, "the prediction"), form.label_names


def read_truths(model: Any, y: Any) -> LabelMatrix:
    """Return true labels, some of which may be unknown; a model of this package tells their form."""
    form = label_format_of(model)
    if form is None:
        return _read(y, "y", None, None, names_first=True)[0]
    return form.read_more(y, "y", may_miss=True)


def has_unknown(labels: LabelMatrix) -> bool:
    """Whether some labels of a matrix, as it was read, are not known."""
    return not sp.issparse(labels) and bool(labels.max(initial=0) == UNKNOWN)


def with_gaps(labels: LabelMatrix) -> Any:
    """Return a matrix, as it was read, as users write it: NaN where a label is unknown, if any is."""
    return np.where(labels == UNKNOWN, np.nan, labels) if has_unknown(labels) else labels


def _check_unknown(
    labels: LabelMatrix, form: LabelFormat, name: str, index: pd.Index | None, *, may_miss: bool
) -> None:
    """Refuse unknown labels, naming the first, unless there may be some."""
    if may_miss or not has_unknown(labels):
        return
    row, column = np.argwhere(labels == UNKNOWN)[0]
    raise ValueError(
        f"{_column_name(form, name, column)} has an empty cell in row "
        f"{row if index is None else row_name(index, row)}: CSRPEClassifier, BinaryRelevance and "
        "BayesDecisionClassifier with one of them learn from labels that are not all known; for all else, "
        "drop such rows"
    )


def _column_name(form: LabelFormat, name: str, column: int) -> str:
    return "y" if form.kind == "classes" else f"{name}: column {form.classes[column]}"


def _is_one_column(Y: Any) -> bool:
    """Whether Y says yes or no of each sample, without a column around it."""
    if sp.issparse(Y) or hasattr(Y, "columns"):
        return False
    if isinstance(Y, np.ndarray):
        return Y.ndim == 1
    return truth_values(cell for cell in Y if not is_unknown(cell)) is not None


def _read_matrix(Y: Any, kind: Kind, name: str) -> tuple[LabelMatrix, LabelFormat]:
    """Read an array, or a DataFrame whose columns may be of several types."""
    _check_shape(Y.shape, name)
    array, index = np.asarray(Y), getattr(Y, "index", None)
    names = np.arange(array.shape[1]) if index is None else np.asarray(Y.columns)
    if array.dtype.kind in "biuf":
        return _read_numbers(array, names, kind, name, index)
    columns = array.T if index is None else [Y.iloc[:, i] for i in range(len(names))]
    return _read_columns(list(columns), names, kind, name, index)


def _as_array(given: Any) -> npt.NDArray[Any]:
    """Return labels as an array, in which NaN among words is not the word "nan"."""
    if np.ma.is_masked(given):
        raise ValueError(
            "labels must not be masked: Y.astype(float).filled(np.nan) has NaN for those that are unknown"
        )
    array = np.asarray(given)
    if array.dtype.kind == "U" and not isinstance(given, np.ndarray):
        cells = np.asarray(given, object)
        return cells if any(map(is_empty, cells.flat)) else array
    return array


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or shape[1] == 0:
        raise ValueError(f"{name} must have a row for each sample and a column for each label")


def _read_numbers(
    array: npt.NDArray[Any], names: npt.NDArray[Any], kind: Kind, name: str, index: pd.Index | None = None
) -> tuple[LabelMatrix, LabelFormat]:
    """Read a matrix of numbers: 0 and 1, or −1 and 1."""
    one = array == 1
    absent: Any = 0
    wrong = ~(one | (array == 0))
    unknown = np.isnan(array) if wrong.any() else wrong
    wrong &= ~unknown
    if wrong.any() and not (array == 0).any():
        absent, wrong = -1, ~(one | (array == -1) | unknown)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise _no_label(name, array[row, column], row, names[column], index)
    values = None if absent == 0 else [[-1, 1]] * array.shape[1]
    labels = np.ascontiguousarray(one, dtype=np.uint8)
    labels[unknown] = UNKNOWN
    return labels, LabelFormat(kind, names, array.dtype, values)


def _read_columns(
    columns: Sequence[Any], names: npt.NDArray[Any], kind: Kind, name: str, index: pd.Index | None = None
) -> tuple[LabelMatrix, LabelFormat]:
    """Read columns of several types, or of words, each of which may write its labels in its own way."""
    matrix = np.empty((len(columns[0]), len(columns)), np.uint8)
    values = []
    for i, column in enumerate(columns):
        cells = list(column)
        known = [row for row, cell in enumerate(cells) if not is_unknown(cell)]
        pair = truth_values(cells[row] for row in known) if known else [0, 1]
        if pair is None:
            row = known[not_a_truth(cells[row] for row in known)]
            raise _no_label(name, cells[row], row, names[i], index)
        matrix[:, i] = UNKNOWN
        matrix[known, i] = [is_present(cells[row], pair) for row in known]
        values.append(pair)
    if all(type(one) is int and one in (0, 1) for pair in values for one in pair):
        return matrix, LabelFormat(kind, names, np.dtype(np.int64))
    dtype = np.array(values).dtype if columns[0].dtype.kind == "U" else np.dtype(object)
    return matrix, LabelFormat(kind, names, dtype, values)


def _no_label(name: str, value: Any, row: Any, column: Any, index: pd.Index | None = None) -> ValueError:
    row = row if index is None else row_name(index, row)
    return ValueError(f"{name} must be 0/1, boolean or yes/no: column {column} has {value} in row {row}")


def _read_sparse(Y: Any, name: str) -> tuple[LabelMatrix, LabelFormat]:
    _check_shape(Y.shape, name)
    check_sparse(Y, name)
    matrix = sp.csr_array(Y, copy=True)  # what follows works in place
    matrix.sum_duplicates()
    unknown = matrix.data != matrix.data
    wrong = (matrix.data != 0) & (matrix.data != 1) & ~unknown
    if wrong.any():
        entry = int(wrong.argmax())
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise _no_label(name, matrix.data[entry], row, matrix.indices[entry])
    form = LabelFormat("sparse", np.arange(matrix.shape[1]), matrix.dtype)
    if unknown.any():
        matrix.data[unknown] = UNKNOWN
        return matrix.toarray().astype(np.uint8), form
    matrix.eliminate_zeros()
    return matrix.astype(np.uint8), form


def _read_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], LabelFormat]:
    """Read a one-dimensional y of one or two classes; the second one is the label."""
    known, unknown = _known_classes(y)
    assert_all_finite(known, input_name="y")
    check_classification_targets(known)
    classes, codes = np.unique(known, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(known)}. "
            "Give several labels as a 0/1 matrix with one column each."
        )
    return _with_unknown(codes, unknown), LabelFormat("classes", classes, classes.dtype)


def _known_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return the cells of a one-dimensional y that are not empty, and which are.

    A blank text is, if the others are yes or no.
    """
    unknown = np.zeros(len(y), bool)
    if y.dtype.kind == "f":
        unknown = np.isnan(y)
    elif y.dtype.kind in "OU":
        unknown = np.array([is_unknown(cell) for cell in y], bool)
        if unknown.any() and truth_values(y[~unknown]) is None:
            unknown = np.array([is_empty(cell) for cell in y], bool)
    if not unknown.any():
        return y, unknown
    return np.array(y[~unknown].tolist()) if y.dtype == object else y[~unknown], unknown


def _with_unknown(known: npt.ArrayLike, unknown: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """Return a single label as a matrix."""
    labels = np.full((len(unknown), 1), UNKNOWN, np.uint8)
    labels[~unknown, 0] = known
    return labels
