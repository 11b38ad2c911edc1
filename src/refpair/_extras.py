"""Packages that not everyone needs, imported where used; an error names the extra of a missing one."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["from_extra", "is_dataframe", "is_series", "pd"]


def from_extra(module: str, extra: str, what: str) -> Any:
    """Import a module of an extra; without it, say which one to install, and `what` needs it."""
    try:
        import_module(module.partition(".")[0])
        import_module(module.partition(".")[0])
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what}: pip install 'refpair[{extra}]'") from error


class _Pandas:
    """pandas, imported when something of it is first used."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(from_extra("pandas", "tables", "tables need pandas"), name)
        setattr(self, name, found)  # found at once from now on
        return found


if not TYPE_CHECKING:
    pd = _Pandas()


def is_dataframe(given: object) -> TypeGuard[pd.DataFrame]:
    """Whether something is a DataFrame. pandas is not imported for that: without it, there can be none."""
    return isinstance(given, getattr(sys.modules.get("pandas"), "DataFrame", ()))


def is_series(given: object) -> TypeGuard[pd.Series]:
    """Whether something is a Series of pandas."""
    return isinstance(given, getattr(sys.modules.get("pandas"), "Series", ()))
