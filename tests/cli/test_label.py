"""``refpair label``: what it says, writes, takes over and refuses. The page has tests of its own."""

from __future__ import annotations

import json
import socket
import stat
import threading
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import refpair
from refpair.labeling import Session
from refpair.labeling.store import AnswerStore
from tests.cli.running import refpair_, refuses, works

LABELS = ("--labels", "joy,anger")
N = 30


@pytest.fixture
def pool(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "key": [f"s{i}" for i in range(N)],
            "tempo": rng.normal(size=N).round(3),
            "said": [f"so {'good' if i % 2 else 'bad'} it is {i % 7}" for i in range(N)],
        }
    )
    frame.to_csv("pool.csv", index=False)
    return frame


def label(*args, data="pool.csv"):
    """Run the command; return what it says, which is on standard error, as standard output is for tables."""
    result = refpair_("label", data, *args)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    return result.stderr


@pytest.fixture
def served(monkeypatch):
    """Instead of serving, note what would be served, and do what the test says with it."""
    seen = SimpleNamespace(calls=[], works=[], opened=[], redirects=[])

    def open_browser(address):
        seen.opened.append(address)
        path = Path(unquote(urlsplit(address).path))
        seen.redirects.append((path, stat.S_IMODE(path.stat().st_mode), path.read_text()))

    def serve(session, listening, *, name, token, names, ready, entered, for_spreadsheets, label):
        ready()
        for thread in threading.enumerate():
            if thread.name == "browser":
                thread.join()
        seen.calls.append(
            SimpleNamespace(labels=session.labels, label=label, token=token, port=listening.getsockname()[1])
        )
        for work in seen.works:
            work(session)

    monkeypatch.setattr("refpair.labeling.server.serve", serve)
    monkeypatch.setattr("webbrowser.open", open_browser)
    monkeypatch.delenv("REFPAIR_TOKEN", raising=False)
    return seen


def ends(*args):
    """Run the command, which must end in a sentence behind what it says of the table."""
    result = refpair_(*args)
    assert result.exit_code == 2
    return result.stderr.splitlines()[-1].removeprefix("error: ")


def columns(said):
    """What became of the columns, as the command tells it."""
    cells = [[cell.strip() for cell in line.split("│")] for line in said.splitlines() if "│" in line]
    return {name: (kind, why) for _, name, kind, why, *_ in cells}


def answered(session="pool.labels.sqlite"):
    with Session.open(session) as opened:
        return opened.answers()


# -- the page ----------------------------------------------------------------------------------------------


def test_the_page_is_announced_and_opened(pool, served):
    said = label(*LABELS, "--cost", "hamming")
    assert columns(said)["tempo"] == ("number", "numbers")
    said = said.splitlines()
    (call,) = served.calls
    address = f"http://127.0.0.1:{call.port}/?token={call.token}"
    assert said[0] == "pool.csv: 30 rows, labels joy, anger"
    assert "Answers are stored in pool.labels.sqlite" in said
    assert f"Label at {address}" in said
    assert said[-1] == "0 rows are answered; they are in pool.labels.sqlite"
    ((path, mode, content),) = served.redirects
    assert served.opened == [path.as_uri()]
    assert f'content="0; url={address}"' in content
    assert mode == 0o600
    assert not path.exists()  # the server has ended
    with Session.open("pool.labels.sqlite") as session:
        assert session.cost.name == "hamming"


def test_the_page_begins_with_one_label_if_that_is_asked_for(pool, served):
    label(*LABELS, "--label", "anger")
    label()
    assert [call.label for call in served.calls] == ["anger", None]
    assert ends("label", "pool.csv", "--label", "angr") == "unknown label 'angr'; did you mean 'anger'?"


def test_no_browser_is_opened_if_none_is_wanted(pool, served):
    label(*LABELS, "--no-browser")
    assert served.opened == []


def test_a_browser_that_cannot_be_led_to_the_page_is_no_reason_not_to_serve(pool, served):
    Path("pool.labels.open.html").mkdir()
    assert "Open the page in a browser: " in label(*LABELS)
    assert len(served.calls) == 1
    assert served.opened == []


