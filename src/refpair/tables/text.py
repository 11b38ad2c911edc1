"""Texts and strings to numbers: TF-IDF of words, of characters where words do not help, or embeddings."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from refpair._saved import require

from ._cells import Floats, Matrix, strings_of
from ._encoders import Encoder
from .columns import UNSPACED

__all__ = ["EmbeddingEncoder", "TextEncoder"]

_MOST_TERMS = 20_000
_UNSPACED_SHARE = 0.3

_WAYS = ("words", "parts", "characters", "characters of words")
"""What can be counted: words of texts; parts of strings; 1 to 3 characters; 3 or 4 characters of a word."""


@dataclass(frozen=True, eq=False)
class TextEncoder(Encoder):
    """TF-IDF of the words of a text, or of the parts and characters of a string."""

    ways: list[str]
    terms: list[list[str]]
    idf: list[Floats]

    def _check_saved(self) -> None:
        sizes = [len(own) for own in self.terms]
        fits = len(self.ways) == len(sizes) == len(self.idf) and set(self.ways) <= set(_WAYS)
        fits = fits and all(own.shape == (n,) for own, n in zip(self.idf, sizes, strict=True))
        require(fits and min(sizes, default=0), f"the terms of the column {self.column!r} have no weights")
        require(all(np.isfinite(own).all() for own in self.idf), "the weight of a term is not a number")
        require(all(len(set(own)) == len(own) for own in self.terms), "a term is there twice")

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str, kind: str) -> Self | None:
        """Find the terms; None if there are none."""
        texts = _texts(frame[column])
        for min_df in (2, 1):
            for ways in _ways_of(kind, texts):
                fitted = []
                for way in ways:
                    counter = _make_tfidf(way, min_df=min_df)
                    try:
                        fitted.append((way, counter.fit(texts)))
                    except ValueError:  # no terms, or none in as many rows
                        break
                else:
                    terms = [one.get_feature_names_out().tolist() for _, one in fitted]
                    return cls([column], [way for way, _ in fitted], terms, [one.idf_ for _, one in fitted])
        return None

    def transform(self, frame: pd.DataFrame) -> Matrix:
        """Return the features of a table."""
        texts = _texts(frame[self.column])
        parts = []
        for way, terms, idf in zip(self.ways, self.terms, self.idf, strict=True):
            counter = _make_tfidf(way, terms, min_df=1)
            counter.idf_ = idf
            parts.append(sp.csr_array(counter.transform(texts)))
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def feature_names(self) -> list[str]:
        """Return their names."""
        told = ["" if way in ("words", "parts") else "characters " for way in self.ways]
        return [
            f"{self.column}: {before}{term}"
            for before, terms in zip(told, self.terms, strict=True)
            for term in terms
        ]


@dataclass(frozen=True, eq=False)
class EmbeddingEncoder(Encoder):
    """Embeddings of a text by a sentence-transformers model."""

    model: str
    n_features: int

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str, model: str) -> Self:
        """Find out how many numbers the model gives."""
        return cls([column], model, _embed_texts([""], model).shape[1])

    def transform(self, frame: pd.DataFrame) -> Matrix:
        """Return the features of a table."""
        found = _embed_texts(_texts(frame[self.column]), self.model)
        if found.shape[1] != self.n_features:
            raise ValueError(f"the model {self.model} gives {found.shape[1]} numbers, not {self.n_features}")
        return found

    def feature_names(self) -> list[str]:
        """Return their names."""
        return [f"{self.column}: embedding {i}" for i in range(self.n_features)]


def _texts(column: pd.Series) -> list[str]:
    return [text or "" for text in strings_of(column)]


def _make_tfidf(way: str, terms: Sequence[str] | None = None, *, min_df: int = 2) -> TfidfVectorizer:
    """Return what counts terms in one of the `_WAYS`, each weighted by how rare it is."""
    options: dict[str, dict[str, Any]] = {
        "words": {"token_pattern": _word_pattern()},
        "parts": {"token_pattern": r"[^\W\d_]+|\d+"},
        "characters": {"analyzer": "char", "ngram_range": (1, 3)},
        "characters of words": {"analyzer": "char_wb", "ngram_range": (3, 4)},
    }
    return TfidfVectorizer(
        sublinear_tf=True, max_features=_MOST_TERMS, min_df=min_df, vocabulary=terms, **options[way]
    )


def _ways_of(kind: str, texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what to count of a text or string, the best first; later ones are for tables of few rows.

    Single words, for pairs are mostly noise. On 3,000 package descriptions, characters of texts lose .02 of
    F1 for trees; characters of names win .01, together with their parts.
    """
    if kind == "string":
        return [("parts", "characters of words"), ("parts",), ("characters",)]
    n_unspaced = sum(len(UNSPACED.findall(text)) for text in texts)
    has_words = n_unspaced < _UNSPACED_SHARE * sum(map(len, texts))
    return [("words",), ("characters",)] if has_words else [("characters",)]


@cache
def _word_pattern() -> str:
    r"""Return what a word is: two letters or digits or more, marks and apostrophes inside; or one emoji.

    scikit-learn's own pattern cuts words of Indian scripts at each vowel sign, which is no letter to Python's
    ``\w``.
    """
    codes = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code)).startswith("M")]
    # As ranges: single letters beyond 0xFFFF would be compared one by one.
    runs = ([code for _, code in run] for _, run in groupby(enumerate(codes), lambda at: at[1] - at[0]))
    marks = "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)
    return rf"[^\W_](?:['’]?[\w{marks}\u200c\u200d])+|[\u2600-\u27bf\U0001f300-\U0001faff]"


def _embed_texts(texts: Sequence[str], model: str) -> Floats:
    """Return the embeddings of texts, each of length 1."""
    different = sorted(set(texts))
    found = _load(model).encode(different, normalize_embeddings=True, show_progress_bar=False)
    place = {text: i for i, text in enumerate(different)}
    return np.asarray(found, np.float64)[[place[text] for text in texts]]


@lru_cache(maxsize=2)
def _load(model: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (an extra; and slow to import)
    except ImportError as error:
        raise ImportError(
            "embeddings of texts need sentence-transformers: pip install 'refpair[text]'"
        ) from error
    try:
        return SentenceTransformer(str(_folder(model)), device="cpu", local_files_only=True)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"the text model {model!r} is not on this machine; give the folder of a model of "
            "sentence-transformers, or the name of an installed package that holds one"
        ) from error


def _folder(model: str) -> Path | str:
    """Return where a model is: a folder, that of an installed package, or a name in the cache."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    package = find_spec(model) if model.isidentifier() else None
    if package is not None and package.origin is not None:
        return Path(package.origin).parent / "model"
    return model
