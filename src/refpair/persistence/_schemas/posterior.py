"""What a file holds of a posterior: the reading, and the codes of training rows if it is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from refpair.classifiers import CSRPEClassifier
from refpair.coding import pack_bits
from refpair.persistence._array_fields import Array, Vectors
from refpair.persistence._codec import Reader, Schema, Writer, require
from refpair.persistence._costs import Probe
from refpair.persistence._fields import Flag, Known, Maybe, Real, Text
from refpair.posterior import Anchors, CodePosterior, LogOddsLine, Reading

__all__ = ["POSTERIOR_SCHEMAS", "PosteriorParts", "Search"]

_LEAST_TEMPERATURE = 1e-300  # above zero
_NO_DEPTH = -1
_MOST_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class PosteriorParts:
    """All of a :class:`CodePosterior` that is not in the model besides.

    Attributes
    ----------
    reading : Reading
    line : LogOddsLine
    plus, vector : ndarrays or None
        Of the anchors, if they are codes of rows. Those of code words are made of the code again.
    """

    reading: Reading
    line: LogOddsLine
    plus: npt.NDArray[np.uint64] | None
    vector: npt.NDArray[np.int32] | None

    @classmethod
    def of(cls, posterior: CodePosterior) -> Self:
        """Take a posterior apart."""
        of_rows = posterior.reading.anchors == "rows"
        plus, vector = (posterior.anchors.plus, posterior.anchors.vector) if of_rows else (None, None)
        return cls(posterior.reading, posterior.line, plus, vector)

    def for_model(self, model: CSRPEClassifier) -> CodePosterior:
        """Return the posterior of a model that has its bits, code and relevant set."""
        n_votes = (len(model.bits_) - len(model.code_)) // model.relevant_set_.shape[1]
        require(self.reading.label_share == 0 or n_votes > 0, "no bit is for a single label")
        anchors = self._row_anchors(model) if self.reading.anchors == "rows" else _word_anchors(model)
        return CodePosterior(model.bits_, anchors, model.relevant_set_, self.reading, self.line)

    def _row_anchors(self, model: CSRPEClassifier) -> Anchors:
        n_bits, n_vectors, plus, vector = len(model.code_), len(model.relevant_set_), self.plus, self.vector
        if plus is None or vector is None:
            raise ValueError("the anchors are missing")
        n, mask = len(vector), pack_bits(np.ones((1, n_bits), dtype=bool))
        require(0 < n <= _MOST_ROWS and plus.shape == (n, mask.shape[1]), "the anchors have a wrong shape")
        require(vector.min() >= 0 and vector.max() < n_vectors, "an anchor has no vector")
        known = np.full(n, n_bits, np.int64)
        return Anchors(plus & mask, np.repeat(mask, n, axis=0), known, vector, np.ones(n), n_bits, n_vectors)


def _word_anchors(model: CSRPEClassifier) -> Anchors:
    return Anchors.of_words(model.code_.encode(model.relevant_set_), model.relevant_counts_)


class Search:
    """The readings that were tried, a DataFrame."""

    columns: tuple[tuple[str, str], ...] = (
        ("label_share", "<f8"),
        ("temperature", "<f8"),
        ("independent", "|b1"),
        ("cost", "<f8"),
        ("n_rows", "<i8"),
    )

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        arrays = {
            "rows": np.asarray(value["anchors"] == "rows", bool),
            "depth": value["max_depth"].fillna(_NO_DEPTH).to_numpy(dtype=np.int32),
            **{name: value[name].to_numpy(dtype=np.dtype(dtype)) for name, dtype in self.columns},
        }
        return {name: writer.add_array(array, f"{place}.{name}") for name, array in arrays.items()}

    def read(self, stored: Any, reader: Reader, place: str) -> pd.DataFrame:
        kinds = {"rows": "|b1", "depth": "<i4", **dict(self.columns)}
        require(isinstance(stored, dict) and stored.keys() == kinds.keys(), "the search is missing")
        arrays = {
            name: Array(dtype).read(stored[name], reader, f"{place}.{name}") for name, dtype in kinds.items()
        }
        require(len({len(array) for array in arrays.values()}) == 1, "the search has a wrong shape")
        depth = pd.array(arrays["depth"], dtype="Int64")
        depth[arrays["depth"] == _NO_DEPTH] = pd.NA
        return pd.DataFrame(
            {
                "anchors": np.where(arrays["rows"], "rows", "words").astype(object),
                "max_depth": depth,
                **{name: arrays[name] for name, _ in self.columns},
            }
        )


POSTERIOR_SCHEMAS = (
    Schema(
        Reading,
        {
            "anchors": Text(("words", "rows")),
            "label_share": Real(0.0, 1.0),
            "temperature": Real(_LEAST_TEMPERATURE, infinite=True),
            "independent": Flag(),
        },
    ),
    Schema(LogOddsLine, {"slope": Real(), "shift": Real()}),
    Schema(
        PosteriorParts,
        {
            "reading": Known("Reading"),
            "line": Known("LogOddsLine"),
            "plus": Maybe(Array("<u8", 2)),
            "vector": Maybe(Array("<i4")),
        },
    ),
    Schema(
        Probe,
        {"vectors": Maybe(Vectors()), "costs": Maybe(Array("<f8", 2)), "code_words": Maybe(Text())},
    ),
)
