import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair import get_cost
from refpair._kernels.rule_tree import write_forest
from refpair.costs import Cost
from refpair.decision import (
    AtLeast,
    AtMost,
    Exactly,
    Exclusive,
    Implies,
    Taxonomy,
    decide,
    expected_cost,
)
from refpair.decision.condition import chance_of_broken, conditioned, raised
from refpair.decision.draws import conditional_chances, draw_allowed, log_odds
from refpair.decision.rule_set import RuleSet
from refpair.posterior import IndependentLabels, LabelDistribution
from tests import naive
from tests.decision.cases import ALL, cases, random_distribution
from tests.decision.ruling import allowed_vectors, keeps, random_taxonomy, rule_lists


def conditioned_weights(case, rules):
    """Return the weights of a row without the vectors that break a rule, or all if all break one."""
    for weights in case.weights:
        kept = [w * all(keeps(rule, v) for rule in rules) for v, w in zip(case.vectors, weights, strict=True)]
        yield kept if any(kept) else weights


def assert_best_allowed(case, rules, cost, slow_cost):
    labels = decide(case.distribution(), cost, rules=rules)
    candidates = allowed_vectors(rules, len(case.vectors[0]))
    for z, weights in zip(labels.tolist(), conditioned_weights(case, rules), strict=True):
        expected = {
            v: naive.expected_cost(case.vectors, weights, v, slow_cost) for v in map(tuple, candidates)
        }
        least = min(expected.values())
        assert expected[tuple(z)] == least
        assert sum(z) == min(sum(v) for v, found in expected.items() if found == least)


@pytest.mark.parametrize("name", ALL)
@settings(deadline=None, max_examples=60)
@given(data=st.data(), case=cases())
def test_no_allowed_vector_costs_less_and_ties_go_to_fewer_labels(name, data, case):
    rules = data.draw(rule_lists(len(case.vectors[0])))
    if name == "zero_one":  # the most probable vector, whatever its size, as without rules
        labels = decide(case.distribution(), get_cost(name), rules=rules)
        for z, weights in zip(labels.tolist(), conditioned_weights(case, rules), strict=True):
            chances = dict(zip(map(tuple, case.vectors), weights, strict=True))
            allowed_ones = list(map(tuple, allowed_vectors(rules, len(z))))
            assert chances.get(tuple(z), 0) == max(chances.get(v, 0) for v in allowed_ones)
            assert tuple(z) in allowed_ones
        return
    assert_best_allowed(case, rules, *ALL[name])


def random_rules(rng, n_labels):
    """Return some rules that allow something, more and larger ones than hypothesis does."""
    kinds = [
        lambda: random_taxonomy(int(rng.integers(2**32)), n_labels),
        lambda: AtMost(int(rng.integers(1, n_labels))),
        lambda: AtLeast(int(rng.integers(1, 4))),
        lambda: AtMost(int(rng.integers(1, 3)), some(4, 8)),
        lambda: Exactly(1, some(2, 4)),
        lambda: Exclusive(some(2, 6)),
        lambda: Implies(*some(2, 2)),
    ]

    def some(low, high):
        return rng.choice(n_labels, rng.integers(low, min(high, n_labels) + 1), replace=False).tolist()

    while True:
        rules = [kinds[rng.integers(len(kinds))]() for _ in range(rng.integers(1, 5))]
        if allowed_mask(rules, n_labels).any():
            return rules


def everything(n_labels):
    return (np.arange(2**n_labels)[:, None] >> np.arange(n_labels) & 1).astype(np.uint8)


def allowed_mask(rules, n_labels):
    return np.array([all(keeps(rule, z) for rule in rules) for z in everything(n_labels)])


@given(seed=st.integers(0, 2**32 - 1), n_labels=st.integers(7, 10))
@settings(deadline=None, max_examples=25)
def test_seven_to_ten_labels(seed, n_labels):
    rng = np.random.default_rng(seed)
    rules, p = random_rules(rng, n_labels), random_distribution(rng, 5, n_labels, 12)
    mask, vectors = allowed_mask(rules, n_labels), everything(n_labels)
    place = p.vectors @ (1 << np.arange(n_labels))
    weights = np.zeros((5, 2**n_labels))
    np.add.at(weights.T, place, p.weights().toarray().T)
    kept = weights * mask
    mass = kept.sum(axis=1, keepdims=True)
    weights = np.where(mass > 0, kept / np.where(mass > 0, mass, 1), weights)
    fp, fn = rng.random((2, n_labels))
    prices = Cost.per_label(false_positive=fp, false_negative=fn)
    for cost in [*map(get_cost, ["hamming", "rank", "f1", "f2", "jaccard", "zero_one"]), prices]:
        expected = weights @ cost.matrix(vectors, vectors)
        labels = decide(p, cost, rules=rules)
        answer = labels @ (1 << np.arange(n_labels))
        assert mask[answer].all()
        np.testing.assert_allclose(
            expected[np.arange(5), answer], np.where(mask, expected, np.inf).min(axis=1), atol=1e-8
        )


