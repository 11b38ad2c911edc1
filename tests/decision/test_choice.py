import numpy as np
import pytest

from refpair.costs import get_cost
from refpair.decision import View, choice, choose_reading, decide
from refpair.posterior import Anchors, Reader, Reading
from tests import naive

N_LABELS = 3
COUNT = {"hamming": naive.hamming, "f1": naive.f1}


def make_views(n, seed=0, labels=True):
    """Two views of the same rows: noisy code words of 16 bits, and the codes of the rows themselves."""
    rng = np.random.default_rng(seed)
    vectors = rng.permutation(np.array(naive.all_vectors(N_LABELS), np.uint8))[:6]
    words = rng.choice(np.int8([-1, 1]), (6, 16))
    of_row = np.minimum(rng.geometric(0.4, n) - 1, 5).astype(np.int32)
    signs = words[of_row] * np.where(rng.random((n, 16)) < 0.3, -1, 1).astype(np.int8)
    truths = vectors[of_row]
    said = np.clip(0.5 + (truths - 0.5) * rng.uniform(-0.5, 1, truths.shape), 0, 1)
    views = []
    for kind, anchors, own in [
        ("words", Anchors.of_words(words, np.bincount(of_row, minlength=6)), of_row.astype(np.int64)),
        ("rows", Anchors.of_rows(signs, of_row, 6), np.arange(n)),
    ]:
        agreement = anchors.agreement(signs)
        views.append(View(kind, None, anchors, agreement, own, said if labels and kind == "words" else None))
    return views, Reader(vectors), truths


def weights_by_hand(view, reading, vectors, i):
    weights = naive.vector_weights(
        view.agreement[i].tolist(),
        reading.temperature,
        view.anchors.count,
        view.anchors.vector,
        6,
        view.own[i],
    )
    sums = naive.label_sums(weights, vectors)
    if view.labels is None:
        return weights, sums
    p = naive.mixed(sums, view.labels[i], reading.label_share)
    if reading.label_share > 0:
        factors = [naive.odds(a) / naive.odds(b) for a, b in zip(p, sums, strict=True)]
        weights = naive.tilted(weights, vectors, factors)
    return naive.without_small(weights, 1e-3), p


def costs_by_hand(view, reading, vectors, truths, name):
    """For each row the costs of all decisions that are best but for rounding."""
    cost, found = COUNT[name], []
    for i, truth in enumerate(truths.tolist()):
        weights, p = weights_by_hand(view, reading, vectors, i)
        if name == "hamming":
            expected = {
                z: sum(abs(a - b) for a, b in zip(z, p, strict=True)) for z in naive.all_vectors(N_LABELS)
            }
        else:
            expected = {
                z: sum(w * float(cost(y, z)) for w, y in zip(weights, vectors.tolist(), strict=True))
                for z in naive.all_vectors(N_LABELS)
            }
        best = min(expected.values()) + 1e-9
        fewest = min(sum(z) for z, e in expected.items() if e <= best)
        found.append({float(cost(truth, z)) for z, e in expected.items() if e <= best and sum(z) == fewest})
    return found


@pytest.mark.parametrize("name", ["hamming", "f1"])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("temperature", [5.0, np.inf])
def test_costs_are_those_of_decisions_by_hand(name, share, temperature):
    views, reader, truths = make_views(40)
    for view in views:
        reading = Reading(view.kind, share, temperature)
        found = choice.costs_of(view, reading, reader, truths, get_cost(name), slice(5, 40))
        expected = costs_by_hand(view, reading, reader.vectors, truths, name)[5:]
        assert len(found) == 35
        assert found.any(), "nothing was hard"
        for cost, possible in zip(found.tolist(), expected, strict=True):
            assert any(cost == pytest.approx(one) for one in possible)


def test_views_without_bits_of_labels_have_no_share_of_them():
    with_labels, without = make_views(10)[0]
    assert {reading.label_share for reading in without.readings()} == {0.0}
    assert {reading.label_share for reading in with_labels.readings()} == set(choice.LABEL_SHARES)
    for view in (with_labels, without):
        readings = view.readings()
        assert len(set(readings)) == len(readings)
        assert {reading.anchors for reading in readings} == {view.kind}
        assert {reading.temperature for reading in readings} == set(choice.TEMPERATURES)


def keys(candidates):
    return [(candidate.view.kind, candidate.reading) for candidate in candidates]


def all_readings(views):
    return {(view.kind, reading) for view in views for reading in view.readings()}


@pytest.mark.parametrize("name", ["hamming", "f1"])
@pytest.mark.parametrize("n", [1, 60, choice._ROUNDS[0][0]])
def test_few_rows_are_all_tried(name, n):
    views, reader, truths = make_views(n)
    cost = get_cost(name)
    candidates = choose_reading(views, reader, truths, cost)
    assert len(candidates) == len(set(keys(candidates))) == 42
    assert set(keys(candidates)) == all_readings(views)
    means = [candidate.cost for candidate in candidates]
    assert means == sorted(means)
    assert {candidate.n_rows for candidate in candidates} == {n}
    for candidate in candidates:
        costs = choice.costs_of(candidate.view, candidate.reading, reader, truths, cost, slice(0, n))
        assert candidate.cost == pytest.approx(costs.mean())


