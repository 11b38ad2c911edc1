import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels.dense import DenseBins
from refpair._kernels.sparse import SparseBins
from refpair.bits.binning import bin_for_training, find_bins
from tests import naive
from tests.kernels.growing import forms_of

EXTREME = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e308, -1e308, 1.7e308, -1.7e308, 1.0, np.nextafter(1.0, 2.0)]
values = st.sampled_from([*EXTREME, np.nan]) | st.integers(-5, 5).map(float) | st.floats(-1e3, 1e3, width=32)


@st.composite
def matrices(draw, max_rows=25):
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, 5))
    return np.array(draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)))


def edges_of(bins, feature):
    return bins.edges[bins.edge_start[feature] : bins.edge_start[feature + 1]].tolist()


def with_stored_zeros(X):
    n, d = X.shape
    return sp.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(n + 1) * d), shape=(n, d))


@given(matrices(), st.sampled_from([2, 3, 5, 64, 255]))
@settings(deadline=None, max_examples=200)
@pytest.mark.slow
def test_bins_are_those_of_the_naive_way(X, max_bins):
    for given_X in (X, np.asfortranarray(X), sp.csr_array(X), with_stored_zeros(X)):
        bins = find_bins(given_X, max_bins)
        for f, column in enumerate(X.T.tolist()):
            assert edges_of(bins, f) == naive.bin_edges(column, max_bins)
        assert bins.has_missing.tolist() == np.isnan(X).any(axis=0).tolist()
        assert bins.zero_bins().tolist() == [naive.bin_of(0.0, edges_of(bins, f)) for f in range(X.shape[1])]


@given(matrices(), st.sampled_from([2, 5, 255]))
@settings(deadline=None, max_examples=150)
@pytest.mark.slow
def test_values_fall_into_their_bins(X, max_bins):
    """In training and in prediction, dense and sparse."""
    bins = find_bins(X, max_bins)
    expected = np.array(
        [[naive.bin_of(v, edges_of(bins, f)) for f, v in enumerate(row)] for row in X.tolist()], dtype=float
    )
    assert (np.nan_to_num(expected) < max_bins).all()
    for given_X in (X, sp.csr_array(X)):
        codes = np.concatenate([block for _, block in bins.blocks(given_X)])
        np.testing.assert_array_equal(codes, np.where(np.isnan(expected), 255, expected))
    for form in forms_of(X, bins).values():
        trained = np.where(np.isnan(expected), bins.missing_bins, expected)
        np.testing.assert_array_equal(cells_of(form, X.shape), trained)


def cells_of(features, shape):
    """The bin of each cell, read from either form, by column and by row."""
    if isinstance(features, DenseBins):
        return features.codes.T
    by_column = np.tile(features.common_bins, (shape[0], 1))
    by_row = by_column.copy()
    for f in range(shape[1]):
        for j in range(features.column_start[f], features.column_start[f + 1]):
            by_column[features.column_rows[j], f] = features.column_bins[j]
    for i in range(shape[0]):
        slots = features.row_slots[features.row_start[i] : features.row_start[i + 1]]
        assert (np.diff(slots) > 0).all()
        by_row[i, features.slot_feature[slots]] = features.slot_bin[slots]
    np.testing.assert_array_equal(by_column, by_row)
    single = (features.n_bins == 2) & (features.missing_bins < 0)
    assert features.n_single == single.sum()
    assert single[features.slot_feature[: features.n_single]].all()
    return by_row


def test_neighbouring_values_are_told_apart():
    ones = 1.0 + np.arange(4) * 2.0**-52
    tiny = np.arange(-2, 2) * 5e-324
    huge = np.array([-1.7e308, -1e308, 1e308, 1.7e308])
    X = np.column_stack([ones, tiny, huge])
    bins = find_bins(X, 64)
    codes = np.concatenate([block for _, block in bins.blocks(X)])
    np.testing.assert_array_equal(codes, np.tile(np.arange(4)[:, None], 3))
    assert np.isfinite(bins.edges).all()


