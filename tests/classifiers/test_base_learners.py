"""The learners that reductions are made of: binary problems, problems of several classes, bits of a code."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from refpair.bits.estimator import fit_clones
from refpair.classifiers import _base_learners, mlecc
from refpair.classifiers._base_learners import (
    BinaryLearners,
    ClassLearners,
    Targets,
    allowed_input,
    as_base_learner,
    check_base_learner,
)
from refpair.classifiers.base_estimators import Forest, Logistic
from refpair.classifiers.mlecc import CodeLearners
from refpair.coding.repetition import HammingRepetition, LabelsetRepetition, RepetitionCode, make_label_code
from refpair.posterior.distinct_labels import distinct_labels


def rng(seed=0):
    return np.random.default_rng(seed)


def targets_of(Y):
    distinct = distinct_labels(Y.astype(np.uint8))
    return Targets.of_bits(distinct.of_row, distinct.vectors)


def classes_of(Y):
    """Return a problem of up to 16 classes, one of 4, one of 2 and one of a single class."""
    four, two = 2 * Y[:, 0] + Y[:, 1], Y[:, 2]
    return np.column_stack([distinct_labels(Y.astype(np.uint8)).of_row, four, two, 0 * two]).astype(np.int32)


# ---- names and classifiers ----


def test_what_names_stand_for():
    assert as_base_learner("forest").get_params() == Forest().get_params()
    one_tree = Forest(n_trees=1, max_features=None, max_samples=None)
    assert as_base_learner("tree").get_params() == one_tree.get_params()
    assert as_base_learner("logistic").get_params() == Logistic().get_params()
    assert as_base_learner("forest") is not as_base_learner("forest")
    for given in (Forest(), LogisticRegression(), "oak", None, ["tree"]):
        assert as_base_learner(given) is given


def test_what_is_no_base_learner_is_refused():
    for name in (
        "tree",
        "forest",
        "logistic",
        Forest(),
        Logistic(),
        LogisticRegression(),
        make_pipeline(StandardScaler(), LinearSVC()),
    ):
        check_base_learner(name)
    with pytest.raises(ValueError, match='one of "tree", "forest", "logistic", not \'oak\''):
        check_base_learner("oak")
    for wrong in (None, 3, Forest, LogisticRegression, LinearRegression(), StandardScaler()):
        with pytest.raises(ValueError, match="estimator must be a classifier of scikit-learn or one of"):
            check_base_learner(wrong)
    with pytest.raises(ValueError, match="n_trees must be an integer of at least 1, not 0"):
        check_base_learner(Forest(0))
    with pytest.raises(ValueError, match="C must be a number above 0, not -1"):
        check_base_learner(Logistic(C=-1))


def test_what_features_a_base_learner_takes():
    """Sparse ones, and missing values."""
    assert allowed_input("tree") == allowed_input("forest") == allowed_input(Forest()) == (True, True)
    assert allowed_input("logistic") == allowed_input(LogisticRegression()) == (True, False)
    assert allowed_input(DecisionTreeClassifier()) == (True, True)
    assert allowed_input(None) == allowed_input(LogisticRegression) == (False, False)


def test_clones_have_their_own_seeds(small):
    X, Y = small
    seeds = np.array([5, 2**31 + 6, 2**63], np.uint64)
    forests = fit_clones(make_pipeline(StandardScaler(), RandomForestClassifier(2)), X, Y[:, :3], seeds)
    assert [forest[-1].random_state for forest in forests] == [5, 6, 0]
    own = fit_clones(RandomForestClassifier(2, random_state=3), X, Y[:, :1], seeds[:1])
    assert own[0].random_state == 3


# ---- binary problems ----


@pytest.mark.parametrize(
    ("name", "estimator"),
    [
        ("logistic", LogisticRegression(solver="newton-cholesky", tol=1e-10)),
        (KNeighborsClassifier(), KNeighborsClassifier()),  # takes no weights
        (make_pipeline(StandardScaler(), LogisticRegression()),) * 2,
    ],
)
def test_classifiers_learn_each_problem_on_its_own(small, name, estimator):
    X, Y = small
    learners = BinaryLearners(name).fit(X[:80], targets_of(Y[:80]), rng())
    expected = [estimator.fit(X[:80], y).predict_proba(X[80:])[:, 1] for y in Y[:80].T]
    np.testing.assert_allclose(learners.probabilities(X[80:]), np.transpose(expected), atol=1e-6)
    expected = [estimator.fit(X[:80], y).predict(X[80:]) for y in Y[:80].T]
    np.testing.assert_array_equal(learners.labels(X[80:]), np.transpose(expected))


def test_a_tree_is_that_of_scikit_learn(small):
    """Of few values and with no ties: bins lose nothing."""
    X, Y = small
    X = np.round(3 * X)
    learners = BinaryLearners("tree").fit(X, targets_of(Y), rng())
    p = [DecisionTreeClassifier(random_state=0).fit(X, y).predict_proba(X)[:, 1] for y in Y.T]
    np.testing.assert_allclose(learners.probabilities(X), np.transpose(p), atol=1e-6)


@pytest.mark.parametrize("name", ["tree", "forest", "logistic", KNeighborsClassifier(), LinearSVC()])
@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_problems_may_use_only_the_first_features(small, name, weight):
    X, Y = small
    given = targets_of(Y)
    limits = np.int32([6, 2, 1, 4])
    if weight == 2.0 and isinstance(name, KNeighborsClassifier):
        return  # it takes no weights
    targets = Targets(given.vector_of_row, weight * given.differences, limits)
    learners = BinaryLearners(name).fit(X, targets, rng())
    p, labels = learners.probabilities(X), learners.labels(X)
    np.testing.assert_array_equal(learners.labels(X, slice(1, 3)), labels[:, 1:3])
    for problem, limit in enumerate(limits):
        changed = X.copy()
        changed[:, limit:] = 100.0
        np.testing.assert_array_equal(learners.probabilities(changed)[:, problem], p[:, problem])
        np.testing.assert_array_equal(learners.labels(changed)[:, problem], labels[:, problem])


def test_a_forest_is_the_mean_of_its_trees(small):
    X, Y = small
    learners = BinaryLearners("forest").fit(X[:80], targets_of(Y[:80]), rng())
    assert len(learners.bank_.trees_) == 4 * 100
    values = learners.bank_.values(X[80:]).reshape(40, 4, 100)
    p = learners.probabilities(X[80:])
    np.testing.assert_allclose(p, (1 + values.mean(axis=2)) / 2, atol=1e-6)
    np.testing.assert_array_equal(learners.labels(X[80:]), p > 0.5)
    ours = (learners.labels(X[80:]) == Y[80:]).mean()
    theirs = RandomForestClassifier(random_state=0).fit(X[:80], Y[:80]).predict(X[80:])
    assert ours > (theirs == Y[80:]).mean() - 0.03


def test_trees_of_a_forest_differ_between_problems(small):
    X, Y = small
    same = np.repeat(Y[:, :1], 2, axis=1)
    p = BinaryLearners("forest").fit(X[:80], targets_of(same[:80]), rng()).probabilities(X[80:])
    assert (p[:, 0] != p[:, 1]).any()


def test_some_problems_can_be_asked_for(small, monkeypatch):
    X, Y = small
    for name in ("forest", "tree", "logistic"):
        learners = BinaryLearners(name).fit(X, targets_of(Y), rng())
        p, labels = learners.probabilities(X), learners.labels(X)
        np.testing.assert_array_equal(learners.probabilities(X, slice(1, 3)), p[:, 1:3])
        np.testing.assert_array_equal(learners.labels(X, slice(3, 4)), labels[:, 3:])
        with monkeypatch.context() as patch:
            patch.setattr(_base_learners, "_ANSWERS", 1)  # a problem at a time
            np.testing.assert_array_equal(learners.probabilities(X), p)


def test_weights_are_those_of_copies(small):
    X, Y = small
    distinct = distinct_labels(Y[:, :2].astype(np.uint8))
    weights = np.array([[-3.0], [1.0], [0.0], [2.0]])  # the vector (1, 0) is left out
    weighted = BinaryLearners(LogisticRegression(C=0.1, tol=1e-8))
    weighted.fit(X, Targets(distinct.of_row, weights), rng())
    copies = np.repeat(np.arange(120), np.abs(weights[distinct.of_row, 0]).astype(int))
    alone = LogisticRegression(C=0.1, tol=1e-8).fit(X[copies], weights[distinct.of_row[copies], 0] > 0)
    np.testing.assert_allclose(weighted.probabilities(X)[:, 0], alone.predict_proba(X)[:, 1], atol=1e-4)
    with pytest.raises(ValueError, match="estimator must take sample_weight in fit, which KNeighbors"):
        BinaryLearners(KNeighborsClassifier()).fit(X, Targets(distinct.of_row, weights), rng())


# ---- problems of several classes ----


@pytest.mark.parametrize(
    ("name", "estimator"),
    [
        ("logistic", OneVsRestClassifier(LogisticRegression(solver="newton-cholesky", tol=1e-10))),
        (KNeighborsClassifier(), KNeighborsClassifier()),
        (make_pipeline(StandardScaler(), LogisticRegression()),) * 2,
    ],
)
def test_classifiers_learn_classes(small, name, estimator):
    X, Y = small
    classes = classes_of(Y)
    learners = ClassLearners(name).fit(X[:80], classes[:80], rng())
    answers = learners.labels(X[80:])
    for problem in range(3):
        estimator.fit(X[:80], classes[:80, problem])
        np.testing.assert_array_equal(answers[:, problem], estimator.predict(X[80:]))
        np.testing.assert_allclose(
            learners.probabilities(X[80:], problem), estimator.predict_proba(X[80:]), rtol=1e-6
        )
    assert not answers[:, 3].any()
    np.testing.assert_array_equal(learners.probabilities(X[80:], 3), np.ones((40, 1)))


def test_forests_learn_classes(small):
    X, Y = small
    classes = classes_of(Y)
    learners = ClassLearners("forest").fit(X[:80], classes[:80], rng())
    forest = RandomForestClassifier(random_state=0)
    for problem in range(4):
        p = learners.probabilities(X[80:], problem)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_array_equal(learners.labels(X[80:])[:, problem], p.argmax(axis=1))
        theirs = forest.fit(X[:80], classes[:80, problem]).predict(X[80:])
        ours = (learners.labels(X[80:]) == classes[80:])[:, problem].mean()
        assert ours > (theirs == classes[80:, problem]).mean() - 0.08


def test_a_tree_learns_classes_as_that_of_scikit_learn(small):
    X, Y = small
    X = np.round(3 * X)
    classes = classes_of(Y)
    learners = ClassLearners("tree").fit(X, classes, rng())
    for problem in range(4):
        p = DecisionTreeClassifier(random_state=0).fit(X, classes[:, problem]).predict_proba(X)
        np.testing.assert_allclose(learners.probabilities(X, problem), p, atol=1e-6)


@pytest.mark.parametrize("name", ["tree", "forest", "logistic", DecisionTreeClassifier(max_features=2)])
def test_how_it_is_run_does_not_matter(small, name):
    X, Y = small
    classes = classes_of(Y)
    expected = ClassLearners(name).fit(X, classes, rng())
    for other in (
        ClassLearners(name, n_jobs=2).fit(X, classes, rng()),
        ClassLearners(name).fit(sp.csr_array(X), classes, rng()),
    ):
        np.testing.assert_array_equal(other.labels(X), expected.labels(X))
        np.testing.assert_allclose(other.probabilities(X, 1), expected.probabilities(X, 1), atol=1e-6)


def test_processes_instead_of_threads(small):
    X, Y = small
    expected = ClassLearners("logistic").fit(X, classes_of(Y), rng())
    with joblib.parallel_config("loky", n_jobs=2):
        other = ClassLearners("logistic").fit(X, classes_of(Y), rng())
    np.testing.assert_array_equal(other.labels(X), expected.labels(X))


def test_progress_is_shown(small, capsys):
    X, Y = small
    for name in ("tree", "logistic"):
        ClassLearners(name, verbose=1).fit(X, classes_of(Y), rng())
        assert "4/4" in capsys.readouterr().err


# ---- bits of codes ----


@pytest.mark.parametrize("code", ["rep", "rrep", "hamr"])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_words_are_learnt(small, code, size):
    """Trees on distinct rows answer every bit of a training row right."""
    X, Y = small
    X = np.column_stack([X, np.arange(120)])
    made = make_label_code(code, 4, 31, rng=rng())
    learners = CodeLearners("tree", size).fit(X, distinct_labels(Y.astype(np.uint8)), made, rng())
    parts = list(learners.words(X))
    assert parts[0][0] == slice(0, 120)
    np.testing.assert_array_equal(parts[0][1], made.encode(Y))


def test_words_come_by_blocks_of_rows(small, monkeypatch):
    X, Y = small
    code = HammingRepetition(4, 28)
    learners = CodeLearners("tree", 3).fit(X, distinct_labels(Y.astype(np.uint8)), code, rng())
    ((_, expected),) = learners.words(X)
    monkeypatch.setattr(mlecc, "_CELLS", 28 * 50)
    parts = list(learners.words(X))
    assert [rows for rows, _ in parts] == [slice(0, 50), slice(50, 100), slice(100, 120)]
    np.testing.assert_array_equal(np.concatenate([words for _, words in parts]), expected)


def test_the_same_bits_are_learnt_once(small):
    X, Y = small
    labels = distinct_labels(Y.astype(np.uint8))

    def problems(code, size):
        return CodeLearners("tree", size).fit(X, labels, code, rng()).problem_of_block_.tolist()

    assert problems(RepetitionCode(4, 10), 1) == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
    assert problems(RepetitionCode(4, 14), 3) == [0, 1, 2, 3, 4]  # 012 301 230 123 01
    assert problems(RepetitionCode(4, 10), 2) == [0, 1, 0, 1, 0]
    sets = LabelsetRepetition(4, [[0, 1, 2], [1, 2, 3], [0, 1, 2], [2, 1, 0]])
    assert problems(sets, 3) == [0, 1, 0, 2]
    assert problems(HammingRepetition(4, 14), 1) == [*range(7)] * 2


def test_labels_that_agree_in_training_are_still_learnt_each(small):
    """Which bits are the same depends on the code alone, so that the same code has the same learners."""
    X, Y = small
    Y = Y[:, [0, 0, 1, 2]].astype(np.uint8)
    code = RepetitionCode(4, 8)
    learners = CodeLearners("tree", 1).fit(X, distinct_labels(Y), code, rng())
    assert learners.problem_of_block_.tolist() == [0, 1, 2, 3] * 2


def test_patterns_are_those_of_the_training_set():
    labels = distinct_labels(np.uint8([[0, 0, 1], [1, 1, 1], [0, 0, 1]]))
    X = np.array([[0.0], [5.0], [0.0]])
    learners = CodeLearners("tree", 3).fit(X, labels, RepetitionCode(3, 3), rng())
    assert learners.patterns_[0].tolist() == [[0, 0, 1], [1, 1, 1]]
    ((_, words),) = learners.words(np.array([[9.0], [-1.0]]))
    assert words.tolist() == [[1, 1, 1], [0, 0, 1]]
