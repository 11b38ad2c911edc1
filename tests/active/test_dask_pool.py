import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from refpair import BinaryRelevance
from refpair.active import AdaptiveActive, BayesRisk, CostSensitiveUncertainty, SpreadQuery, SubSampled
from refpair.active._pool import DaskRows
from refpair.datasets import load_dataset
from tests.active.strategies import STRATEGIES

N_ROWS = 400


@pytest.fixture(scope="module")
def pool():
    digits = load_dataset("digits")
    X = digits.X[:N_ROWS] / 16
    Y = np.full((N_ROWS, digits.Y.shape[1]), np.nan)
    Y[5:300:10] = digits.Y[5:300:10]
    return X, Y


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def as_frame(X):
    return pd.DataFrame(X, columns=[f"pixel {i}" for i in range(X.shape[1])])


FORMS = {
    "array": lambda X: da.from_array(X, chunks=(90, 20)),
    "small blocks": lambda X: da.from_array(X, chunks=(17, -1)),
    "of unknown length": lambda X: da.from_array(X, chunks=(90, -1))[da.ones(len(X), dtype=bool, chunks=90)],
    "frame": lambda X: dd.from_pandas(as_frame(X), npartitions=5),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", sorted(STRATEGIES.keys() - {"adaptive"}))
def test_the_same_rows_are_asked_for(pool, name, form):
    X, Y = pool
    given = as_frame(X) if form == "frame" else X
    for n in (1, 4):
        expected, worth = clone(STRATEGIES[name]).query(given, Y, n, return_utilities=True)
        found, utilities = clone(STRATEGIES[name]).query(FORMS[form](X), Y, n, return_utilities=True)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(utilities, worth)


def test_sparse_blocks(pool):
    X, Y = pool
    blocks = da.from_array(X, chunks=(150, -1)).map_blocks(sp.csr_array, meta=sp.csr_array((0, 0)))
    for strategy in (STRATEGIES["representative"], SpreadQuery(random_state=0)):
        expected = clone(strategy).query(sp.csr_array(X), Y, 3)
        np.testing.assert_array_equal(clone(strategy).query(blocks, Y, 3), expected)


def test_nothing_labeled_yet_and_labels_of_dask(pool):
    X, Y = pool
    unknown = np.full_like(Y, np.nan)
    for given in (unknown, da.from_array(unknown, chunks=100), dd.from_pandas(pd.DataFrame(unknown), 3)):
        found = STRATEGIES["mmc"].query(FORMS["array"](X), given, 3)
        np.testing.assert_array_equal(found, STRATEGIES["mmc"].query(X, unknown, 3))


def test_classifiers_of_others_see_the_rows_in_their_form(pool):
    X, Y = pool
    frame, lazy = as_frame(X), FORMS["frame"](X)
    for strategy in (
        BayesRisk("f1", estimator=BinaryRelevance(GaussianNB()), random_state=0),
        CostSensitiveUncertainty("f1", estimator=BinaryRelevance(GaussianNB()), n_bits=30, random_state=0),
    ):
        np.testing.assert_array_equal(strategy.query(lazy, Y, 2), strategy.query(frame, Y, 2))


def test_a_strategy_that_needs_all_rows_says_what_to_do(pool):
    X, Y = pool
    lazy = FORMS["array"](X)
    with pytest.raises(ValueError, match=r"SubSampled\(AdaptiveActive\(\), n_candidates=10_000\)"):
        AdaptiveActive(random_state=0).query(lazy, Y)
    some = SubSampled(AdaptiveActive(random_state=0), n_candidates=50, random_state=0)
    np.testing.assert_array_equal(some.query(lazy, Y, 2), some.query(X, Y, 2))


def counting(X, chunk, seen):
    """Return X as a Dask array that notes the first row of each block that is computed."""

    def note(block, block_info=None):
        seen.append(block_info[0]["array-location"][0][0])
        return block

    return da.from_array(X, chunks=(chunk, -1)).map_blocks(note, meta=np.empty((0, 0)))


@pytest.mark.parametrize("chunk", [40, 100])
def test_a_pass_computes_a_block_once_and_keeps_only_one(pool, monkeypatch, chunk):
    X, _ = pool
    seen = []
    rows = DaskRows(counting(X, chunk, seen))
    for first in range(0, N_ROWS, 30):
        np.testing.assert_array_equal(rows[np.arange(first, min(first + 30, N_ROWS))], X[first : first + 30])
    assert seen == list(range(0, N_ROWS, chunk))
    assert len(rows._kept[1]) <= chunk


def test_of_rows_from_all_over_no_block_is_kept(pool):
    X, _ = pool
    seen = []
    rows = DaskRows(counting(X, 40, seen))
    which = np.array([399, 3, 3, 250, 7, 120])
    np.testing.assert_array_equal(rows[which], X[which])
    assert sorted(seen) == [0, 120, 240, 360]
    assert rows._kept == (-1, None)
    assert rows.take(np.arange(0)).shape == (0, X.shape[1])


def test_a_part_fetches_the_drawn_rows_only(pool):
    X, Y = pool
    seen = []
    strategy = SubSampled(STRATEGIES["representative"], n_candidates=20, random_state=0)
    strategy.query(counting(X, 10, seen), Y, 2)
    drawn = len(set(seen))
    assert len(seen) == drawn < N_ROWS / 10 + 1  # each block at most once, for all that is done with its rows


def test_what_is_missing_is_found_in_a_block(pool):
    X, Y = pool
    broken = X.copy()
    broken[399, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        STRATEGIES["uncertainty"].query(FORMS["array"](broken), Y)
