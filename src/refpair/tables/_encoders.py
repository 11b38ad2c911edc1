"""Columns of one kind as numbers: each encoder is fitted to a table, and then turns others into features."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from refpair._saved import Savable, require

from ._cells import Floats, Matrix, strings_of
from ._embeddings import embed_texts
from ._number_encoders import BooleanEncoder, DateEncoder, NumberEncoder, PixelEncoder
from .images import image_feature_names, image_sizes, read_images
from .text import WAYS, make_tfidf, ways_of

__all__ = [
    "ENCODERS",
    "BooleanEncoder", "CategoryEncoder", "DateEncoder", "EmbeddingEncoder", "Encoder", "ImageEncoder",
    "MissingEncoder", "NumberEncoder", "PixelEncoder", "TextEncoder",
]  # fmt: skip

_MOST_CATEGORIES = 100


class Encoder(Protocol):
    """What turns columns of one kind into features."""

    @property
    def columns(self) -> list[str]:
        """The columns it reads."""

    def transform(self, frame: pd.DataFrame) -> Matrix:
        """Return the features of a table that has these columns."""

    def feature_names(self) -> list[str]:
        """Return their names."""


@dataclass(frozen=True, eq=False)
class CategoryEncoder(Savable):
    """A 0/1 column for each value; values of a single row, and beyond the first 100, share one."""

    column: str
    values: list[str]
    has_others: bool

    def _check_saved(self) -> None:
        require(len(set(self.values)) == len(self.values), "a value is there twice")

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str) -> Self:
        """Find the frequent values."""
        cells = strings_of(frame[column])
        counts = pd.Series([cell for cell in cells if cell is not None], dtype=object).value_counts()
        kept = counts[counts > 1].index[:_MOST_CATEGORIES] if (counts > 1).any() else counts.index
        return cls(column, sorted(map(str, kept)), len(kept) < len(counts))

    @property
    def columns(self) -> list[str]:
        return [self.column]

    def transform(self, frame: pd.DataFrame) -> Matrix:
        place = {value: i for i, value in enumerate(self.values)}
        others = len(self.values) if self.has_others else -1
        cells = strings_of(frame[self.column])
        codes = np.array([-1 if cell is None else place.get(cell, others) for cell in cells], np.int64)
        rows = np.flatnonzero(codes >= 0)
        shape = (len(cells), len(self.values) + self.has_others)
        return sp.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=shape)

    def feature_names(self) -> list[str]:
        others = [f"{self.column} = another value"] if self.has_others else []
        return [f"{self.column} = {value}" for value in self.values] + others


@dataclass(frozen=True, eq=False)
class TextEncoder(Savable):
    """TF-IDF of the words of a text, or of the parts and characters of a string."""

    column: str
    ways: list[str]
    terms: list[list[str]]
    idf: list[Floats]

    def _check_saved(self) -> None:
        sizes = [len(own) for own in self.terms]
        fits = len(self.ways) == len(sizes) == len(self.idf) and set(self.ways) <= set(WAYS)
        fits = fits and all(own.shape == (n,) for own, n in zip(self.idf, sizes, strict=True))
        require(fits and min(sizes, default=0), f"the terms of the column {self.column!r} have no weights")
        require(all(np.isfinite(own).all() for own in self.idf), "the weight of a term is not a number")
        require(all(len(set(own)) == len(own) for own in self.terms), "a term is there twice")

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str, kind: str) -> Self | None:
        """Find the terms; None if there are none."""
        texts = [text or "" for text in strings_of(frame[column])]
        for min_df in (2, 1):
            for ways in ways_of(kind, texts):
                fitted = []
                for way in ways:
                    counter = make_tfidf(way, min_df=min_df)
                    try:
                        fitted.append((way, counter.fit(texts)))
                    except ValueError:  # no terms, or none in as many rows
                        break
                else:
                    terms = [one.get_feature_names_out().tolist() for _, one in fitted]
                    return cls(column, [way for way, _ in fitted], terms, [one.idf_ for _, one in fitted])
        return None

    @property
    def columns(self) -> list[str]:
        return [self.column]

    def transform(self, frame: pd.DataFrame) -> Matrix:
        texts = [text or "" for text in strings_of(frame[self.column])]
        parts = []
        for way, terms, idf in zip(self.ways, self.terms, self.idf, strict=True):
            counter = make_tfidf(way, terms, min_df=1)
            counter.idf_ = idf
            parts.append(sp.csr_array(counter.transform(texts)))
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def feature_names(self) -> list[str]:
        told = ["" if way in ("words", "parts") else "characters " for way in self.ways]
        return [
            f"{self.column}: {before}{term}"
            for before, terms in zip(told, self.terms, strict=True)
            for term in terms
        ]


@dataclass(frozen=True, eq=False)
class EmbeddingEncoder(Savable):
    """Embeddings of a text by a sentence-transformers model."""

    column: str
    model: str
    n_features: int

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str, model: str) -> Self:
        """Find out how many numbers the model gives."""
        return cls(column, model, embed_texts([""], model).shape[1])

    @property
    def columns(self) -> list[str]:
        return [self.column]

    def transform(self, frame: pd.DataFrame) -> Matrix:
        texts = [text or "" for text in strings_of(frame[self.column])]
        found = embed_texts(texts, self.model)
        if found.shape[1] != self.n_features:
            raise ValueError(f"the model {self.model} gives {found.shape[1]} numbers, not {self.n_features}")
        return found

    def feature_names(self) -> list[str]:
        return [f"{self.column}: embedding {i}" for i in range(self.n_features)]


@dataclass(frozen=True, eq=False)
class ImageEncoder(Savable):
    """Outlines and a thumbnail of image files, less those of the mean image."""

    column: str
    mean: Floats
    lengths: list[float]

    def _check_saved(self) -> None:
        fits = self.mean.shape == (sum(image_sizes()),) and len(self.lengths) == len(image_sizes())
        require(fits, f"the images of the column {self.column!r} have another size")
        require(np.isfinite(self.mean).all() and min(self.lengths) > 0, "images have no scale")

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str, folder: Path, verbose: int) -> tuple[Self, Matrix] | None:
        """Read the images, and return the encoder with their features; None if no two of them differ."""
        raw, found = read_images(frame[column], folder, verbose=verbose)
        if not found.any():
            return None
        mean = raw[found].mean(axis=0)
        centred = np.where(found[:, None], raw - mean, 0.0)
        centred[np.abs(centred) < 1e-12] = 0.0  # equal images differ from their mean by rounding
        if not centred.any():
            return None
        parts = np.split(centred, [image_sizes()[0]], axis=1)
        lengths = [float(np.sqrt((part**2).sum() / found.sum())) or 1.0 for part in parts]
        made = cls(column, mean, lengths)
        return made, made._scaled(raw, found)

    def _scaled(self, raw: Floats, found: npt.NDArray[np.bool_]) -> Floats:
        scale = np.repeat(self.lengths, image_sizes())
        return np.where(found[:, None], (raw - self.mean) / scale, 0.0)

    @property
    def columns(self) -> list[str]:
        return [self.column]

    def transform(self, frame: pd.DataFrame) -> Matrix:
        return self.read(frame, None, 0)

    def read(self, frame: pd.DataFrame, folder: Path | None, verbose: int) -> Matrix:
        """Return the features of a table whose images are in a folder."""
        if folder is None:
            raise ValueError(
                f"column {self.column!r} names images: give their folder, TableVectorizer(folder=...)"
            )
        return self._scaled(*read_images(frame[self.column], folder, verbose=verbose))

    def feature_names(self) -> list[str]:
        return image_feature_names(self.column)


@dataclass(frozen=True, eq=False)
class MissingEncoder(Savable):
    """A 1 where a cell is empty, for each column that had empty cells."""

    columns: list[str]

    def transform(self, frame: pd.DataFrame) -> Matrix:
        return sp.csr_array(np.column_stack([is_missing(frame[name]) for name in self.columns]).astype(float))

    def feature_names(self) -> list[str]:
        return [f"{name} is missing" for name in self.columns]


def is_missing(column: pd.Series) -> npt.NDArray[np.bool_]:
    """Tell which cells are empty, or hold nothing but blanks, or a number that is none."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(~np.isfinite(values))
    missing = column.isna().to_numpy(dtype=bool)
    blank = [isinstance(cell, str) and not cell.strip() for cell in column]
    return np.asarray(missing | np.asarray(blank, bool))


ENCODERS = (
    BooleanEncoder, CategoryEncoder, DateEncoder, EmbeddingEncoder, ImageEncoder, MissingEncoder,
    NumberEncoder, PixelEncoder, TextEncoder,
)  # fmt: skip
