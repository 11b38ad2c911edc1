"""What a file holds of error-correcting codes."""

from __future__ import annotations

from typing import Any

from refpair.coding import BCHCode, HammingRepetition, LabelsetRepetition, RepetitionCode
from refpair.persistence._array_fields import Array
from refpair.persistence._codec import Field, Schema, require
from refpair.persistence._fields import Whole

__all__ = ["CODES", "CODE_SCHEMAS"]

CODES = ("RepetitionCode", "LabelsetRepetition", "HammingRepetition", "BCHCode")
_MOST_BITS = 1 << 22  # a code makes arrays of this length before anything else is known of it

_LENGTHS: dict[str, Field] = {"n_labels": Whole(1, _MOST_BITS), "code_length": Whole(1, _MOST_BITS)}


_LONG_FOR_BCH = 8191


def _check_bch(code: BCHCode) -> None:
    """Refuse codes that take minutes to decode: a file would be all it takes to ask for one."""
    require(
        code.code_length <= max(_LONG_FOR_BCH, 4 * code.n_labels), "the code is too long for so few labels"
    )


def _take_bch(code: BCHCode, names: list[str]) -> dict[str, Any]:
    _check_bch(code)
    return {name: getattr(code, name) for name in names}


def _make(cls: type, values: dict[str, Any]) -> Any:
    return cls(**values)  # they check their parameters themselves


CODE_SCHEMAS = (
    Schema(RepetitionCode, _LENGTHS, make=_make),
    Schema(HammingRepetition, _LENGTHS, make=_make),
    Schema(BCHCode, {**_LENGTHS, "permutation": Array("<i8")}, _check_bch, _take_bch, _make),
    Schema(
        LabelsetRepetition,
        {"n_labels": Whole(1, _MOST_BITS), "labelsets": Array("<i8", 2)},
        make=_make,
    ),
)
