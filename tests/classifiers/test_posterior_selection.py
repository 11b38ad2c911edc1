import numpy as np
import pytest

from refpair._kernels.code_words import pack_signs
from refpair.classifiers import _posterior_selection as selection
from refpair.classifiers._code_bits import LABEL_SHARES, OutOfBagCodes
from refpair.classifiers._posterior_selection import TEMPERATURES, costs_of, search_settings
from refpair.costs import Cost, get_cost
from refpair.decision import decide, expected_cost
from refpair.decision.decide import quick_decision
from refpair.posterior.code import KnownCodes, PosteriorSettings
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
    for kind, codes, own in [
        (
            "words",
            KnownCodes.of_words(vectors, words, np.bincount(of_row, minlength=6)),
            of_row.astype(np.int64),
        ),
        ("rows", KnownCodes.of_rows(vectors, pack_signs(signs), of_row, 16), np.arange(n)),
    ]:
        agreement = codes.agreement(signs)
        views.append(
            OutOfBagCodes(kind, None, codes, agreement, own, said if labels and kind == "words" else None)
        )
    return views, truths


def weights_by_hand(view, one, vectors, i):
    weights = naive.vector_weights(
        view.agreement[i].tolist(),
        one.temperature,
        view.codes.count,
        view.codes.vector,
        6,
        view.own[i],
    )
    sums = naive.label_sums(weights, vectors)
    if view.labels is None:
        return weights, sums
    p = naive.mixed(sums, view.labels[i], one.label_share)
    if one.label_share > 0:
        factors = [naive.odds(a) / naive.odds(b) for a, b in zip(p, sums, strict=True)]
        weights = naive.tilted(weights, vectors, factors)
    return naive.without_small(weights, 1e-3), p


def costs_by_hand(view, one, vectors, truths, name):
    """For each row the costs of all decisions that are best but for rounding."""
    cost, found = COUNT[name], []
    for i, truth in enumerate(truths.tolist()):
        weights, p = weights_by_hand(view, one, vectors, i)
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
    views, truths = make_views(40)
    for view in views:
        one = PosteriorSettings(view.kind, share, temperature)
        (found,) = costs_of(view, [one], truths, get_cost(name), slice(5, 40))
        expected = costs_by_hand(view, one, view.codes.vectors, truths, name)[5:]
        assert len(found) == 35
        assert found.any(), "nothing was hard"
        for cost, possible in zip(found.tolist(), expected, strict=True):
            assert any(cost == pytest.approx(one) for one in possible)


def test_views_without_bits_of_labels_have_no_share_of_them():
    with_labels, without = make_views(10)[0]
    assert without.shares == (0.0,)
    assert with_labels.shares == LABEL_SHARES


def keys(candidates):
    return [(candidate.codes.kind, candidate.settings) for candidate in candidates]


