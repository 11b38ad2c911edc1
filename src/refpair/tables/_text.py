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
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from refpair._extras import from_extra, pd
from refpair._saved import require

from ._cells import Floats, Matrix, strings_of
from ._encoders import Encoder
from .columns import UNSPACED

_MOST_TERMS = 20_000
_LONGEST_EMBEDDING = 1 << 16
_UNSPACED_SHARE = 0.3

_WAYS: dict[str, dict[str, Any]] = {  # what can be counted, and the parameters of TfidfVectorizer
    "words": {},  # by `_word_pattern`
    "parts": {"token_pattern": r"[^\W\d_]+|\d+"},
    "characters": {"analyzer": "char", "ngram_range": (1, 3)},
    "characters of words": {"analyzer": "char_wb", "ngram_range": (3, 4)},
}


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
                    try:
                        fitted.append(_make_tfidf(way, min_df=min_df).fit(texts))
                    except ValueError:  # no terms, or none in as many rows
                        break
                else:
                    terms = [one.get_feature_names_out().tolist() for one in fitted]
                    return cls([column], list(ways), terms, [one.idf_ for one in fitted])
        return None

    def transform(self, frame: pd.DataFrame) -> Matrix:
        texts = _texts(frame[self.column])
        parts = []
        for way, terms, idf in zip(self.ways, self.terms, self.idf, strict=True):
            counter = _make_tfidf(way, terms)
            counter.idf_ = idf
            parts.append(sp.csr_array(counter.transform(texts)))
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def feature_names(self) -> list[str]:
        return [
            f"{self.column}: {'' if way in ('words', 'parts') else 'characters '}{term}"
            for way, terms in zip(self.ways, self.terms, strict=True)
            for term in terms
        ]


@dataclass(frozen=True, eq=False)
class EmbeddingEncoder(Encoder):
    """Embeddings of a text by a sentence-transformers model."""

    model: str
    n_features: int

    def _check_saved(self) -> None:
        require(0 < self.n_features <= _LONGEST_EMBEDDING, "an embedding has no numbers, or too many")

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str, model: str) -> Self:
        return cls([column], model, _embed_texts([""], model).shape[1])

    def transform(self, frame: pd.DataFrame) -> Matrix:
        found = _embed_texts(_texts(frame[self.column]), self.model)
        if found.shape[1] != self.n_features:
            raise ValueError(f"the model {self.model} gives {found.shape[1]} numbers, not {self.n_features}")
        return found

    def feature_names(self) -> list[str]:
        return [f"{self.column}: embedding {i}" for i in range(self.n_features)]


def _texts(column: pd.Series) -> list[str]:
    return [text or "" for text in strings_of(column)]


def _make_tfidf(way: str, terms: Sequence[str] | None = None, *, min_df: int = 1) -> TfidfVectorizer:
    how = _WAYS[way] or {"token_pattern": _word_pattern()}
    return TfidfVectorizer(
        sublinear_tf=True, max_features=_MOST_TERMS, min_df=min_df, vocabulary=terms, **how
    )


def _ways_of(kind: str, texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what to count of a text or string, the best first; later ones are for tables of few rows.

    Pairs of words are mostly noise. Characters lose F1 on texts, and win on names, together with their parts.
    """
    if kind == "string":
        return [("parts", "characters of words"), ("parts",), ("characters",)]
    n_unspaced = sum(len(UNSPACED.findall(text)) for text in texts)
    has_words = n_unspaced < _UNSPACED_SHARE * sum(map(len, texts))
    return [("words",), ("characters",)] if has_words else [("characters",)]


@cache
def _word_pattern() -> str:
    """Return what a word is: two letters or digits or more, marks and apostrophes inside; or one emoji.

    scikit-learn's own pattern cuts words of Indian scripts at each vowel sign, which is a mark, no letter.
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
    needed = "embeddings of texts need sentence-transformers"
    transformers = from_extra("sentence_transformers", "text", needed)
    try:
        where = Path(model).expanduser()
        if not where.is_dir() and model.isidentifier() and (package := find_spec(model)) and package.origin:
            where = Path(package.origin).parent / "model"
        name = str(where) if where.is_dir() else model  # it may be in the cache
        return transformers.SentenceTransformer(name, device="cpu", local_files_only=True)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"the text model {model!r} is not on this machine; give the folder of a model of "
            "sentence-transformers, or the name of an installed package that holds one"
        ) from error