def test_float32_and_float64_have_the_same_bins():
    X = np.random.default_rng(0).standard_normal((300, 3)).astype(np.float32)
    narrow, wide = find_bins(X, 32), find_bins(X.astype(np.float64), 32)
    np.testing.assert_array_equal(narrow.edges, wide.edges)
    codes = [np.concatenate([block for _, block in narrow.blocks(x)]) for x in (X, X.astype(np.float64))]
    np.testing.assert_array_equal(*codes)


@pytest.mark.parametrize("max_bins", [2, 64, 255])
def test_bins_of_continuous_values_are_about_equally_full(max_bins):
    X = np.random.default_rng(1).lognormal(sigma=2.0, size=(10_000, 2))
    X[:100, 1] = np.nan
    bins = find_bins(X, max_bins)
    assert bins.n_bins.tolist() == [max_bins, max_bins + 1]
    codes = np.concatenate([block for _, block in bins.blocks(X)])
    counts = np.bincount(codes[:, 0], minlength=max_bins)
    assert counts.max() - counts.min() <= 2
    assert abs(counts.mean() - 10_000 / max_bins) < 1e-6


def test_a_value_of_most_rows_leaves_bins_for_the_others():
    column = np.concatenate([np.zeros(900), np.arange(1, 101)])
    bins = find_bins(column[:, None], 10)
    counts = np.bincount(np.searchsorted(bins.edges, column), minlength=2)
    assert counts[0] == 900
    assert counts[1:].max() <= 100
    assert 2 <= len(counts) <= 10


def test_all_missing_and_constant_features_have_no_edges():
    X = np.column_stack([np.full(5, np.nan), np.full(5, 3.0), [np.nan, 2.0, 2.0, 2.0, 2.0], np.zeros(5)])
    bins = find_bins(X, 64)
    assert len(bins.edges) == 0
    assert bins.n_bins.tolist() == [2, 1, 2, 1]
    assert bins.missing_bins.tolist() == [1, -1, 1, -1]
    assert bins.zero_bins().tolist() == [0, 0, 0, 0]


def test_a_hundred_thousand_features_without_a_value():
    X = sp.csr_array((np.ones(3), [5, 99_998, 99_999], [0, 1, 2, 3]), shape=(3, 100_000))
    bins = find_bins(X, 64)
    assert len(bins.edges) == 3
    features = bin_for_training(X, bins)
    assert isinstance(features, SparseBins)
    assert features.column_rows.tolist() == [0, 1, 2]
    assert features.slot_feature.tolist() == [5, 99_998, 99_999]
    blocks = list(bins.blocks(X))
    assert [block.shape for _, block in blocks] == [(3, 100_000)]
    assert np.argwhere(blocks[0][1]).tolist() == [[0, 5], [1, 99_998], [2, 99_999]]


def test_the_form_goes_with_the_share_of_uncommon_cells():
    rng = np.random.default_rng(2)
    dense = rng.standard_normal((40, 6))
    rare = (rng.random((40, 6)) < 0.1).astype(float)
    assert isinstance(bin_for_training(dense, find_bins(dense, 64)), DenseBins)
    assert isinstance(bin_for_training(sp.csr_array(dense), find_bins(dense, 64)), DenseBins)
    for X in (rare, sp.csr_array(rare), 1.0 - rare, sp.csr_array(1.0 - rare)):
        assert isinstance(bin_for_training(X, find_bins(X, 64)), SparseBins)


def test_wide_indices_of_sparse_matrices():
    X = sp.csr_array(np.eye(5))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    bins = find_bins(X, 64)
    np.testing.assert_array_equal(cells_of(bin_for_training(X, bins), X.shape), np.eye(5))
    np.testing.assert_array_equal(next(iter(bins.blocks(X)))[1], np.eye(5))


def test_prediction_goes_by_blocks_in_order():
    X = np.random.default_rng(3).standard_normal((2500, 2))
    bins = find_bins(X, 64)
    blocks = list(bins.blocks(X))
    assert [(rows.start, rows.stop) for rows, _ in blocks] == [(0, 1024), (1024, 2048), (2048, 2500)]
    codes = np.concatenate([codes for _, codes in blocks])
    np.testing.assert_array_equal(codes.T, forms_of(X, bins)["dense"].codes)
