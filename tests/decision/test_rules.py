from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from refpair import get_cost
from refpair.costs import Cost
from refpair.decision import (
    AtLeast,
    AtMost,
    Exactly,
    Exclusive,
    Implies,
    Taxonomy,
    allowed,
    decide,
)
from refpair.decision.condition import conditioned
from refpair.decision.rule_set import RuleSet
from refpair.posterior import IndependentLabels, LabelDistribution
from tests import naive
from tests.decision.cases import ALL, cases, random_distribution
from tests.decision.ruling import allowed_vectors, keeps, random_taxonomy, rule_lists

EXACT = ["hamming", "rank", "f1", "f2", "zero_one"]


def conditioned_weights(case, rules):
    """Return the weights of a row without the vectors that break a rule, or all if all break one."""
    for weights in case.weights:
        kept = [w * all(keeps(rule, v) for rule in rules) for v, w in zip(case.vectors, weights, strict=True)]
        yield kept if any(kept) else weights


def assert_best_allowed(case, rules, cost, slow_cost):
    labels = decide(case.distribution(), cost, rules=rules)
    candidates = allowed_vectors(rules, len(case.vectors[0]))
    for z, weights in zip(labels.tolist(), conditioned_weights(case, rules), strict=True):
        expected = {
            v: naive.expected_cost(case.vectors, weights, v, slow_cost) for v in map(tuple, candidates)
        }
        least = min(expected.values())
        assert expected[tuple(z)] == least
        assert sum(z) == min(sum(v) for v, found in expected.items() if found == least)


@pytest.mark.parametrize("name", ALL)
@settings(deadline=None, max_examples=60)
@given(data=st.data(), case=cases())
def test_no_allowed_vector_costs_less_and_ties_go_to_fewer_labels(name, data, case):
    rules = data.draw(rule_lists(len(case.vectors[0])))
    if name == "zero_one":  # the most probable vector, whatever its size, as without rules
        labels = decide(case.distribution(), get_cost(name), rules=rules)
        for z, weights in zip(labels.tolist(), conditioned_weights(case, rules), strict=True):
            chances = dict(zip(map(tuple, case.vectors), weights, strict=True))
            allowed_ones = list(map(tuple, allowed_vectors(rules, len(z))))
            assert chances.get(tuple(z), 0) == max(chances.get(v, 0) for v in allowed_ones)
            assert tuple(z) in allowed_ones
        return
    assert_best_allowed(case, rules, *ALL[name])
