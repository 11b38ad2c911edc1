"""Decisions: the label vector of lowest expected cost, given a distribution over label vectors."""

from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost
from refpair.decision.ranked import top_labels
from refpair.decision.rules import AtLeast, AtMost, Exactly, Exclusive, Implies, Taxonomy

__all__ = [
    "AtLeast",
    "AtMost",
    "Exactly",
    "Exclusive",
    "Implies",
    "Taxonomy",
    "decide",
    "expected_cost",
    "top_labels",
]
