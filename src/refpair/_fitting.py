"""Learning that is all or nothing: an error or Ctrl-C in the middle never leaves half a model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from refpair._progress import telling_callbacks, with_callbacks

Method = TypeVar("Method", bound=Callable[..., Any])


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn about the line that called, outside refpair and scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("refpair", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def all_or_nothing(learn: Method) -> Method:
    """Decorate a method that learns: until it is done, the object stays what it was, fitted before or not.

    The method runs on a copy of the object, which shares its parameters. All that it learns becomes the
    object's in one step: an interruption comes before that or after. scikit-learn's callbacks of the object
    are told how far it is.
    """

    @with_callbacks
    def learn_and_tell(aside: Any, *given: Any, **named: Any) -> Any:
        with telling_callbacks(aside, given, named):
            return learn(aside, *given, **named)

    @wraps(learn)
    def learn_aside(self: Any, *given: Any, **named: Any) -> Any:
        aside = object.__new__(type(self))
        vars(aside).update(vars(self))
        returned = learn_and_tell(aside, *given, **named)
        self.__dict__ = vars(aside)
        return self if returned is aside else returned

    return cast(Method, learn_aside)