@pytest.mark.parametrize("n_labels", [11, 12])
def test_more_labels_than_are_enumerated(n_labels):
    rng = np.random.default_rng(n_labels)
    for _ in range(6):
        rules = random_rules(rng, n_labels)
        candidates = everything(n_labels)[allowed_mask(rules, n_labels)]
        p = random_distribution(rng, 8, n_labels, 12)
        [(_, q)] = conditioned(p, RuleSet(tuple(rules), n_labels))
        fp, fn = rng.random((2, n_labels))
        prices = Cost.per_label(false_positive=fp, false_negative=fn)
        for cost in [*map(get_cost, ["hamming", "rank", "f1", "f2", "f0.5", "zero_one"]), prices]:
            labels = decide(p, cost, rules=rules)
            least = (q.weights() @ cost.matrix(q.vectors, candidates)).min(axis=1)
            np.testing.assert_allclose(expected_cost(q, labels, cost), least, atol=1e-8)
            assert RuleSet(tuple(rules), n_labels).allows(labels).all()


@pytest.mark.parametrize("name", ["jaccard", "counts", "function"])
def test_a_search_stays_where_rules_allow_and_no_allowed_flip_is_cheaper(name):
    rng, n_labels, cost = np.random.default_rng(0), 12, ALL.get(name, (get_cost("jaccard"),))[0]
    for _ in range(4):
        rules = random_rules(rng, n_labels)
        kept = RuleSet(tuple(rules), n_labels)
        p = random_distribution(rng, 6, n_labels, 12)
        [(_, q)] = conditioned(p, kept)
        labels = decide(p, cost, rules=rules)
        assert kept.allows(labels).all()
        reached = expected_cost(q, labels, cost)
        for k in range(n_labels):
            flipped = labels.copy()
            flipped[:, k] ^= 1
            allowed_ones = kept.allows(flipped)
            assert (expected_cost(q, flipped, cost) >= reached - 1e-9)[allowed_ones].all()


TREES = [
    [AtMost(2), Implies(0, 1)],
    [Taxonomy({1: 0, 2: 0, 3: 1, 5: 4})],
    [AtLeast(1), Taxonomy({1: 0, 2: 0, 3: 2, 4: 2}), Exclusive([3, 4])],
    [Exactly(1, [0, 1, 2]), AtMost(3), AtLeast(1, [3, 4])],
    [Implies(1, 0), AtLeast(1, [2, 3]), Taxonomy({2: 1, 3: 1})],
]


@pytest.mark.parametrize("rules", TREES)
def test_vectors_drawn_of_independent_labels_keep_the_rules_of_a_tree(rules):
    p = np.random.default_rng(0).random((10, 6))
    kept = RuleSet(tuple(rules), 6)
    drawn = draw_allowed(np.log(p / (1 - p)), kept.tree[0], 3000)
    assert all(kept.allows(one).all() for one in drawn)
    exact = np.array([_conditioned_marginals(one, kept) for one in p])
    np.testing.assert_allclose(drawn.mean(axis=1), exact, atol=0.05)


@pytest.mark.parametrize("n_labels", [6, 11])
@pytest.mark.parametrize("rules", [*TREES, [AtMost(2, [0, 1, 2]), AtMost(1, [2, 3])]])
def test_labels_keep_their_probabilities_as_far_as_they_can(rules, n_labels):
    kept = RuleSet(tuple(rules), n_labels)
    vectors = everything(n_labels)
    of_labels = _of_labels(np.random.default_rng(0), vectors, vectors[kept.allows(vectors)])
    for p in of_labels:
        [(_, q)] = conditioned(p, kept)
        assert kept.allows(q.vectors[q.index]).all()
        np.testing.assert_allclose(q.marginals(), p.marginals(), atol=0.05)
        for cost in map(get_cost, ["hamming", "f1", "jaccard", "zero_one"]):
            assert kept.allows(decide(p, cost, rules=rules)).all()


def _of_labels(rng, vectors, kept):
    """Return rows of possible label probabilities, as independent labels and as another distribution."""
    marginals = np.clip(rng.dirichlet(np.full(len(kept), 0.5), 5) @ kept, 1e-3, 1 - 1e-3)
    yield IndependentLabels(marginals, is_of_labels=True)
    yield LabelDistribution.from_dense(vectors, rng.random((5, len(vectors)))).tilted(marginals)


