"""Splits keep the frequencies of labels and pairs, and are exact in size."""

import pickle
import re
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_score
from sklearn.multioutput import MultiOutputClassifier

from refpair._kernels import splits as kernels
from refpair.datasets import load_dataset
from refpair.model_selection import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit

LABELS = st.integers(1, 30).flatmap(
    lambda n: st.integers(1, 5).flatmap(lambda k: arrays(np.uint8, (n, k), elements=st.integers(0, 1)))
)


def folds_of(Y, n_splits=5, **options):
    return [test.tolist() for _, test in MultilabelStratifiedKFold(n_splits, **options).split(None, Y)]


def deviations(Y, parts):
    """Return how far the frequencies of labels, and of pairs, in parts are from those in all, on average."""
    Y = np.asarray(Y, float)
    both = np.array([Y[part].T @ Y[part] / len(part) for part in parts])
    off = np.abs(both - Y.T @ Y / len(Y))
    pairs = np.triu(Y.T @ Y, 1) > 0
    return off[:, *np.diag_indices(Y.shape[1])].mean(), off[:, pairs].mean()


@given(LABELS, st.integers(2, 30), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
@example(np.zeros((7, 3), np.uint8), 3, 0)
@example(np.ones((5, 2), np.uint8), 5, 0)
def test_each_sample_is_tested_once_in_folds_of_the_sizes_of_kfold(Y, n_splits, seed):
    if n_splits > len(Y):
        with pytest.raises(ValueError, match=f"there are {len(Y)} samples, too few for n_splits={n_splits}"):
            folds_of(Y, n_splits)
        return
    folds = MultilabelStratifiedKFold(n_splits, shuffle=True, random_state=seed)
    assert folds.get_n_splits() == n_splits
    tested = []
    for (train, test), (_, plain) in zip(folds.split(Y, Y), KFold(n_splits).split(Y), strict=True):
        assert sorted([*train, *test]) == list(range(len(Y)))
        assert len(test) == len(plain)
        tested += test.tolist()
    assert sorted(tested) == list(range(len(Y)))


@given(LABELS, st.floats(0.05, 0.9), st.one_of(st.none(), st.floats(0.05, 0.9)))
@settings(max_examples=100, deadline=None)
def test_sizes_are_those_of_shuffle_split(Y, test_size, train_size):
    sizes = {"test_size": test_size, "train_size": train_size, "random_state": 0}
    try:
        plain = [(len(train), len(test)) for train, test in ShuffleSplit(2, **sizes).split(Y)]
    except ValueError as error:
        with pytest.raises(ValueError, match=f"^{re.escape(str(error))}$"):
            next(MultilabelStratifiedShuffleSplit(2, **sizes).split(Y, Y))
        return
    splits = list(MultilabelStratifiedShuffleSplit(2, **sizes).split(Y, Y))
    assert [(len(train), len(test)) for train, test in splits] == plain
    for train, test in splits:
        assert len({*train, *test}) == len(train) + len(test)


def test_labels_come_in_any_form():
    Y = np.random.default_rng(0).integers(0, 2, (40, 3))
    names = ["|".join(np.array(["a", "b", "c"])[row > 0]) for row in Y]
    forms = [
        sp.csr_array(Y),
        sp.csc_matrix(Y),
        Y.astype(bool),
        2 * Y - 1,
        pd.DataFrame(Y, columns=list("abc")),
    ]
    forms += [names, [name.split("|") if name else [] for name in names]]
    wanted = folds_of(Y)
    for form in forms:
        assert folds_of(form) == wanted
    single = Y[:, 0]
    assert folds_of(single) == folds_of(single[:, None]) == folds_of(np.array(["no", "yes"])[single])


def test_the_state_decides_what_is_random():
    Y = np.random.default_rng(1).integers(0, 2, (50, 4))
    assert folds_of(Y) == folds_of(Y)
    drawn = [folds_of(Y, shuffle=True, random_state=seed) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] != folds_of(Y, shuffle=True, random_state=np.random.RandomState(1))
    half = MultilabelStratifiedShuffleSplit(2, test_size=0.5, random_state=3)
    (first, _), (second, _) = half.split(Y, Y)
    assert sorted(first) != sorted(second)
    assert np.array_equal(first, next(half.split(Y, Y))[0])


@pytest.mark.parametrize("n_splits", [2, 5, 10])
def test_a_label_alone_differs_by_one_at_most(n_splits):
    y = np.random.default_rng(2).random(503) < 0.3
    counts = [y[test].sum() for test in folds_of(y, n_splits)]
    assert max(counts) - min(counts) <= 1


def test_samples_of_a_rare_label_are_in_different_folds():
    Y = np.zeros((100, 5), int)
    Y[:3, 0], Y[:, 1], Y[40:, 3] = 1, 1, 1  # too rare for each fold, in all, in none, in many, in one
    Y[7, 4] = 1
    parts = folds_of(Y, 10)
    assert sorted(Y[part, 0].sum() for part in parts) == [0] * 7 + [1] * 3
    assert [Y[part, 3].sum() for part in parts] == [6] * 10


def test_samples_of_one_vector_are_spread_evenly():
    Y = np.repeat([[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]], [10, 25, 5, 60], axis=0)
    for part in folds_of(Y, 5, shuffle=True, random_state=0):
        vectors, counts = np.unique(Y[part], axis=0, return_counts=True)
        assert vectors.tolist() == [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
        assert counts.tolist() == [12, 2, 5, 1]


@pytest.mark.parametrize("name", ["emotions", "yeast", "enron", "medical"])
def test_real_folds_are_far_more_even_than_random_ones(paper_data, name, monkeypatch):
    monkeypatch.setenv("REFPAIR_DATA", str(paper_data))
    Y = np.asarray(load_dataset(name).Y)
    own = deviations(Y, folds_of(Y, shuffle=True, random_state=0))
    drawn = deviations(Y, [test for _, test in KFold(5, shuffle=True, random_state=0).split(Y)])
    assert own[0] < 0.6 * drawn[0]
    assert own[1] < 0.75 * drawn[1]


def test_they_work_in_scikit_learn():
    Y = np.random.default_rng(3).integers(0, 2, (60, 3))
    model = MultiOutputClassifier(LogisticRegression())
    folds = MultilabelStratifiedKFold(3, shuffle=True, random_state=0)
    assert len(cross_val_score(model, Y, Y, cv=folds)) == 3
    half = MultilabelStratifiedShuffleSplit(2, test_size=0.5, random_state=0)
    search = GridSearchCV(model, {"estimator__C": [0.1, 10.0]}, cv=half).fit(Y, Y)
    assert search.n_splits_ == 2
    assert str(pickle.loads(pickle.dumps(folds))) == str(folds)
    assert str(folds) == "MultilabelStratifiedKFold(n_splits=3, random_state=0, shuffle=True)"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda Y: MultilabelStratifiedKFold(1), "n_splits must be a whole number, 2 or more, not 1"),
        (lambda Y: MultilabelStratifiedKFold(2.5), "2 or more, not 2.5"),
        (lambda Y: MultilabelStratifiedKFold(random_state=0), "random_state draws nothing without shuffle"),
        (lambda Y: MultilabelStratifiedKFold(shuffle=3), "shuffle must be True or False, not 3"),
        (lambda Y: MultilabelStratifiedShuffleSplit(0), "1 or more, not 0"),
        (lambda Y: next(MultilabelStratifiedKFold().split(Y, Y, groups=Y[:, 0])), "groups cannot be kept"),
        (lambda Y: next(MultilabelStratifiedShuffleSplit().split(Y, Y, Y[:, 0])), "groups cannot be kept"),
        (lambda Y: next(MultilabelStratifiedKFold().split(Y, Y[1:])), "inconsistent numbers of samples"),
        (lambda Y: next(MultilabelStratifiedKFold().split(Y, Y + 1)), "y must be 0/1, boolean or yes/no"),
        (lambda Y: next(MultilabelStratifiedKFold().split(Y, None)), "requires y to be passed"),
        (lambda Y: next(MultilabelStratifiedShuffleSplit(test_size=9).split(Y, Y)), "test_size=9"),
    ],
)
def test_mistakes_are_told(wrong, told):
    with pytest.raises(ValueError, match=told):
        wrong(np.tile([0, 1], (8, 1)))


