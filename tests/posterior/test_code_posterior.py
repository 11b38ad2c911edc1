from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from refpair._kernels.code_words import pack_signs
from refpair.posterior import LabelDistribution
from refpair.posterior.code import (
    CodePosterior,
    KnownCodes,
    LogOddsLine,
    PosteriorSettings,
    label_probabilities,
)
from tests import naive

N_BITS, N_LABELS, N_VOTES, N_ROWS = 24, 3, 2, 5000
BORDERS = [0, 1, 127, 128, 300, 4095, 4096, 4097, 4230, 5000]


@dataclass
class Columns:
    """Bits that are the columns of X."""

    bags_: None = None
    asked: list = field(default_factory=list)

    def predict(self, X, bits=slice(None)):
        self.asked.append(len(X))
        return np.where(X[:, bits] > 0, 1, -1).astype(np.int8)

    def predict_and_values(self, X, n_signs):
        return self.predict(X, slice(0, n_signs)), self.values(X, slice(n_signs, None))

    def values(self, X, bits=slice(None)):
        self.asked.append(len(X))
        return np.float32(X[:, bits])


class NoValues(Columns):
    def values(self, X, bits=slice(None)):
        raise AssertionError("nobody needs them")


def make_posterior(share, bits=None):
    rng = np.random.default_rng(1)
    vectors = np.array(naive.all_vectors(N_LABELS), np.uint8)
    codes = rng.choice(np.int8([-1, 1]), (40, N_BITS))
    known = KnownCodes.of_rows(vectors, pack_signs(codes), rng.integers(0, 8, 40).astype(np.int32), N_BITS)
    settings = PosteriorSettings("rows", share, 9.0)
    return CodePosterior(bits or Columns(), known, settings, LogOddsLine(0.5, 0.3))


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).uniform(-1, 1, (N_ROWS, N_BITS + N_VOTES * N_LABELS))


def weighed_at_once(posterior, X, how):
    """What the posterior says of all rows, without blocks."""
    signs = np.where(X[:, :N_BITS] > 0, 1, -1).astype(np.int8)
    votes = np.float32(X[:, N_BITS:])
    labels = np.mean([votes[:, :N_LABELS], votes[:, N_LABELS:]], axis=0, dtype=np.float64) / 2 + 0.5
    codes, settings = posterior.codes, posterior.settings
    weights = codes.weigh(codes.agreement(signs), settings.temperature)
    return getattr(weights, how)(labels, settings.label_share)