@given(seed=st.integers(0, 2**32 - 1), n_labels=st.integers(8, 9))
@settings(deadline=None, max_examples=30)
def test_how_probable_it_is_that_a_rule_is_broken(seed, n_labels):
    rng = np.random.default_rng(seed)
    kept = RuleSet(tuple(random_rules(rng, n_labels)), n_labels)
    vectors = everything(n_labels)
    p = LabelDistribution.from_dense(vectors, rng.random((3, len(vectors))) + 1e-3)
    of_labels = p.tilted(np.clip(p.marginals(), 1e-6, 1 - 1e-6))
    exact = of_labels.weights() @ ~kept.allows(vectors)
    np.testing.assert_allclose(chance_of_broken(of_labels, kept), exact)
    chances = rng.random((3, n_labels))
    weights = np.where(vectors, chances[:, None], 1 - chances[:, None]).prod(axis=2)
    bound = chance_of_broken(IndependentLabels(chances, is_of_labels=True), kept)
    assert (bound >= weights @ ~kept.allows(vectors) - 1e-12).all()
    for exactly in (p, IndependentLabels(chances)):
        assert chance_of_broken(exactly, kept).tolist() == [1, 1, 1]
        assert chance_of_broken(exactly, None).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ["f1", "jaccard", "zero_one"])
def test_rows_that_seldom_break_a_rule_are_decided_as_if_alone(name):
    rng, cost, rules = np.random.default_rng(0), get_cost(name), [Implies(1, 0), AtMost(4)]
    kept = RuleSet(tuple(rules), 11, exceptions=(1,))
    marginals = rng.uniform(0.02, 0.3, (40, 11))
    marginals[:, 2:5] += 0.4
    marginals[::2, 1] = 0.005  # the rule is hardly ever broken
    independent = IndependentLabels(marginals, is_of_labels=True)
    joint = independent.drawn(300).tilted(marginals)
    for p in (independent, joint):
        labels, free = decide(p, cost, rules=kept), decide(p, cost)
        assert kept.allows(labels).all()
        same = np.flatnonzero((chance_of_broken(p, kept.of_truths) <= 0.01) & kept.allows(free))
        assert len(same) > 9
        if name != "zero_one" or p is joint:
            np.testing.assert_array_equal(labels[same], free[same])
        for i in range(0, 40, 7):
            alone = decide(p[i : i + 1], cost, rules=kept)
            np.testing.assert_array_equal(alone[0], labels[i])


def test_small_weights_are_left_out_where_vectors_break_a_rule():
    p = LabelDistribution.from_dense([[0, 0, 0], [0, 1, 0], [0, 0, 1]], [[50, 46, 4]])
    of_labels = p.tilted(np.clip(p.marginals(), 1e-6, 1 - 1e-6))
    [(_, q)] = conditioned(of_labels, RuleSet((Implies(1, 0),), 3))
    assert q.vectors[q.index].tolist() == [[0, 0, 0], [1, 1, 0]]
    np.testing.assert_allclose(q.marginals(), [[0.46, 0.46, 0]], atol=1e-3)


def _forest_weights(chances, parent, vectors):
    """Return the probabilities of label vectors, given those of labels if their parents are there."""
    weights = np.ones(len(vectors))
    for label, (chance, above) in enumerate(zip(chances, parent, strict=True)):
        there = vectors[:, label]
        if above < 0:
            weights *= np.where(there, chance, 1 - chance)
        else:
            weights *= np.where(vectors[:, above], np.where(there, chance, 1 - chance), 1 - there)
    return weights


@pytest.mark.parametrize("n_labels", [6, 11])
def test_labels_of_a_taxonomy_depend_on_their_parents_only(n_labels):
    rules = RuleSet((Taxonomy({1: 0, 2: 0, 3: 1, 5: 4}),), n_labels)
    vectors = everything(n_labels)
    chances = np.random.default_rng(0).uniform(0.2, 0.9, (8, n_labels))
    exact = np.array([_forest_weights(row, rules.parent, vectors) for row in chances])
    p = IndependentLabels(exact @ vectors, is_of_labels=True)
    np.testing.assert_allclose(conditional_chances(p.marginals(), rules.parent), chances)
    odds = log_odds(chances, rules.parent)
    product = np.exp(odds @ vectors.T) * rules.allows(vectors)
    np.testing.assert_allclose(product / product.sum(axis=1, keepdims=True), exact)
    likeliest = decide(p, get_cost("zero_one"), rules=rules)
    np.testing.assert_array_equal(likeliest, vectors[exact.argmax(axis=1)])
    [(_, q)] = conditioned(p, rules)
    for cost in map(get_cost, ["f1", "jaccard"]):
        least = (exact @ cost.matrix(vectors, vectors)).min(axis=1)
        own = LabelDistribution.from_dense(vectors, exact)
        assert (expected_cost(own, decide(p, cost, rules=rules), cost) < least + 0.02).all()
    np.testing.assert_allclose(q.marginals(), p.marginals(), atol=0.05)


