"""Decisions: the label vector of least expected cost, given a distribution over label vectors.

=========================  =====================================================================
cost                       rule
=========================  =====================================================================
hamming, rank, per label   a threshold for each label; exact
zero_one                   the most probable vector; exact
F-beta                     the general F-measure maximiser; exact
any other, K ≤ 10          all 2^K label vectors are tried; exact
any other, K > 10          local search from good starts: not proven to be best
the same, K independent    the likeliest labels, as many as cost least; exact for costs such as accuracy
=========================  =====================================================================

Where two decisions cost the same but for rounding, the exact rules take the one with fewer labels.
"""

from refpair.decision.choice import View, choose_reading
from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost, worst_cost
from refpair.decision.linear import decide_from_marginals, needs_only_marginals

__all__ = [
    "View",
    "choose_reading",
    "decide",
    "decide_from_marginals",
    "expected_cost",
    "needs_only_marginals",
    "worst_cost",
]
