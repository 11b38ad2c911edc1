"""Estimators of scikit-learn in a file, through skops: without pickle, and only types that are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from refpair._saved import require
from refpair.persistence._skops_archive import check_skops
from refpair.persistence._stand_ins import HOW_ELSE, Replacing, Restoring

__all__ = ["Foreign", "to_skops"]


def _skops() -> Any:
    try:
        import skops.io as skops_io  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError(
            "models with estimators of scikit-learn in them need skops: pip install 'refpair[save]'"
        ) from error
    return skops_io


def to_skops(estimators: list[Any], number_of_own: Callable[[Any], int | None]) -> bytes:
    """Return estimators as bytes.

    Parameters
    ----------
    estimators : list
        More may be added while the package's own objects in the first ones are written.
    number_of_own : callable
        Writes an object of the package and returns its number, or None if it is not one.
    """
    skops = _skops()
    replace = Replacing(number_of_own)
    plain: list[Any] = []
    while len(plain) < len(estimators):
        plain.append(replace(estimators[len(plain)]))
    content: bytes = skops.dumps(plain)
    unknown = skops.get_untrusted_types(data=content)
    if unknown:
        names = ", ".join(unknown)
        raise ValueError(f"the model holds what cannot be saved without pickle: {names}; {HOW_ELSE}")
    check_skops(content)
    return content


class Foreign:
    """The estimators in some bytes that :func:`to_skops` wrote; each is checked when it is asked for.

    Parameters
    ----------
    content : bytes or None
        None if there are no estimators.
    own : callable
        Returns the object of the package that has a number.
    """

    def __init__(self, content: bytes | None, own: Callable[[int], Any]) -> None:
        self._content = content
        self._restore = Restoring(own)
        self._unchecked: list[Any] | None = None
        self._found: dict[int, Any] = {}

    def find(self, number: Any) -> Any:
        """Return an estimator by its number."""
        require(type(number) is int and number >= 0, "an estimator of scikit-learn is missing")
        if self._unchecked is None:
            self._unchecked = self._read()
        if number not in self._found:
            require(number < len(self._unchecked), "an estimator of scikit-learn is missing")
            value, self._unchecked[number] = self._unchecked[number], None  # None: it cannot be in itself
            self._found[number] = self._restore(value)
        return self._found[number]

    def _read(self) -> list[Any]:
        if self._content is None:
            raise ValueError("estimators of scikit-learn are missing")
        skops = _skops()
        check_skops(self._content)
        found = skops.loads(self._content, trusted=None)
        if type(found) is not list:
            raise ValueError("the estimators are not a list")
        return found
