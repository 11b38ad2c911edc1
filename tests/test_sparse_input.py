"""Sparse matrices whose parts do not fit together: refused by name wherever users can give one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from refpair import BayesDecisionClassifier, BinaryRelevance, CSRPEClassifier, Logistic, TableVectorizer
from refpair._sparse import check_sparse
from refpair.active import CostSensitiveUncertainty, SpreadQuery
from refpair.active._classifier import KernelFeatures
from refpair.bits.binning import find_bins
from refpair.costs import get_cost
from refpair.decision import decide
from refpair.decision.expected import expected_cost
from refpair.labeling.rows import read_features
from refpair.model_selection import MultilabelStratifiedKFold
from refpair.posterior import LabelDistribution


def matrix(n_columns=5, kind=sp.csr_array):
    rng = np.random.default_rng(0)
    return kind((rng.random((40, n_columns)) < 0.4).astype(float))


def far(X):
    X.indices[3] = 10**6


def negative(X):
    X.indices[3] = -3


def falling(X):
    X.indptr[5] = X.indptr[4] - 1


def beyond(X):
    X.indptr[5:] += 10**6


def back_to_the_start(X):
    X.indptr[-1] = 0  # no cells at all, says SciPy, and looks no further


def wrapping(X):
    X.indptr[4:6] = 2**31 - 1, -(2**31) + 5  # in 32 bits, their difference is 6


def too_few_starts(X):
    X.indptr = X.indptr[:-3]


def too_few_values(X):
    X.data = X.data[:-2]


BREAKS = (far, negative, falling, beyond, back_to_the_start, wrapping, too_few_starts, too_few_values)


def broken(by, n_columns=5):
    X = matrix(n_columns)
    by(X)
    return X


@pytest.mark.parametrize("by", BREAKS)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.bsr_array])
def test_parts_that_do_not_fit_together(by, kind):
    X = matrix(kind=kind)
    check_sparse(X, "X")
    by(X)
    with pytest.raises(ValueError, match=r"^X is a broken sparse matrix"):
        check_sparse(X, "X")


@pytest.mark.parametrize("axis", ["row", "col"])
@pytest.mark.parametrize("place", [-1, 40, 10**6])
def test_cells_outside(axis, place):
    X = matrix(kind=sp.coo_array)
    check_sparse(X, "X")
    getattr(X, axis)[2] = place
    with pytest.raises(ValueError, match=f"X is a broken .* has a cell in {axis}[a-z]* {place}, and "):
        check_sparse(X, "X")


@pytest.mark.parametrize("kind", [sp.dok_array, sp.lil_array, sp.dia_array, np.asarray])
def test_all_else_is_fine(kind):
    check_sparse(kind(matrix().toarray()), "X")
    check_sparse(kind(np.zeros((0, 3))), "X")


def test_looking_changes_nothing_and_spare_room_is_fine():
    X = matrix()
    X.indices, X.data = np.append(X.indices, [99, -7]), np.append(X.data, [np.nan, 3.0])
    parts = X.data, X.indices, X.indptr
    check_sparse(X, "X")
    assert all(now is before for now, before in zip((X.data, X.indices, X.indptr), parts, strict=True))
    Y = matrix(2).toarray()
    how = {"n_bits": 6, "random_state": 0}
    model = CSRPEClassifier(**how).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), CSRPEClassifier(**how).fit(matrix(), Y).predict(matrix()))


@pytest.fixture(scope="module")
def model():
    return CSRPEClassifier("f1", n_bits=6, random_state=0).fit(matrix(), matrix(3))


@pytest.fixture(scope="module")
def bayes():
    return BayesDecisionClassifier(BinaryRelevance("tree", random_state=0)).fit(matrix(), matrix(3).toarray())


@pytest.mark.parametrize("by", [far, negative, beyond, falling])
def test_features(by, model, bayes):
    X, Y, y = broken(by), matrix(3), matrix(1).toarray()[:, 0]
    some = np.where(np.arange(40)[:, None] < 20, Y.toarray(), np.nan)
    for ask in (
        lambda: CSRPEClassifier(n_bits=6).fit(X, Y),
        lambda: CSRPEClassifier(n_bits=6, estimator="logistic").fit(X, Y),
        lambda: BinaryRelevance("tree").fit(X, Y),
        lambda: model.predict(X),
        lambda: model.predict_proba(X),
        lambda: model.predict_code(X),
        lambda: model.expected_cost(X),
        lambda: model.decide(X, "hamming"),
        lambda: model.score(X, Y),
        lambda: bayes.predict(X),
        lambda: Logistic().fit(X, y),
        lambda: Logistic().fit(matrix(), y).predict(X),
        lambda: KernelFeatures().fit(X),
        lambda: TableVectorizer().fit(X),
        lambda: TableVectorizer().fit(matrix()).transform(X),
        lambda: CostSensitiveUncertainty(n_bits=6).query(X, some),
        lambda: SpreadQuery().query(X, some),
    ):
        with pytest.raises(ValueError, match=r"^X is a broken sparse matrix"):
            ask()
    with pytest.raises(ValueError, match=r"^features is a broken sparse matrix"):
        read_features(X, 40)


@pytest.mark.parametrize("by", [far, negative, beyond, falling])
def test_labels(by, model):
    X, Y = matrix(), broken(by, 3)
    cost = get_cost("f1")
    p = LabelDistribution.from_samples(np.repeat(matrix(3).toarray()[:, None], 2, axis=1).astype(np.uint8))
    assert decide(p, cost).shape == (40, 3)
    for ask in (
        lambda: CSRPEClassifier(n_bits=6).fit(X, Y),
        lambda: BinaryRelevance("tree").fit(X, Y),
        lambda: model.encode(Y),
        lambda: model.expected_cost(X, Y),
        lambda: model.score(X, Y),
        lambda: cost.rows(Y, matrix(3)),
        lambda: cost.matrix(Y, matrix(3)),
        lambda: list(MultilabelStratifiedKFold(2).split(X, Y)),
    ):
        with pytest.raises(ValueError, match=r"^[Yy] is a broken sparse matrix"):
            ask()
    with pytest.raises(ValueError, match=r"^Z is a broken sparse matrix"):
        cost.rows(matrix(3), Y)
    with pytest.raises(ValueError, match=r"^labels is a broken sparse matrix"):
        expected_cost(p, Y, cost)
    with pytest.raises(ValueError, match=r"^relevant_set is a broken sparse matrix"):
        CSRPEClassifier(n_bits=6, relevant_set=Y).fit(X, matrix(3))


@pytest.mark.parametrize("n_features", [2, 400])
def test_bins_are_asked_for_their_own_features_only(n_features):
    bins = find_bins(matrix().toarray(), 8)
    for X in (np.ones((3, n_features)), sp.csr_array(np.ones((3, n_features)))):
        with pytest.raises(ValueError, match=f"expected 5 features, got {n_features}"):
            next(bins.blocks(X))
