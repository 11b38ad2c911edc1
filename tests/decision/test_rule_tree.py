import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels.rule_tree import best_by_gains, best_of_sizes
from refpair.decision.rule_set import RuleSet
from tests import naive
from tests.decision.ruling import allowed_vectors, rule_lists


@settings(deadline=None, max_examples=150)
@given(data=st.data(), n_labels=st.integers(1, 6))
def test_the_tree_finds_the_largest_sums(data, n_labels):
    rules = data.draw(rule_lists(n_labels))
    kept = RuleSet(tuple(rules), n_labels)
    gains = data.draw(st.lists(st.integers(-5, 5), min_size=n_labels, max_size=n_labels))
    (tree, is_whole), (counted, is_counted) = kept.tree, kept.counted_tree
    assert is_whole == is_counted
    (best,) = best_by_gains(np.array([gains], float), tree, 1e-9)
    sizes, sums = np.arange(n_labels + 1), np.empty(n_labels + 1)
    of_sizes = best_of_sizes(np.tile(np.array(gains, float), (n_labels + 1, 1)), sizes, counted, sums)
    allowed = allowed_vectors(rules, n_labels)
    largest = naive.best_sum(gains, allowed)
    if not is_whole:  # then they are bounds
        assert best @ gains >= largest
        return
    assert kept.allows(best[None])[0]
    assert best @ gains == largest
    for size, labels, reached in zip(sizes, of_sizes, sums, strict=True):
        expected = naive.best_sum(gains, allowed, size)
        assert reached == (-np.inf if expected is None else expected)
        if expected is not None:
            assert labels.sum() == size
            assert labels @ gains == expected
            assert kept.allows(labels[None])[0]
