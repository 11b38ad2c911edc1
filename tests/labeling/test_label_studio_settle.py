from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from refpair.labeling.label_studio import settle

NAMES = ["joy", "anger", "calm"]


def said(*rows):
    """Answers as (id, labels or None for a skip, who, day)."""
    return pd.DataFrame(
        [
            (row, "skip" if labels is None else "labels", labels or [], who, f"2026-03-{day:02}T00:00:00Z")
            for row, labels, who, day in rows
        ],
        columns=["id", "kind", "labels", "who", "at"],
    )


def settled(answers, **options):
    ids, Y = settle(answers, NAMES, **options)
    assert Y.dtype == np.uint8
    return dict(zip(ids, Y.tolist(), strict=True))


def test_the_latest_answer():
    answers = said(
        ("a", ["joy"], "1", 3),
        (5, ["anger"], "1", 1),
        ("a", ["calm"], "2", 2),
        ("b", None, "1", 1),
        ("a", None, "3", 4),
        ("5", [], "1", 1),
    )
    assert settled(answers) == {"a": [1, 0, 0], 5: [0, 1, 0], "5": [0, 0, 0]}
    assert settle(answers, NAMES)[0] == ["a", 5, "5"]
    assert settled(answers, by="majority") == {"a": [1, 0, 0], 5: [0, 1, 0], "5": [0, 0, 0]}


def test_the_majority():
    three = said(("a", ["joy", "calm"], "1", 1), ("a", ["joy"], "2", 2), ("a", ["anger", "calm"], "3", 3))
    assert settled(three, by="majority") == {"a": [1, 0, 1]}
    tie = said(("a", ["joy", "calm"], "1", 2), ("a", ["joy", "anger"], "2", 1))
    assert settled(tie, by="majority") == {"a": [1, 0, 1]}
    # The second answer of the first person replaces the first one.
    again = said(("a", ["anger"], "1", 1), ("a", ["joy"], "1", 2), ("a", ["anger"], "2", 3))
    assert settled(again, by="majority") == {"a": [0, 1, 0]}
    twice = said(("a", ["joy"], "1", 1), ("a", ["joy"], "1", 2), ("a", ["anger"], "2", 3))
    assert settled(twice, by="majority") == {"a": [0, 1, 0]}
    nameless = said(("a", ["joy"], None, 1), ("a", ["joy"], None, 2), ("a", ["anger"], "2", 3))
    assert settled(nameless, by="majority") == {"a": [1, 0, 0]}


def test_times_of_all_kinds():
    answers = said(("a", ["joy"], "1", 1), ("a", ["anger"], "2", 2), ("a", ["calm"], "3", 3))
    for times, wanted in [
        ([None, None, None], [0, 0, 1]),
        (["2026-03-01", None, np.nan], [1, 0, 0]),
        ([datetime(2026, 3, 1, tzinfo=UTC), pd.Timestamp("2026-03-02"), pd.NaT], [0, 1, 0]),
    ]:
        answers["at"] = pd.Series(times, dtype=object)
        assert settled(answers) == {"a": wanted}
    answers["at"] = pd.to_datetime(["2026-03-03", "2026-03-01", "2026-03-02"])
    assert settled(answers) == {"a": [1, 0, 0]}


def test_ids_of_numpy_become_plain_ones():
    answers = said((7, ["joy"], "1", 1))
    answers["id"] = np.array([7], np.int16)
    (row,), _ = settle(answers, NAMES)
    assert type(row) is int


@pytest.mark.parametrize(
    ("answers", "options", "message"),
    [
        (said(("a", ["joy"], "1", 1)), {"by": "mean"}, "by: expected 'latest' or 'majority', got 'mean'"),
        (said(("a", ["joy"], "1", 1)).drop(columns="who"), {}, "no column 'who'; pass what read_export"),
        (said(("a", ["jo"], "1", 1)), {}, "row 'a' has the label 'jo'; add it to the label names"),
        (said(("a", "joy", "1", 1)), {}, "the labels of row 'a' are 'joy'; expected a list"),
        (said(("a", 1.5, "1", 1)), {}, "the labels of row 'a' are 1.5; expected a list"),
        (said((1.5, [], "1", 1)), {}, "1.5 is neither a text nor a whole number"),
        (said(("a", [], "1", 1)).assign(kind="Skip"), {}, "row 'a' is of kind 'Skip'"),
        (said(("a", [], "1", 1)).assign(at="soon"), {}, "'soon' is not a time"),
    ],
)
def test_answers_that_cannot_be_settled(answers, options, message):
    with pytest.raises(ValueError, match=message):
        settle(answers, NAMES, **options)
