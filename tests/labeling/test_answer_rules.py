import pytest

from refpair.decision import AtLeast, AtMost, Exclusive, Implies, Taxonomy
from refpair.decision.rules import from_dicts, to_dicts
from refpair.labeling import Session
from tests.labeling.requests import HOLDER, LabelServer
from tests.labeling.sessions import LABELS, Commonest, open_quick

CSV = "id,tempo\n" + "".join(f"{i},{i * 7 % 11}\n" for i in range(20))
RULES = [
    AtMost(2),
    Implies("anger", "joy"),
    Exclusive(["joy", "calm"]),
    AtLeast(0),
    Taxonomy({"calm": "joy"}),
]


def test_rules_are_kept_in_the_file(tmp_path):
    open_quick(tmp_path / "s.sqlite", label_rules=RULES).close()
    with Session.open(tmp_path / "s.sqlite") as session:
        assert session.label_rules == RULES
        assert from_dicts(to_dicts(RULES)) == RULES
    open_quick(tmp_path / "s.sqlite", label_rules=[]).close()
    with Session.open(tmp_path / "s.sqlite") as session:
        assert session.label_rules == []


def test_rules_of_the_model_are_those_of_answers(tmp_path):
    model = Commonest()
    model.rules = [Implies(1, 0)]
    with open_quick(tmp_path / "s.sqlite", estimator=model) as session:
        assert session.label_rules == [Implies("anger", "joy")]


def test_rules_are_about_what_is_known(tmp_path):
    with open_quick(tmp_path / "s.sqlite", label_rules=RULES) as session:
        assert session.broken_rules(3, {"anger": True}) == []
        session.tell([3], [{"joy": False}])
        assert session.broken_rules(3, {"anger": True}) == ["anger -> joy"]
        assert session.broken_rules(3, {"joy": True, "anger": True, "calm": True}) == [
            "at most 2",
            "one of joy, calm",
        ]


@pytest.mark.parametrize("rules", [[AtMost(1, ["sad"])], [AtLeast(2), AtMost(1)], [AtMost(1, [3])]])
def test_rules_that_cannot_be_are_refused(tmp_path, rules):
    with pytest.raises(ValueError, match="rules: "):
        open_quick(tmp_path / "s.sqlite", label_rules=rules)
    assert not (tmp_path / "s.sqlite").exists()


@pytest.mark.parametrize(
    "stored", [{}, [3], [{"rule": "Most"}], [{"rule": "AtMost"}], [{"rule": "AtMost", "k": -1}]]
)
def test_what_is_no_rule_in_a_file_is_refused(stored):
    with pytest.raises(ValueError, match=r"\w"):
        from_dicts(stored)


def test_the_server_tells_which_rules_an_answer_breaks(tmp_path):
    server = LabelServer(tmp_path, CSV, LABELS)
    server.session.label_rules = RULES
    row = server.ask()["id"]
    said = {"holder": HOLDER, "id": row, "labels": ["joy", "anger", "calm"]}
    broken = {"saved": False, "breaks": ["at most 2", "one of joy, calm"]}
    assert server.post("/api/answer", said).json() == broken
    assert server.n_events() == 0
    one = {"holder": HOLDER, "id": row, "labels": ["anger"], "about": ["anger"]}
    assert server.post("/api/answer", one).json() == {"saved": True}
    one = {"holder": HOLDER, "id": row, "labels": [], "about": ["joy"]}
    assert server.post("/api/answer", one).json() == {"saved": False, "breaks": ["anger -> joy"]}
    assert server.post("/api/answer", {**said, "sure": True}).json() == {"saved": True}
    assert server.n_events() == 2
    server.session.close()
