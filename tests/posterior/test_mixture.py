"""One posterior of several sources: what each counts, and how the mixture is chosen."""

import numpy as np
import pytest

from refpair.classifiers import _mixture_choice
from refpair.classifiers._mixture_choice import choose_mixture
from refpair.costs import Cost, get_cost
from refpair.posterior import IndependentLabels, LabelDistribution
from refpair.posterior.calibrate import LogOddsPool
from refpair.posterior.mixture import (
    Mixture,
    Posterior,
    labels_of,
    likeliest_weights,
    new_share,
)
from tests import naive
from tests.posterior.training import make_training

ALL = np.array(naive.all_vectors(3), np.uint8)
FEW = ALL[[0, 1, 3, 6, 7]]


def training_of(counts, vectors=None, rows=None, cost="hamming"):
    """Return a training whose samples have the vectors so often."""
    Y = np.repeat(ALL[: len(counts)], counts, axis=0)
    return make_training(np.zeros((len(Y), 1)), Y, rows, vectors=vectors, cost=cost)


def some_told(n=20, vectors=FEW, seed=0):
    """Two sources that tell of vectors, and one of labels between them."""
    rng = np.random.default_rng(seed)
    first, second = rng.dirichlet(np.ones(len(vectors)), (2, n))
    return [(first, True), (rng.random((n, vectors.shape[1])), False), (second, True)]


def mixture_of(new_share, weights=(0.7, 0.3), least=0.01):
    coefficients = np.array([[0.5, 0.4], [0.6, 0.7], [0.1, 0.0]])
    return Mixture(np.array(weights), LogOddsPool(coefficients, -0.1, least), new_share)


# ---- what sources count ----


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_the_likeliest_of_a_grid(seed):
    rng = np.random.default_rng(seed)
    training = training_of([8, 5, 9, 3])
    own = training.vector_of_row[training.rows]
    answers = rng.dirichlet(np.full(4, 0.5), (2, 25))
    answers[seed % 2, np.arange(25), own] += rng.random(25)  # one that knows more
    answers /= answers.sum(axis=2, keepdims=True)
    p, q = (one[np.arange(25), own] for one in answers)
    grid = np.linspace(0, 1, 2001)[1:-1]
    likelihood = np.log(np.outer(grid, p) + np.outer(1 - grid, q)).sum(axis=1)
    best = grid[np.argmax(likelihood + 2 * np.log(grid) + 2 * np.log(1 - grid))]  # 2 samples for each
    found = likeliest_weights(list(answers), training)
    np.testing.assert_allclose(found, [best, 1 - best], atol=1e-3)


def test_weights_of_three_are_the_best_in_reach():
    rng = np.random.default_rng(0)
    training = training_of([8, 5, 9, 3])
    own = training.vector_of_row[training.rows]
    answers = rng.dirichlet(np.ones(4), (3, 25))
    p = answers[:, np.arange(25), own]

    def worth(weights):
        return np.log(weights @ p).sum() + 2 * np.log(weights).sum()

    found = likeliest_weights(list(answers), training)
    assert worth(found) >= max(worth(weights) for weights in rng.dirichlet(np.ones(3), 5000)) - 1e-6
    assert found.sum() == pytest.approx(1)


def test_samples_of_which_nothing_is_told_do_not_count():
    training = training_of([10, 10, 2], vectors=ALL[:2])
    own = training.vector_of_row[training.rows]
    assert (own == -1).sum() == 2, "their vector is not relevant"
    first = np.where(own[:, None] == [0, 1], 0.6, 0.4)
    second = np.full_like(first, 0.5)
    expected = likeliest_weights([first, second], training)
    first[own == -1], second[own == -1] = [0.0, 1.0], [1.0, 0.0]
    np.testing.assert_array_equal(likeliest_weights([first, second], training), expected)
    assert expected[0] > 0.5
    nothing = [np.where(own[:, None] == [0, 1], 0.0, 1.0)] * 2
    np.testing.assert_allclose(likeliest_weights(nothing, training), 0.5)
    np.testing.assert_array_equal(likeliest_weights([first], training), [1.0])


