"""Codes: label vectors to bits, and bits back to label vectors."""

from refpair.coding.bch import BCHCode
from refpair.coding.error_correcting import LabelCode, LabelCodeName, make_label_code
from refpair.coding.nearest import CodeBook, pack_bits, pack_signs
from refpair.coding.reference_pairs import (
    PairMixture,
    PairSampling,
    ReferencePairCode,
    draw_code,
    sample_pairs,
)
from refpair.coding.repetition import (
    HammingRepetition,
    LabelsetRepetition,
    RepetitionCode,
    draw_labelsets,
)

__all__ = [
    "BCHCode",
    "CodeBook",
    "HammingRepetition",
    "LabelCode",
    "LabelCodeName",
    "LabelsetRepetition",
    "PairMixture",
    "PairSampling",
    "ReferencePairCode",
    "RepetitionCode",
    "draw_code",
    "draw_labelsets",
    "make_label_code",
    "pack_bits",
    "pack_signs",
    "sample_pairs",
]
