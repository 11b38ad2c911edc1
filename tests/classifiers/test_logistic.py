import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import (
    BinaryRelevance,
    ChainClassifier,
    CondensedFilterTree,
    CSRPEClassifier,
    LabelPowerset,
    Logistic,
    ProbabilisticChain,
)
from refpair.bits.logistic import LogisticBank
from refpair.classifiers import base_estimators
from tests.classifiers.common import NOT_COPIES


@parametrize_with_checks(
    [Logistic(), CSRPEClassifier("hamming", estimator="logistic", n_bits=30)],
    expected_failed_checks=lambda model: NOT_COPIES if isinstance(model, CSRPEClassifier) else {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 8))
    Y = (X @ rng.standard_normal((8, 5)) + rng.standard_normal((120, 5)) > 0.5).astype(int)
    return X, Y


@pytest.mark.parametrize("shape", [(60, 4), (20, 40)])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_same_minimum_as_scikit_learns(shape, sparse):
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape)
    y = np.where(X[:, 0] + rng.standard_normal(len(X)) > 0, "yes", "no")
    weight = rng.integers(0, 4, len(X))
    model = Logistic(C=2.0, tol=1e-8).fit(sp.csr_matrix(X) if sparse else X, y, weight)
    theirs = LogisticRegression(C=2.0, tol=1e-12, solver="newton-cholesky").fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert model.predict(X).tolist() == theirs.predict(X).tolist()


def test_mistakes_are_told(data, monkeypatch):
    X, Y = data
    with pytest.raises(ValueError, match=r"two classes, not 3 classes; OneVsRestClassifier\(Logistic\(\)\)"):
        Logistic().fit(X, np.arange(120) % 3)
    with pytest.raises(ValueError, match="C must be a number above 0, not nan"):
        BinaryRelevance(Logistic(C=np.nan)).fit(X, Y)
    with pytest.raises(ValueError, match="tol must be a number above 0, not '1'"):
        CSRPEClassifier(estimator=Logistic(tol="1")).fit(X, Y)
    monkeypatch.setattr(base_estimators, "_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="longer than tol=1e-08 after 1 steps: scale the features"):
        Logistic().fit(X, Y[:, 0])


@pytest.mark.parametrize(
    "model",
    [BinaryRelevance, ChainClassifier, ProbabilisticChain, CondensedFilterTree, LabelPowerset],
)
def test_reductions_learn_by_it_as_by_scikit_learns(data, model):
    X, Y = data
    if model is CondensedFilterTree:  # its weights are scaled otherwise
        assert (model("logistic", random_state=0).fit(X, Y).predict(X) == Y).mean() > 0.8
        return
    ours = model(Logistic(tol=1e-8), random_state=0).fit(X[:80], Y[:80])
    theirs = model(LogisticRegression(tol=1e-12, solver="newton-cholesky"), random_state=0)
    if model is LabelPowerset:  # one against the others, not softmax
        assert (ours.predict(X) == Y).mean() > 0.6
        return
    theirs.fit(X[:80], Y[:80])
    np.testing.assert_array_equal(ours.predict(X[80:]), theirs.predict(X[80:]))
    np.testing.assert_allclose(ours.predict_proba(X[80:]), theirs.predict_proba(X[80:]), atol=1e-5)


@pytest.mark.parametrize("decoder", ["posterior", "nearest"])
def test_csrpe_learns_bits_by_it(data, decoder):
    X, Y = data
    X = StandardScaler().fit_transform(X)
    how = {"n_bits": 200, "decoder": decoder, "random_state": 0}
    by_name = CSRPEClassifier(estimator="logistic", **how).fit(X[:80], Y[:80])
    assert isinstance(by_name.bits_, LogisticBank)
    same = CSRPEClassifier(estimator=Logistic(), **how).fit(X[:80], Y[:80])
    np.testing.assert_array_equal(by_name.predict(X[80:]), same.predict(X[80:]))
    held_down = CSRPEClassifier(estimator=Logistic(C=1e-6), **how).fit(X[:80], Y[:80])
    assert by_name.score(X[80:], Y[80:]) > held_down.score(X[80:], Y[80:]) + 0.1
    with pytest.raises(ValueError, match='max_depth belongs to estimator="tree"'):
        CSRPEClassifier(estimator="logistic", max_depth=3).fit(X, Y)


def test_labels_that_are_always_or_never_there(data):
    X, Y = data
    Y = Y.copy()
    Y[:, 1], Y[:, 3] = 1, 0
    for model in (BinaryRelevance("logistic"), ChainClassifier("logistic"), ProbabilisticChain("logistic")):
        predicted = model.fit(X, Y).predict(X)
        assert (predicted[:, 1] == 1).all()
        assert (predicted[:, 3] == 0).all()