def test_the_token_is_another_one_at_each_start(pool, served):
    label(*LABELS)
    label(*LABELS)
    label(*LABELS)
    assert len({call.token for call in served.calls}) == 3
    assert not Path("state").exists()


def test_a_token_is_kept_if_that_is_asked_for(pool, served):
    label(*LABELS, "--keep-token")
    label(*LABELS, "--keep-token")
    label(*LABELS, "--keep-token", "--session", "other.sqlite")
    label(*LABELS)
    first, second, other, new = (call.token for call in served.calls)
    assert first == second
    assert len({first, other, new}) == 3


def test_a_token_is_given_by_the_environment_or_a_file(pool, served, monkeypatch):
    monkeypatch.setenv("REFPAIR_TOKEN", "a-token-of-the-environment")
    label(*LABELS)
    label(*LABELS, "--keep-token")
    Path("token").write_text("a-token-of-a-file\n")
    label(*LABELS, "--token-file", "token")
    tokens = [call.token for call in served.calls]
    assert tokens == ["a-token-of-the-environment", "a-token-of-the-environment", "a-token-of-a-file"]


def test_a_token_is_no_argument(pool):
    result = refpair_("label", *NEW, "--token", "a-token-of-my-own")
    assert result.exit_code == 2
    assert "No such option" in result.stderr


def test_markup_in_names_is_no_markup(pool, served, tmp_path):
    pool.to_csv("[red]x.csv", index=False)
    said = label("--labels", "[bold]joy[/bold],[/]", data="[red]x.csv")
    assert "[red]x.csv: 30 rows, labels [bold]joy[/bold], [/]" in said


def test_an_export_with_unknown_labels_is_fitted_and_labeled_as_it_is(pool, served):
    some = [{"joy": True, "anger": False}, {"joy": False}, {"anger": True}, {"joy": True}]
    served.works.append(lambda session: session.tell(session.ids[:4], some))
    label(*LABELS)
    label("--export", "labels.csv")
    assert pd.read_csv("labels.csv")[["joy", "anger"]].isna().to_numpy().sum() == 3
    result = refpair_("fit", "labels.csv", *LABELS, "-o", "model.refpair")
    assert result.exit_code == 0, result.stderr
    served.works.clear()
    said = label(*LABELS, "--session", "again.sqlite", data="labels.csv")
    assert "4 rows are answered already (3 of them in part), 0 skipped" in said
    pd.testing.assert_frame_equal(answered("again.sqlite"), answered(), check_index_type=False)


def test_going_on_needs_no_labels_and_may_add_some(pool, served):
    served.works.append(lambda session: session.tell(session.ids[:3], [["joy"], [], ["anger"]]))
    label(*LABELS)
    served.works.clear()
    said = label()
    assert served.calls[-1].labels == ["joy", "anger"]
    assert "3 rows are answered already, 0 skipped" in said
    label("--labels", "anger,calm,joy")
    assert served.calls[-1].labels == ["joy", "anger", "calm"]
    assert answered()[["joy", "anger"]].to_numpy().tolist() == [[1, 0], [0, 0], [0, 1]]
    assert answered()["calm"].isna().all()
    said = label()
    assert "labels joy, anger, calm" in said
    assert "3 rows are answered already (3 of them in part), 0 skipped" in said


def test_prices_go_with_their_labels_whatever_the_order(pool, served):
    label(*LABELS)
    label("--labels", "anger,joy", "--false-negative", "anger=50")
    with Session.open("pool.labels.sqlite") as session:
        assert session.labels == ["joy", "anger"]
        assert list(session.cost.prices(2)[1]) == [1.0, 50.0]


def test_the_cost_is_kept_unless_another_one_is_given(pool, served):
    label(*LABELS, "--cost", "rank")
    for option, name in [((), "rank"), (("--cost", "accuracy"), "jaccard"), ((), "jaccard")]:
        label(*option)
        with Session.open("pool.labels.sqlite") as session:
            assert session.cost.name == name


