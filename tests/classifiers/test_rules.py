import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refpair import (
    AtLeast,
    AtMost,
    BayesDecisionClassifier,
    CSRPEClassifier,
    Exclusive,
    Forest,
    Implies,
    ProbabilisticChain,
    Taxonomy,
    get_cost,
    load,
    save,
)
from refpair.decision import expected_cost
from refpair.decision.condition import conditioned

RULES = [AtLeast(1), Taxonomy({"calm": "joy"}), Exclusive(["anger", "joy"])]
NAMES = ["joy", "anger", "calm"]
BROKEN = "ignore:.*training rows break a rule"
MODELS = {
    "csrpe": CSRPEClassifier("f1", n_bits=10, random_state=0),
    "forest": BayesDecisionClassifier(RandomForestClassifier(10, random_state=0), random_state=0),
    "independent": BayesDecisionClassifier(LogisticRegression(), cost="hamming", random_state=0),
    "chain": ProbabilisticChain(Forest(n_trees=5), cost="jaccard", random_state=0),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = pd.DataFrame((X[:, :3] + rng.normal(size=(120, 3)) / 2 > 0).astype(int), columns=NAMES)
    return X, Y


def keeps_all(labels):
    joy, anger, calm = np.asarray(labels).T
    return bool(((joy | anger | calm) & (calm <= joy) & (joy + anger < 2)).all())


@pytest.mark.filterwarnings(BROKEN)
@pytest.mark.parametrize("name", MODELS)
def test_answers_keep_the_rules(name, data, tmp_path):
    X, Y = data
    model = clone(MODELS[name]).set_params(rules=RULES).fit(X, Y)
    free = clone(MODELS[name]).fit(X, Y)
    assert keeps_all(model.predict(X))
    assert not keeps_all(free.predict(X))
    for cost in ("hamming", "zero_one", "jaccard"):
        assert keeps_all(model.decide(X, cost))
        assert keeps_all(free.decide(X, cost, rules=RULES))
    np.testing.assert_array_equal(model.decide(X), model.predict(X))
    np.testing.assert_array_equal(model.decide(X, rules=[]), free.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), free.predict_proba(X))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.rules == RULES
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.filterwarnings(BROKEN)
@pytest.mark.parametrize("name", ["csrpe", "chain"])
def test_the_expected_cost_is_that_of_what_is_allowed(name, data):
    X, Y = data
    model = clone(MODELS[name]).set_params(rules=RULES).fit(X, Y)
    labels = np.asarray(model.predict(X)).astype(np.uint8)
    costs = [
        expected_cost(q, labels[block], model.cost_)
        for block, p in model._distributions(X, model.cost_)
        for _, q in conditioned(p, model.rules_)
    ]
    np.testing.assert_allclose(model.expected_cost(X), np.concatenate(costs))
    np.testing.assert_allclose(model.expected_cost(X), model.expected_cost(X, model.predict(X)))


def test_training_rows_that_break_a_rule_are_told_once(data):
    X, Y = data
    n_broken = int(((Y.calm > Y.joy) | (Y.sum(axis=1) > 2)).sum())
    n_calm = int((Y.calm > Y.joy).sum())
    with pytest.warns(UserWarning, match=f"{n_broken} of 120 training rows") as told:
        CSRPEClassifier(n_bits=5, rules=[Implies(2, 0), AtMost(2)], random_state=0).fit(X, Y)
    assert len(told) == 1
    assert f"'calm -> joy' ({n_calm})" in str(told[0].message)
    assert told[0].filename == __file__


def test_a_rule_that_truths_often_break_limits_answers_only(data, tmp_path):
    X, Y = data
    Y = Y.assign(calm=Y.calm & Y.joy)
    Y.loc[:5, ["joy", "calm"]] = 0, 1  # 5 % of the rows break the rule
    model = clone(MODELS["csrpe"]).set_params(rules=[Implies("calm", "joy"), AtLeast(0)])
    with pytest.warns(UserWarning, match="6 of 120 training rows"):
        model.fit(X, Y)
    assert model.rules_.exceptions == (0,)
    save(model, tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        for _, p in one._distributions(X, one.cost_):
            [(_, q)] = conditioned(p, one.rules_)
            np.testing.assert_array_equal(q.weight, p.weight)
            assert (q.vectors[:, 2] > q.vectors[:, 0]).any()
        labels = one.predict(X)
        assert (labels.calm <= labels.joy).all()
    assert (clone(MODELS["csrpe"]).fit(X, Y).predict(X).pipe(lambda free: free.calm > free.joy)).any()


def test_rules_by_name_in_a_pipeline(data):
    X, Y = data
    Y = Y.assign(calm=Y.calm & Y.joy)
    model = make_pipeline(StandardScaler(), CSRPEClassifier(n_bits=5, rules=[Implies("calm", "joy")]))
    assert clone(model).get_params()["csrpeclassifier__rules"] == [Implies("calm", "joy")]
    labels = model.fit(X, Y).predict(X)
    assert (labels.calm <= labels.joy).all()


def test_a_single_label_vector_is_no_way_around_rules():
    model = CSRPEClassifier(rules=[AtLeast(1)], random_state=0)
    with pytest.warns(UserWarning, match="training rows break"):
        model.fit(np.eye(4), np.zeros((4, 2), int))
    assert model.predict(np.eye(4)).sum(axis=1).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (CSRPEClassifier(rules=[AtMost(1)], decoder="nearest"), 'rules need decoder="posterior"'),
        (ProbabilisticChain(cost="zero_one", rules=[AtMost(1)], inference="beam"), "rules need inference"),
        (CSRPEClassifier(rules=[AtMost(1, ["yoy"])]), "did you mean 'joy'"),
        (CSRPEClassifier(rules=AtMost(1)), "rules must be a list of rules"),
        (CSRPEClassifier(rules=[AtMost(1), AtLeast(2)]), "no answer keeps both"),
    ],
)
def test_rules_that_cannot_be_kept_are_refused(model, told, data):
    with pytest.raises(ValueError, match=r"\w") as refused:
        model.fit(*data)
    assert told in str(refused.value)


@pytest.mark.filterwarnings(BROKEN)
def test_rules_on_blocks_of_dask(data):
    arrays = pytest.importorskip("dask.array")
    X, Y = data
    model = CSRPEClassifier(n_bits=5, rules=RULES, random_state=0).fit(X, Y)
    lazy = model.decide(arrays.from_array(X, chunks=(50, 4)), get_cost("f2"), rules=[AtMost(0)])
    assert np.asarray(lazy).sum() == 0
