from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from refpair._kernels import rng
from refpair._kernels.rng import draw_rows
from tests.kernels.calling import from_python
from tests.naive import SplitMix

below, next_state, output = map(from_python, (rng.below, rng.next_state, rng.output))
shuffle_prefix = from_python(rng.shuffle_prefix)


def advanced(state):
    return np.uint64(next_state(state))  # called from Python, a kernel gives back a plain int


def test_the_stream_is_splitmix64():
    """The first numbers of seed 1234567, as Vigna's own program prints them."""
    state, found = np.uint64(1234567), []
    for _ in range(5):
        state = advanced(state)
        found.append(int(output(state)))
    assert found == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_numbers_below_n_are_uniform():
    state, found = np.uint64(5), []
    for _ in range(20_000):
        state = advanced(state)
        found.append(below(state, 7))
    assert chisquare(np.bincount(found, minlength=7)).pvalue > 0.001
    assert (min(found), max(found)) == (0, 6)


@pytest.mark.parametrize("n", [1, 2, 1000, 2**31 - 1])
def test_numbers_below_n_are_below_n(n):
    twin, state = SplitMix(9), np.uint64(9)
    for _ in range(100):
        state = advanced(state)
        assert below(state, n) == twin.below(n) < n
    assert below(np.uint64(0), n) == 0


def test_shuffles_are_uniform():
    counts = dict.fromkeys(permutations(range(4)), 0)
    for seed in range(6000):
        items = np.arange(4, dtype=np.int32)
        shuffle_prefix(items, 4, np.uint64(seed * 7919))
        counts[tuple(items.tolist())] += 1
    assert chisquare(list(counts.values())).pvalue > 0.001


@pytest.mark.parametrize(("n", "n_first"), [(0, 3), (1, 1), (5, 0), (5, 2), (5, 5), (5, 9)])
def test_a_shuffle_moves_items_and_loses_none(n, n_first):
    items, twin = np.arange(n, dtype=np.int32), list(range(n))
    state = shuffle_prefix(items, n_first, np.uint64(3))
    stream = SplitMix(3)
    stream.shuffle(twin, n_first)
    assert items.tolist() == twin
    assert sorted(twin) == list(range(n))
    assert state == stream.state


def test_rows_are_drawn_without_replacement():
    drawn = np.array([draw_rows(12, 5, np.uint64(seed)) for seed in range(3000)])
    assert drawn.shape == (3000, 5)
    assert all(len(set(rows)) == 5 for rows in drawn.tolist())
    assert chisquare(np.bincount(drawn.ravel(), minlength=12)).pvalue > 0.001
    np.testing.assert_array_equal(draw_rows(12, 5, np.uint64(7)), drawn[7])


@settings(deadline=None)
@given(st.integers(17, 3000), st.data(), st.integers(0, 2**64 - 1))
def test_few_rows_are_the_first_of_a_shuffle_of_all(n_rows, data, seed):
    n_drawn = data.draw(st.integers(1, (n_rows - 1) // 16))
    rows = np.arange(n_rows, dtype=np.int32)
    shuffle_prefix(rows, n_drawn, ~np.uint64(seed))
    assert draw_rows(n_rows, n_drawn, np.uint64(seed)).tolist() == rows[:n_drawn].tolist()


def test_all_rows_come_in_order():
    assert draw_rows(6, 6, np.uint64(1)).tolist() == [0, 1, 2, 3, 4, 5]
    assert draw_rows(1, 1, np.uint64(1)).tolist() == [0]