def test_a_budget_ends_with_a_sentence(pool, served):
    reasons = []

    def work(session):
        for i in range(6):
            session.tell([session.ids[i]], [["joy"] if i % 2 else ["anger"]])
            session.learn()
            reasons.append(session.should_stop())

    served.works.append(work)
    label(*LABELS, "--budget", "5")
    assert reasons[:4] == [None] * 4
    assert reasons[4] == "The budget is used up: 5 of 5 rows have labels."


def test_rows_that_are_gone_are_told(pool, served):
    served.works.append(lambda session: session.tell(session.ids[:3], [["joy"]] * 3))
    label(*LABELS)
    served.works.clear()
    pool.iloc[2:].to_csv("pool.csv", index=False)
    said = label()
    assert "1 rows are answered already, 0 skipped" in said
    assert "2 answers are of rows that are not in the table" in said


# -- files instead of the page -----------------------------------------------------------------------------


@pytest.fixture
def answers(pool):
    """The table, ten of whose rows have labels."""
    pool["joy"] = pd.array([1, 0] * 5 + [None] * 20, "Int8")
    pool["anger"] = pd.array([0, 1] * 5 + [None] * 20, "Int8")
    pool.to_csv("pool.csv", index=False)
    return pool


def test_labels_of_the_table_are_taken_over_and_exported(answers):
    said = label(*LABELS, "--id", "key", "--export", "out.csv")
    assert "10 answers are imported" in said
    assert "Rows that are answered are in out.csv, with their labels" in said
    table = pd.read_csv("out.csv")
    assert list(table.columns) == ["key", "tempo", "said", "joy", "anger"]
    assert table.to_dict("records") == answers[:10].astype({"joy": int, "anger": int}).to_dict("records")
    assert "10 answers are imported" not in label("--export", "out.parquet")  # nor is --id needed
    assert pd.read_parquet("out.parquet").to_dict("records") == table.to_dict("records")


@pytest.mark.parametrize("columns", [["joy", "anger"], ["moods"]])
def test_an_export_is_taken_by_fit_as_it_is(pool, columns):
    if columns == ["moods"]:
        pool["moods"] = ["joy", "anger|calm", "joy|calm", None, None, None] * 5
    else:
        pool["joy"] = pd.array([1, 0] * 5 + [None] * 20, "Int8")
        pool["anger"] = pd.array([0, 1] * 5 + [None] * 20, "Int8")
    pool.to_csv("pool.csv", index=False)
    names = ",".join(columns)
    label("--labels", names, "--export", "out.csv")
    works("fit", "out.csv", "--labels", names, "--n-bits", "10", "-o", "m.refpair")
    assert list(refpair.load("m.refpair").predict(pool[["key", "tempo", "said"]]).columns) == columns


def test_an_export_for_spreadsheets(pool):
    pool.assign(said="=1+1", joy=1, anger=0).to_csv("pool.csv", index=False)
    label(*LABELS, "--export", "plain.csv")
    label(*LABELS, "--export", "safe.csv", "--for-spreadsheets")
    plain, safe = pd.read_csv("plain.csv"), pd.read_csv("safe.csv")
    assert set(plain["said"]) == {"=1+1"}
    assert set(safe["said"]) == {"'=1+1"}
    pd.testing.assert_series_equal(safe["tempo"], plain["tempo"])  # half of which are below zero


def test_an_export_without_answers_is_refused(pool):
    message = "pool.labels.sqlite has no answers of rows of this table yet: there is nothing to export"
    assert message in ends("label", *NEW, "--export", "out.csv")
    assert not Path("out.csv").exists()


def test_a_table_of_other_rows_is_refused(answers):
    label(*LABELS, "--export", "out.csv")
    answers.drop(columns=["joy", "anger"]).assign(tempo=7.5).to_csv("other.csv", index=False)
    said = refuses("label", "other.csv", "--session", "pool.labels.sqlite", "--export", "other_out.csv")
    assert "none is of a row of this table, whose rows are called by checksums of their cells" in said
    assert not Path("other_out.csv").exists()


