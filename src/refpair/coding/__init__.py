"""Codes: label vectors to bits, and bits back to label vectors."""

from refpair.coding.nearest import CodeBook, pack_signs
from refpair.coding.reference_pairs import PairSampling, ReferencePairCode, draw_code, sample_pairs

__all__ = ["CodeBook", "PairSampling", "ReferencePairCode", "draw_code", "pack_signs", "sample_pairs"]
