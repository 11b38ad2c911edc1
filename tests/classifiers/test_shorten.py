import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from refpair import CSRPEClassifier, load, save
from refpair._kernels.code_words import pack_signs, unpack_bits
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


@pytest.mark.parametrize("n_bits", LENGTHS)
def test_the_posterior_has_the_same_settings(data, posterior, n_bits):
    X = data[0][80:]
    short = posterior.shorten(n_bits)
    old, new = posterior.posterior_, short.posterior_
    assert new.mixture is old.mixture
    assert new.sources[1:] == old.sources[1:]
    assert new.sources[0].settings is old.sources[0].settings
    assert new.sources[0].bits is short.bits_
    signs = np.ascontiguousarray(posterior.bits_.predict(X)[:, kept(n_bits)])
    np.testing.assert_array_equal(short.bits_.predict(X), signs)
    known = old.sources[0].known
    if old.sources[0].settings.compared_with == "words":
        words = np.ascontiguousarray(posterior.encode(posterior.relevant_set_)[:, kept(n_bits)])
        expected = KnownCodes.of_words(posterior.relevant_set_, words, posterior.relevant_counts_)
    else:
        rows = np.ascontiguousarray(2 * unpack_bits(known.plus)[:, kept(n_bits)].astype(np.int8) - 1)
        plain = np.ones(len(rows)), known.vector, np.arange(len(rows) + 1)
        shares = sp.csr_array(plain, shape=(len(rows), len(known.vectors)))
        expected = KnownCodes.of_rows(posterior.relevant_set_, pack_signs(rows), shares, n_bits)
    found = new.sources[0].known
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
    np.testing.assert_array_equal(short.bits_.predict(X), bits[:, [0, 5, 10]])
    if decoder == "nearest":
        assert (short.predict(X) != before).any()
    else:
        assert (short.predict_proba(X) != model.predict_proba(X)).any()
    np.testing.assert_array_equal(model.predict(X), before, err_msg="the model itself is left alone")
    assert (model.n_bits, len(model.code_)) == (16, 16)


def test_a_code_that_is_shorter_than_was_asked_for_is_whole():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), np.eye(2, dtype=np.uint8)[rng.integers(0, 2, 40)]
    model = CSRPEClassifier(n_bits=50, random_state=0).fit(X, Y)
    assert len(model.code_) < 50
    whole = model.shorten(len(model.code_))
    np.testing.assert_array_equal(whole.predict_proba(X), model.predict_proba(X))


def test_longer_codes_predict_better(data):
    X, Y = data
    model = fitted(data, cost="hamming", n_bits=600, sources=("code",))
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