def chosen_by_hand(views, truths, cost, n_first, n_more, n_kept):
    """Return the settings that are tried, on how many rows at most, and what they cost there."""

    def mean(case, n):
        view, one = case
        (costs,) = costs_of(view, [one], truths, cost, slice(0, n))
        return costs.mean()

    def settings(view, t, shares, alone=False):
        shares = shares if view.labels is not None else (0.0,)
        return [
            (view, PosteriorSettings(view.kind, share, t, alone))
            for share in shares
            if share >= 0.5 or not alone
        ]

    def kept(n):
        return max(1, min(n_kept, n // 2))

    tried = {}
    shares = LABEL_SHARES if cost == get_cost("hamming") else (0.0, 0.5, 1.0)
    first = [case for view in views for t in TEMPERATURES for case in settings(view, t, shares)]
    for case in first:
        tried[case] = (min(n_first, len(truths)), mean(case, n_first))
    best = []
    for view, one in sorted(first, key=lambda case: tried[case][1]):
        if (view, one.temperature) not in best:
            best.append((view, one.temperature))
    best = best[: kept(len(best))]
    second = [case for view, t in best for case in settings(view, t, LABEL_SHARES)]
    alone = [case for view, t in best for case in settings(view, t, LABEL_SHARES, alone=True)]
    alone = alone if cost == get_cost("f1") else []
    for case in second + alone:
        tried[case] = (min(n_more, len(truths)), mean(case, n_more))
    finalists = []
    for view, one in sorted(second, key=lambda case: tried[case][1]):
        alike = [r for v, r in finalists if v is view and r.temperature == one.temperature]
        if len(alike) < 3 and len(finalists) < max(1, min(4, len(second) // 2)):
            finalists.append((view, one))
    if cost == get_cost("hamming"):
        groups = dict.fromkeys((v, r.temperature) for v, r in finalists)
        finalists = [case for v, t in groups for case in settings(v, t, LABEL_SHARES)]
    finalists += sorted(alone, key=lambda case: tried[case][1])[:3]
    if len(finalists) > 1:
        for case in finalists:
            tried[case] = (len(truths), mean(case, None))
    return tried


@pytest.fixture
def small_rounds(monkeypatch):
    """All temperatures are tried on 20 rows, three of them with all shares on 40, four of those on all.

    For the Hamming loss on 40 and 80.
    """
    for name, number in {
        "FIRST_ROWS": 20,
        "MORE_ROWS": 40,
        "KEPT": 3,
        "FINALISTS": 4,
        "COSTLY_ROWS": 0,
    }.items():
        monkeypatch.setattr(selection, f"_{name}", number)


@pytest.mark.usefixtures("small_rounds")
@pytest.mark.parametrize("name", ["hamming", "f1"])
@pytest.mark.parametrize("n", [1, 20, 21, 40, 60, 100])
@pytest.mark.parametrize("labels", [True, False])
def test_the_first_rows_choose_who_is_tried_on_more(name, n, labels):
    views, truths = make_views(n, labels=labels)
    cost = get_cost(name)
    expected = chosen_by_hand(views, truths, cost, *((40, 80) if name == "hamming" else (20, 40)), 3)
    candidates = search_settings(views, truths, cost)
    assert len(candidates) == len(expected)
    for candidate in candidates:
        n_rows, mean = expected[candidate.codes, candidate.settings]
        assert candidate.n_rows == n_rows
        assert candidate.cost == pytest.approx(mean)
    rounds = [candidate.n_rows for candidate in candidates]
    assert rounds == sorted(rounds, reverse=True)
    best = candidates[0]
    alike = [c for c in candidates if c.settings.independent == best.settings.independent]
    assert best.cost == min(c.cost for c in alike if c.n_rows == rounds[0])


@pytest.mark.usefixtures("small_rounds")
def test_rows_with_many_labels_are_fewer(monkeypatch):
    monkeypatch.setattr(selection, "_FIRST_LABELS", 15)
    views, truths = make_views(60)
    n_first = int(15 / truths.sum(axis=1).mean())
    assert 6 < n_first < 20
    expected = chosen_by_hand(views, truths, get_cost("f1"), n_first, 2 * n_first, 3)
    candidates = search_settings(views, truths, get_cost("f1"))
    assert {(c.codes, c.settings): c.n_rows for c in candidates} == {k: n for k, (n, _) in expected.items()}
    monkeypatch.setattr(selection, "_FIRST_LABELS", 1)  # but never less than a third
    assert min(c.n_rows for c in search_settings(views, truths, get_cost("f1"))) == 6


@pytest.mark.parametrize("linear", [True, False])
def test_there_are_enough_rows_that_cost_something(linear):
    def sizes(costs):
        return selection._round_sizes(np.ones((2000, 3), np.uint8), lambda n: costs[:n], linear)

    assert sizes(np.full(2000, 0.5)) == ((300, 600) if linear else (150, 300))
    rare = (np.arange(2000) % 40 == 39).astype(float)
    for unit in (1.0, 7.0, 1e300, 1e-300):
        assert sizes(unit * rare) == (800, 1600)
    assert sizes(np.zeros(2000)) == (2000, 4000)
    rare[39] = 1000.0  # the others hardly matter beside it
    assert sizes(rare)[0] == 2000


@pytest.mark.usefixtures("small_rounds")
def test_of_few_candidates_at_most_half_go_on():
    views, truths = make_views(60, labels=False)
    candidates = search_settings(views[:1], truths, get_cost("hamming"))
    assert [candidate.n_rows for candidate in candidates] == [60] * 3 + [40] * 4


@pytest.mark.parametrize("seed", range(5))
def test_what_is_chosen_is_hardly_worse_than_the_best_of_all(seed):
    views, truths = make_views(200, seed)
    cost = get_cost("f1")
    everything = [
        costs.mean()
        for view in views
        for t in TEMPERATURES
        for share in view.shares
        for costs in costs_of(view, [PosteriorSettings(view.kind, share, t)], truths, cost, slice(None))
    ]
    best = search_settings(views, truths, cost)[0]
    assert max(everything) > 1.1 * min(everything), "nothing to choose"
    assert best.cost <= min(everything) + 0.1 * (max(everything) - min(everything))


def many_labels(n, n_labels):
    """A view of rows with more labels than all vectors of can be tried."""
    rng = np.random.default_rng(0)
    vectors = np.unique(rng.integers(0, 2, (30, n_labels), dtype=np.uint8), axis=0)
    of_row = rng.integers(0, len(vectors), n)
    signs = rng.choice(np.int8([-1, 1]), (n, 16))
    words = rng.choice(np.int8([-1, 1]), (len(vectors), 16))
    codes = KnownCodes.of_words(vectors, words, np.bincount(of_row, minlength=len(vectors)))
    view = OutOfBagCodes("words", None, codes, codes.agreement(signs), of_row, rng.random((n, n_labels)))
    return view, vectors[of_row]


def likeliest_labels_by_hand(distribution, cost):
    """Return as many of the likeliest labels as cost least, for each row."""
    decided = []
    for i, p in enumerate(distribution.marginals()):
        row = distribution[i : i + 1]
        order = np.argsort(-p, kind="stable")
        sets = [np.isin(np.arange(len(p)), order[:m]).astype(np.uint8) for m in range((p > 0).sum() + 1)]
        decided.append(min(sets, key=lambda z, row=row: expected_cost(row, z[None], cost)[0].round(12)))
    return np.array(decided)


def ones_missing(tp, n_true, n_predicted, n_labels):
    return 3 * (n_true - tp) + n_predicted


@pytest.mark.parametrize(
    ("cost", "n_labels", "searched"),
    [
        (get_cost("accuracy"), 11, True),
        (Cost.from_counts(ones_missing), 11, True),
        (get_cost("accuracy"), 10, False),
        (get_cost("f2"), 11, False),
        (get_cost("zero_one"), 11, False),
    ],
)
def test_a_quick_decision_takes_likely_labels_instead_of_a_search(cost, n_labels, searched):
    view, _ = many_labels(30, n_labels)
    weighed = view.weigh(5.0)
    distribution = weighed.distribution(view.labels, 0.5)
    found = quick_decision(view.codes.vectors, cost)(distribution)
    expected = likeliest_labels_by_hand(distribution, cost) if searched else decide(distribution, cost)
    np.testing.assert_allclose(
        expected_cost(distribution, found, cost), expected_cost(distribution, expected, cost)
    )


def test_only_finalists_are_decided_on_by_a_search():
    view, truths = many_labels(30, 11)
    cost = get_cost("accuracy")
    quick = quick_decision(view.codes.vectors, cost)
    candidates = search_settings([view], truths, cost)
    n_finalists = 7 + 3  # half of three temperatures with five shares each, and independent ones
    differ = False
    for at, candidate in enumerate(candidates):
        settings, rows = [candidate.settings], slice(0, 30)
        (exact,) = costs_of(view, settings, truths, cost, rows)
        (roughly,) = costs_of(view, settings, truths, cost, rows, quick)
        expected = exact if at < n_finalists else roughly
        assert candidate.cost == pytest.approx(expected.mean())
        differ |= exact.mean() != pytest.approx(roughly.mean())
    assert differ, "the stand-in always decides as the search does"


def test_threads_change_nothing():
    views, truths = make_views(50)
    alone = search_settings(views, truths, get_cost("f1"))
    together = search_settings(views, truths, get_cost("f1"), n_jobs=2)
    assert keys(alone) == keys(together)
    assert [c.cost for c in alone] == [c.cost for c in together]


def test_costs_that_are_never_above_zero_count_by_their_size():
    costs = np.array([-1e100, 0.0, -1e100])
    np.testing.assert_allclose(selection._count_costly(costs), [1, 1, 2])
    np.testing.assert_array_equal(selection._count_costly(costs), selection._count_costly(-costs))
    np.testing.assert_array_equal(selection._count_costly(np.zeros(3)), np.zeros(3))
