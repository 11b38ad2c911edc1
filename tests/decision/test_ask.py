"""What to ask a person, against all questions and all answers tried one by one."""

from itertools import product

import numpy as np
import pytest

from refpair.costs import Cost, get_cost
from refpair.decision import AtMost, decide, expected_cost
from refpair.decision import ask as asking
from refpair.decision.ask import ask_labels
from refpair.decision.rule_set import RuleSet
from refpair.decision.value import LabelsGiven, cost_of_truths, values_of_labels
from refpair.posterior import IndependentLabels, LabelDistribution
from refpair.tables.labels import UNKNOWN


def handling(y, z):
    """A cost that even right answers have: each label that is given is work."""
    return 0.1 * y.sum(axis=1) + (y != z) @ np.arange(1, y.shape[1] + 1.0)


COSTS = {
    **{name: get_cost(name) for name in ("f1", "hamming", "rank", "jaccard", "zero_one")},
    "prices": Cost.per_label(false_positive=1, false_negative=[5, 1, 2, 1, 3]),
    "function": Cost.from_function(handling),
}


def resolve(name, n_labels):
    if name == "prices":
        return Cost.per_label(false_positive=1, false_negative=[5, 1, 2, 1, 3, 2][:n_labels])
    return COSTS[name]


class Slow:
    """The questions about a row whose label vectors have some weights, by definition."""

    def __init__(self, vectors, cost, prices, allowed=None):
        self.vectors, self.prices = vectors, prices
        answers = vectors if allowed is None else vectors[allowed]
        self.costs = np.stack([cost.rows(vectors, np.broadcast_to(z, vectors.shape).copy()) for z in answers])
        self.of_truth = cost.rows(vectors, vectors)

    def least(self, weights):
        return (self.costs @ weights).min() / weights.sum()

    def gains(self, weights, known):
        least, gains = self.least(weights), np.full(len(self.prices), -np.inf)
        p = weights @ self.vectors / weights.sum()
        is_open = [k for k in range(len(p)) if k not in known and 1e-9 < p[k] < 1 - 1e-9]
        for k in is_open:
            after = 0.0
            for value in (0, 1):
                some = np.where(self.vectors[:, k] == value, weights, 0.0)
                after += some.sum() / weights.sum() * self.least(some)
            gains[k] = least - after - self.prices[k]
        if gains.max() > 1e-9 * least:
            return gains
        together = least - weights @ self.of_truth / weights.sum() - sum(self.prices[k] for k in is_open)
        if is_open and together > 1e-9 * least:
            doubt = np.array(
                [p[k] * (1 - p[k]) / self.prices[k] if k in is_open else 0.0 for k in range(len(p))]
            )
            return together * doubt / doubt.sum()
        return np.minimum(gains, 0.0)

    def totals(self, weights, known=frozenset()):
        """Return what questions cost, how many there are, and what the answer costs after them."""
        gains = self.gains(weights, known)
        if not gains.max() > 0:
            return np.array([0.0, 0.0, self.least(weights)])
        k = int((gains >= gains.max() * (1 - 1e-9)).argmax())
        found = np.array([self.prices[k], 1.0, 0.0])
        for value in (0, 1):
            some = np.where(self.vectors[:, k] == value, weights, 0.0)
            if some.sum() > 0:
                found += some.sum() / weights.sum() * self.totals(some, known | {k})
        return found


def all_vectors(n_labels):
    return np.array(list(product([0, 1], repeat=n_labels)), np.uint8)


def with_independent(weights, vectors, share=0.2):
    """Return the weights if, with a probability of 20 %, labels are independent."""
    p = weights @ vectors
    independent = np.prod(np.where(vectors[None] == 1, p[:, None], 1 - p[:, None]), axis=2)
    return (1 - share) * weights + share * independent