def naive_items(Y):
    """Return the labels and pairs of each row, and the weights of all that two rows have."""
    rows = [[(k,) for k in np.flatnonzero(y)] for y in Y]
    rows = [own + [(*a, *b) for a, b in combinations(own, 2)] for own in rows]
    weights = {(k,): kernels.LABEL_WEIGHT for k in range(Y.shape[1])}
    for item in {item for own in rows for item in own if len(item) == 2}:
        if sum(item in own for own in rows) > 1:
            weights[item] = 1
    return [[item for item in own if item in weights] for own in rows], weights


def unevenness(rows, weights, folds, sizes):
    """Return the sum of weighted squares of what folds have too many of, times n²."""
    n, total = sum(sizes), 0
    for item, weight in weights.items():
        have = [item in own for own in rows[: len(folds)]]
        for f, size in enumerate(sizes):
            in_fold = sum(h for h, fold in zip(have, folds, strict=True) if fold == f)
            total += weight * (n * in_fold - size * sum(have)) ** 2
    return total


def listed_items(Y):
    indptr = np.concatenate([[0], np.cumsum(Y.sum(axis=1, dtype=int))])
    ones = np.ones(len(Y), np.int64)
    return kernels.list_items(indptr, np.flatnonzero(Y) % Y.shape[1], ones, Y.shape[1], 10**6)


