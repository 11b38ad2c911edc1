"""``refpair fit``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import refpair
from refpair import Cost
from refpair.cli.data import cost_of
from tests.cli.running import FEATURES, FIT, same_in_python, works


def test_fit_makes_the_model_that_python_makes(folder, songs):
    said = works(
        "fit", "songs.csv", *FIT, "--cost", "rank", "--max-depth", 3, "--min-samples-leaf", 2,
        "--max-features", "sqrt", "--max-samples", 0.7, "--seed", 5, "--jobs", 1,
    )  # fmt: skip
    expected = same_in_python(
        songs,
        cost="rank",
        max_depth=3,
        min_samples_leaf=2,
        max_features="sqrt",
        max_samples=0.7,
        random_state=5,
    )
    loaded = refpair.load("model")
    pd.testing.assert_frame_equal(
        loaded.predict(songs[FEATURES]), expected.predict(songs[FEATURES]), check_dtype=False
    )
    X = expected[0].transform(songs[FEATURES])
    np.testing.assert_array_equal(loaded[0].transform(songs[FEATURES]), X)
    np.testing.assert_array_equal(loaded[-1].predict_code(X), expected[-1].predict_code(X))
    assert loaded[0].get_params() == {"kinds": {}, "text_model": None, "folder": None, "verbose": 0}
    assert loaded[-1].verbose == 0
    n_vectors, n_bits = len(expected[-1].relevant_set_), len(expected[-1].code_)
    *_, out_of_bag, last = said.splitlines()
    found = expected[-1].oob_cost_
    assert out_of_bag == f"out of bag, on the 80 training rows: rank {found:.4f} (lower is better)"
    assert last.startswith(
        f"80 rows, 5 features, 3 labels, {n_vectors} distinct label vectors, {n_bits} bits for rank in "
    )
    assert "; model, " in last


def test_what_is_not_said_is_as_in_python(folder, songs):
    works("fit", "songs.csv", *FIT)
    not_the_same = {"cost", "n_jobs"}
    loaded, expected = refpair.load("model"), same_in_python(songs)
    for name, value in expected[-1].get_params().items():
        if name not in not_the_same:
            assert getattr(loaded[-1], name) == value
    np.testing.assert_array_equal(
        loaded.predict_proba(songs[FEATURES]), expected.predict_proba(songs[FEATURES])
    )


def test_columns_to_drop_are_joined_by_commas_or_given_one_by_one(folder):
    fit = ("fit", "songs.csv", "--labels", "joy,anger,calm", "--n-bits", 28, "-o")
    works(*fit, "joined", "--drop", "id, tempo")
    works(*fit, "repeated", "--drop", "id", "--drop", "tempo")
    joined, repeated = refpair.load("joined")[0], refpair.load("repeated")[0]
    assert list(joined.feature_names_in_) == list(repeated.feature_names_in_)
    assert not {"id", "tempo"} & set(joined.feature_names_in_)


def test_a_single_thing_is_counted_in_the_singular(folder):
    (folder / "one.csv").write_text("a,joy\n1,1\n2,1\n")
    said = works("fit", "one.csv", "--labels", "joy", "-o", "m")
    assert said.splitlines()[-1].startswith(
        "2 rows, 1 feature, 1 label, 1 distinct label vector, 0 bits for f1 in "
    )


def test_prices_make_a_cost_for_each_label(folder):
    works("fit", "songs.csv", *FIT, "--false-negative", "2,anger=50", "--false-positive", "calm=0.5")
    expected = Cost.per_label(false_positive=[1, 1, 0.5], false_negative=[2, 50, 2])
    assert refpair.load("model")[-1].cost_ == expected


@pytest.mark.parametrize(
    ("given", "prices"),
    [
        ([], (1, 1)),
        (["3"], (3, 3)),
        (["3", "b=7"], (3, 7)),
        (["b=7,3"], (3, 7)),
        (["a=1", "b = 2"], (1, 2)),
        (["x=y=4"], (1, 1, 4)),
    ],
)
def test_how_prices_are_written(given, prices):
    labels = ["a", "b", "x=y"][: len(prices)]
    cost = cost_of(None, given, ["1"], labels)
    assert cost.false_positive == prices


def test_a_model_can_replace_an_older_one(model):
    works("fit", "songs.csv", *FIT, "--n-bits", 5)
    assert refpair.load(model)[-1].n_bits == 5
