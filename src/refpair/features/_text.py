"""Text to numbers: TF-IDF of words, or of characters where words do not help."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from ._cells import Matrix, Strings
from ._kinds import UNSPACED

__all__ = ["text_features"]

_MOST_TERMS = 20_000
_UNSPACED_SHARE = 0.3


def text_features(name: str, values: Strings) -> tuple[Matrix, list[str], str] | None:
    """Return TF-IDF features of a column of text, their names, and a sentence; None if there are no terms.

    >>> import numpy as np
    >>> X, names, used = text_features("said", np.array(["so good", "so bad", None], dtype=object))
    >>> names, used
    (['said: so'], 'said: TF-IDF of words, 1 term; 1 empty')
    """
    texts = [value or "" for value in values]
    for what, options in _ways(texts):
        vectorizer = TfidfVectorizer(sublinear_tf=True, max_features=_MOST_TERMS, **options)
        try:
            X = vectorizer.fit_transform(texts)
        except ValueError:  # no terms, or none in as many rows as asked for
            continue
        terms = vectorizer.get_feature_names_out()
        empty = sum(value is None for value in values)
        used = f"{name}: TF-IDF of {what}, {len(terms):,} term{'s' if len(terms) > 1 else ''}"
        used += f"; {empty:,} empty" if empty else ""
        return csr_array(X), [f"{name}: {term}" for term in terms], used
    return None


def _ways(texts: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what to count, best first."""
    # Single words: with few labels, pairs of words are mostly noise (on made texts, .9 right instead of 1).
    words: dict[str, Any] = {"token_pattern": _word_pattern()}
    characters: dict[str, Any] = {"ngram_range": (1, 3), "analyzer": "char"}
    if _has_blanks_between_words(texts):
        yield "words", {**words, "min_df": 2}
    # If no two rows share a word, words tell a model nothing, but parts of words still may.
    yield "characters", {**characters, "min_df": 2}
    yield "words", words
    yield "characters", characters


def _has_blanks_between_words(texts: list[str]) -> bool:
    length = sum(map(len, texts))
    return sum(len(UNSPACED.findall(text)) for text in texts) < _UNSPACED_SHARE * length


@cache
def _word_pattern() -> str:
    r"""Return what a word is: letters, digits, their marks and apostrophes inside; or one emoji.

    scikit-learn's own pattern cuts words of Indian scripts at each vowel sign, which is no letter to Python's
    ``\w``, and drops words of one letter.
    """
    marks = "".join(_ranges_of_marks())
    return rf"[^\W_](?:['’]?[\w{marks}\u200c\u200d])*|[\u2600-\u27bf\U0001f300-\U0001faff]"


def _ranges_of_marks() -> Iterator[str]:
    first = None
    for code in range(0x300, 0x20000):
        is_mark = unicodedata.category(chr(code)).startswith("M")
        if is_mark and first is None:
            first = code
        elif not is_mark and first is not None:
            yield f"{chr(first)}-{chr(code - 1)}"
            first = None
