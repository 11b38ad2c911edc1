from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from refpair.features import guess_kinds, make_features

WORDS = [
    "what a good day",
    "a bad and sad day",
    "so sad",
    "good good day",
    "bad, so bad",
    "what a day so good",
]


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def squared_lengths(X):
    return (dense(X) ** 2).sum(axis=1)


def test_numbers_are_standardised():
    features = make_features(pd.DataFrame({"a": [1, 2, 3, 6], "b": [True, False, False, True]}))
    assert features.names == ["a", "b"]
    assert features.kinds == {"a": "number", "b": "number"}
    assert features.used == ["a, b: numbers, standardised"]
    a, b = np.array([1, 2, 3, 6.0]), np.array([1, 0, 0, 1.0])
    expected = np.column_stack([(a - a.mean()) / a.std(), (b - b.mean()) / b.std()]) / np.sqrt(2)
    np.testing.assert_allclose(features.X, expected)
    assert type(features.X) is np.ndarray


def test_missing_and_infinite_numbers_are_the_mean_and_said():
    features = make_features(pd.DataFrame({"a": [1.0, np.nan, 3.0, np.inf], "b": [0, 1, 0, 1]}))
    assert features.names == ["a", "b", "a is missing"]
    np.testing.assert_array_equal(features.X[[1, 3], 0], 0)
    np.testing.assert_array_equal(features.X[:, 2] > 0, [False, True, False, True])
    assert features.used == ["a, b: numbers, standardised; 2 empty"]


def test_a_number_that_is_constant_where_it_is_known_tells_only_where_that_is():
    features = make_features(pd.DataFrame({"a": [5, None, 5]}))
    assert features.names == ["a is missing"]
    np.testing.assert_allclose(features.X, [[0], [np.sqrt(3)], [0]])


@pytest.mark.parametrize("values", [[1.7e308, -1.7e308, 0], [5e-324, 0, 5e-324], [1e15, 1e15 + 1, 1e15 + 2]])
def test_numbers_of_any_size(values):
    X = make_features(pd.DataFrame({"a": values})).X
    np.testing.assert_allclose(X.mean(), 0, atol=1e-9)
    np.testing.assert_allclose(X.std(), 1)
    assert (np.argsort(X[:, 0], kind="stable") == np.argsort(values, kind="stable")).all()


def test_constant_and_empty_columns_are_ignored_and_said():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [0.1] * 3, "c": [None] * 3, "d": ["x"] * 3, "e": [np.nan] * 3})
    features = make_features(frame)
    assert features.names == ["a"]
    assert features.kinds == {"a": "number", **dict.fromkeys("bcde", "ignored")}
    assert features.used[1:] == ["b, d: ignored (all values are the same)", "c, e: ignored (no values)"]


def test_columns_that_hold_numbers_in_other_ways():
    day = datetime.date(2024, 1, 1)
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "truth": pd.array([True, None, False], dtype="boolean"),
            "objects": pd.Series([True, None, False], dtype=object),
            "decimal": [Decimal(1), Decimal("2.5"), Decimal("NaN")],
            "large": pd.Series([10**400, 1, 2], dtype=object),
            "when": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
            "zone": pd.to_datetime(["2024-01-01", None, "2024-01-03"], utc=True),
            "day": pd.Series([day, None, day + datetime.timedelta(2)], dtype=object),
            "span": pd.to_timedelta([1, None, 3], unit="s"),
            "sparse": pd.arrays.SparseArray([1.0, np.nan, 3.0]),
            "small": np.array([1, 2, 4], np.float16),
        }
    )
    features = make_features(frame)
    assert set(features.kinds.values()) == {"number"}
    column = dict(zip(features.names, features.X.T, strict=True))
    for name in ("nullable", "when", "zone", "day", "span", "sparse"):
        np.testing.assert_allclose(column[name], column["nullable"])
        np.testing.assert_allclose(column[f"{name} is missing"], column["nullable is missing"])
    np.testing.assert_allclose(column["truth"], -column["nullable"])
    np.testing.assert_allclose(column["objects"], -column["nullable"])
    assert column["large is missing"][0] > 0
    assert column["decimal is missing"][2] > 0


def test_arrow_columns():
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "whole": pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.int64())),
            "truth": pd.Series([True, None, False], dtype=pd.ArrowDtype(pa.bool_())),
            "when": pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.timestamp("us"))),
            "day": pd.Series([datetime.date(2024, 1, 1), None, None], dtype=pd.ArrowDtype(pa.date32())),
            "span": pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.duration("s"))),
            "said": pd.Series(["so good", "so bad", None], dtype=pd.ArrowDtype(pa.string())),
        }
    )
    features = make_features(frame)
    assert features.kinds == {**dict.fromkeys(frame.columns[:-1], "number"), "said": "text"}
    column = dict(zip(features.names, dense(features.X).T, strict=True))
    for name in ("whole", "when", "span"):
        np.testing.assert_allclose(column[name], column["whole"])