@pytest.mark.parametrize("seed", range(3))
def test_the_chosen_one_is_the_best_of_all_by_hand(seed):
    views, reader, truths = make_views(25, seed)
    exhaustive = {
        (view.kind, reading): np.mean(
            [min(c) for c in costs_by_hand(view, reading, reader.vectors, truths, "hamming")]
        )
        for view in views
        for reading in view.readings()
    }
    best = choose_reading(views, reader, truths, get_cost("hamming"))[0]
    assert len(set(exhaustive.values())) > 3, "nothing to choose"
    assert exhaustive[best.view.kind, best.reading] == pytest.approx(min(exhaustive.values()))
    assert best.cost == pytest.approx(min(exhaustive.values()))


@pytest.fixture
def small_rounds(monkeypatch):
    """All candidates are tried on 20 rows, ten of them on 40, four of those on all."""
    monkeypatch.setattr(choice, "_ROUNDS", ((20, 10), (40, 4)))


@pytest.mark.usefixtures("small_rounds")
@pytest.mark.parametrize("name", ["hamming", "f1"])
@pytest.mark.parametrize(
    ("n", "tried"),
    [
        (20, [(42, 20)]),
        (21, [(10, 21), (32, 20)]),
        (40, [(10, 40), (32, 20)]),
        (60, [(4, 60), (6, 40), (32, 20)]),
    ],
)
def test_of_many_rows_the_first_choose_who_is_tried_on_more(name, n, tried):
    views, reader, truths = make_views(n)
    cost = get_cost(name)
    candidates = choose_reading(views, reader, truths, cost)
    assert set(keys(candidates)) == all_readings(views)
    assert [candidate.n_rows for candidate in candidates] == [
        n_rows for n_tried, n_rows in tried for _ in range(n_tried)
    ]

    def mean_of_first(candidate, n_first):
        rows = slice(0, n_first)
        return choice.costs_of(candidate.view, candidate.reading, reader, truths, cost, rows).mean()

    at = 0
    for n_tried, n_rows in tried:
        some = candidates[at : at + n_tried]
        means = [candidate.cost for candidate in some]
        assert means == sorted(means)
        assert means == pytest.approx([mean_of_first(candidate, n_rows) for candidate in some])
        # Those that went on were no worse than these on the same rows.
        assert max((mean_of_first(one, n_rows) for one in candidates[:at]), default=0) <= means[0] + 1e-12
        at += n_tried


@pytest.mark.usefixtures("small_rounds")
def test_fewer_candidates_than_go_on_are_all_tried_on_more():
    views, reader, truths = make_views(60, labels=False)
    candidates = choose_reading(views[:1], reader, truths, get_cost("hamming"))
    assert [candidate.n_rows for candidate in candidates] == [60] * 4 + [40] * 3


def many_labels(n, n_labels):
    """A view of rows with more labels than all vectors of can be tried."""
    rng = np.random.default_rng(0)
    vectors = np.unique(rng.integers(0, 2, (30, n_labels), dtype=np.uint8), axis=0)
    of_row = rng.integers(0, len(vectors), n)
    signs = rng.choice(np.int8([-1, 1]), (n, 16))
    anchors = Anchors.of_words(
        rng.choice(np.int8([-1, 1]), (len(vectors), 16)), np.bincount(of_row, minlength=len(vectors))
    )
    view = View("words", None, anchors, anchors.agreement(signs), of_row, rng.random((n, n_labels)))
    return view, Reader(vectors), vectors[of_row]


@pytest.mark.parametrize(
    ("name", "n_labels", "by"),
    [("accuracy", 11, "f1"), ("accuracy", 10, "accuracy"), ("f2", 11, "f2"), ("zero_one", 11, "zero_one")],
)
def test_roughly_only_searched_decisions_are_made_for_f1(name, n_labels, by):
    view, reader, truths = many_labels(30, n_labels)
    reading = Reading("words", 0.5, 5.0)
    distribution = reader.distribution(reading, view.anchors, view.agreement, view.labels, view.own)
    cost = get_cost(name)
    found = choice.costs_of(view, reading, reader, truths, cost, slice(0, 30), roughly=True)
    np.testing.assert_allclose(found, cost.rows(truths, decide(distribution, get_cost(by))))
    exact = choice.costs_of(view, reading, reader, truths, cost, slice(0, 30))
    np.testing.assert_allclose(exact, cost.rows(truths, decide(distribution, cost)))
    assert (by == name) == np.array_equal(found, exact)


@pytest.mark.usefixtures("small_rounds")
def test_the_costs_on_all_rows_are_not_rough():
    view, reader, truths = many_labels(30, 11)
    cost = get_cost("accuracy")
    for candidate in choose_reading([view], reader, truths, cost)[:10]:
        costs = choice.costs_of(view, candidate.reading, reader, truths, cost, slice(0, 30))
        assert candidate.n_rows == 30
        assert candidate.cost == pytest.approx(costs.mean())


def test_threads_change_nothing():
    views, reader, truths = make_views(50)
    alone = choose_reading(views, reader, truths, get_cost("f1"))
    together = choose_reading(views, reader, truths, get_cost("f1"), n_jobs=2)
    assert keys(alone) == keys(together)
    assert [c.cost for c in alone] == [c.cost for c in together]
