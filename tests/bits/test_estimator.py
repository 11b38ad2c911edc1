from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from refpair._kernels.rng import draw_rows
from refpair.bits.estimator import EstimatorBank
from refpair.bits.problem import BitProblems

N_VECTORS, N_BITS = 9, 11


def make_problems(n, rng, n_bits=N_BITS):
    targets = rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0], (N_VECTORS, n_bits))
    targets[:, 3] = np.abs(targets[:, 3]) + 0.1  # all rows agree
    targets[:, 4] = -np.abs(targets[:, 4]) - 0.1
    targets[:, 5] = 0.0  # all rows tie
    vector_of_row = rng.integers(0, N_VECTORS, n).astype(np.int32)
    seeds = rng.integers(0, 2**63, n_bits, dtype=np.uint64)
    return BitProblems(vector_of_row, n_bits, lambda bits: targets[:, bits], seeds), targets


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return X, *make_problems(60, rng)


@pytest.mark.parametrize("max_samples", [None, 25, 0.5])
@pytest.mark.parametrize("learner", [LogisticRegression(C=3.0), DecisionTreeClassifier(max_depth=3)])
def test_each_bit_is_a_clone_fitted_on_its_rows_and_weights(data, learner, max_samples):
    X, problems, targets = data
    bank = EstimatorBank(learner, max_samples=max_samples).fit(X, problems)
    signs = bank.predict(X)
    assert signs.shape == (60, N_BITS)
    assert signs.dtype == np.int8
    n_sampled = {None: 60, 25: 25, 0.5: 30}[max_samples]
    for bit, seed in enumerate(problems.seeds):
        rows = np.sort(draw_rows(60, n_sampled, seed))
        target = targets[problems.vector_of_row[rows], bit]
        rows, target = rows[target != 0], target[target != 0]
        if max_samples is not None:
            assert bank.bags_.rows(bit).tolist() == draw_rows(60, n_sampled, seed).tolist()
        if len(set(np.sign(target))) < 2:
            assert bank.estimators_[bit] == (target[0] > 0 if len(target) else 0)
            assert (signs[:, bit] == 2 * bank.estimators_[bit] - 1).all()
            continue
        by_hand = clone(learner)
        if isinstance(by_hand, DecisionTreeClassifier):
            by_hand.set_params(random_state=bank.estimators_[bit].random_state)
        by_hand.fit(X[rows], np.sign(target), sample_weight=np.abs(target))
        np.testing.assert_array_equal(signs[:, bit], by_hand.predict(X))
    assert (bank.bags_ is None) == (max_samples is None)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_bit_uses_its_first_features_as_if_there_were_no_others(data, sparse):
    X, problems, _ = data
    X = sp.csr_array(X) if sparse else X
    allowed = np.int32([1, 2, 3, 4, 1, 2, 3, 4, 4, 2, 1])
    learner = DecisionTreeClassifier(max_depth=3)
    bank = EstimatorBank(learner, max_samples=40).fit(X, replace(problems, n_features=allowed))
    for bit, n_features in enumerate(allowed):
        alone = EstimatorBank(learner, max_samples=40).fit(X[:, :n_features], problems)
        for bits in (slice(bit, bit + 1), slice(bit, None)):
            expected = alone.values(X[:, :n_features], bits)[:, 0]
            np.testing.assert_array_equal(bank.values(X, bits)[:, 0], expected)
            np.testing.assert_array_equal(bank.predict(X, bits)[:, 0], np.where(expected > 0, 1, -1))


def test_the_learner_itself_is_left_alone(data):
    X, problems, _ = data
    learner = DecisionTreeClassifier(random_state=None)
    EstimatorBank(learner).fit(X, problems)
    assert learner.random_state is None
    assert not hasattr(learner, "tree_")


def test_each_bit_has_a_random_state_of_its_own(data):
    X, problems, _ = data
    bank = EstimatorBank(DecisionTreeClassifier(splitter="random")).fit(X, problems)
    states = [learnt.random_state for learnt in bank.estimators_ if not isinstance(learnt, int)]
    assert len(set(states)) == len(states) == N_BITS - 3
    again = EstimatorBank(DecisionTreeClassifier(splitter="random")).fit(X, problems)
    np.testing.assert_array_equal(bank.predict(X), again.predict(X))
    fixed = EstimatorBank(DecisionTreeClassifier(random_state=7)).fit(X, problems)
    assert {learnt.random_state for learnt in fixed.estimators_ if not isinstance(learnt, int)} == {7}


def test_parts_of_a_learner_have_a_random_state_too(data):
    X, problems, _ = data
    learner = BaggingClassifier(DecisionTreeClassifier(splitter="random"), n_estimators=2)
    first, second = (EstimatorBank(learner).fit(X, problems) for _ in range(2))
    assert isinstance(first.estimators_[0].estimator.random_state, int)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


def test_threads_and_sparse_features_change_nothing(data):
    X, problems, _ = data
    X = X * (np.abs(X) > 0.8)
    expected = EstimatorBank(LogisticRegression(), max_samples=0.7).fit(X, problems)
    for n_jobs, given in [(2, X), (1, sp.csr_array(X)), (2, sp.csr_array(X))]:
        bank = EstimatorBank(LogisticRegression(), max_samples=0.7, n_jobs=n_jobs).fit(given, problems)
        np.testing.assert_array_equal(bank.predict(given), expected.predict(X))
        np.testing.assert_array_equal(bank.bags_.seeds, expected.bags_.seeds)


def test_no_bits():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((10, 2))
    problems = BitProblems(np.zeros(10, np.int32), 0, lambda bits: np.empty((1, 0)), np.empty(0, np.uint64))
    bank = EstimatorBank(LogisticRegression(), max_samples=0.5).fit(X, problems)
    assert bank.predict(X).shape == (10, 0)
    assert len(bank.bags_) == 0


class Opinionated(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted with, and has no random_state."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.weights_ = np.unique(y), sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_learners_without_a_random_state(data):
    X, problems, targets = data
    bank = EstimatorBank(Opinionated()).fit(X, problems)
    assert (bank.predict(X)[:, 0] == -1).all()
    weights = np.abs(targets[problems.vector_of_row, 0])
    np.testing.assert_array_equal(bank.estimators_[0].weights_, weights[weights > 0])
