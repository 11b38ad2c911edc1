"""The source of single labels: the mean of the bits of each label."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from refpair.bits.logistic import LogisticBank
from refpair.posterior.labels import BATCH, N_FOLDS, VOTES_A_FOLD, LabelSource
from tests.posterior.training import make_training, some_samples


def learnt(training, most_votes=10, seed=1):
    source = LabelSource(training.n_labels, most_votes)
    return source, [told.copy() for told in source.learn(training, np.random.default_rng(seed))]


def naive_mean(values, known, n_labels, otherwise):
    """The mean over the known bits of a label of how sure they are, as a probability: bit m is of m % K."""
    means = np.empty((len(values), n_labels))
    for i, k in np.ndindex(means.shape):
        mine = [values[i, m] for m in range(k, values.shape[1], n_labels) if known[i, m]]
        means[i, k] = (1 + sum(map(float, mine)) / len(mine)) / 2 if mine else otherwise[k]
    return means


def test_answers_are_the_means_of_the_bits_of_a_label():
    training = make_training(*some_samples())
    source, _ = learnt(training)
    new = some_samples(30, seed=3)[0]
    values = source.bits.values(new)
    assert values.shape == (30, 40)
    found = source.answer(new, 2)
    np.testing.assert_allclose(found, naive_mean(values, np.ones_like(values), 4, None), rtol=1e-6)


def test_a_bit_asks_for_its_label():
    X, Y = np.arange(60.0)[:, None], np.eye(4, dtype=np.uint8)[np.arange(60) // 15]
    source, _ = learnt(make_training(X, Y))
    np.testing.assert_allclose(source.answer(X[7::15], None), np.eye(4), atol=0.1)


def test_out_of_bag_are_the_means_of_the_bits_that_do_not_know_a_sample():
    training = make_training(*some_samples(50), rows=[3, 49, 3, 0, 20])
    source, (told,) = learnt(training, 3)  # so few that some labels have none
    known_by = [set(source.bits.bags_.rows(bit).tolist()) for bit in range(12)]
    unknown = np.array([[row not in rows for rows in known_by] for row in training.rows.tolist()])
    assert not unknown.reshape(5, 3, 4).any(axis=1).all(), "a label of which no bit speaks"
    frequencies = training.distinct.vectors[training.distinct.of_row].mean(axis=0)
    expected = naive_mean(source.bits.values(training.X[training.rows]), unknown, 4, frequencies)
    np.testing.assert_allclose(told, expected, rtol=1e-6)


def test_out_of_bag_noise_cannot_be_told():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 5)), rng.integers(0, 2, (200, 3))
    training = make_training(X, Y)
    source, (told,) = learnt(training, BATCH)
    assert ((source.answer(X, None) > 0.5) == Y).mean() > 0.95, "trees that know a sample do tell"
    assert ((told > 0.5) == training.truths).mean() < 0.6


def test_steps_double():
    training = make_training(*some_samples())
    source = LabelSource(4, 90)
    bits = []
    for told in source.learn(training, np.random.default_rng(1)):
        assert told.shape == (120, 4)
        assert len(source.bits.bags_) == len(source.bits)
        bits.append(source.bits)
        source.check_shapes(6, 4, 99)
    assert [len(bank) // 4 for bank in bits] == [BATCH, 2 * BATCH, 90]
    for fewer, more in pairwise(bits):
        values = more.values(training.X)
        np.testing.assert_array_equal(values[:, : len(fewer)], fewer.values(training.X))
        assert (values[:, len(fewer) :][:, : 4 * 20] != values[:, : 4 * 20]).any(), "others, not the same"


@pytest.mark.parametrize(("most", "numbers"), [(1, [1]), (BATCH, [BATCH]), (BATCH + 1, [BATCH, BATCH + 1])])
def test_there_are_no_more_bits_than_asked_for(most, numbers):
    training = make_training(*some_samples(40))
    source = LabelSource(4, most)
    steps = source.learn(training, np.random.default_rng(0))
    assert [len(source.bits) // 4 for _ in steps] == numbers


def test_bits_of_all_samples_are_judged_by_folds():
    calls = []
    trees = make_training(*some_samples(), max_samples=None)

    def learn(X, problems):
        calls.append((len(X), problems.n_bits, problems.seeds))
        return trees.learn(X, problems)

    source, (told,) = learnt(replace(trees, learn=learn), 20)
    assert source.bits.bags_ is None
    (n, n_bits, seeds), *folds = calls
    assert (n, n_bits) == (120, 80)
    assert [fold[:2] for fold in folds] == [(80, VOTES_A_FOLD * 4)] * N_FOLDS
    assert all((fold[2] == seeds[: VOTES_A_FOLD * 4]).all() for fold in folds)
    assert ((told > 0.5) == trees.truths).mean() > 0.7
    rng = np.random.default_rng(0)
    noise = make_training(trees.X, rng.integers(0, 2, (120, 4)), max_samples=None)
    source, (told,) = learnt(noise, 20)
    assert ((source.answer(noise.X, None)[noise.rows] > 0.5) == noise.truths).all()
    assert ((told > 0.5) == noise.truths).mean() < 0.6


def test_folds_of_which_no_sample_is_asked_are_not_learnt():
    training = make_training(*some_samples(30), rows=[4], max_samples=None)
    calls = []

    def learn(X, problems):
        calls.append(len(X))
        return training.learn(X, problems)

    _, (told,) = learnt(replace(training, learn=learn), 2)
    assert calls == [30, 20]
    assert told.shape == (1, 4)
    assert np.isfinite(told).all()


def test_other_learners_of_bits():
    def learn(X, problems):
        return LogisticBank(max_samples=0.5).fit(X, problems)

    training = make_training(*some_samples(), learn=learn)
    source, said = learnt(training, 30)
    assert len(source.bits) == 120
    assert ((said[-1] > 0.5) == training.truths).mean() > 0.75


def test_threads_do_not_matter():
    X, Y = some_samples()
    one, two = (learnt(make_training(X, Y, n_jobs=n_jobs), 30) for n_jobs in (None, 3))
    np.testing.assert_array_equal(one[1], two[1])
    np.testing.assert_array_equal(one[0].answer(X, None), two[0].answer(X, 2))


@pytest.mark.parametrize(("n_features", "n_labels"), [(5, 4), (6, 3), (6, 2)])
def test_bits_of_others_are_refused(n_features, n_labels):
    source, _ = learnt(make_training(*some_samples()), 1)
    with pytest.raises(ValueError, match=r"one learner for each bit|not those of the features"):
        source.check_shapes(n_features, n_labels, 9)
