import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from refpair import CSRPEClassifier, load, save
from refpair._kernels.code_words import pack_signs
from refpair.coding.nearest import CodeBook
from refpair.posterior.code import KnownCodes

N_BITS, N_LABELS = 150, 6
LENGTHS = [1, 2, 63, 64, 65, 128, 149, 150]


@pytest.fixture(scope="module")
def data():
    """More labels than those of the other tests, since four have no more than 120 pairs."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 6))
    scores = X @ rng.standard_normal((6, N_LABELS)) + 0.3 * rng.standard_normal((120, N_LABELS))
    return X, (scores > 0.5).astype(int)


def fitted(data, **parameters):
    X, Y = data
    return CSRPEClassifier(**{"n_bits": N_BITS, "random_state": 1} | parameters).fit(X[:80], Y[:80])


@pytest.fixture(scope="module")
def nearest(data):
    return fitted(data, cost="rank", decoder="nearest", pairs="mixed")


@pytest.fixture(scope="module")
def posterior(data):
    return fitted(data)


def kept(n_bits, n_there=N_BITS):
    """The bits that stay: all along the code."""
    return [bit * n_there // n_bits for bit in range(n_bits)]


@pytest.mark.parametrize("n_bits", LENGTHS)
def test_nearest_decodes_the_bits_that_stay_to_their_words(data, nearest, n_bits):
    X = data[0][80:]
    words = np.ascontiguousarray(nearest.encode(nearest.relevant_set_)[:, kept(n_bits)])
    code = np.ascontiguousarray(nearest.predict_code(X)[:, kept(n_bits)])
    expected = nearest.relevant_set_[CodeBook(words).decode(code)]
    short = nearest.shorten(n_bits)
    np.testing.assert_array_equal(short.predict(X), expected)
    np.testing.assert_array_equal(short.predict_code(X), code)
    assert short.n_bits == len(short.code_) == len(short.bits_.trees_) == n_bits


def test_a_mixed_code_stays_mixed(data, posterior):
    """Its first half has as many labels as the rows have, its second half is of all vectors."""

    def n_labels(code):
        return code.alpha.sum(axis=1).mean()

    halves = posterior.code_[: N_BITS // 2], posterior.code_[N_BITS // 2 :]
    assert n_labels(halves[0]) < n_labels(posterior.shorten(50).code_) < n_labels(halves[1])


@pytest.mark.parametrize("n_bits", LENGTHS)
def test_the_posterior_has_the_same_settings(data, posterior, n_bits):
    X = data[0][80:]
    short = posterior.shorten(n_bits)
    old, new = posterior.posterior_, short.posterior_
    assert new.settings is old.settings
    assert new.line is old.line
    assert new.bits is short.bits_
    n_votes_of_all = 2 * N_BITS // N_LABELS
    assert len(posterior.bits_) == N_BITS + n_votes_of_all * N_LABELS
    n_votes = max(1, 2 * n_bits // N_LABELS)
    assert len(new.bits) == len(new.bits.bags_) == n_bits + n_votes * N_LABELS
    stay = [*kept(n_bits), *range(N_BITS, N_BITS + n_votes * N_LABELS)]
    np.testing.assert_array_equal(new.bits.values(X), posterior.bits_.values(X)[:, stay])
    words = posterior.encode(short.relevant_set_)[:, kept(n_bits)]
    np.testing.assert_array_equal(short.encode(short.relevant_set_), words)


@pytest.mark.parametrize("n_bits", LENGTHS)
@pytest.mark.parametrize("kind", ["words", "rows"])
def test_known_codes_of_some_bits_are_those_of_the_shorter_codes(n_bits, kind):
    rng = np.random.default_rng(n_bits)
    vectors = np.zeros((5, 2), np.uint8)
    vector, signs = np.int32([0, 1, 1, 2, 0]), rng.choice(np.int8([-1, 1]), (7, n_bits))

    def known(codes):
        if kind == "words":
            return KnownCodes.of_words(vectors, codes, np.array([3, 1, 0, 2, 5]))
        return KnownCodes.of_rows(vectors, pack_signs(codes), vector, codes.shape[1])

    codes = rng.choice(np.int8([-1, 0, 1] if kind == "words" else [-1, 1]), (5, N_BITS))
    bits = rng.permutation(N_BITS)[:n_bits]
    found, expected = known(codes).take(bits), known(np.ascontiguousarray(codes[:, bits]))
    for name, value in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), value, err_msg=name)
    np.testing.assert_array_equal(found.agreement(signs), expected.agreement(signs))


@pytest.mark.parametrize("learner", ["tree", LogisticRegression()])
@pytest.mark.parametrize("decoder", ["nearest", "posterior"])
def test_at_full_length_it_is_the_same_model_and_shorter_it_is_not(data, learner, decoder):
    X = data[0]
    model = fitted(data, n_bits=16, estimator=learner, decoder=decoder)
    before, bits = model.predict(X), model.bits_.predict(X)
    np.testing.assert_array_equal(model.shorten(16).predict(X), before)
    short = model.shorten(3)
    n_votes = N_LABELS if decoder == "posterior" else 0
    np.testing.assert_array_equal(short.bits_.predict(X), bits[:, [0, 5, 10, *range(16, 16 + n_votes)]])
    assert (short.predict(X) != before).any()
    np.testing.assert_array_equal(model.predict(X), before, err_msg="the model itself is left alone")
    assert (model.n_bits, len(model.code_)) == (16, 16)


@pytest.mark.parametrize("n_bits", [7, 60, 200])
def test_labels_keep_as_many_bits_as_a_model_of_that_length_has(data, n_bits):
    model, fresh = fitted(data, n_bits=300), fitted(data, n_bits=n_bits)
    assert len(model.shorten(n_bits).bits_) == len(fresh.bits_)
    assert len(model.shorten(200).shorten(n_bits).bits_) == len(fresh.bits_)


def test_a_code_that_is_shorter_than_was_asked_for_keeps_its_votes():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), np.eye(2, dtype=np.uint8)[rng.integers(0, 2, 40)]
    model = CSRPEClassifier(n_bits=50, random_state=0).fit(X, Y)
    assert len(model.code_) < 50
    whole = model.shorten(len(model.code_))
    assert len(whole.bits_) == len(model.bits_) == len(model.code_) + 50 * 2
    np.testing.assert_array_equal(whole.predict_proba(X), model.predict_proba(X))


def test_longer_codes_predict_better(data):
    X, Y = data
    model = fitted(data, cost="hamming", n_bits=600)
    costs = [model.cost_.mean(Y[80:], model.shorten(n).predict(X[80:])) for n in (1, 600)]
    assert costs[1] < costs[0]


def test_what_was_found_out_of_bag_is_that_of_the_full_code(posterior):
    short = posterior.shorten(20)
    assert short.oob_cost_ == posterior.oob_cost_
    assert short.oob_search_ is posterior.oob_search_


@pytest.mark.parametrize("decoder", ["nearest", "posterior"])
def test_a_shorter_model_can_be_saved(data, tmp_path, decoder):
    model = fitted(data, decoder=decoder).shorten(70)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.n_bits == len(loaded.code_) == 70
    np.testing.assert_array_equal(loaded.predict(data[0]), model.predict(data[0]))
    shorter = loaded.shorten(10)
    np.testing.assert_array_equal(shorter.predict(data[0]), model.shorten(10).predict(data[0]))


@pytest.mark.parametrize("n_bits", [0, -1, N_BITS + 1, 2.0, True, None, "3"])
def test_a_length_that_there_is_not_is_refused(nearest, n_bits):
    with pytest.raises(ValueError, match=r"n_bits must be an integer from 1 to 150, not"):
        nearest.shorten(n_bits)


def test_only_a_fitted_model_can_be_shortened():
    with pytest.raises(NotFittedError):
        CSRPEClassifier().shorten(3)
