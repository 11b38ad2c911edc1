"""Texts of any script and length, and strings."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from refpair import TableVectorizer


def names_of(values, kind="text"):
    vectorizer = TableVectorizer({"x": kind}).fit(pd.DataFrame({"x": values}))
    return vectorizer.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    ("values", "term"),
    [
        (["नमस्ते दुनिया", "नमस्ते भारत", "अच्छी दुनिया"], "नमस्ते"),  # vowel signs are no letters to \w
        (["so 😀😀", "not so 😡", "yes 😀 it is", "no 😡 it"], "😀"),
        (["don't go there", "I don't", "go I do"], "don't"),
        (["我很高兴", "我很生气", "他很高兴"], "characters 高兴"),
        (
            ["我很高兴，真的", "他很高兴，真的", "我很生气"],
            "characters 高兴",
        ),  # 真的 looks like a shared word
        (["!! ?", "!! !", "? ?!"], "characters !!"),
        (["Hannah Lee", "Johanna Ray", "Joan Smith"], "characters nna"),
        (["ab", None], "ab"),
        (["?", None], "characters ?"),
    ],
)
def test_text_of_any_script_and_length(values, term):
    assert f"x: {term}" in names_of(values)


def test_words_of_one_row_only_do_not_count():
    names = names_of(["what a good day", "a bad day", "so good"])
    assert names == ["x: day", "x: good"]


def test_strings_have_parts_and_characters():
    names = names_of(["lib-json", "lib-xml", "json-tools"], "string")
    assert {"x: lib", "x: json", "x: characters jso"} <= set(names)


def test_text_without_anything_is_ignored():
    vectorizer = TableVectorizer({"x": "text"}).fit(pd.DataFrame({"x": ["\u200b", "\u200b"], "n": [1, 2]}))
    assert vectorizer.columns_["kind"].tolist()[1] == "number"
    assert np.isfinite(vectorizer.transform(pd.DataFrame({"x": ["a b"], "n": [3]}))).all()


def test_words_that_were_never_seen_are_nothing():
    vectorizer = TableVectorizer().fit(pd.DataFrame({"x": ["so good", "so bad", "not good"]}))
    assert not vectorizer.transform(pd.DataFrame({"x": ["quite other", None, "", 5]})).any()


def test_a_text_model_needs_its_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    frame = pd.DataFrame({"x": ["so good", "so bad", "not good"]})
    with pytest.raises(ImportError, match=r"need sentence-transformers: pip install 'refpair\[text\]'"):
        TableVectorizer(text_model="all-MiniLM-L6-v2").fit(frame)


class FakeModel:
    """Counts letters; refuses a folder that is not there."""

    def __init__(self, path, *, local_files_only, **_):
        assert local_files_only
        if "nosuch" in path:
            raise OSError(path)

    def encode(self, texts, normalize_embeddings, show_progress_bar):
        assert len(set(texts)) == len(texts)
        return np.array([[len(text), text.count("o")] for text in texts], np.float32)


@pytest.fixture
def fake_models(monkeypatch):
    module = type(sys)("sentence_transformers")
    module.SentenceTransformer = FakeModel
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


@pytest.mark.usefixtures("fake_models")
def test_embeddings_stand_beside_words():
    frame = pd.DataFrame({"x": ["so good", "so bad", "so good", None], "n": [1, 2, 4, 3]})
    vectorizer = TableVectorizer(text_model="fake")
    X = vectorizer.fit_transform(frame)
    names = vectorizer.get_feature_names_out().tolist()
    assert names[-2:] == ["x: embedding 0", "x: embedding 1"]
    assert {"x: so", "x: good"} <= set(names)
    found = X[:, -2:] / X[0, -2] * 7
    np.testing.assert_allclose(found, [[7, 3], [6, 1], [7, 3], [0, 0]])
    np.testing.assert_allclose(vectorizer.transform(frame[1:3]), X[1:3])
    with pytest.raises(ValueError, match="the text model 'nosuch' is not on this machine; give the folder"):
        TableVectorizer(text_model="nosuch").fit(frame)