def test_a_source_that_knows_nothing_keeps_little():
    training = training_of([100, 100, 100])
    own = training.vector_of_row[training.rows]
    knows = np.where(own[:, None] == np.arange(3), 0.98, 0.01)
    weights = likeliest_weights([knows, np.full((300, 3), 1 / 3)], training)
    assert 0 < weights[1] < 0.03


# ---- new vectors ----


@pytest.mark.parametrize(
    ("counts", "share"),
    [
        ([5, 5], 0.0), ([4, 1, 5], 0.1), ([1, 1, 1, 7], 0.3), ([1, 1, 1, 1, 1], 1.0), ([1, 100], 0.0),
        ([1, 98], 1 / 99), ([2, 2, 2], 0.0),
    ],
)  # fmt: skip
def test_the_share_of_new_vectors_is_that_of_vectors_seen_once(counts, share):
    assert new_share(training_of(counts)) == pytest.approx(share)


@pytest.mark.parametrize(("n_twice", "share"), [(3, 1.0), (4, 20 / 28)])
def test_if_nearly_all_vectors_are_new_all_are(n_twice, share):
    n_once = 60 if share == 1 else 20
    Y = np.array(naive.all_vectors(7), np.uint8)[: n_once + n_twice]
    Y = np.repeat(Y, [1] * n_once + [2] * n_twice, axis=0)
    assert new_share(make_training(np.zeros((len(Y), 1)), Y)) == pytest.approx(share)


# ---- the mixture ----


@pytest.mark.parametrize(
    ("weights", "share", "message"),
    [
        (np.array([0.5, 0.6]), 0.0, "sum to 1"),
        (np.array([1.5, -0.5]), 0.0, "not be negative"),
        (np.array([np.nan, 1.0]), 0.0, "weights must"),
        (np.array([[1.0]]), 0.0, "weights must"),
        (np.array([]), 0.0, "weights must"),
        (np.array([1.0]), -0.1, "new_share is -0.1"),
        (np.array([1.0]), 1.1, "new_share is 1.1"),
        (np.array([1.0]), np.nan, "new_share is nan"),
    ],
)
def test_what_is_no_mixture(weights, share, message):
    pool = LogOddsPool(np.ones((1, 2)), 0.0)
    Mixture(np.array([0.5, 0.5]), pool, 1.0)
    with pytest.raises(ValueError, match=message):
        Mixture(weights, pool, share)


def marginals_of(mixture, told, vectors):
    labels = [answer @ vectors if tells_vectors else answer for answer, tells_vectors in told]
    return mixture.pool(labels)


def test_labels_of_weights_are_their_sums():
    (weights, _), (labels, _), _ = some_told()
    np.testing.assert_allclose(labels_of((weights, True), FEW), weights @ FEW, rtol=1e-12)
    assert labels_of((labels, False), FEW) is labels
    assert labels_of((np.array([[0.7, 0.1, 0.1, 0.1, 2e-16]]), True), np.ones((5, 1), np.uint8)).max() <= 1


def test_mixed_labels_have_the_probabilities_of_the_pool():
    told = some_told()
    of_independent = mixture_of(1.0)
    p = of_independent.mix(told, FEW)
    assert isinstance(p, IndependentLabels)
    np.testing.assert_allclose(p.marginals(), marginals_of(of_independent, told, FEW), atol=1e-12)
    with_new = mixture_of(0.3)
    p = with_new.mix(told, FEW)
    np.testing.assert_allclose(p.marginals(), marginals_of(with_new, told, FEW), atol=1e-4)


