import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import BayesDecisionClassifier, ChainClassifier, Cost, ProbabilisticChain, get_cost
from refpair.classifiers import _chain_search
from refpair.classifiers._chain_search import ChainSamples
from refpair.datasets import load_dataset


@parametrize_with_checks(
    [ProbabilisticChain("logistic", cost="hamming", n_samples=6), ProbabilisticChain("tree")]
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


# ---- chains whose distribution is known ----


def every(n_labels):
    return np.array(list(itertools.product([0, 1], repeat=n_labels)), np.uint8)


class TableLinks:
    """Links of given distributions: row x of X has ``joints[x]``, over `every` vector in chain order."""

    def __init__(self, joints):
        self.joints = joints
        self.n_asked = 0

    def __len__(self):
        return int(np.log2(self.joints.shape[1]))

    def prepare(self, X):
        return self.joints[np.asarray(X)[:, 0].astype(int)]

    def chance(self, k, prepared, row, paths):
        assert paths.shape == (len(row), k)
        assert (np.diff(row) >= 0).all()
        self.n_asked += len(row)
        vectors = every(len(self))
        agree = (vectors[None, :, :k] == paths[:, None, :]).all(axis=2)
        mass = prepared[row] * agree
        total = mass.sum(axis=1)
        return np.clip((mass @ vectors[:, k]) / np.where(total > 0, total, 1.0), 0.0, 1.0)

    def labels(self, k, prepared, row, paths):
        return self.chance(k, prepared, row, paths) > 0.5


def random_joints(rng, n_labels, n=12):
    """Even and uneven distributions; some with vectors that are impossible."""
    sharpness = rng.choice([0.3, 1.0, 3.0], (n, 1))
    joints = rng.random((n, 2**n_labels)) ** (1 / sharpness * 3)
    joints[::3] *= rng.random(joints[::3].shape) < 0.5
    joints[:, 0] += 1e-3
    return joints / joints.sum(axis=1, keepdims=True)


def known_chain(joints, cost="f1", **parameters):
    """A fitted model of random order, but with the given distribution; and that over `every` vector."""
    n_labels = int(np.log2(joints.shape[1]))
    rng = np.random.default_rng(n_labels)
    Y = rng.integers(0, 2, (50, n_labels))
    Y[:2] = [[0], [1]]
    X = np.zeros((50, 1))
    model = ProbabilisticChain("tree", cost=cost, order="random", random_state=0, **parameters).fit(X, Y)
    model.links_ = TableLinks(joints)
    weights = 2 ** np.arange(n_labels)[::-1]
    return model, joints[:, every(n_labels)[:, model.order_] @ weights]


def rows_of(joints):
    return np.arange(len(joints), dtype=float)[:, None]


OWN = Cost.from_counts(lambda tp, fp, fn, tn: fp + 3 * fn + fp * fn, name="own")
FUNCTION = Cost.from_function(lambda Y, Z: np.abs(Y @ np.arange(1, Y.shape[1] + 1) - Z.sum(axis=1)))


@pytest.mark.parametrize("n_labels", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("n_samples", [None, "as many"])
def test_enumeration_is_the_distribution_and_decisions_are_the_best(n_labels, n_samples):
    joints = random_joints(np.random.default_rng(n_labels), n_labels)
    n_samples = 2**n_labels if n_samples == "as many" else n_samples
    model, truth = known_chain(joints, n_samples=n_samples)
    X, vectors = rows_of(joints), every(n_labels)
    labels, probabilities = model.predict_set_proba(X, k=2**n_labels)
    given = np.zeros_like(truth)
    np.add.at(given, (np.arange(len(X))[:, None], labels @ (2 ** np.arange(n_labels)[::-1])), probabilities)
    np.testing.assert_allclose(given, truth, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), np.clip(truth @ vectors, 1e-6, 1 - 1e-6), atol=1e-12)

    for cost in ("f1", "accuracy", "hamming", "rank", "zero_one", "f2", OWN, FUNCTION):
        expected = truth @ get_cost(cost).matrix(vectors, vectors)
        decided = model.decide(X, cost)
        chosen = expected[np.arange(len(X)), decided @ (2 ** np.arange(n_labels)[::-1])]
        np.testing.assert_allclose(chosen, expected.min(axis=1), atol=1e-12)
    f1 = get_cost("f1").matrix(vectors, vectors)
    np.testing.assert_allclose(model.expected_cost(X), (truth @ f1).min(axis=1), atol=1e-12)


@pytest.mark.parametrize("n_labels", [3, 6])
def test_draws_have_no_bias_and_come_to_the_distribution(n_labels):
    joints = random_joints(np.random.default_rng(n_labels), n_labels)
    order = np.random.default_rng(0).permutation(n_labels)
    weights = 2 ** np.arange(n_labels)[::-1]
    truth = joints[:, every(n_labels)[:, order] @ weights]

    def drawn(n_samples, seed):
        uniforms = np.random.default_rng(seed).random(n_labels)
        samples = ChainSamples(TableLinks(joints), order, n_samples, uniforms)
        p = np.zeros_like(truth)
        (part,) = samples.draw(rows_of(joints))
        p[part[1], part[0] @ weights] = part[2]
        return p

    few = np.array([drawn(5, seed) for seed in range(1500)])
    np.testing.assert_allclose(few * 5, np.round(few * 5), atol=1e-9)
    np.testing.assert_allclose(few.mean(axis=0), truth, atol=0.03)
    far = [np.abs(drawn(n, 0) - truth).sum(axis=1).mean() for n in (2**n_labels - 1, 1000, 100_000)]
    assert far[0] > far[1]
    assert far[2] < 1e-3 if n_labels == 6 else far[2] < 1e-12


def test_a_chain_of_many_labels_asks_each_path_once():
    """Of 100 draws of a row, those that agree so far are one path."""
    joints = np.zeros((1, 2**7))
    joints[0, [3, 70]] = [0.25, 0.75]
    model, _ = known_chain(joints, n_samples=100)
    model.predict(rows_of(joints))
    assert model.links_.n_asked <= 2 * 7


# ---- the most probable label vector ----


@pytest.mark.parametrize("n_labels", [1, 2, 4, 8])
@pytest.mark.parametrize(
    "parameters", [{"inference": "exact"}, {"inference": "beam", "beam_width": 256}, {"n_samples": None}]
)
def test_the_mode_is_found(n_labels, parameters, monkeypatch):
    joints = random_joints(np.random.default_rng(n_labels), n_labels, n=40)
    model, truth = known_chain(joints, "zero_one", **parameters)
    X = rows_of(joints)
    modes = every(n_labels)[truth.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X), modes)
    np.testing.assert_array_equal(model.decide(X, "zero_one"), modes)
    np.testing.assert_allclose(model.expected_cost(X), 1 - truth.max(axis=1), atol=1e-12)
    others = 1 - modes
    others_p = truth[np.arange(40), others @ (2 ** np.arange(n_labels)[::-1])]
    np.testing.assert_allclose(model.expected_cost(X, others), 1 - others_p, atol=1e-12)
    np.testing.assert_allclose(model.expected_cost(X, sp.csr_array(others)), 1 - others_p, atol=1e-12)
    # Nor does it matter how wide the first beam is, and how many rows are searched at once.
    monkeypatch.setattr(_chain_search, "_FIRST_WIDTH", 1)
    monkeypatch.setattr(_chain_search, "_WIDER", 2)
    monkeypatch.setattr(_chain_search, "_PATHS", 9)
    monkeypatch.setattr(_chain_search, "_ROWS", 7)
    np.testing.assert_array_equal(model.predict(X), modes)