def random_weights(rng, n, n_vectors):
    weights = rng.dirichlet(np.full(n_vectors, 0.4), n)
    weights[weights < 0.01] = 0.0
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("n_labels", [1, 3, 6])
def test_questions_are_those_of_trying_everything(name, n_labels, monkeypatch):
    monkeypatch.setattr(asking, "_NODES", 1 << n_labels)
    monkeypatch.setattr(asking, "_worth_one_by_one", lambda *_: None)
    rng, vectors, cost = np.random.default_rng(n_labels), all_vectors(n_labels), resolve(name, n_labels)
    weights = random_weights(rng, 12, len(vectors))
    scale = Slow(vectors, cost, np.ones(n_labels)).least(weights.mean(axis=0))
    for share in (0.01, 0.1, 0.3):
        prices = scale * share * rng.uniform(0.5, 1.5, n_labels)
        slow = Slow(vectors, cost, prices)
        found = ask_labels(LabelDistribution.from_dense(vectors, weights), cost, prices)
        mixed = with_independent(weights, vectors)
        expected = np.array([slow.totals(row) for row in mixed])
        np.testing.assert_allclose(found.questions, expected[:, 0], atol=1e-9)
        np.testing.assert_allclose(found.n_questions, expected[:, 1], atol=1e-9)
        np.testing.assert_allclose(found.answers, expected[:, 2], atol=1e-9)
        first = np.array([slow.gains(row, ()) for row in mixed])
        np.testing.assert_array_equal(found.gain > 0, first > 0)
        np.testing.assert_allclose(found.gain[first > 0], first[first > 0], atol=1e-9)


@pytest.mark.parametrize("name", ["hamming", "prices"])
def test_sums_over_independent_labels_are_exact_in_one_step(name, monkeypatch):
    rng, cost = np.random.default_rng(0), resolve(name, 5)
    p, prices = IndependentLabels(rng.random((50, 5))), rng.uniform(0, 0.2, 5)
    prices[2] = np.inf
    quick = ask_labels(p, cost, prices)
    monkeypatch.setattr(asking, "_worth_one_by_one", lambda *_: None)
    monkeypatch.setattr(asking, "_NODES", 32)
    slow = ask_labels(p, cost, prices)
    np.testing.assert_array_equal(quick.gain > 0, slow.gain > 0)
    for field in ("questions", "n_questions", "answers"):
        np.testing.assert_allclose(getattr(quick, field), getattr(slow, field), atol=1e-12)
    assert quick.n_questions.min() < quick.n_questions.max()


def test_prices_of_rows_are_those_of_the_row():
    rng = np.random.default_rng(0)
    missed = rng.uniform(0, 4, (600, 3))
    p, prices = IndependentLabels(rng.random((600, 3))), np.array([0.1, 0.2, 0.3])
    cost = Cost.per_label(false_negative=missed)
    found = ask_labels(p, cost, prices)
    nothing = np.full((600, 3), UNKNOWN, np.uint8)
    values = values_of_labels(LabelsGiven(p), np.arange(600), nothing, nothing == UNKNOWN, cost)
    np.testing.assert_allclose(found.gain, values - prices, atol=1e-12)
    np.testing.assert_allclose(values, np.minimum(p.marginals() * missed, 1 - p.marginals()), atol=1e-12)


@pytest.mark.parametrize("name", ["f1", "rank", "prices"])
def test_answers_after_questions_keep_rules(name):
    rng, vectors, cost = np.random.default_rng(1), all_vectors(4), resolve(name, 4)
    allowed = vectors.sum(axis=1) <= 1
    weights = random_weights(rng, 10, len(vectors)) * allowed
    weights += 1e-3 * allowed
    weights /= weights.sum(axis=1, keepdims=True)
    prices = np.full(4, 0.03)
    rules = RuleSet((AtMost(1),), 4)
    found = ask_labels(LabelDistribution.from_dense(vectors, weights), cost, prices, rules=rules)
    slow = Slow(vectors, cost, prices, allowed)
    expected = np.array([slow.totals(row) for row in weights])
    np.testing.assert_allclose(found.questions + found.answers, expected[:, [0, 2]].sum(axis=1), atol=2e-3)


@pytest.mark.parametrize("name", ["f1", "zero_one", "jaccard", "rank"])
def test_asking_never_costs_more_than_answering_or_asking_for_all(name):
    rng = np.random.default_rng(2)
    p = rng.random((40, 14)) ** 3
    for distribution in (IndependentLabels(p), IndependentLabels(p).drawn(60)):
        least = expected_cost(distribution, decide(distribution, COSTS[name]), COSTS[name])
        price = least.mean() / 14
        found = ask_labels(distribution, COSTS[name], np.full(14, price))
        total = found.questions + found.answers
        # Of many sets of answers only random ones are followed.
        assert (total <= least + 0.1 * least.mean()).all()
        assert (total <= 14 * price + 0.1 * least.mean()).all()
        assert total.mean() < 0.9 * min(least.mean(), 14 * price)