@pytest.mark.parametrize("new_share", [0.0, 0.2])
def test_mixed_vectors_are_tilted_ones_of_the_weighted_sources(new_share, monkeypatch):
    monkeypatch.setattr("refpair.posterior.mixture._KEPT", 0.0)
    told = some_told(vectors=ALL)
    mixture = mixture_of(new_share)
    found = mixture.mix(told, ALL)
    marginals = marginals_of(mixture, told, ALL)
    mixed = 0.7 * told[0][0] + 0.3 * told[2][0]
    if new_share:
        drawn = IndependentLabels(marginals).drawn(100)
        place = [ALL.tolist().index(y) for y in drawn.vectors.tolist()]
        mixed *= 1 - new_share
        mixed[:, place] += new_share * drawn.weights().toarray()
    expected = LabelDistribution.from_dense(ALL, mixed).tilted(marginals)
    of_vectors = [found.vectors.tolist().index(y) for y in ALL.tolist()]
    np.testing.assert_allclose(
        found.weights().toarray()[:, of_vectors], expected.weights().toarray(), atol=1e-5
    )


def test_vectors_of_next_to_no_weight_are_left_out_unless_they_alone_have_a_label():
    p = np.array([[0.9, 0.0995, 0.0004, 0.00005, 0.00005]])
    told = [(p, True), (np.full((1, 3), 0.5), False), (p, True)]
    found = mixture_of(0.0).mix(told, FEW)
    assert found.index.tolist() == [0, 1, 3]
    assert found.vectors[[0, 1]].any(axis=0).tolist() != found.vectors[[0, 1, 3]].any(axis=0).tolist()
    new = mixture_of(0.5).mix(told, FEW)
    assert len(new.index) > 4, "whatever is drawn is not"


def test_rows_do_not_depend_on_each_other():
    told = some_told()
    for share in (0.0, 0.3, 1.0):
        whole = mixture_of(share).mix(told, FEW)
        part = mixture_of(share).mix([(answer[4:9], kind) for answer, kind in told], FEW)
        np.testing.assert_array_equal(part.marginals(), whole.marginals()[4:9])


class Says:
    """A source that says what the features are."""

    def __init__(self, columns, tells_vectors):
        self.columns, self.tells_vectors = columns, tells_vectors

    def answer(self, X, n_jobs):
        return X[:, self.columns]


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("n", [0, 1, 300])
def test_blocks_follow_one_another(n, n_jobs, monkeypatch):
    monkeypatch.setattr("refpair.posterior.mixture._ROWS", 128)
    told = some_told(n)
    X = np.hstack([answer for answer, _ in told])
    sources = Says(slice(0, 5), True), Says(slice(5, 8), False), Says(slice(8, 13), True)
    mixture = mixture_of(0.2)
    blocks = list(Posterior(FEW, sources, mixture).distributions(X, n_jobs=n_jobs))
    assert [at for rows, _ in blocks for at in range(rows.start, rows.stop)] == list(range(n))
    if n:
        found = np.concatenate([p.marginals() for _, p in blocks])
        np.testing.assert_array_equal(found, mixture.mix(told, FEW).marginals())
        assert all(rows.stop - rows.start <= 128 for rows, _ in blocks)


# ---- the choice ----


def choose(monkeypatch, wrong, *, may_be_new=True, counts=(1,) * 4 + (24,) * 4):
    """Choose among mixtures whose decisions are wrong on so many of 100 samples, by one of three labels.

    They are the first samples; the last ones, if the number is negative.
    """
    training = training_of(counts, rows=np.arange(100))
    asked = []

    def decide(p, cost, n_jobs):
        z = training.truths.copy()
        number, half = divmod(len(asked), 2)  # each is asked about either half of the samples
        n_wrong = wrong[number]
        z[slice(n_wrong) if n_wrong > 0 else slice(n_wrong, None), 0] ^= 1
        asked.append(p)
        return z[half::2]

    monkeypatch.setattr(_mixture_choice, "decide", decide)
    told = some_told(100, training.vectors)
    return choose_mixture(training, told, may_be_new=may_be_new)