def test_a_model_is_saved_and_predicts_raw_rows(answers):
    said = label(*LABELS, "--id", "key", "--save-model", "m.refpair")
    assert "The model is in m.refpair; refpair predict takes it" in said
    model = refpair.load("m.refpair")
    predicted = model.predict(answers[["said", "tempo", "key"]])
    assert list(predicted.columns) == ["joy", "anger"]
    with Session.open("pool.labels.sqlite", answers) as session:
        session.learn()
        pd.testing.assert_frame_equal(session.model.predict(answers), predicted)


def test_a_model_of_joined_names_answers_in_joined_names(pool):
    pool["moods"] = ["joy", "anger|calm", "joy|calm", None, None, None] * 5
    pool.to_csv("pool.csv", index=False)
    label("--labels", "moods", "--save-model", "m.refpair", "--export", "out.csv")
    predicted = refpair.load("m.refpair").predict(pool)
    assert predicted.name == "moods"
    assert set("|".join(predicted).split("|")) <= {"joy", "anger", "calm"}
    table = pd.read_csv("out.csv")
    assert list(table.columns) == ["key", "tempo", "said", "moods"]
    assert len(table) == 15
    assert set(table["moods"]) == {"joy", "anger|calm", "calm|joy"}


def test_there_is_no_model_before_two_answers_differ(pool):
    assert "answer at least two rows with different labels first" in ends("label", *NEW, "--save-model", "m")


def test_to_label_studio_and_back(pool):
    said = label(*LABELS, "--id", "key", "--to-label-studio", "tasks.json")
    assert "Tasks for Label Studio are in tasks.json" in said
    assert "Its labeling interface is tasks.xml; choose Uncertainty sampling" in said
    tasks = json.loads(Path("tasks.json").read_text())
    assert sorted(task["data"]["refpair_id"] for task in tasks) == sorted(pool["key"])
    view = ElementTree.parse("tasks.xml").getroot()
    assert view.find("Text").get("value") == "$said"
    for minute, task in enumerate(tasks[:3]):
        chosen = [{"type": "choices", "value": {"choices": ["joy"]}}]
        task["annotations"] = [
            {
                "completed_by": 1,
                "was_cancelled": minute == 2,
                "result": chosen,
                "updated_at": f"2026-03-01T10:0{minute}:00Z",
            }
        ]
    done = [{"annotations": [], **task} for task in tasks]
    Path("export.json").write_text(json.dumps(done))
    said = label("--id", "key", "--from-label-studio", "export.json")
    assert "3 answers are imported" in said
    assert "2 rows are answered already, 1 skipped" in said
    assert "taken over" not in label(
        "--id", "key", "--from-label-studio", "export.json", "--export", "out.csv"
    )
    assert answered()["joy"].tolist() == [1, 1]
    assert len(pd.read_csv("out.csv")) == 2


def test_embeddings_and_columns_that_are_not_learnt_from(answers):
    np.save("emb.npy", np.random.default_rng(0).normal(size=(N, 4)))
    label(*LABELS, "--features", "emb.npy", "--session", "emb.sqlite", "--export", "out.csv")
    assert columns(label("--session", "emb.sqlite", "--export", "out.csv")) == dict.fromkeys(
        ["x0", "x1", "x2", "x3"], ("number", "numbers")
    )  # the file is remembered
    said = label(*LABELS, "--drop", "tempo", "--kind", "key=string", "--export", "out.csv")
    assert columns(said)["tempo"] == ("ignored", "as asked for")
    assert columns(said)["key"] == ("string", "as asked for")
    assert columns(label("--export", "out.csv")) == columns(said)  # likewise
    assert "tempo" in pd.read_csv("out.csv").columns


def test_a_data_set_is_labeled_by_its_name(pool, served):
    served.works.append(lambda session: session.tell([5], [["3"]]))
    said = label(data="digits")
    assert "digits: 3,000 rows, labels 0, 1, 2, 3, 4, 5, 6, 7, 8, 9" in said
    assert "Answers are stored in digits.labels.sqlite" in said
    label("--export", "out.csv", data="digits")
    table = pd.read_csv("out.csv")
    assert table["id"].tolist() == [5]
    assert table[list("0123456789")].sum(axis=1).tolist() == [1]