@given(LABELS)
@settings(max_examples=100, deadline=None)
def test_items_are_labels_and_pairs_that_two_samples_have(Y):
    rows, weights = naive_items(Y)
    starts, items, found = listed_items(Y)
    assert found.tolist() == sorted(weights.values(), reverse=True)
    own = [items[a:b].tolist() for a, b in pairwise(starts)]
    assert list(map(len, own)) == list(map(len, rows))
    names = {}
    for numbers, given_items in zip(own, rows, strict=True):
        n_labels = sum(len(item) == 1 for item in given_items)
        assert [(k,) for k in numbers[:n_labels]] == given_items[:n_labels]
        # The order of pairs is that of their more frequent label.
        in_order = sorted(given_items[n_labels:], key=lambda item: (item[1], item[0]))
        for number, item in zip(numbers[n_labels:], in_order, strict=True):
            assert names.setdefault(number, item) == item


@given(LABELS, st.data())
@settings(max_examples=60, deadline=None)
def test_samples_are_placed_where_folds_stay_most_even_and_swapped_to_make_them_more_so(Y, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(Y)), min_size=1, max_size=3)))
    sizes = np.diff([0, *cuts, len(Y)])
    rows, weights = naive_items(Y)
    starts, items, found = listed_items(Y)
    excess = np.zeros((len(found), len(sizes)), np.int64)
    vectors, n = np.arange(len(Y)), len(Y)
    folds = kernels.place((starts, items, found), vectors, sizes, np.zeros_like(sizes), excess)
    assert np.bincount(folds, minlength=len(sizes)).tolist() == sizes.tolist()
    with_size, of_all = [[*own, ()] for own in rows], {**weights, (): 1}
    for s, fold in enumerate(folds):
        free = [f for f in range(len(sizes)) if (folds[:s] == f).sum() < sizes[f]]
        after = {f: unevenness(with_size, of_all, [*folds[:s], f], sizes) for f in free}
        assert after[fold] == min(after.values())
        assert fold == min(f for f in free if after[f] == after[fold])
    samples = np.argsort(folds, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    steps = starts, items, 2 * n * found
    n_swaps = kernels.exchange(steps, samples, samples.copy(), bounds, excess, 8, 10**8)
    swapped = np.empty(n, int)
    swapped[samples] = np.repeat(np.arange(len(sizes)), sizes)
    before, now = (unevenness(rows, weights, own.tolist(), sizes) for own in (folds, swapped))
    assert now <= before - n_swaps
    for i, j in combinations(range(n), 2):  # nothing is left to swap
        other = swapped.copy()
        other[[i, j]] = other[[j, i]]
        assert unevenness(rows, weights, other.tolist(), sizes) >= now


def test_labels_that_are_unknown_are_spread_evenly():
    rng = np.random.default_rng(0)
    Y = (rng.random((400, 6)) < 0.3).astype(float)
    for share in (0.1, 0.8):
        partial = np.where(rng.random(Y.shape) < share, np.nan, Y)
        for _, test in MultilabelStratifiedKFold(4).split(Y, partial):
            for count in (np.isnan, lambda cells: cells == 1, lambda cells: cells == 0):
                off = count(partial[test]).sum(axis=0) - count(partial).sum(axis=0) / 4
                assert np.abs(off).max() <= 2