@given(data=st.data(), n_labels=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_independent_labels_are_conditioned(data, n_labels, seed):
    rules = data.draw(rule_lists(n_labels))
    p = np.random.default_rng(seed).uniform(0.05, 0.95, (4, n_labels))
    vectors = everything(n_labels)
    candidates = vectors[allowed_mask(rules, n_labels)]
    weights = np.where(candidates, p[:, None, :], 1.0 - p[:, None, :]).prod(axis=2)
    weights /= weights.sum(axis=1, keepdims=True)
    for cost in map(get_cost, ["hamming", "f1", "jaccard", "rank", "zero_one"]):
        costs = weights @ cost.matrix(candidates, candidates)
        labels = decide(IndependentLabels(p), cost, rules=rules)
        reached = [row[(candidates == z).all(axis=1)].item() for row, z in zip(costs, labels, strict=True)]
        np.testing.assert_allclose(reached, costs.min(axis=1), atol=1e-9)


def test_many_independent_labels_are_drawn_given_the_rules():
    rules = [Taxonomy({1: 0, 2: 0}), AtMost(3)]
    p = np.random.default_rng(0).uniform(0.05, 0.6, (4, 11))
    kept = RuleSet(tuple(rules), 11)
    [(_, q)] = conditioned(IndependentLabels(p), kept)
    assert kept.allows(q.vectors).all()
    exact = np.array([_conditioned_marginals(one, kept) for one in p])
    np.testing.assert_allclose(q.marginals(), exact, atol=0.1)


@given(seed=st.integers(0, 2**32 - 1), n_labels=st.integers(1, 6))
@settings(deadline=None, max_examples=50)
def test_parents_are_as_probable_as_their_children(seed, n_labels):
    p = np.random.default_rng(seed).random((3, n_labels))
    rules = RuleSet((random_taxonomy(seed, n_labels),) if n_labels > 1 else (AtMost(1),), n_labels)
    found = raised(p, rules)
    for row, own in zip(found, p, strict=True):
        for label in range(n_labels):
            below = [k for k in range(n_labels) if rules.needs[k, label]]
            assert row[label] == max(own[below])


@given(seed=st.integers(0, 2**32 - 1), n_labels=st.integers(2, 6))
@settings(deadline=None, max_examples=30)
def test_vectors_drawn_of_a_forest(seed, n_labels):
    rng = np.random.default_rng(seed)
    rules = RuleSet((random_taxonomy(seed, n_labels),), n_labels)
    chances, uniform = rng.random((3, n_labels)), rng.random((n_labels, 5))
    drawn = np.empty((3, n_labels, 5), np.uint8)
    order = np.argsort(rules.needs.sum(axis=1))  # parents first
    write_forest(chances, rules.parent, order, uniform, drawn)
    parent, numbers = rules.parent.tolist(), uniform.T.tolist()
    slow = [[naive.draw_forest(p, parent, u) for u in numbers] for p in chances.tolist()]
    assert drawn.swapaxes(1, 2).tolist() == slow


def _conditioned_marginals(chances, rules):
    vectors = everything(len(chances))
    weights = np.where(vectors, chances, 1 - chances).prod(axis=1) * rules.allows(vectors)
    return weights @ vectors / weights.sum()


@pytest.mark.slow
def test_a_million_decisions_break_no_rule():
    rng, n_labels = np.random.default_rng(0), 20
    costs = [get_cost(name) for name in ("hamming", "rank", "f1", "zero_one")]
    for round_ in range(10):
        rules = RuleSet((random_taxonomy(round_, n_labels), AtMost(4), AtLeast(1)), n_labels)
        vectors = np.unique(rng.random((40, n_labels)) < 0.2, axis=0).astype(np.uint8)
        p = LabelDistribution.from_dense(vectors, rng.dirichlet(np.full(len(vectors), 0.2), 25_000) + 1e-9)
        for cost in costs:
            assert rules.allows(decide(p, cost, rules=rules)).all()


def test_a_row_without_an_allowed_vector_keeps_its_distribution():
    p = LabelDistribution.from_dense([[1, 1, 0], [1, 0, 0]], [[1, 0], [1, 3]])
    [(_, q)] = conditioned(p, RuleSet((AtMost(1),), 3))
    np.testing.assert_array_equal(q.marginals(), [[1, 1, 0], [1, 0, 0]])
    assert decide(p, get_cost("hamming"), rules=[AtMost(1)]).sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("rules", "named", "others"),
    [
        ([AtLeast(3), AtMost(2), AtMost(4)], ["AtLeast(3)", "AtMost(2)"], ["AtMost(4)"]),
        ([AtLeast(2, [0, 1]), AtMost(4), Exclusive([0, 1])], ["AtLeast(2", "Exclusive("], ["AtMost(4)"]),
        ([AtMost(2), Exactly(6)], ["Exactly(6)"], ["AtMost(2)"]),
        (
            [AtLeast(1, [0]), Implies(0, 1), AtLeast(1), Taxonomy({1: 2}), AtMost(0, [2])],
            ["AtLeast(1, [0])", "Implies(0, 1)", "Taxonomy({1: 2})", "AtMost(0, [2])"],
            ["AtLeast(1) "],
        ),
    ],
)
def test_rules_that_contradict_each_other_are_named(rules, named, others):
    with pytest.raises(ValueError, match="no answer") as refused:
        RuleSet.resolve(rules, range(5))
    assert all(one in str(refused.value) for one in named)
    assert not any(one in str(refused.value) for one in others)


