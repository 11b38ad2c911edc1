"""Codes: label vectors to bits, and bits back to label vectors."""

from refpair.coding.nearest import CodeBook, pack_bits, pack_signs
from refpair.coding.reference_pairs import (
    PairMixture,
    PairSampling,
    ReferencePairCode,
    draw_code,
    sample_pairs,
)

__all__ = [
    "CodeBook",
    "PairMixture",
    "PairSampling",
    "ReferencePairCode",
    "draw_code",
    "pack_bits",
    "pack_signs",
    "sample_pairs",
]
