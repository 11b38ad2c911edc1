"""The quick look at a feature must never throw out one that the exact search would take."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels import packed
from refpair._kernels.packed import Limits
from tests.kernels.calling import from_python

best_threshold, may_reach = map(from_python, (packed.best_threshold, packed.may_reach))

LIMITS = Limits(max_depth=99, min_samples_leaf=1, weight_bits=31, count_bits=0)
WEIGHTS = st.one_of(st.integers(1, 20), st.integers(1, 2**25))


def packed(sums):
    return np.array([(s << 31) + w for s, w in sums], np.int64)


@st.composite
def histograms(draw):
    bins = st.tuples(WEIGHTS, WEIGHTS, st.booleans()).map(
        lambda x: (x[0] - x[1], x[0] + x[1]) if x[2] else (0, 0)
    )
    return packed(draw(st.lists(bins, min_size=2, max_size=30)))


@settings(max_examples=300, deadline=None)  # the first call compiles
@given(histograms(), st.floats(0.0, 2.0))
def test_a_gain_that_is_there_is_never_missed(histogram, part):
    total, occupied = histogram.sum(), np.flatnonzero(histogram)
    if len(occupied) < 2:
        return
    gain = best_threshold(occupied, histogram[occupied], len(occupied), 0, 0, total, LIMITS, -1.0)[0]
    assert may_reach(histogram, len(histogram), total, LIMITS, gain)
    assert may_reach(histogram, len(histogram), total, LIMITS, gain * min(part, 1.0))


def test_hopeless_features_are_thrown_out():
    histogram = packed([(10, 100), (-10, 100), (0, 0), (10, 100), (0, 0)])
    total, occupied = histogram.sum(), np.flatnonzero(histogram)
    gain = best_threshold(occupied, histogram[occupied], 3, 0, 0, total, LIMITS, -1.0)[0]
    assert not may_reach(histogram, len(histogram), total, LIMITS, gain * 1.01)