def test_known_labels_are_not_asked_about():
    p = IndependentLabels([[0.5, 0.5, 0.5]])
    observed = np.array([[1, UNKNOWN, UNKNOWN]], np.uint8)
    for cost in (get_cost("hamming"), get_cost("f1")):
        found = ask_labels(p, cost, np.array([0.0, 0.01, np.inf]), observed)
        assert (found.gain > 0).tolist() == [[False, True, False]]
        assert found.n_questions == pytest.approx(1.0)


def test_what_is_known_of_many_labels_changes_the_probabilities_of_others():
    rng = np.random.default_rng(3)
    vectors = np.unique(rng.integers(0, 2, (30, 12)).astype(np.uint8), axis=0)
    weights = rng.dirichlet(np.full(len(vectors), 0.5), 5)
    observed = np.full((5, 12), UNKNOWN, np.uint8)
    observed[:4, :3] = vectors[0, :3]  # of the last row nothing is known
    observed[0] = 1 - vectors[0]  # no vector has these labels
    told = LabelsGiven(LabelDistribution.from_dense(vectors, weights))(np.arange(5), observed)
    p = weights @ vectors
    for row, known in enumerate(observed != UNKNOWN):
        by_vectors = np.where((vectors == observed[row])[:, known].all(axis=1), 0.8 * weights[row], 0.0)
        by_labels = 0.2 * np.where(observed[row] == 1, p[row], 1 - p[row])[known].prod()
        expected = (by_vectors @ vectors + by_labels * p[row]) / (by_vectors.sum() + by_labels)
        np.testing.assert_allclose(
            told.marginals()[row], np.where(known, observed[row], expected), atol=1e-12
        )


def test_totals_are_right_on_average_if_not_all_answers_are_followed(monkeypatch):
    rng = np.random.default_rng(0)
    weights = np.tile(random_weights(rng, 1, 32), (600, 1))
    p, prices = LabelDistribution.from_dense(all_vectors(5), weights), np.full(5, 0.01)
    monkeypatch.setattr(asking, "_NODES", 32)
    exact = ask_labels(p[:1], get_cost("f1"), prices)
    monkeypatch.setattr(asking, "_NODES", 3)
    found = ask_labels(p, get_cost("f1"), prices)
    for field in ("questions", "n_questions", "answers"):
        some, value = getattr(found, field), getattr(exact, field)[0]
        assert some.std() > 0
        assert abs(some.mean() - value) < 4 * some.std() / 600**0.5


def test_a_function_of_many_labels_is_refused():
    p = IndependentLabels(np.full((2, 11), 0.5))
    with pytest.raises(ValueError, match="at most 10 labels, and here are 11"):
        ask_labels(p, COSTS["function"], np.ones(11))


def test_rows_that_are_not_followed():
    p = IndependentLabels(np.random.default_rng(0).random((9, 4))).drawn(20)
    cost, prices, some = get_cost("f1"), np.full(4, 0.02), np.arange(9) % 2 == 0
    everything, found = ask_labels(p, cost, prices), ask_labels(p, cost, prices, followed=some)
    np.testing.assert_array_equal(found.gain, everything.gain)
    for field in ("questions", "n_questions", "answers"):
        np.testing.assert_array_equal(
            getattr(found, field), np.where(some, getattr(everything, field), np.nan)
        )


def test_what_truths_cost_as_answers():
    vectors = all_vectors(3)
    weights = random_weights(np.random.default_rng(0), 6, len(vectors))
    p = LabelDistribution.from_dense(vectors, weights)
    own = COSTS["function"]
    np.testing.assert_allclose(cost_of_truths(p, own), weights @ own.rows(vectors, vectors))
    assert not cost_of_truths(p, get_cost("rank")).any()
    assert cost_of_truths(IndependentLabels([[0.5] * 3]), own) == pytest.approx(0.15)