def test_tables_with_other_separators_and_encodings(answers):
    answers.assign(said=answers["said"].str.replace("so", "größer")).to_csv(
        "other.csv", index=False, sep=";", encoding="latin-1"
    )
    assert "--encoding" in refuses("label", "other.csv", *LABELS, "--export", "out.csv")
    label(*LABELS, "--encoding", "latin-1", "--export", "out.csv", data="other.csv")
    assert pd.read_csv("out.csv")["said"].str.startswith("größer").all()
    label(*LABELS, "--encoding", "latin-1", "--sep", ";", "--export", "out.csv", data="other.csv")


@pytest.mark.parametrize("name", ["pool.csv.gz", "pool.tsv", "pool.parquet", "POOL.CSV"])
def test_answers_are_kept_beside_the_table(pool, name, tmp_path):
    (tmp_path / "sub").mkdir()
    path = tmp_path / "sub" / name
    if "parquet" in name:
        pool.to_parquet(path)
    else:
        pool.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    label(*LABELS, "--to-label-studio", "out.json", data=path)
    assert [one.name for one in path.parent.glob("*.sqlite")] == [f"{name.split('.')[0]}.labels.sqlite"]


# -- mistakes ----------------------------------------------------------------------------------------------

NEW = ("pool.csv", *LABELS)
MISTAKES = {
    "no file": (("nosuch.csv", *LABELS), "nosuch.csv: there is no such file"),
    "no data set": (("digit",), "there is no such file; unknown data set 'digit'; did you mean 'digits'?"),
    "no labels": (("pool.csv",), "pool.csv: what are the labels? For example --labels joy,anger,calm"),
    "empty labels": (("pool.csv", "--labels", " , "), "pool.csv: what are the labels?"),
    "label twice": (("pool.csv", "--labels", "joy,joy"), "the label 'joy' is named"),
    "label of the export": (("pool.csv", "--labels", "joy,who"), "'who'"),
    "clashing labels": (("pool.csv", "--labels", "joy,joy_predicted"), "'joy_predicted'"),
    "text as label": (("pool.csv", "--labels", "said"), "the column 'said' is a text"),
    "unknown cost": ((*NEW, "--cost", "haming"), "did you mean 'hamming'?"),
    "cost before table": (("nosuch.csv", *LABELS, "--cost", "haming"), "did you mean 'hamming'?"),
    "two costs": ((*NEW, "--cost", "f1", "--false-positive", "2"), "--cost goes without"),
    "price of no label": ((*NEW, "--false-negative", "angr=2"), "did you mean 'anger'?"),
    "unknown id": ((*NEW, "--id", "kee"), "unknown column 'kee'; did you mean 'key'?"),
    "id not unique": (("twice.csv", *LABELS, "--id", "key"), "several rows have the id 'a' in the column"),
    "id of a data set": (("digits", "--id", "key"), "digits: a data set has no column of ids"),
    "unknown drop": ((*NEW, "--drop", "temp"), "unknown column 'temp'; did you mean 'tempo'?"),
    "no features": ((*NEW, "--features", "nosuch.npy"), "nosuch.npy: no such file or directory"),
    "few features": ((*NEW, "--features", "few.npy"), "few.npy: has 2 rows, and the table 30"),
    "nothing to learn": (("same.csv", *LABELS), "nothing to learn from in 1 column and 2 rows"),
    "unknown export": ((*NEW, "--export", "out.xlsx"), "out.xlsx: the name of a table ends in"),
    "no folder": ((*NEW, "--export", "no/out.csv"), "no: there is no such folder"),
    "export before table": (("nosuch.csv", *LABELS, "--export", "out.xlsx"), "a table ends in .csv"),
    "tasks as text": ((*NEW, "--to-label-studio", "tasks.xml"), "the name of tasks for Label Studio ends"),
    "no folder of tasks": ((*NEW, "--to-label-studio", "no/t.json"), "no: there is no such folder"),
    "no Label Studio": ((*NEW, "--from-label-studio", "no.json"), "no.json: no such file or directory"),
    "session is a table": ((*NEW, "--session", "pool.csv"), "pool.csv is no labeling session of refpair"),
    "session is a folder": ((*NEW, "--session", "folder"), "folder: unable to open database file"),
    "no token file": ((*NEW, "--token-file", "nosuch"), "nosuch: no such file or directory"),
    "folder of tokens": ((*NEW, "--token-file", "folder"), "folder: is a directory"),
    "token twice": ((*NEW, "--token-file", "t16", "--keep-token"), "--token-file goes without --keep-token"),
    "spreadsheets": ((*NEW, "--export", "a.jsonl", "--for-spreadsheets"), "a name that ends in .csv or"),
}  # fmt: skip


