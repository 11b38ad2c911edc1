"""Random rules, and what they allow, by the obvious way."""

import numpy as np
from hypothesis import strategies as st

from refpair.decision import AtLeast, AtMost, Exactly, Exclusive, Implies, Taxonomy
from tests import naive


def keeps(rule, z):
    """Tell whether a label vector keeps a rule."""
    if isinstance(rule, Implies):
        return z[rule.child] <= z[rule.parent]
    if isinstance(rule, Taxonomy):
        return all(z[child] <= z[parent] for child, parent in rule.parents.items())
    n = sum(z) if rule.labels is None else sum(z[label] for label in rule.labels)
    if isinstance(rule, Exclusive):
        return n <= 1
    return {AtMost: n <= rule.k, AtLeast: n >= rule.k, Exactly: n == rule.k}[type(rule)]


def allowed_vectors(rules, n_labels):
    return [z for z in naive.all_vectors(n_labels) if all(keeps(rule, z) for rule in rules)]


@st.composite
def rule_lists(draw, n_labels, max_rules=4):
    """Return some rules that allow something."""
    labels = st.integers(0, n_labels - 1)
    some = st.lists(labels, min_size=1, max_size=n_labels, unique=True)
    of_some = st.tuples(st.sampled_from([AtMost, AtLeast, Exactly]), some, st.integers(0, 3)).map(
        lambda drawn: drawn[0](min(drawn[2], len(drawn[1])), drawn[1])
    )
    of_all = st.tuples(st.sampled_from([AtMost, AtLeast, Exactly]), st.integers(0, n_labels)).map(
        lambda drawn: drawn[0](drawn[1])
    )
    kinds = [of_some, of_all]
    if n_labels > 1:
        pairs = st.lists(labels, min_size=2, max_size=2, unique=True)
        kinds.append(pairs.map(lambda pair: Implies(*pair)))
        kinds.append(st.lists(labels, min_size=2, max_size=n_labels, unique=True).map(Exclusive))
        kinds.append(st.integers(0, 2**32 - 1).map(lambda seed: random_taxonomy(seed, n_labels)))
    rules = draw(st.lists(st.one_of(*kinds), min_size=1, max_size=max_rules))
    while not allowed_vectors(rules, n_labels):
        rules.pop()
    return rules or [AtMost(n_labels)]


def random_taxonomy(seed, n_labels):
    """Return a forest of labels in random order, in which at least one has a parent."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_labels).tolist()
    parents = {order[i]: order[rng.integers(i)] for i in range(1, n_labels) if rng.random() < 0.7}
    return Taxonomy(parents or {order[1]: order[0]})
