"""A whole model as the contents of a file, and back: its own objects, and those of scikit-learn in them."""

from __future__ import annotations

from typing import Any

from refpair.costs import Cost
from refpair.persistence._codec import Reader, Writer, require
from refpair.persistence._file import Contents
from refpair.persistence._foreign import Foreign, to_skops
from refpair.persistence._schemas import MODELS, SCHEMAS

__all__ = ["put_together", "take_apart"]


def take_apart(model: Any, about: dict[str, Any]) -> Contents:
    """Return the contents of a file that :func:`put_together` makes the same model of.

    Parameters
    ----------
    model : estimator
    about : dict
        What else the header tells.
    """
    writer = Writer(SCHEMAS)
    stored = writer.write(model)
    inner: list[dict[str, Any]] = []

    def number_of_own(value: Any) -> int | None:
        if not writer.knows(value) or not type(value).__module__.startswith("refpair."):
            return None
        number = len(inner)
        inner.append({})
        inner[number] = writer.write(value, f"inner.{number}")
        return number

    foreign = to_skops(writer.foreign, number_of_own) if writer.foreign else None
    return Contents({**about, "model": stored, "inner": inner}, writer.arrays, foreign)


def put_together(contents: Contents, cost: Cost | None) -> Any:
    """Return the model; contents that are wrong raise errors of many kinds."""
    header, inner = contents.header, contents.header["inner"]
    require(isinstance(inner, list), "the inner objects are not a list")

    found: dict[int, Any] = {}

    def find_own(number: int) -> Any:
        require(number < len(inner), "an inner object is missing")
        if number not in found:
            found[number] = reader.read(inner[number], tuple(SCHEMAS), f"inner.{number}")
        return found[number]

    foreign = Foreign(contents.foreign, find_own)
    reader = Reader(SCHEMAS, dict(contents.arrays), foreign.find, cost)
    model = reader.read(header["model"], MODELS)
    require(hasattr(model, "classes_"), "the model is not fitted")
    require(not reader.arrays, f"{next(iter(reader.arrays), '')!r} does not belong here")
    return model