def test_labels_that_need_each_other_are_there_together():
    p = LabelDistribution.from_dense([[1, 0], [0, 0]], [[3, 1]])
    rules = [Implies(0, 1), Implies(1, 0)]
    labels = decide(p, get_cost("hamming"), rules=[*rules, AtLeast(1)])
    assert labels.tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: AtMost(-1), "k must be a whole number"),
        (lambda: AtLeast(1.5), "k must be a whole number"),
        (lambda: Exactly(True), "k must be a whole number"),
        (lambda: Exactly(3, ["a", "b"]), "names 2 labels only"),
        (lambda: AtLeast(2, ["a"]), "names 1 label only"),
        (lambda: AtMost(1, "ab"), "a list of names or numbers"),
        (lambda: AtMost(1, []), "labels are missing"),
        (lambda: AtMost(1, ["a", "a"]), "'a' is there twice"),
        (lambda: AtMost(1, [0.5]), "a name or the number of a column"),
        (lambda: Exclusive(["a"]), "at least two labels"),
        (lambda: Implies("a", "a"), "its own parent"),
        (lambda: Taxonomy({}), "as a dict"),
        (lambda: Taxonomy({"a": "b", "b": "c", "c": "a"}), "a -> b -> c -> a"),
        (lambda: RuleSet.resolve([AtMost(1, ["anger", "yoy"])], ["joy", "anger"]), "did you mean 'joy'"),
        (lambda: RuleSet.resolve([Implies(0, 2)], ["joy", "anger"]), "from 0 to 1"),
        (lambda: RuleSet.resolve([AtMost(1, ["joy", 0])], ["joy", "anger"]), "is there twice"),
        (lambda: RuleSet.resolve([Implies("joy", 0)], ["joy", "anger"]), "its own parent"),
        (lambda: RuleSet.resolve(AtMost(1), ["joy"]), "a list of rules"),
        (lambda: RuleSet.resolve("at most 1", ["joy"]), "a list of rules"),
    ],
)
def test_nonsense_is_refused_at_once(make, told):
    with pytest.raises(ValueError, match=r"\w") as refused:
        make()
    assert told in str(refused.value)


def test_rules_are_equal_if_they_say_the_same():
    assert AtMost(2, ["a", "b"]) == AtMost(np.int64(2), np.array(["a", "b"]))
    assert AtMost(2) != AtLeast(2)
    assert Taxonomy({"a": "b"}) == eval(repr(Taxonomy({"a": "b"})))
    assert len({Taxonomy({"a": "b"}), Taxonomy({"a": "b"}), Implies("a", "b")}) == 2


@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_broken_rules_of_rows_with_unknown_labels(data):
    rules = data.draw(rule_lists(4))
    row = data.draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))
    ways = [
        z for z in naive.all_vectors(4) if all(known in (2, own) for known, own in zip(row, z, strict=True))
    ]
    told = RuleSet(tuple(rules), 4).broken(np.array([row], np.uint8))[0]
    for rule, is_broken in zip(rules, told, strict=True):
        if is_broken or not isinstance(rule, Taxonomy):
            assert is_broken == (not any(keeps(rule, z) for z in ways))
