"""Decisions: the label vector of lowest expected cost, given a distribution over label vectors."""

from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost

__all__ = ["decide", "expected_cost"]
