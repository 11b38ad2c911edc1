import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from refpair._kernels.rng import draw_rows
from refpair.bits import BitProblems, EstimatorBank, TreeBank, out_of_bag


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 2**32 - 1), st.data())
def test_a_bit_is_out_of_bag_where_it_is_not_in_it(n_rows, n_bits, seed, data):
    rng = np.random.default_rng(seed)
    in_bag = rng.integers(0, 2, (n_bits, n_rows), dtype=np.uint8)
    rows = rng.integers(0, n_rows, data.draw(st.integers(0, 50)))  # in any order, and some twice
    first = data.draw(st.integers(0, n_bits))
    bits = slice(first, data.draw(st.one_of(st.none(), st.integers(first, n_bits))))
    found = out_of_bag(np.packbits(in_bag, axis=1), rows, bits)
    expected = [[not in_bag[bit, row] for bit in range(n_bits)[bits]] for row in rows]
    assert found.dtype == bool
    np.testing.assert_array_equal(
        found, np.array(expected, bool).reshape(len(rows), len(range(n_bits)[bits]))
    )


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16, np.uint64])
def test_rows_may_be_integers_of_any_kind(dtype):
    in_bag = np.random.default_rng(0).integers(0, 2, (3, 300), dtype=np.uint8)
    rows = np.array([299, 0, 7, 8, 255, 256], dtype)
    found = out_of_bag(np.packbits(in_bag, axis=1), rows, slice(None))
    np.testing.assert_array_equal(found, in_bag[:, rows].T == 0)


@pytest.mark.parametrize(
    "bank",
    [TreeBank(max_samples=0.6), EstimatorBank(LogisticRegression(), max_samples=0.6)],
    ids=["trees", "any"],
)
def test_bits_of_a_bank_know_the_rows_that_were_drawn_for_them(bank):
    rng = np.random.default_rng(0)
    targets = rng.choice([-1.0, 1.0], (4, 6))
    seeds = rng.integers(0, 2**63, 6, dtype=np.uint64)
    problems = BitProblems(rng.integers(0, 4, 35).astype(np.int32), 6, lambda bits: targets[:, bits], seeds)
    bank.fit(rng.standard_normal((35, 2)), problems)
    found = out_of_bag(bank.in_bag_, np.arange(35), slice(None))
    for bit, seed in enumerate(seeds):
        drawn = set(draw_rows(35, 21, seed).tolist())
        assert len(drawn) == 21
        assert np.flatnonzero(~found[:, bit]).tolist() == sorted(drawn)
