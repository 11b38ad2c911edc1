import numpy as np
import pytest

from refpair.posterior import IndependentLabels


def test_samples_have_the_marginals():
    p = np.array([[0.0, 1.0, 0.5, 0.1], [0.9, 0.3, 0.0, 1.0]])
    labels = IndependentLabels(p)
    np.testing.assert_array_equal(labels.marginals(), p)
    drawn = labels.sample(4000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.marginals(), p, atol=0.03)
    np.testing.assert_array_equal(drawn.marginals()[p % 1 == 0], p[p % 1 == 0])
    both = drawn.weights().toarray() @ (drawn.vectors[:, 0] & drawn.vectors[:, 1])
    np.testing.assert_allclose(both, p[:, 0] * p[:, 1], atol=0.03)


def test_common_random_numbers_are_the_same_for_all_rows():
    labels = IndependentLabels(np.full((3, 9), 0.4))
    common = labels.sample(20, np.random.default_rng(1), common=True).weights().toarray()
    np.testing.assert_array_equal(common, common[[0, 0, 0]])
    own = labels.sample(20, np.random.default_rng(1)).weights().toarray()
    assert (own[0] != own[1]).any()


def test_parts_and_sizes():
    labels = IndependentLabels([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    assert (len(labels), labels.n_labels) == (3, 2)
    np.testing.assert_array_equal(labels[1:].marginals(), [[0.3, 0.4], [0.5, 0.6]])


@pytest.mark.parametrize("wrong", [[0.5], [[1.5]], [[-0.1]], [[np.nan]], np.zeros((2, 0))])
def test_what_are_no_probabilities(wrong):
    with pytest.raises(ValueError, match="marginals must"):
        IndependentLabels(wrong)


def test_no_samples():
    with pytest.raises(ValueError, match="at least 1"):
        IndependentLabels([[0.5]]).sample(0, np.random.default_rng(0))
