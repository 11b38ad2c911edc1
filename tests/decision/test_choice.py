import numpy as np
import pytest

from refpair.costs import get_cost
from refpair.decision import View, choice, choose_reading
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
        view.agreement[i].tolist(), reading.temperature, view.anchors.count, view.anchors.vector, 6, view.own[i]
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
            expected = {z: sum(abs(a - b) for a, b in zip(z, p, strict=True)) for z in naive.all_vectors(N_LABELS)}
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
@pytest.mark.parametrize("n", [1, 60, 200])
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


@pytest.mark.parametrize("name", ["hamming", "f1"])
def test_of_many_rows_the_first_choose_who_is_tried_on_all(name):
    n = 260
    views, reader, truths = make_views(n)
    cost = get_cost(name)
    candidates = choose_reading(views, reader, truths, cost)
    assert set(keys(candidates)) == all_readings(views)
    assert len(candidates) == 42
    finalists, others = candidates[:12], candidates[12:]
    assert {candidate.n_rows for candidate in finalists} == {n}
    assert {candidate.n_rows for candidate in others} == {200}
    for some in (finalists, others):
        means = [candidate.cost for candidate in some]
        assert means == sorted(means)

    def mean_of_first(candidate, n_first):
        rows = slice(0, n_first)
        return choice.costs_of(candidate.view, candidate.reading, reader, truths, cost, rows).mean()

    for candidate in candidates:
        assert candidate.cost == pytest.approx(mean_of_first(candidate, candidate.n_rows))
    assert max(mean_of_first(one, 200) for one in finalists) <= others[0].cost + 1e-12


def test_threads_change_nothing():
    views, reader, truths = make_views(50)
    alone = choose_reading(views, reader, truths, get_cost("f1"))
    together = choose_reading(views, reader, truths, get_cost("f1"), n_jobs=2)
    assert keys(alone) == keys(together)
    assert [c.cost for c in alone] == [c.cost for c in together]


def test_fewer_candidates_than_finalists_are_all_tried_on_all_rows():
    views, reader, truths = make_views(230, labels=False)
    candidates = choose_reading(views[:1], reader, truths, get_cost("hamming"))
    assert [candidate.n_rows for candidate in candidates] == [230] * 7
