from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from refpair._kernels import packed as kernels
from refpair._kernels import sparse
from refpair._kernels.jit import count_ones, trailing_zeros
from refpair._kernels.packed import Limits
from tests.kernels.calling import from_python

highest_gain, split_gain = map(from_python, (kernels.highest_gain, kernels.split_gain))
sort_slots = from_python(sparse.sort_slots)

LIMITS = Limits(100, 1, 31, 0)


def packed(s, w, count=0, limits=LIMITS):
    return (s << limits.weight_bits + limits.count_bits) + (w << limits.count_bits) + count


@st.composite
def sides(draw):
    w = draw(st.integers(1, 2**30))
    v = draw(st.integers(1, 2**30 - 1))
    return draw(st.integers(-w, w)), w, draw(st.integers(-v, v)), v


@given(sides())
@settings(deadline=None, max_examples=300)
def test_gains_are_exact_but_for_the_last_digits(numbers):
    s, w, t, v = numbers
    total = packed(s + t, w + v)
    gain = split_gain(packed(s, w), total, LIMITS, -1.0)
    if abs(s) == w and abs(t) == v:
        assert gain == np.inf
        return
    exact = Fraction(s * v - t * w) ** 2 / (w * v)
    assert gain == pytest.approx(float(exact), rel=1e-14)
    assert gain <= highest_gain(total, LIMITS) * (1 + 1e-14) or s * t > 0
    assert gain == split_gain(packed(t, v), total, LIMITS, -1.0), "either child tells the same"


@given(sides())
@settings(deadline=None)
def test_gains_that_reach_the_floor_are_returned(numbers):
    s, w, t, v = numbers
    assume(s * v != t * w)
    assume(not (abs(s) == w and abs(t) == v))
    child, total = packed(s, w), packed(s + t, w + v)
    gain = split_gain(child, total, LIMITS, -1.0)
    assert split_gain(child, total, LIMITS, gain) == gain
    assert split_gain(child, total, LIMITS, gain * (1 + 1e-6)) == -1.0
    assert split_gain(child, total, LIMITS, np.inf) == -1.0


def test_small_leaves_are_forbidden():
    limits = Limits(100, 3, 28, 7)
    total = packed(0, 100, 10, limits)
    gains = [split_gain(packed(5, 40, n, limits), total, limits, -1.0) for n in range(1, 10)]
    assert [gain >= 0 for gain in gains] == [False, False, True, True, True, True, True, False, False]


@numba.njit
def words_of(word):
    return count_ones(word), trailing_zeros(word)


@pytest.mark.parametrize("word", [0, 1, 2, 3, 2**63, 2**64 - 1, 0x00F0_0000_0000_0000, 12345678901234567890])
def test_the_two_instructions(word):
    ones, zeros = words_of(np.uint64(word))
    assert ones == word.bit_count()
    assert zeros == (64 if word == 0 else (word & -word).bit_length() - 1)


@given(st.lists(st.integers(0, 2**31 - 1), max_size=300), st.integers(0, 5))
@settings(deadline=None)
def test_slots_are_sorted_and_what_follows_is_left_alone(items, n_after):
    slots = np.array([*items, *range(n_after, 0, -1)], np.int32)
    sort_slots(slots, len(items))
    assert slots.tolist() == [*sorted(items), *range(n_after, 0, -1)]
