import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from refpair._kernels.rng import draw_rows
from refpair.bits.estimator import EstimatorBank
from refpair.bits.logistic import LogisticBank
from refpair.bits.problem import Bags, BitProblems
from refpair.bits.trees import TreeBank


@settings(deadline=None, max_examples=80)
@given(st.integers(2, 400), st.integers(0, 9), st.integers(0, 2**32 - 1), st.data())
def test_a_bit_is_left_out_of_where_it_is_not_in_the_bag(n_rows, n_bits, seed, data):
    rng = np.random.default_rng(seed)
    bags = Bags(
        rng.integers(0, 2**63, n_bits, dtype=np.uint64), n_rows, data.draw(st.integers(1, n_rows - 1))
    )
    rows = rng.integers(0, n_rows, data.draw(st.integers(0, 50)))  # in any order, and some twice
    drawn = [set(draw_rows(n_rows, bags.n_sampled, seed).tolist()) for seed in bags.seeds]
    found = bags.leave_out(rows)
    assert found.dtype == bool
    expected = [[row not in of_bit for of_bit in drawn] for row in rows]
    np.testing.assert_array_equal(found, np.array(expected, bool).reshape(len(rows), n_bits))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16, np.uint64])
def test_rows_may_be_integers_of_any_kind(dtype):
    bags = Bags(np.uint64([1, 2, 3]), 300, 150)
    rows = [299, 0, 7, 8, 255, 256]
    np.testing.assert_array_equal(bags.leave_out(np.array(rows, dtype)), bags.leave_out(np.arange(300))[rows])


def test_there_are_no_bags_where_each_bit_has_all_rows():
    assert Bags.of(np.uint64([1]), 10, 10) is None
    assert Bags.of(np.uint64([1]), 10, 9).n_sampled == 9


@pytest.mark.parametrize(
    "bank",
    [
        TreeBank(max_samples=0.6),
        LogisticBank(max_samples=0.6),
        EstimatorBank(LogisticRegression(), max_samples=0.6),
    ],
    ids=["trees", "logistic", "any"],
)
def test_bits_of_a_bank_know_the_rows_that_were_drawn_for_them(bank):
    rng = np.random.default_rng(0)
    targets = rng.choice([-1.0, 1.0], (4, 6))
    seeds = rng.integers(0, 2**63, 6, dtype=np.uint64)
    problems = BitProblems(rng.integers(0, 4, 35).astype(np.int32), 6, lambda bits: targets[:, bits], seeds)
    bank.fit(rng.standard_normal((35, 2)), problems)
    for bit, seed in enumerate(seeds):
        drawn = draw_rows(35, 21, seed).tolist()
        assert len(set(drawn)) == 21
        assert bank.bags_.rows(bit).tolist() == drawn
