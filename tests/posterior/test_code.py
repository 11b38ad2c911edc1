"""The source of the code: its steps, and what it learns bits for."""

import numpy as np
import pytest

from refpair.coding import draw_code
from refpair.costs import get_cost
from refpair.posterior.code import BATCHES, CodeSource
from tests.posterior.training import make_training, some_samples

X, Y = some_samples(200)
TRAINING = make_training(X, Y)


def make_source(*costs, n_bits=None, in_batches=False):
    n_bits = sum(BATCHES) if n_bits is None else n_bits
    rng = np.random.default_rng(0)
    codes = [draw_code(get_cost(cost), Y, n_bits, "mixed", rng=rng) for cost in costs or ("f1",)]
    return CodeSource(codes, in_batches=in_batches, may_be_cut=True)


def learn(source):
    return list(source.learn(TRAINING, np.random.default_rng(1)))


def test_all_bits_are_learnt_at_once_if_their_number_is_given():
    source = make_source(n_bits=40)
    (told,) = learn(source)
    assert len(source.bits) == len(source.code) == 40
    assert told.shape == (200, len(TRAINING.vectors))
    np.testing.assert_allclose(told.sum(axis=1), 1)


def test_batches_end_with_the_useful_pairs(monkeypatch):
    monkeypatch.setattr("refpair.posterior.code.BATCHES", (30, 30, 60, 60))
    source = make_source(n_bits=100, in_batches=True)
    seen = [len(source.bits) for _ in source.learn(TRAINING, np.random.default_rng(1))]
    assert seen == [30, 60, 100]


@pytest.mark.parametrize("in_batches", [False, True])
@pytest.mark.parametrize(("clearly", "chosen"), [(0.0, "jaccard"), (0.5, "zero_one")])
def test_bits_for_another_cost_must_say_clearly_more(monkeypatch, in_batches, clearly, chosen):
    monkeypatch.setattr("refpair.posterior.code.BATCHES", (15, 15, 30))
    monkeypatch.setattr("refpair.posterior.code._CLEARLY", clearly)
    source = make_source("zero_one", "jaccard", n_bits=60, in_batches=in_batches)
    learn(source)
    assert source.code.cost == get_cost(chosen)
    assert len(source.bits) == len(source.code) == 60