@pytest.fixture
def mistakes(pool, tmp_path):
    (tmp_path / "twice.csv").write_text("key,n\na,1\na,2\n")
    (tmp_path / "same.csv").write_text("a\nx\nx\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "t16").write_text("a-token-for-tests-only")
    np.save("few.npy", np.eye(2))


@pytest.mark.usefixtures("mistakes")
@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_ends_in_one_sentence_and_leaves_nothing_behind(what, tmp_path):
    args, sentence = MISTAKES[what]
    before = sorted(tmp_path.rglob("*"))
    assert sentence in refuses("label", *args)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_session_that_was_begun_without_labels_can_be_gone_on_with(pool):
    AnswerStore(Path("pool.labels.sqlite")).close()
    assert "what are the labels?" in refuses("label", "pool.csv", "--to-label-studio", "out.json")
    assert "labels joy, anger" in label(*LABELS, "--to-label-studio", "out.json")


def test_labels_cannot_be_taken_away(pool):
    label(*LABELS, "--to-label-studio", "out.json")
    said = refuses("label", "pool.csv", "--labels", "anger,calm", "--to-label-studio", "out.json")
    assert "pool.labels.sqlite has labels that are not named: joy" in said


def test_new_labels_need_prices_where_the_others_have_some(pool):
    label(*LABELS, "--false-negative", "joy=5", "--to-label-studio", "out.json")
    said = refuses("label", "pool.csv", "--labels", "joy,anger,calm", "--to-label-studio", "out.json")
    assert "2" in said
    assert "3" in said
    label("--labels", "joy,anger,calm", "--false-negative", "joy=5", "--to-label-studio", "out.json")


@pytest.mark.parametrize("export", ["{}", "[{}]", "[", '[{"data": {}, "annotations": [{"result": []}]}]'])
def test_a_wrong_export_of_label_studio_is_refused(pool, export):
    Path("export.json").write_text(export)
    assert "export.json: " in refuses("label", *NEW, "--from-label-studio", "export.json")
    assert len(answered()) == 0


def test_a_port_that_is_taken_is_told(pool):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = refpair_("label", *NEW, "--port", port, "--no-browser")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == (
        f"error: 127.0.0.1:{port} cannot be listened at (Address already in use); choose another --port"
    )


def test_an_address_of_another_machine_is_told(pool):
    result = refpair_("label", *NEW, "--host", "203.0.113.7", "--no-browser")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == "error: --host 203.0.113.7: this machine has no such address"


@pytest.mark.parametrize(
    "option", [("--port", "0"), ("--port", "70000"), ("--budget", "0"), ("--budget", "x")]
)
def test_a_mistyped_option_ends_with_code_2(pool, option):
    result = refpair_("label", *NEW, *option)
    assert result.exit_code == 2
    assert "Usage: refpair label" in result.stderr


def test_rows_come_in_the_order_of_the_table_if_that_is_asked_for(pool, served):
    asked = []
    served.works.append(lambda session: asked.append(session.ask(N)))
    label(*LABELS, "--id", "key", "--in-order")
    label("--session", "other.sqlite", *LABELS, "--id", "key")
    assert asked[0] == pool["key"].tolist()
    assert asked[1] != asked[0]
