"""Codes: label vectors to bits, and bits back to label vectors."""

from refpair.coding.reference_pairs import ReferencePairCode, draw_code

__all__ = ["ReferencePairCode", "draw_code"]
