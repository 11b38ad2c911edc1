import io

import pandas as pd
import pytest

from refpair import load
from refpair.cli.rules import parse_rule
from refpair.decision import AtLeast, AtMost, Exactly, Exclusive, Implies
from tests.cli.running import FIT, LABELS, refpair_, refuses, works

NAMES = ["a", "b", "c", "use: x, y", "two words", "a -> b"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("at most 3", AtMost(3)),
        ("at least 1", AtLeast(1)),
        ("Exactly 1 of a,b, c", Exactly(1, ["a", "b", "c"])),
        ("at most 2 of use: x, y, two words", AtMost(2, ["use: x, y", "two words"])),
        ("one of a,two words", Exclusive(["a", "two words"])),
        ("two words -> use: x, y", Implies("two words", "use: x, y")),
        ("c -> a -> b", Implies("c", "a -> b")),
    ],
)
def test_a_rule_is_read(text, rule):
    assert parse_rule(text, NAMES) == rule
    assert parse_rule(str(rule), NAMES) == rule


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("few", "at most 3, at least 1"),
        ("at most many", "at most 3, at least 1"),
        ("at most 2 of a,d", "unknown label 'd'"),
        ("x -> a", "unknown label 'x'"),
        ("one of a", "at least two labels"),
        ("exactly 3 of a,b", "names 2 labels only"),
        ("a -> a", "its own parent"),
    ],
)
def test_what_is_no_rule_is_refused_with_the_option(text, told):
    with pytest.raises(ValueError, match="--rule") as refused:
        parse_rule(text, NAMES)
    assert told in str(refused.value)


def test_names_with_commas_must_be_told_apart():
    with pytest.raises(ValueError, match="several ways"):
        parse_rule("one of a,b,c", ["a", "b", "c", "a,b"])


def labels_of(printed):
    return pd.read_csv(io.StringIO(printed))[LABELS].astype(int)


def test_a_fitted_model_keeps_its_rules_and_those_of_a_prediction(folder):
    assert labels_of(works("predict", fitted(folder), "songs.csv")).sum(axis=1).max() > 1
    result = refpair_("fit", "songs.csv", *FIT, "--rule", "one of joy,anger", "--rule", "calm -> joy")
    assert result.exit_code == 0, result.stderr
    assert "training rows break a rule" in result.stderr
    assert load(folder / "model")[-1].rules == [Exclusive(["joy", "anger"]), Implies("calm", "joy")]
    answers = labels_of(works("predict", "model", "songs.csv"))
    assert (answers.joy + answers.anger).max() == 1
    assert (answers.calm <= answers.joy).all()
    assert answers.sum(axis=1).min() == 0
    more = labels_of(works("predict", "model", "songs.csv", "--rule", "at least 1"))
    assert (more.calm <= more.joy).all()
    assert more.sum(axis=1).min() == 1


def fitted(folder):
    works("fit", "songs.csv", *FIT)
    return folder / "model"


def test_rules_that_contradict_each_other_are_refused(folder):
    assert "AtLeast(2)" in refuses("fit", "songs.csv", *FIT, "--rule", "at least 2", "--rule", "at most 1")
    works("fit", "songs.csv", *FIT)
    assert "unknown label" in refuses("predict", "model", "songs.csv", "--rule", "joy -> sad")
