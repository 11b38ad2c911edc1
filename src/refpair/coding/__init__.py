"""Codes: label vectors to bits, and bits back to label vectors."""

from refpair.coding.nearest import CodeBook
from refpair.coding.reference_pairs import (
    PairMixture,
    PairSampling,
    ReferencePairCode,
    draw_code,
    sample_pairs,
)
from refpair.coding.repetition import HammingRepetition, LabelsetRepetition, RepetitionCode

__all__ = [
    "CodeBook",
    "HammingRepetition",
    "LabelsetRepetition",
    "PairMixture",
    "PairSampling",
    "ReferencePairCode",
    "RepetitionCode",
    "draw_code",
    "sample_pairs",
]