def test_categories():
    frame = pd.DataFrame({"hue": ["red", "blue", "red", "blue", None, "red", "red", "green"]})
    features = make_features(frame)
    assert features.kinds == {"hue": "category"}
    assert features.used == ["hue: category, 3 values; 1 empty"]
    assert features.names == ["hue = blue", "hue = red", "hue = green", "hue is missing"]
    # Each row is in one category, so all rows are of length 1.
    expected = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    expected += [[0, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    np.testing.assert_allclose(dense(features.X), expected)


def test_rare_categories_are_taken_together():
    values = [f"shop{i % 20}" for i in range(400)] + ["once", "only"]
    features = make_features(pd.DataFrame({"shop": values}))
    assert features.names[-1] == "shop = another value"
    assert len(features.names) == 21
    assert (dense(features.X)[-2:, -1] == 1).all()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"] * 3, "category"),
        (["a", "b", "c"], "ignored"),
        ([f"v{i % 50}" for i in range(500)], "category"),
        ([f"v{i % 50}" for i in range(499)], "text"),
        ([f"v{i % 51}" for i in range(600)], "text"),
        ([f"x{i}@mail.org" for i in range(40)], "ignored"),
        ([f"https://example.org/{i}" for i in range(40)] * 1 + ["https://example.org/1"], "ignored"),
        (["one word more", "two words", "x"], "text"),
        (["今天天气很好", "我很生气", "我很高兴"], "text"),
        (["วันนี้อากาศดี", "ฉันโกรธ", "ฉันมีความสุข"], "text"),
        (pd.Categorical(["x", "y", "z"]), "category"),
        (pd.Categorical([1, 2, 2]), "category"),
        (pd.Categorical([f"v{i}" for i in range(60)]), "ignored"),
        ([1, "a", 1, "a", 2.5, 2.5], "category"),
        ([1, "some words", None, 3 + 1j], "text"),
        ([1 + 2j, 3j, 4j], "ignored"),
        ([[1], [1], {"a": 2}, {"a": 2}], "category"),
        ([" ", "", None], "ignored"),
        (["a.png", "b.png", "c d.png"], "ignored"),
    ],
)
def test_kinds(values, kind):
    assert guess_kinds(pd.DataFrame({"x": values})) == {"x": kind}


def test_text():
    features = make_features(pd.DataFrame({"said": WORDS, "title": [*WORDS[1:], None]}))
    assert features.kinds == {"said": "text", "title": "text"}
    assert (
        features.used[0]
        == f"said: TF-IDF of words, {sum(n.startswith('said') for n in features.names)} terms"
    )
    assert features.used[1].endswith("; 1 empty")
    assert "said: good" in features.names
    assert "said: and" not in features.names  # in one row only
    X = dense(features.X)
    said = np.array([name.startswith("said") for name in features.names])
    np.testing.assert_allclose((X[:, said] ** 2).sum(axis=1), 0.5)  # each column of text has its own block
    np.testing.assert_allclose((X[:, ~said] ** 2).sum(axis=1), [0.6] * 5 + [0])


@pytest.mark.parametrize(
    ("values", "what", "term"),
    [
        (["नमस्ते दुनिया", "नमस्ते भारत", "अच्छी दुनिया"], "words", "नमस्ते"),  # vowel signs are no letters to \w
        (["so 😀😀", "not so 😡", "yes 😀 it is", "no 😡 it"], "words", "😀"),
        (["don't go there", "I don't", "go I do"], "words", "don't"),
        (["我很高兴", "我很生气", "他很高兴"], "characters", "高兴"),
        (
            ["我很高兴，真的", "他很高兴，真的", "我很生气"],
            "characters",
            "高兴",
        ),  # 真的 looks like a shared word
        (["!! ?", "!! !", "? ?!"], "characters", "!!"),
        (["Hannah Lee", "Johanna Ray", "Joan Smith"], "characters", "nna"),
        (["abc abc", "xyz xyz"], "characters", " "),
    ],
)
def test_text_of_any_script_and_length(values, what, term):
    features = make_features(pd.DataFrame({"x": values}), kinds={"x": "text"})
    assert f"TF-IDF of {what}" in features.used[0]
    assert f"x: {term}" in features.names


def test_text_that_shares_nothing_still_has_terms():
    features = make_features(pd.DataFrame({"x": ["ab", None]}), kinds={"x": "text"})
    assert features.names == ["x: ab"]
    assert features.used == ["x: TF-IDF of words, 1 term; 1 empty"]
    features = make_features(pd.DataFrame({"x": ["?", None]}), kinds={"x": "text"})
    assert features.names == ["x: ?"]