def test_a_narrow_beam_takes_the_likelier_label_each_time():
    joints = np.array([[0.4, 0.0, 0.3, 0.3]])  # of 00, 01, 10 and 11
    for width, answer in ((1, [1, 0]), (2, [0, 0])):
        paths = _chain_search.most_probable(TableLinks(joints), np.zeros((1, 1)), width)
        np.testing.assert_array_equal(paths, [answer])
    np.testing.assert_array_equal(_chain_search.follow(TableLinks(joints), np.zeros((1, 1))), [[1, 0]])


def test_wider_beams_are_no_worse():
    joints = random_joints(np.random.default_rng(5), 8, n=100)
    X, weights = rows_of(joints), 2 ** np.arange(8)[::-1]
    found = [
        joints[np.arange(100), _chain_search.most_probable(TableLinks(joints), X, width) @ weights]
        for width in (1, 4, 32)
    ]
    means = [p.mean() for p in found]
    assert means == sorted(means)
    assert means[0] < means[2]
    np.testing.assert_allclose(found[2], joints.max(axis=1), rtol=0.2)


def test_an_exact_search_that_takes_too_long_says_so(monkeypatch):
    monkeypatch.setattr(_chain_search, "_FIRST_WIDTH", 2)
    monkeypatch.setattr(_chain_search, "WIDEST", 16)
    joints = np.full((3, 2**8), 1 / 2**8)
    joints[0] = 0.0
    joints[0, 77] = 1.0
    with pytest.warns(ConvergenceWarning, match="2 of 3 rows"):
        paths = _chain_search.most_probable(TableLinks(joints), rows_of(joints))
    np.testing.assert_array_equal(paths[0], every(8)[77])


