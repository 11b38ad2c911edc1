"""Tables to features: numbers, dates, categories, texts and images as one matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (  # fmt: skip
    _check_feature_names,
    _check_feature_names_in,
    _check_n_features,
    check_array,
    check_is_fitted,
)

from refpair._doc_link import DocLinked
from refpair._extras import is_dataframe, pd
from refpair._fitting import all_or_nothing
from refpair._progress import CallbackSupportMixin
from refpair._saved import IfThere, Savable, require
from refpair._sparse import check_sparse, sparse_kind

from ._cells import Matrix, dense, frame_of_matrix, from_polars, is_missing, listed, with_short_indices
from ._encoders import (
    BooleanEncoder,
    CategoryEncoder,
    DateEncoder,
    Encoder,
    MissingEncoder,
    NumberEncoder,
    PixelEncoder,
)
from ._images import ImageEncoder
from ._names import unknown_name
from ._text import EmbeddingEncoder, TextEncoder
from .columns import ColumnKind, Kind, check_kinds, find_kinds

_ROW = (str, str, str, int, int)
_SPARSE_BELOW = 0.3  # of the values are not zero: the features are sparse


class TableVectorizer(DocLinked, CallbackSupportMixin, Savable, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a table into features for any classifier.

    The kind of each column is detected: numbers, yes/no, dates, categories, strings of many values, texts and
    image paths; ids are ignored. ``columns_`` has the kind of each column and the reason; `kinds` sets
    other kinds.

    Parameters
    ----------
    kinds : mapping of str to kind, optional
        Kinds of columns, where detection fails: "number", "boolean", "date", "category", "string",
        "text", "image" or "ignored".
    text_model : str, optional
        The folder or package of a sentence-transformers model on this machine, which adds embeddings of texts
        (``pip install 'refpair[text]'``).
    folder : path-like, optional
        The folder that image paths are relative to. No path may lead out of it.
    verbose : int, default=0
        1 shows a progress bar while images are read.

    Attributes
    ----------
    columns_ : DataFrame
        For each column its ``kind``, ``why``, the number of ``missing`` cells, and the number of
        ``features``.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        Their names, if the table has names.

    Notes
    -----
    - Numbers are centered by their median and scaled by their quartiles; outliers are compressed.
      Columns that are mostly zero keep their zeros.
    - Dates become days since the first, year, month, weekday and hour.
    - Categories become a 0/1 column for each value; unseen values count as another value.
    - Texts become TF-IDF of words, or of characters in scripts without spaces; strings TF-IDF of their parts
      and of 3 or 4 characters in a row.
    - Images become their edges (HOG) and a thumbnail. Pixels in columns named like ``pixel_0_0`` form one
      image.
    - A column with empty cells gets one more feature that marks them.

    Numbers, categories, and each text and image column have the same weight: a mean squared length of 1 in
    the training table. Columns of a new table are matched by name; others are ignored.

    Examples
    --------
    >>> import pandas as pd
    >>> from refpair import TableVectorizer
    >>> table = pd.DataFrame({"said": ["so good", "so bad", "well"], "age": [30, None, 40]})
    >>> vectorizer = TableVectorizer().fit(table)
    >>> vectorizer.columns_
           kind                       why  missing  features
    said   text  strings of several words        0         1
    age  number                   numbers        1         2
    >>> vectorizer.get_feature_names_out().tolist()
    ['age', 'age is missing', 'said: so']
    """

    _doc_page = "tables"
    n_features_in_: int
    feature_names_in_: IfThere[npt.NDArray[np.object_]]
    _encoders: list[Any]
    _weights: npt.NDArray[np.float64]
    _sparse: bool
    _found: list[list[Any]]

    def __init__(
        self,
        kinds: Mapping[str, Kind] | None = None,
        *,
        text_model: str | None = None,
        folder: str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.kinds = kinds
        self.text_model = text_model
        self.folder = folder
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Detect the kinds of columns, and fit their encoders.

        Parameters
        ----------
        X : DataFrame, array or sparse matrix of shape (n, n_columns)
        y : ignored
        """
        self.fit_transform(X)
        return self

    @all_or_nothing
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and return the features of the same table.

        Parameters
        ----------
        X : DataFrame, array or sparse matrix of shape (n, n_columns)
        y : ignored

        Returns
        -------
        ndarray or CSR matrix of shape (n, n_features)
            An array or a matrix, as scikit-learn's ``sparse_interface`` says.
        """
        frame = self._read(X, reset=True)
        folder = None if self.folder is None else Path(self.folder)
        if hasattr(X, "columns"):
            found = find_kinds(frame, self.kinds, folder)
        else:
            found = _kinds_of_array(frame, self.kinds)
        # The first is of numbers, the second of categories; each text is its own.
        groups: list[list[tuple[Encoder, Matrix]]] = [[], []]
        for encoder, features in self._fitted(frame, found, folder):
            is_number = isinstance(encoder, NumberEncoder | BooleanEncoder | DateEncoder | MissingEncoder)
            is_category = isinstance(encoder, CategoryEncoder)
            if is_number or is_category:
                groups[is_category].append((encoder, features))
            else:
                groups.append([(encoder, features)])
        groups = [group for group in groups if group]
        if not groups:
            whys: dict[str, list[str]] = {}
            for name, (_, why) in found.items():
                whys.setdefault(why, []).append(name)
            reasons = "; ".join(f"{listed(names)}: {why}" for why, names in whys.items())
            n_rows, n_columns = frame.shape
            size = f"{n_columns:,} column{'s' * (n_columns != 1)} and {n_rows:,} row{'s' * (n_rows != 1)}"
            raise ValueError(
                f"nothing to learn from in {size} ({reasons or 'there are none'}); add columns "
                "or rows, or set another kind for a column"
            )
        weights = [_weight([features for _, features in group]) for group in groups]
        self._encoders = [encoder for group in groups for encoder, _ in group]
        self._weights = np.repeat(weights, [len(group) for group in groups])
        blocks = [features for group in groups for _, features in group]
        n_features = [block.shape[1] for block in blocks]
        n_filled = sum(block.nnz if sp.issparse(block) else np.count_nonzero(block) for block in blocks)
        self._sparse = bool(n_filled < _SPARSE_BELOW * len(frame) * sum(n_features))
        of_column: Counter[str] = Counter()
        for encoder, n in zip(self._encoders, n_features, strict=True):
            of_column.update({name: n // len(encoder.columns) for name in encoder.columns})
        self._found = [
            [name, kind, why, int(is_missing(frame[name]).sum()), of_column[name]]
            for name, (kind, why) in found.items()
        ]
        return self._joined(blocks)

    def _fitted(
        self, frame: pd.DataFrame, found: dict[str, ColumnKind], folder: Path | None
    ) -> Iterator[tuple[Encoder, Matrix]]:
        """Yield encoders and the features of the training table; what is of no use becomes ignored."""
        of_kind: dict[str, list[str]] = {}
        for name, (kind, why) in found.items():
            of_kind.setdefault("pixel" if why.startswith("a pixel of") else kind, []).append(name)
        encoders: list[Encoder] = []
        if numbers := of_kind.get("number"):
            encoders.append(NumberEncoder.fit(frame, numbers))
        encoders += [BooleanEncoder([name]) for name in of_kind.get("boolean", [])]
        encoders += [DateEncoder.fit(frame, name) for name in of_kind.get("date", [])]
        encoders += [CategoryEncoder.fit(frame, name) for name in of_kind.get("category", [])]
        if pixels := of_kind.get("pixel"):
            encoders.append(PixelEncoder.fit(frame, pixels))
        for name, (kind, _) in found.items():
            if kind in ("text", "string"):
                if made := TextEncoder.fit(frame, name, kind):
                    encoders.append(made)
                else:
                    found[name] = ColumnKind("ignored", "no words")
            if kind == "text" and self.text_model is not None:
                encoders.append(EmbeddingEncoder.fit(frame, name, self.text_model))
        used = [name for name, (kind, _) in found.items() if kind != "ignored" and name not in (pixels or ())]
        if gaps := [name for name in used if is_missing(frame[name]).any()]:
            encoders.append(MissingEncoder(gaps))
        for encoder in encoders:
            yield encoder, encoder.transform(frame)
        for name in of_kind.get("image", []):
            if folder is None:
                continue
            if read := ImageEncoder.fit(frame, name, folder, self.verbose):
                yield read
            else:
                found[name] = ColumnKind("ignored", "no two images that can be read differ")

    def transform(self, X: Any) -> Any:
        """Turn a table into features.

        Parameters
        ----------
        X : DataFrame, array or sparse matrix
            A DataFrame needs the columns of the training table, in any order; others are ignored.

        Returns
        -------
        ndarray or CSR matrix of shape (n, n_features)
            An array or a matrix, as scikit-learn's ``sparse_interface`` says.
        """
        check_is_fitted(self)
        frame = self._read(X, reset=False)
        folder = None if self.folder is None else Path(self.folder)
        return self._joined(
            [
                encoder.transform(frame, folder, self.verbose)
                if isinstance(encoder, ImageEncoder)
                else encoder.transform(frame)
                for encoder in self._encoders
            ]
        )

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array of str, optional
            The names of the columns, which must be those of the training table.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array([name for one in self._encoders for name in one.feature_names()], object)

    def _read(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """Return a table whose columns have different names."""
        X = from_polars(X)
        if not is_dataframe(X):
            return self._read_array(X, reset=reset)
        names = [str(name) for name in X.columns]
        for name, times in Counter(names).items():
            if times > 1:
                raise ValueError(f"{times} columns are named {name!r}; rename all but one")
        if not len(X):
            raise ValueError(f"the table has no rows: Found array with 0 sample(s) (shape={X.shape})")
        frame = X.set_axis(pd.Index(names, dtype=object), axis=1)
        if not reset:
            return self._with_needed(frame)
        _check_feature_names(self, frame, reset=True)
        _check_n_features(self, frame, reset=True)
        return frame

    def _read_array(self, X: Any, *, reset: bool) -> pd.DataFrame:
        check_sparse(X, "X")
        array: Any = check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite=False, estimator=self)
        if not reset and hasattr(self, "feature_names_in_"):
            raise ValueError("the training table had named columns; give a DataFrame that has them, too")
        _check_n_features(self, array, reset=reset)
        if reset:
            _check_feature_names(self, array, reset=True)
        names = [f"x{i}" for i in range(array.shape[1])]
        if sp.issparse(array):
            return frame_of_matrix(sp.csr_array(array, dtype=np.float64), names)
        frame = pd.DataFrame(array, columns=names)
        return frame.infer_objects() if array.dtype == object else frame

    def _with_needed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Refuse a table that lacks columns; those of sparse files that never occur are zero."""
        needed = [str(name) for name, kind in self.columns_["kind"].items() if kind != "ignored"]
        missing = [name for name in needed if name not in frame.columns]
        if not missing:
            return frame
        is_sparse = all(isinstance(kind, pd.SparseDtype) for kind in frame.dtypes)
        if not (is_sparse and all(name.isdecimal() for name in missing)):
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            told = unknown_name("column", missing[0], list(frame.columns)).partition("; ")[2]
            raise ValueError(f"the table lacks the column {missing[0]!r}{more} that the model needs; {told}")
        absent = frame_of_matrix(sp.csr_array((len(frame), len(missing))), missing)
        return pd.concat([frame, absent.set_axis(frame.index)], axis=1)

    def _joined(self, blocks: Sequence[Matrix]) -> Any:
        scaled = [block * weight for block, weight in zip(blocks, self._weights, strict=True)]
        if self._sparse:
            X = with_short_indices(sp.hstack([sp.csr_array(block) for block in scaled], format="csr"))
            X.eliminate_zeros()
            return sparse_kind()(X)
        return np.hstack([dense(block) for block in scaled])

    @property
    def columns_(self) -> pd.DataFrame:
        """Kind, reason, missing cells and features of each column of the training table."""
        check_is_fitted(self, "_found")
        names, *rest = zip(*self._found, strict=True)
        return pd.DataFrame(
            dict(zip(("kind", "why", "missing", "features"), map(list, rest), strict=True)), index=list(names)
        )

    @property
    def _n_features_out(self) -> int:
        return sum(len(one.feature_names()) for one in self._encoders)

    def _get_saved(self) -> dict[str, Any]:
        saved: dict[str, Any] = super()._get_saved()
        kinds = None if self.kinds is None else dict(self.kinds)
        return saved | {"folder": None, "kinds": kinds}  # a folder of this machine is of no use elsewhere

    def _check_saved(self) -> None:
        if not hasattr(self, "_found"):
            return
        names = [row[0] for row in self._found if len(row) == 5 and all(map(isinstance, row, _ROW))]
        require(len(names) == len(self._found) == self.n_features_in_, "columns are not told")
        require(len(set(names)) == len(names), "a column is there twice")
        kinds = {row[0]: row[1] for row in self._found}
        require(set(kinds.values()) <= set(get_args(Kind)), "a column is of no kind")
        encoders = self._encoders
        fits = len(encoders) > 0 and all(
            isinstance(one, Encoder) and type(one) is not Encoder for one in encoders
        )
        require(fits and self._weights.shape == (len(encoders),), "columns have no encoders or weights")
        require(np.isfinite(self._weights).all(), "a weight is not a number")
        known = all(set(one.columns) <= kinds.keys() and one.feature_names() for one in encoders)
        require(known, "an encoder is for no column")
        if hasattr(self, "feature_names_in_"):
            require(list(self.feature_names_in_) == names, "columns have other names")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_found")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _kinds_of_array(frame: pd.DataFrame, kinds: Mapping[str, Kind] | None) -> dict[str, ColumnKind]:
    """Take numbers for what they are: without names there are neither ids nor pixels."""
    asked = kinds or {}
    check_kinds(asked, list(frame.columns))
    names = [str(name) for name in frame.columns]
    plain = [name for name in names if name not in asked and pd.api.types.is_numeric_dtype(frame[name])]
    found = find_kinds(frame.drop(columns=plain), kinds)
    return {name: found.get(name) or ColumnKind("number", "numbers") for name in names}


def _weight(blocks: Sequence[Matrix]) -> float:
    """Return what gives the rows of some blocks together a mean squared length of 1."""
    squares = sum(float(np.square(block.data if sp.issparse(block) else block).sum()) for block in blocks)
    return float(np.sqrt(blocks[0].shape[0] / squares)) if squares > 0 else 1.0