def test_blocks_weigh_the_same_and_much_text_is_sparse():
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(300)])
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=200) * 1e6,
            "b": rng.normal(size=200),
            "hue": rng.choice(["red", "blue"], 200),
            "shop": rng.choice(["x", "y", "z"], 200),
            "said": [" ".join(rng.choice(words, 8)) for _ in range(200)],
        }
    )
    features = make_features(frame)
    assert isinstance(features.X, sp.csr_array)
    assert features.X.dtype == np.float64
    assert features.X.shape == (200, len(features.names))
    starts = [("a", "b"), ("hue", "shop"), ("said",)]
    for start in starts:
        block = features.X[:, [name.startswith(start) for name in features.names]]
        np.testing.assert_allclose(squared_lengths(block).mean(), 1 / 3)


def test_kinds_can_be_chosen():
    frame = pd.DataFrame({"n": [1, 2, 1, 3], "t": ["1", "2.5", None, "inf"], "id": ["a1", "b1", "a1", "c2"]})
    features = make_features(frame, kinds={"n": "category", "t": "number", "id": "text"})
    assert features.kinds == {"n": "category", "t": "number", "id": "text"}
    assert features.names[:3] == ["t", "t is missing", "n = 1"]
    assert make_features(frame, kinds={"n": "ignored", "t": "number"}).kinds["n"] == "ignored"
    assert make_features(frame, kinds={"n": "ignored"}).used[1] == "n: ignored (as asked for)"
    features = make_features(frame, kinds={"id": "category", "t": "category"})
    assert features.kinds["t"] == "category"


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"sex": "number"}, "kinds: unknown column 'sex'; there are 'n', 't', 'c'"),
        ({"n": "numbr"}, "kinds: unknown kind 'numbr'; did you mean 'number'"),
        ({"t": "number"}, "column 't' is said to hold numbers, and row 2 is 'x'; .*choose another kind"),
        ({"n": "image"}, "column 'n' cannot be an image: it holds numbers.*'number'"),
        ({"t": "image"}, "column 't' cannot be an image without a folder"),
        (
            {"n": "ignored", "t": "ignored"},
            r"nothing to learn from in 3 columns and 3 rows: n, t: ignored \(as asked for\); "
            r"c: ignored \(all values are the same\); give features with --features emb\.npy",
        ),
        ({"n": "ignored", "t": "category"}, r"t: ignored \(no value occurs twice\)"),
    ],
)
def test_kinds_that_cannot_be(kinds, message):
    frame = pd.DataFrame({"n": [1, 2, 3], "t": ["1", "x", "y"], "c": [1, 1, 1]})
    with pytest.raises(ValueError, match=message):
        make_features(frame, kinds=kinds)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": []}), "the table has no rows"),
        (pd.DataFrame(), "the table has no rows"),
        (pd.DataFrame(index=[0, 1]), "nothing to learn from in 0 columns and 2 rows: there are no columns"),
        (pd.DataFrame({"a": [1], "b": ["so good"]}), "nothing to learn from in 2 columns and 1 row"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "2 columns are named 'a'; rename"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1"]), "2 columns are named '1'; rename"),
    ],
)
def test_tables_without_anything(frame, message):
    with pytest.raises(ValueError, match=message):
        make_features(frame)


def test_names_and_index_of_any_kind():
    frame = pd.DataFrame([[1, 2], [3, 5]], columns=[0, ("a", 1)], index=["x", "x"])
    features = make_features(frame, kinds={0: "number"})
    assert features.names == ["0", "('a', 1)"]
    assert list(frame.columns) == [0, ("a", 1)]  # as it was


def test_folder_must_be_one(tmp_path):
    with pytest.raises(ValueError, match="folder must be the directory"):
        make_features(pd.DataFrame({"a": [1, 2]}), folder=tmp_path / "none")


def test_many_columns_make_few_sentences():
    frame = pd.DataFrame({f"n{i}": [1, 2, 3] for i in range(9)} | {f"c{i}": [1, 1, 1] for i in range(6)})
    assert make_features(frame).used == [
        "n0, n1, n2, n3 and 5 more: numbers, standardised",
        "c0, c1, c2, c3 and 2 more: ignored (all values are the same)",
    ]


def test_the_same_table_gives_the_same_features():
    frame = pd.DataFrame({"said": WORDS, "n": range(6), "hue": ["red", "blue"] * 3})
    one, two = make_features(frame), make_features(frame.copy())
    np.testing.assert_array_equal(dense(one.X), dense(two.X))
    assert repr(one) == repr(two)
