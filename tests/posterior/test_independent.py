import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.posterior import IndependentLabels


@pytest.mark.parametrize("n_labels", [4, 12])
def test_as_weights_of_label_vectors_they_have_the_marginals_and_are_independent(n_labels):
    p = np.tile([[0.0, 1.0, 0.5, 0.1], [0.9, 0.3, 0.0, 1.0]], n_labels // 4)
    labels = IndependentLabels(p)
    np.testing.assert_array_equal(labels.marginals(), p)
    ((rows, weighted),) = labels.weighted()
    assert rows == slice(0, 2)
    near = 1e-12 if n_labels == 4 else 0.06  # of many labels, a sample
    np.testing.assert_allclose(weighted.marginals(), p, atol=near)
    np.testing.assert_array_equal(weighted.marginals()[p % 1 == 0], p[p % 1 == 0])
    both = weighted.weights().toarray() @ (weighted.vectors[:, 0] & weighted.vectors[:, 1])
    np.testing.assert_allclose(both, p[:, 0] * p[:, 1], atol=near)


def test_what_is_drawn_for_a_row_does_not_depend_on_the_others():
    p = np.random.default_rng(0).random((5, 12))
    ((_, whole),) = IndependentLabels(p).weighted()
    ((_, part),) = IndependentLabels(p)[2:3].weighted()
    row = whole[2:3]
    found = {row.vectors[v].tobytes(): w for v, w in zip(row.index, row.weight, strict=True)}
    assert found == {part.vectors[v].tobytes(): w for v, w in zip(part.index, part.weight, strict=True)}


def drawn_row(p, row):
    """How often each vector was drawn for a row."""
    one = p[row : row + 1]
    return {tuple(one.vectors[v].tolist()): w for v, w in zip(one.index, one.weight.tolist(), strict=True)}


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([1, 10, 100]))
def test_drawn_vectors_have_each_label_as_often_as_they_should(seed, n_labels, n_samples):
    rng = np.random.default_rng(seed)
    marginals = rng.choice([0.0, 1.0, 0.5, 0.07, 0.999, rng.random()], (4, n_labels))
    drawn = IndependentLabels(marginals).drawn(n_samples)
    for row, p in enumerate(marginals):
        found = drawn_row(drawn, row)
        assert sum(found.values()) == pytest.approx(1)
        assert all(
            n_samples * weight == pytest.approx(round(n_samples * weight)) for weight in found.values()
        )
        for k in range(n_labels):
            n_with = n_samples * sum(weight for y, weight in found.items() if y[k])
            assert round(n_with) in (np.floor(n_samples * p[k]), np.ceil(n_samples * p[k]))
        alone = IndependentLabels(marginals[row : row + 1]).drawn(n_samples)
        assert drawn_row(alone, 0) == found, "other rows do not matter"


def test_drawn_labels_are_independent_of_each_other():
    p = np.full((1, 30), 0.5)
    p[0, :3] = 0.2, 0.9, 0.6
    drawn = IndependentLabels(p).drawn(1000)
    both = (drawn.vectors[drawn.index] * drawn.weight[:, None]).T @ drawn.vectors[drawn.index]
    off = both - p.T @ p
    np.fill_diagonal(off, 0.0)
    assert np.abs(off).max() < 0.06  # as far as chance may be off: 4 standard errors


def test_the_share_that_is_drawn_is_right_on_the_whole():
    """Each sample is as likely anywhere in its part: a label of half a sample is there in half the draws."""
    p = np.full((1, 400), 0.005)
    n_with = 100 * IndependentLabels(p).drawn(100).marginals()[0]
    assert set(n_with.round(6).tolist()) == {0.0, 1.0}
    assert n_with.mean() == pytest.approx(0.5, abs=0.1)


def test_the_mode_and_the_most_likely_vectors_are_those_of_the_weights():
    p = np.random.default_rng(1).random((20, 6))
    labels = IndependentLabels(p)
    ((_, weighted),) = labels.weighted()
    vectors, chances = labels.most_likely(5)
    expected, expected_chances = weighted.most_likely(5)
    np.testing.assert_array_equal(vectors, expected)
    np.testing.assert_allclose(chances, expected_chances, rtol=1e-9)
    np.testing.assert_array_equal(labels.mode(), expected[:, 0])
    np.testing.assert_array_equal(weighted.mode(), expected[:, 0])
    np.testing.assert_allclose(labels.mean_square_size(), weighted.mean_square_size())


def test_parts_and_sizes():
    labels = IndependentLabels([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    assert (len(labels), labels.n_labels) == (3, 2)
    np.testing.assert_array_equal(labels[1:].marginals(), [[0.3, 0.4], [0.5, 0.6]])


@pytest.mark.parametrize("wrong", [[0.5], [[1.5]], [[-0.1]], [[np.nan]], np.zeros((2, 0))])
def test_what_are_no_probabilities(wrong):
    with pytest.raises(ValueError, match="marginals must"):
        IndependentLabels(wrong)