@pytest.mark.parametrize(
    ("wrong", "best"),
    [([20, 20], 0), ([20, 21], 0), ([20, 17], 0), ([20, -17], 0), ([20, 14], 1)],  # two standard errors
    ids=str,
)
def test_labels_are_independent_only_if_that_is_clearly_cheaper(wrong, best, monkeypatch):
    choice = choose(monkeypatch, wrong)
    search = choice.search
    assert search["new_share"].tolist() == [0.04, 1.0]
    np.testing.assert_allclose(search["cost"], np.abs(wrong) / 300)
    assert choice.mixture.new_share == search["new_share"][best]
    assert choice.cost == pytest.approx(abs(wrong[best]) / 300)


def test_with_a_given_relevant_set_no_vector_is_new(monkeypatch):
    choice = choose(monkeypatch, [20], may_be_new=False)
    assert choice.search["new_share"].tolist() == [0.0]


def test_where_all_vectors_are_new_labels_are_independent(monkeypatch):
    Y = np.array(naive.all_vectors(7), np.uint8)[:100]
    monkeypatch.setattr(_mixture_choice, "decide", lambda p, cost, n_jobs: np.zeros((50, 7), np.uint8))
    training = make_training(np.zeros((100, 1)), Y, np.arange(100), cost="hamming")
    choice = choose_mixture(training, some_told(100, training.vectors), may_be_new=True)
    assert choice.search["new_share"].tolist() == [1.0]


def test_what_is_chosen_is_of_the_largest_likelihood():
    training = training_of((1,) * 4 + (24,) * 4, cost="f1")
    told = some_told(100, training.vectors)
    choice = choose_mixture(training, told, may_be_new=True)
    weights = likeliest_weights([told[0][0], told[2][0]], training)
    np.testing.assert_array_equal(choice.mixture.weights, weights)
    labels, least = [labels_of(one, training.vectors) for one in told], choice.mixture.pool.least
    pool = LogOddsPool.fit(labels, training.truths, least).fit_labels(labels, training.truths)
    np.testing.assert_array_equal(choice.mixture.pool.coefficients, pool.coefficients)
    np.testing.assert_array_equal(choice.mixture.pool.of_labels, pool.of_labels)


def test_either_half_of_the_samples_judges_pools_of_the_other():
    training = training_of((1,) * 4 + (24,) * 4, cost="f1")
    told, truths, f1 = some_told(100, training.vectors), training.truths, get_cost("f1")
    choice = choose_mixture(training, told, may_be_new=True)
    least, share = choice.mixture.pool.least, choice.mixture.new_share
    place = list(choice.search["new_share"]).index(share)
    losses, costs = [], []
    for mine, other in [(slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))]:
        labels = [labels_of((answer[other], kind), training.vectors) for answer, kind in told]
        pool = LogOddsPool.fit(labels, truths[other], least).fit_labels(labels, truths[other])
        mixture = Mixture(choice.mixture.weights, pool, share)
        p = mixture.mix([(answer[mine], kind) for answer, kind in told], training.vectors)
        q = np.clip(p.marginals(), 1e-6, 1 - 1e-6)
        losses.append(-(truths[mine] * np.log(q) + (1 - truths[mine]) * np.log(1 - q)).sum(axis=1))
        costs.append(f1.rows(truths[mine], _mixture_choice.decide(p, f1, n_jobs=None)))
    assert choice.search["log_loss"][place] == pytest.approx(np.concatenate(losses).mean())
    assert choice.search["cost"][place] == pytest.approx(np.concatenate(costs).mean()) == choice.cost


def test_prices_keep_small_probabilities():
    leasts = []
    for cost in ("f1", Cost.per_label(false_negative=20)):
        training = training_of((9,) * 4, cost=cost)
        leasts.append(
            choose_mixture(training, some_told(36, training.vectors), may_be_new=True).mixture.pool.least
        )
    assert leasts == [3e-3, 1e-3]


def test_one_sample_is_enough():
    training = training_of((1, 1), rows=np.arange(1))
    assert choose_mixture(training, some_told(1, training.vectors), may_be_new=True).cost >= 0
