import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import MLECC, BinaryRelevance, LabelPowerset, RAkEL
from refpair.datasets import load_dataset

CODES = ["rep", "rrep", "hamr"]
LEARNERS = ["tree", "forest", "logistic", DecisionTreeClassifier(max_features=2)]


@parametrize_with_checks(
    [
        MLECC("tree", code="rrep", powerset=3, code_length=31, random_state=0),
        MLECC(DecisionTreeClassifier(), code="hamr", code_length=28, random_state=0),
    ]
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


# ---- what it is the same as ----


@pytest.mark.parametrize("estimator", LEARNERS)
def test_repeated_labels_learnt_one_by_one_are_binary_relevance(small, estimator):
    X, Y = small
    for labels in (Y, Y[:, [0, 1, 0, 2]], np.column_stack([0 * Y[:, 0], Y, 0 * Y[:, 0]])):
        ours = MLECC(estimator, code="rep", random_state=5).fit(X[:80], labels[:80])
        same = BinaryRelevance(estimator, random_state=5).fit(X[:80], labels[:80])
        assert ours.learners_.learners_.n_problems_ == labels.shape[1]
        np.testing.assert_array_equal(ours.predict(X[80:]), same.predict(X[80:]))
        np.testing.assert_array_equal(
            ours.learners_.learners_.probabilities(X[80:]), same.learners_.probabilities(X[80:])
        )


@pytest.mark.parametrize("estimator", LEARNERS)
def test_repeated_sets_learnt_as_powersets_are_rakel(small, estimator):
    X, Y = small
    Y = np.column_stack([Y, Y[:, 0] & Y[:, 1], Y[:, 2] ^ Y[:, 3]])
    ours = MLECC(estimator, code="rrep", powerset=3, random_state=5).fit(X[:80], Y[:80])
    assert ours.code_.labelsets.shape == (42, 3)
    same = RAkEL(estimator, labelsets=ours.code_.labelsets, random_state=5).fit(X[:80], Y[:80])
    assert len(same.learners_.patterns_) == 20, "there are no more sets of three out of six labels"
    np.testing.assert_array_equal(ours.predict(X[80:]), same.predict(X[80:]))
    # The sets are also those that RAkEL draws itself, up to the twenty that there are.
    short = MLECC(estimator, code="rrep", powerset=3, code_length=36, random_state=5).fit(X[:80], Y[:80])
    drawn = RAkEL(estimator, random_state=5).fit(X[:80], Y[:80])
    np.testing.assert_array_equal(drawn.labelsets_, short.code_.labelsets)
    np.testing.assert_array_equal(drawn.predict(X[80:]), short.predict(X[80:]))


@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_up_to_three_labels_in_a_block_are_a_label_powerset(small, n_labels):
    X, Y = small
    powerset = LabelPowerset("tree", random_state=5).fit(X[:80], Y[:80, :n_labels])
    for code in ("rep", "rrep"):
        ours = MLECC("tree", code=code, powerset=3, code_length=12, random_state=5)
        ours.fit(X[:80], Y[:80, :n_labels])
        assert len(ours.learners_.patterns_) == 1
        np.testing.assert_array_equal(ours.predict(X[80:]), powerset.predict(X[80:]))


# ---- codes ----


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("powerset", [1, 2, 3])
def test_it_decodes_what_the_learners_say(small, code, powerset):
    X, Y = small
    model = MLECC("tree", code=code, powerset=powerset, code_length=31, random_state=0).fit(X[:80], Y[:80])
    ((_, words),) = model.learners_.words(X[80:])
    assert words.shape == (40, model.code_.n_bits)
    np.testing.assert_array_equal(model.predict(X[80:]), model.code_.decode(words))
    # On distinct rows trees are always right.
    own = np.column_stack([X, np.arange(120)])
    np.testing.assert_array_equal(model.fit(own, Y).predict(own), Y)


@pytest.mark.parametrize("code", CODES)
def test_blocks_are_powersets_of_their_bits(small, code):
    X, Y = small
    tree = DecisionTreeClassifier(random_state=0)
    model = MLECC(tree, code=code, powerset=3, code_length=31, random_state=0).fit(X[:80], Y[:80])
    bits = model.code_.encode(Y[:80])
    words = [
        LabelPowerset(tree).fit(X[:80], bits[:, first : first + 3]).predict(X[80:])
        for first in range(0, model.code_.n_bits, 3)
    ]
    np.testing.assert_array_equal(model.predict(X[80:]), model.code_.decode(np.hstack(words)))


def test_errors_of_bits_are_corrected():
    """A code is better than binary relevance with the same learners."""
    digits = load_dataset("digits")
    X, Y, X_test, Y_test = digits.X[:800], digits.Y[:800], digits.X[800:], digits.Y[800:]
    alone = BinaryRelevance("tree", random_state=0).fit(X, Y).score(X_test, Y_test)
    coded = MLECC("tree", code="hamr", random_state=0).fit(X, Y).score(X_test, Y_test)
    in_sets = MLECC("tree", code="rrep", powerset=3, random_state=0).fit(X, Y).score(X_test, Y_test)
    assert coded > alone + 0.01
    assert in_sets > alone + 0.05


def test_lengths_of_codes(small):
    X, Y = small
    for code, length, n_bits in [
        ("rep", None, 127),
        ("rep", 9, 9),
        ("rrep", None, 126),
        ("rrep", 13, 12),
        ("hamr", 30, 28),
    ]:
        model = MLECC("tree", code=code, code_length=length, random_state=0).fit(X, Y)
        assert model.code_.n_bits == n_bits
        assert model.code_.encode(Y[:2]).shape == (2, n_bits)


def test_the_seed_decides_the_code(small):
    X, Y = small
    sets = [
        MLECC("tree", code="rrep", code_length=15, random_state=seed).fit(X, Y).code_.labelsets.tolist()
        for seed in (0, 0, 1)
    ]
    assert sets[0] == sets[1] != sets[2]


def test_it_tells_no_probabilities(small):
    assert not hasattr(MLECC(RandomForestClassifier()), "predict_proba")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"code": "golay"}, 'code must be one of "rep", "rrep", "hamr", not \'golay\''),
        ({"code": None}, "code must be one of"),
        ({"powerset": 0}, "powerset must be an integer of at least 1, not 0"),
        ({"powerset": "three"}, "powerset must be an integer"),
        ({"code_length": 0}, "code_length must be an integer of at least 1, not 0"),
        ({"code_length": 3}, "code_length is 3, too short for 4 labels: give at least 4"),
        ({"code": "hamr", "code_length": 6}, "code_length is 6, too short for 4 labels: give at least 7"),
    ],
)
def test_bad_parameters_are_named(small, parameters, message):
    with pytest.raises(ValueError, match=message):
        MLECC("tree", **parameters).fit(*small)


def test_a_logistic_learner(small):
    X, Y = small
    model = MLECC(LogisticRegression(), code="rep", powerset=3).fit(X[:80], Y[:80])
    assert (model.predict(X[80:]) == Y[80:]).mean() > 0.8
