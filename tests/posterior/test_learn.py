"""Several sources learned in turns: which go on, and which stay."""

import numpy as np
import pytest

from refpair.posterior.learn import learn_sources
from refpair.posterior.source import Source
from tests.posterior.training import make_training


class Fake(Source):
    """Says what it is told to, step by step."""

    name = "fake"
    tells_vectors = False

    def __init__(self, *said):
        self.said = said
        self.n_steps = 0
        self.drawn = None

    def learn(self, training, rng):
        self.drawn = rng.random(3)
        rng.random(len(self.said))  # those of more steps draw more
        for answer in self.said:
            self.n_steps += 1
            yield answer

    def answer(self, X, n_jobs):
        raise NotImplementedError

    def check_shapes(self, n_features, n_labels, n_vectors):
        raise NotImplementedError


class FakeVectors(Fake):
    """Says weights of label vectors."""

    tells_vectors = True


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


N = 1500
rng = np.random.default_rng(0)
PARTS = rng.normal(0, 1.5, (3, N, 2))  # the log odds are their sum
Y = (rng.random((N, 2)) < sigmoid(PARTS.sum(axis=0))).astype(np.uint8)
NOISE = rng.normal(0, 1.5, (5, N, 2))
TRAINING = make_training(np.zeros((N, 1)), Y, rows=np.arange(N))
USELESS = np.full((N, 2), 0.5)
FIRST, SECOND = sigmoid(PARTS[0]), sigmoid(PARTS[1])  # what each of two sources knows


def better_and_better(part):
    """Four answers that know more and more."""
    return [
        sigmoid((part + spread * noise) / (1 + spread))
        for spread, noise in zip((3, 1, 0.4, 0), NOISE, strict=False)
    ]


def learnt(*sources, may_drop=True, seed=0):
    found = learn_sources(sources, TRAINING, np.random.default_rng(seed), may_drop=may_drop)
    return [sources.index(one.source) for one in found]


@pytest.mark.parametrize(
    "useless", [USELESS, sigmoid(NOISE[0]), FIRST], ids=["a half", "noise", "nothing new"]
)
def test_a_useless_source_is_left_out_if_it_may_be(useless):
    sources = Fake(FIRST), Fake(useless, useless, useless), Fake(SECOND)
    assert learnt(*sources) == [0, 2]
    assert sources[1].n_steps == 1, "it takes no other step"
    assert learnt(*sources, may_drop=False) == [0, 1, 2]


def test_of_two_that_say_the_same_the_first_stays():
    assert learnt(Fake(USELESS), Fake(SECOND), Fake(SECOND)) == [0, 1]


def test_the_first_stays_whatever_it_says():
    assert learnt(Fake(USELESS), Fake(FIRST), Fake(SECOND)) == [0, 1, 2]
    assert learnt(Fake(FIRST), Fake(FIRST)) == [0]


@pytest.mark.parametrize("place", [0, 1])
def test_one_that_gets_better_takes_all_its_steps(place):
    sources = [Fake(FIRST), Fake(SECOND)]
    sources[place] = Fake(*better_and_better(PARTS[place]))
    assert learnt(*sources) == [0, 1]
    assert [one.n_steps for one in sources] == [4 if i == place else 1 for i in range(2)]


def test_one_that_does_not_get_better_takes_one_more_step():
    sources = Fake(*[FIRST] * 5), Fake(*better_and_better(PARTS[1]))
    assert learnt(*sources) == [0, 1]
    assert [one.n_steps for one in sources] == [2, 4]


def test_it_is_the_pooled_answer_that_must_get_better():
    """What the second source learns, the first one knows."""
    known, new = PARTS[0], PARTS[1]
    steps = [sigmoid(new + share * known) for share in (0, 0.3, 1)]
    sources = Fake(sigmoid(known)), Fake(*steps)
    assert learnt(*sources) == [0, 1]
    assert sources[1].n_steps == 2


def test_one_alone_takes_steps():
    source = Fake(*better_and_better(PARTS[0]))
    assert learnt(source) == [0]
    assert source.n_steps == 4
    source = Fake(USELESS, USELESS, USELESS)
    assert learnt(source) == [0]
    assert source.n_steps == 2


def test_what_was_said_last_is_what_counts():
    steps = better_and_better(PARTS[0])
    (learner,) = learn_sources([Fake(*steps)], TRAINING, np.random.default_rng(0), may_drop=True)
    assert learner.told[0] is steps[-1]
    assert learner.told[1] is False
    np.testing.assert_array_equal(learner.labels, steps[-1])


def test_weights_of_vectors_are_compared_by_their_labels():
    weights = np.random.default_rng(1).dirichlet(np.ones(len(TRAINING.vectors)), N)
    source = FakeVectors(weights)
    first, *others = learn_sources([source, Fake(FIRST)], TRAINING, np.random.default_rng(0), may_drop=True)
    np.testing.assert_allclose(first.labels, weights @ TRAINING.vectors)
    assert first.told == (weights, True)
    assert len(others) == 1


def test_random_numbers_of_a_source_do_not_depend_on_the_others():
    def drawn(*sources, seed=0):
        learnt(*sources, seed=seed)
        return [one.drawn.tolist() for one in sources]

    first, second = drawn(Fake(FIRST), Fake(SECOND))
    assert first != second
    assert drawn(Fake(FIRST)) == [first]
    assert drawn(Fake(*better_and_better(PARTS[0])), Fake(USELESS), Fake(SECOND))[:2] == [first, second]
    assert drawn(Fake(FIRST), seed=1) != [first]