@pytest.mark.parametrize("learner", ["forest", "logistic", GaussianNB()])
def test_searching_learnt_chains(small, learner):
    X, Y = small
    given = {"estimator": learner, "cost": "zero_one", "random_state": 0}
    all_vectors = ProbabilisticChain(**given, n_samples=None).fit(X, Y)
    exact = ProbabilisticChain(**given, inference="exact").fit(X, Y)
    beam = ProbabilisticChain(**given, inference="beam", beam_width=16).fit(X, Y)
    costs = all_vectors.expected_cost(X)
    for model in (exact, beam):
        np.testing.assert_allclose(all_vectors.expected_cost(X, model.predict(X)), costs, atol=1e-12)
        np.testing.assert_allclose(model.expected_cost(X), costs, atol=1e-12)
        np.testing.assert_array_equal(model.decide(X, "f1"), all_vectors.decide(X, "f1"))
        assert model.score(X, Y) == all_vectors.score(X, Y)


# ---- learned chains ----


def test_a_chain_of_scikit_learn_has_the_same_distribution(small):
    X, Y = small
    ours = ProbabilisticChain(LogisticRegression(), order=[2, 0, 3, 1]).fit(X, Y)
    chain = ClassifierChain(LogisticRegression(), order=[2, 0, 3, 1])
    theirs = BayesDecisionClassifier(chain, calibrate=False).fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.expected_cost(X), theirs.expected_cost(X), rtol=1e-9)


@pytest.mark.parametrize("learner", ["forest", "tree", "logistic", GaussianNB()])
def test_constant_labels(small, learner):
    X, Y = small
    wide = np.zeros((120, 30), int)
    wide[:, [3, 7, 20, 29]] = Y
    wide[:, [0, 25]] = 1
    for n_samples in (None, 16, 5):
        model = ProbabilisticChain(learner, n_samples=n_samples, random_state=0).fit(X, wide)
        assert model._samples.exact == (n_samples != 5)
        predicted = model.predict(X)
        constant = np.setdiff1d(np.arange(30), [3, 7, 20, 29])
        np.testing.assert_array_equal(predicted[:, constant], wide[:, constant])
        assert (predicted == wide).mean() > 0.95
    nothing = ProbabilisticChain(learner).fit(X, wide[:, :2])
    np.testing.assert_array_equal(nothing.predict(X), wide[:, :2])
    searched = ProbabilisticChain(learner, cost="zero_one", inference="exact").fit(X, wide[:, :2])
    np.testing.assert_array_equal(searched.predict(X), wide[:, :2])


@pytest.mark.parametrize("learner", ["forest", "logistic"])
def test_a_single_label(small, learner):
    X, Y = small
    names = np.array(["no", "yes"])
    model = ProbabilisticChain(learner, cost="hamming", random_state=0).fit(X[:90], names[Y[:90, 0]])
    greedy = ChainClassifier(learner, random_state=0).fit(X[:90], names[Y[:90, 0]])
    np.testing.assert_array_equal(model.predict(X), greedy.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), greedy.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("learner", ["forest", "logistic"])