def parts_of(X):
    return [X[first:last] for first, last in pairwise(BORDERS)]


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_marginals_do_not_depend_on_blocks(X, share):
    posterior = make_posterior(share)
    whole = posterior.marginals(X, calibrated=False)
    np.testing.assert_allclose(whole, weighed_at_once(posterior, X, "marginals"), rtol=1e-12)
    parts = [posterior.marginals(part, calibrated=False) for part in parts_of(X)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(posterior.marginals(X, calibrated=False, n_jobs=2), whole)


def test_marginals_are_calibrated_by_the_line(X):
    posterior = make_posterior(0.4)
    raw = posterior.marginals(X[:50], calibrated=False)
    expected = 1 / (1 + np.exp(-(0.5 * np.log(raw / (1 - raw)) + 0.3)))
    np.testing.assert_allclose(posterior.marginals(X[:50]), expected, rtol=1e-9)


def joined(posterior, X, **options):
    """The distributions of all blocks by hand, as dense weights; the blocks must lie in order."""
    stop, found = 0, []
    for rows, distribution in posterior.distributions(X, **options):
        assert rows.start == stop
        assert len(distribution) == rows.stop - rows.start
        stop = rows.stop
        found.append(distribution.weights().toarray())
    assert stop == len(X)
    return np.concatenate(found)


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_distributions_do_not_depend_on_blocks(X, share):
    posterior = make_posterior(share)
    whole = joined(posterior, X)
    expected = weighed_at_once(posterior, X, "distribution").weights().toarray()
    np.testing.assert_allclose(whole, expected, rtol=1e-12)
    np.testing.assert_array_equal(np.concatenate([joined(posterior, part) for part in parts_of(X)]), whole)
    np.testing.assert_array_equal(joined(posterior, X, n_jobs=2), whole)


def test_codes_are_predicted_a_block_at_a_time(X):
    bits = Columns()
    posterior = make_posterior(0.4, bits)
    posterior.marginals(X)
    list(posterior.distributions(X))
    assert sum(bits.asked) == 4 * N_ROWS, "signs and values, twice"
    assert max(bits.asked) < N_ROWS


def test_bits_of_single_labels_are_not_asked_where_they_do_not_count(X):
    posterior = make_posterior(0.0, NoValues())
    assert posterior.marginals(X[:10]).shape == (10, N_LABELS)
    assert len(list(posterior.distributions(X[:10]))) == 1


# ---- label_probabilities ----


def test_votes_are_averaged_label_by_label():
    values = np.float32([[1, -1, 0.5, 0, -1, 0.5], [0, 0, 0, 0, 0, 0]])
    np.testing.assert_allclose(label_probabilities(values, 3), [[0.75, 0, 0.75], [0.5, 0.5, 0.5]])


def test_only_known_votes_count():
    values = np.float32([[1, -1, 0, -1], [1, 0.5, -1, -0.5]])
    known = np.array([[True, True, False, True], [False, True, True, True]])
    np.testing.assert_allclose(label_probabilities(values, 2, known), [[1.0, 0.0], [0.0, 0.5]])
    for some in (None, known[:, :3]):
        with pytest.raises(ValueError, match="reshape"):
            label_probabilities(values[:, :3], 2, some)


def test_a_label_without_any_known_vote_is_unknown():
    known = np.array([[True, False, True, False], [False, False, False, True]])
    found = label_probabilities(np.float32([[1, 1, 1, 1], [1, 1, 1, -1]]), 2, known)
    np.testing.assert_array_equal(found, [[1.0, np.nan], [np.nan, 0.0]])


@pytest.mark.parametrize("n_votes", [1, 3, 8])
def test_known_votes_are_those_of_the_loop(n_votes):
    rng = np.random.default_rng(n_votes)
    values = rng.uniform(-1, 1, (20, n_votes * 4)).astype(np.float32)
    known = rng.random(values.shape) < 0.5
    found = label_probabilities(values, 4, known)
    for i in range(20):
        for k in range(4):
            mine = [float(values[i, v * 4 + k]) for v in range(n_votes) if known[i, v * 4 + k]]
            expected = (1 + sum(mine) / len(mine)) / 2 if mine else np.nan
            np.testing.assert_allclose(found[i, k], expected, rtol=1e-6, atol=1e-7)
    everything = np.ones(values.shape, bool)
    np.testing.assert_allclose(
        label_probabilities(values, 4, everything), label_probabilities(values, 4), rtol=1e-6
    )


# ---- LabelDistribution.join ----


def test_joined_distributions_lie_one_after_the_other():
    vectors = [[0, 1], [1, 0], [1, 1]]
    weights = np.array([[1, 0, 0], [1, 1, 2], [0, 1, 1], [3, 0, 1]]) / [[1], [4], [2], [4]]
    parts = [
        LabelDistribution.from_dense(vectors, weights[rows])
        for rows in (slice(0, 1), slice(1, 3), slice(3, 4))
    ]
    whole = LabelDistribution.join(parts)
    np.testing.assert_array_equal(whole.weights().toarray(), weights)
    np.testing.assert_array_equal(whole.vectors, vectors)
    np.testing.assert_array_equal(LabelDistribution.join([whole[:0], whole, whole[4:]]).start, whole.start)
    np.testing.assert_array_equal(whole[1:3].weights().toarray(), weights[1:3])


def test_joined_distributions_of_no_rows_have_no_rows():
    empty = LabelDistribution.from_dense([[0, 1]], [[1]])[:0]
    assert len(LabelDistribution.join([empty, empty])) == 0
