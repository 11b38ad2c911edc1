"""Decisions: the label vector of lowest expected cost, given a distribution over label vectors."""

from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost
from refpair.decision.ranked import top_labels

__all__ = ["decide", "expected_cost", "top_labels"]
