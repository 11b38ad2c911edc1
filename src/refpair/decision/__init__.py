"""Decisions: the label vector of least expected cost, given a distribution over label vectors.

=========================  =====================================================================
cost                       rule
=========================  =====================================================================
hamming, rank, per label   a threshold for each label; exact
zero_one                   the most probable vector; exact
F-beta                     the general F-measure maximiser; exact
any other, K ≤ 10          all 2^K label vectors are tried; exact
any other, K > 10          local search from good starts: not proven to be best
the same, K independent    the likeliest labels, as many as cost least; exact for costs such as jaccard
=========================  =====================================================================

Where two decisions cost the same but for rounding, the exact rules take the one with fewer labels.
"""

from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost

__all__ = ["decide", "expected_cost"]