def test_sparse_is_dense(small, learner):
    X, Y = small
    given = {"n_samples": 7, "random_state": 0, "order": "random"}
    model = ProbabilisticChain(learner, **given).fit(X[:90], Y[:90])
    sparse = ProbabilisticChain(learner, **given).fit(sp.csr_array(X[:90]), sp.csr_array(Y[:90]))
    np.testing.assert_array_equal(sparse.order_, model.order_)
    if learner == "forest":
        np.testing.assert_array_equal(sparse.predict_proba(sp.csr_array(X)), model.predict_proba(X))
        np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)).toarray(), model.predict(X))
    else:  # solved to the solver's tolerance
        near = np.isclose(sparse.predict_proba(sp.csr_array(X)), model.predict_proba(X))
        assert near.mean() > 0.98


@pytest.mark.parametrize("learner", ["forest", "logistic"])
@pytest.mark.parametrize("n_samples", [7, 100])
def test_neither_blocks_nor_threads_nor_other_rows_matter(small, learner, n_samples, monkeypatch):
    X, Y = small
    given = {"n_samples": n_samples, "random_state": 0}
    model = ProbabilisticChain(learner, **given).fit(X[:60], Y[:60])
    expected = model.predict(X), model.predict_proba(X), model.expected_cost(X)
    monkeypatch.setattr(_chain_search, "_ROWS", 50)
    monkeypatch.setattr(_chain_search, "_DRAWN", 300)
    blocks = ProbabilisticChain(learner, n_jobs=2, **given).fit(X[:60], Y[:60])
    np.testing.assert_array_equal(blocks.predict(X), expected[0])
    np.testing.assert_allclose(blocks.predict_proba(X), expected[1], rtol=1e-12)
    np.testing.assert_allclose(blocks.expected_cost(X), expected[2], rtol=1e-12, atol=1e-15)
    alone = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(60, 68)])
    np.testing.assert_allclose(alone, expected[1][60:68], rtol=1e-12)


def test_weighing_all_label_vectors_beats_following_one():
    digits = load_dataset("digits")
    X, Y, X_test, Y_test = digits.X[:700], digits.Y[:700], digits.X[700:1400], digits.Y[700:1400]
    model = ProbabilisticChain("forest", random_state=0).fit(X, Y)
    greedy = ChainClassifier("forest", random_state=0).fit(X, Y).predict(X_test)
    for name in ("f1", "accuracy", "rank"):
        cost = get_cost(name)
        assert cost.rows(Y_test, model.decide(X_test, name)).mean() < cost.rows(Y_test, greedy).mean()


# ---- parameters ----


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"inference": "greedy"}, 'inference must be one of "sample", "beam", "exact"'),
        ({"inference": "beam"}, "best for cost=\"zero_one\" only; for the cost 'f1' use"),
        (
            {"inference": "exact", "cost": "hamming"},
            "best for cost=\"zero_one\" only; for the cost 'hamming'",
        ),
        ({"n_samples": 0}, "n_samples must be an integer of at least 1"),
        ({"n_samples": "all"}, "n_samples must be an integer of at least 1"),
        ({"beam_width": 0}, "beam_width must be an integer of at least 1"),
        ({"estimator": LinearSVC()}, "estimator must have predict_proba"),
        ({"estimator": "stump"}, "estimator must be a classifier"),
        ({"cost": "nothing"}, "nothing"),
        ({"order": [0]}, "order must be None"),
    ],
)
def test_bad_parameters(small, parameters, message):
    with pytest.raises(ValueError, match=message):
        ProbabilisticChain(**{"estimator": "tree"} | parameters).fit(*small)


def test_all_label_vectors_are_for_few_labels(small):
    X, Y = small
    wide = np.column_stack([Y, Y, Y])
    with pytest.raises(ValueError, match="at most 10 labels that vary; here are 12"):
        ProbabilisticChain("tree", n_samples=None).fit(X, wide)
    ProbabilisticChain("tree", n_samples=None).fit(X, wide[:, :10])
