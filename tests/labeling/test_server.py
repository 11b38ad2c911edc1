"""What the page and hostile programs say to the server, and what it makes of it."""

from __future__ import annotations

import io
import json
import re

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refpair
from tests.labeling.requests import COOKIE, HOLDER, HOST, LabelServer, call

LABELS = ["joy", "anger", "calm"]
N_ROWS = 40
CSV = "id,tempo,lyrics\n" + "".join(f"{i},{i * 7 % 11},la {i % 5} lala {i % 3}\n" for i in range(N_ROWS))
POSTS = ["/api/ask", "/api/answer", "/api/undo", "/api/labels", "/api/model"]
OTHER = "another-window-of-tests"


@pytest.fixture
def server(tmp_path):
    server = LabelServer(tmp_path, CSV, LABELS)
    yield server
    server.session.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    server = LabelServer(tmp_path_factory.mktemp("shared"), CSV, LABELS)
    yield server
    server.session.close()


@pytest.fixture
def quiet(shared):
    """A server at which nothing must change in the test."""
    before = shared.n_events(), shared.session.labels
    yield shared
    assert (shared.n_events(), shared.session.labels) == before


# -- what it is for ----------------------------------------------------------------------------------------


def test_a_row_is_asked_for_answered_and_taken_back(server):
    row = server.ask()
    assert row["id"] in server.session.ids
    assert [(field["name"], field["kind"]) for field in row["fields"]] == [
        ("id", "ignored"),
        ("tempo", "number"),
        ("lyrics", "text"),
    ]
    assert server.answer(row["id"], ["calm", "joy"], who="Ada").json() == {"saved": True}
    (event,) = server.session.history.itertuples()
    assert (event.id, event.kind, event.labels, event.who) == (row["id"], "labels", ["joy", "calm"], "Ada")
    second = server.ask()["id"]
    assert second != row["id"]
    undone = server.post("/api/undo", {"holder": HOLDER, "who": "Ada"}).json()["row"]
    assert (undone["id"], undone["answer"]) == (row["id"], ["joy", "calm"])
    assert server.session.n_answered == 0
    assert server.ask()["id"] in (row["id"], second)  # both are with this window
    assert {server.ask(f"other-window-{i}")["id"] for i in range(5)}.isdisjoint({row["id"], second})


def test_a_skip_and_none_of_the_labels_are_different(server):
    first = server.ask()["id"]
    assert server.post("/api/answer", {"holder": HOLDER, "id": first, "skip": True}).status == 200
    second = server.ask()["id"]
    assert server.answer(second, []).status == 200
    assert (server.session.n_skipped, server.session.n_answered) == (1, 1)
    assert list(server.session.answers().loc[second]) == [0, 0, 0]
    assert server.post("/api/undo", {"holder": HOLDER}).json()["row"]["answer"] == []
    assert server.post("/api/undo", {"holder": HOLDER}).json()["row"]["answer"] is None
    assert server.post("/api/undo", {"holder": HOLDER}).json()["row"] is None


def test_one_label_is_asked_for_answered_and_taken_back(server):
    one = {"holder": HOLDER, "label": "anger"}
    found = server.post("/api/ask", one).json()
    row, state = found["row"]["id"], found["state"]
    assert found["row"]["known"] == {}
    assert (state["label"], state["n_answered"]) == (None, 0)
    assert (
        server.post("/api/answer", {**one, "id": row, "labels": ["anger"], "about": ["anger"]}).status == 200
    )
    assert server.session.known(row) == {"anger": True}
    second = server.post("/api/ask", one).json()["row"]["id"]
    assert server.post("/api/answer", {**one, "id": second, "skip": True, "about": ["anger"]}).status == 200
    state = server.post("/api/ask", one).json()["state"]
    assert [state[what] for what in ("n_answered", "n_partly", "n_with", "n_skipped")] == [1, 0, 1, 1]
    assert server.post("/api/undo", one).json()["row"]["id"] == second
    undone = server.post("/api/undo", {"holder": HOLDER}).json()["row"]  # in the other mode
    assert [undone[what] for what in ("id", "answer", "about", "label")] == [row, ["anger"], ["anger"], None]
    assert server.session.n_answered == 0


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/api/ask", {"label": 1}, "label must be the name of a label"),
        ("/api/ask", {"label": ["joy"]}, "label must be the name of a label"),
        ("/api/ask", {"label": "jy"}, "unknown label 'jy'; did you mean 'joy'?"),
        ("/api/undo", {"label": "jy"}, "unknown label 'jy'; did you mean 'joy'?"),
        ("/api/answer", {"labels": [], "about": "joy"}, "about must be a list of names"),
        ("/api/answer", {"labels": [], "about": [1]}, "about must be a list of names"),
        ("/api/answer", {"labels": [], "about": ["jy"]}, "unknown label 'jy'; did you mean 'joy'?"),
        ("/api/answer", {"skip": True, "about": ["jy"]}, "unknown label 'jy'; did you mean 'joy'?"),
    ],
)
def test_labels_that_there_are_not_are_refused(quiet, path, body, message):
    answer = quiet.post(path, {"holder": HOLDER, "id": 0, **body})
    assert (answer.status, answer.json()) == (400, {"error": message})


def test_an_answer_that_comes_twice_counts_once(server):
    row = server.ask()["id"]
    for _ in range(3):
        assert server.answer(row, ["joy"]).json() == {"saved": True}
    assert server.n_events() == 1


def test_an_acknowledged_answer_is_in_the_file(server, tmp_path):
    row = server.ask()["id"]
    server.answer(row, ["anger"])
    (tmp_path / "copy.sqlite").write_bytes((tmp_path / "answers.sqlite").read_bytes())
    (tmp_path / "copy.sqlite-wal").write_bytes((tmp_path / "answers.sqlite-wal").read_bytes())
    with type(server.session).open(tmp_path / "copy.sqlite") as copy:  # as after a crash at this moment
        assert list(copy.answers().loc[row]) == [0, 1, 0]


def test_an_answer_wakes_the_worker(server):
    row = server.ask()["id"]
    assert not server.worker._wake.is_set()
    server.answer(row, ["joy"])
    assert server.worker._wake.is_set()


def test_windows_get_different_rows_until_nothing_is_left(server):
    given = [server.ask(f"window-{i:08d}") for i in range(N_ROWS)]
    assert len({row["id"] for row in given}) == N_ROWS
    assert server.ask() is None
    assert server.ask("window-00000003")["id"] == given[3]["id"]  # it is asked for again after a reload


def test_a_lease_ends(tmp_path, monkeypatch):
    server = LabelServer(tmp_path, "id,tempo\n1,3\n2,4\n", ["joy"], lease=50.0)
    now = [1000.0]
    monkeypatch.setattr("refpair.labeling.store.time.time", lambda: now[0])
    first, second = server.ask()["id"], server.ask(OTHER)["id"]
    assert {first, second} == {1, 2}
    now[0] += 49.0
    assert server.ask("a-third-window") is None
    now[0] += 2.0
    assert server.ask("a-third-window")["id"] in (1, 2)
    server.session.close()


def test_the_guess_comes_with_the_model(server):
    assert server.ask()["probabilities"] == {}
    for i in range(12):
        server.answer(i, ["joy"] if i % 2 else ["anger"])
    server.session.learn()
    row = server.ask()
    assert list(row["probabilities"]) == LABELS
    assert all(0 <= p <= 1 for p in row["probabilities"].values())
    state = server.get("/api/state").json()
    assert state["curve"][-1][0] == state["n_answered"] == 12
    assert (state["labels"], state["cost"], state["n_rows"], state["name"]) == (
        LABELS,
        "f1",
        N_ROWS,
        "pool.csv",
    )


def test_a_label_is_added_and_can_be_chosen(server):
    row = server.ask()["id"]
    assert server.post("/api/labels", {"name": " <b>new</b> "}).json()["state"]["labels"] == [
        *LABELS,
        "<b>new</b>",
    ]
    assert server.answer(row, ["<b>new</b>"]).status == 200
    assert server.post("/api/labels", {"name": "joy"}).json()["state"]["labels"] == [*LABELS, "<b>new</b>"]


@pytest.mark.parametrize(
    "name", ["id", "who", "at", "skipped", "expected_cost", "joy_predicted", "joy_probability"]
)
def test_a_label_that_would_clash_in_the_export_is_refused(quiet, name):
    answer = quiet.post("/api/labels", {"name": name})
    assert answer.status == 400
    assert name in answer.json()["error"]
    assert quiet.get("/api/table.csv").status == 200


def test_the_table_is_a_file_to_keep(server):
    row = server.ask()["id"]
    server.answer(row, ["joy"], who='=cmd|"/C calc"!A0\n\r<script>')
    answer = server.get("/api/table.csv")
    assert answer.header("content-type").startswith("text/csv")
    assert answer.header("content-disposition") == 'attachment; filename="labels.csv"'
    table = pd.read_csv(io.BytesIO(answer.body)).set_index("id")
    assert table.index.tolist() == [row]
    assert table.loc[row, LABELS].tolist() == [1, 0, 0]
    assert "who" not in table.columns


def test_the_file_has_the_columns_of_the_table_and_the_labels(tmp_path):
    server = LabelServer(tmp_path, "id,who,joy_predicted,at\na,x y,1,5\nb,z w,2,6\nc,u v,3,7\n", ["joy"])
    server.answer("b", ["joy"])
    table = pd.read_csv(io.BytesIO(server.get("/api/table.csv").body))
    assert table.to_dict("records") == [{"id": "b", "who": "z w", "joy_predicted": 2, "at": 6, "joy": 1}]
    server.session.close()


def test_the_model_is_saved_beside_the_answers(server, tmp_path):
    answer = server.post("/api/model", {})
    assert (answer.status, answer.json()["error"]) == (
        400,
        f"{tmp_path / 'answers.sqlite'} has no model to save: answer at least two rows with different labels "
        "first",
    )
    for i in range(12):
        server.answer(i, ["joy"] if i % 2 else ["anger"])
    assert server.post("/api/model", {}).json()["file"] == "answers.refpair"
    model = refpair.load(tmp_path / "answers.refpair")
    predicted = model.predict(pd.read_csv(tmp_path / "pool.csv"))
    assert (list(predicted.columns), len(predicted)) == (LABELS, N_ROWS)


def test_a_model_that_cannot_be_written_is_told(server, tmp_path):
    for i in range(4):
        server.answer(i, ["joy"] if i % 2 else ["anger"])
    (tmp_path / "answers.refpair").mkdir()
    answer = server.post("/api/model", {})
    assert answer.status == 400
    assert "the model cannot be saved: " in answer.json()["error"]


# -- the page ----------------------------------------------------------------------------------------------


def test_the_page_runs_its_own_script_only(quiet):
    first, second = quiet.get("/"), quiet.get("/")
    nonces = [
        re.fullmatch(
            r"default-src 'none'; script-src 'nonce-([\w-]{22})'; style-src 'nonce-\1'; img-src 'self' data:;"
            r" connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            answer.header("content-security-policy"),
        )[1]
        for answer in (first, second)
    ]
    assert nonces[0] != nonces[1]
    text = first.body.decode()
    assert first.header("content-type") == "text/html; charset=utf-8"
    assert text.count(f'nonce="{nonces[0]}"') == text.count("<script") + text.count("<style") == 2
    assert "{{" not in text
    assert not re.search(
        r"\son\w+=|javascript:|innerHTML|outerHTML|document\.write|eval\(|https?://(?!www\.w3)", text
    )


def test_nothing_of_the_data_is_in_the_page(tmp_path):
    server = LabelServer(tmp_path, "id,<i>cell</i>\n<b>a</b>,<u>x</u> y\n<b>b</b>,z w\n", ["<s>label</s>"])
    page = server.get("/").body
    assert not any(tag in page for tag in (b"<i>", b"<b>", b"<u>", b"<s>", b"pool.csv"))
    assert server.get("/api/state").header("content-type") == "application/json"
    server.session.close()


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/nosuch", 404), ("GET", "/../etc/passwd", 404), ("GET", "/%2e%2e/a", 404),
        ("GET", "/api", 404), ("GET", "/page.html", 404), ("GET", "/api/state/", 404),
        ("GET", "////evil.example//", 404),
        ("GET", "/api/ask", 405), ("GET", "/api/answer?holder=aaaaaaaa&id=1&skip=true", 405),
        ("GET", "/api/undo", 405), ("GET", "/api/labels?name=x", 405), ("HEAD", "/", 200),
        ("HEAD", "/image", 404), ("POST", "/image", 405), ("POST", "/", 405), ("POST", "/api/state", 405),
        ("POST", "/api/table.csv", 405), ("GET", "/api/model", 405),
        ("PUT", "/api/answer", 405), ("DELETE", "/api/answer", 405), ("PATCH", "/api/labels", 405),
        ("OPTIONS", "/api/answer", 405), ("TRACE", "/", 405), ("get", "/", 405), ("\u0130", "/", 405),
    ],
)  # fmt: skip
def test_other_addresses_and_methods_do_nothing(quiet, method, target, status):
    headers = [("Host", HOST), ("Cookie", COOKIE), ("Content-Type", "application/json")]
    answer = call(
        quiet.app, method, target, headers, [b"{}"]
    )  # which looks at the headers of the answer, too
    assert answer.status == status


@pytest.mark.parametrize(
    "target", [*POSTS, "/", "/api/state", "/api/table.csv", "/image?row=1&column=id", "/nosuch"]
)
def test_nothing_is_answered_without_the_token(quiet, target):
    assert quiet.get(target, token=False).status == 403
    assert quiet.post(target, {"holder": HOLDER, "id": 1, "labels": []}, token=False).status == 403


# -- requests that are wrong -------------------------------------------------------------------------------

BODIES = [
    b"", b"{", b"null", b"[]", b"1", b'"a"', b"\xff", b"\x00", b"{}\x00", b"{} {}", b"\xef\xbb\xbf{}", b"NaN",
    b"[" * 100_000, b'{"a":' * 100_000, b"9" * 100_000, b'{"holder": "\xed\xa0\x80aaaaaaaa"}',
    "{}".encode("utf-16")[:3], b'{"anything": ["\\ud800"]}',
    b'{"holder": "aaaaaaaa", "id": ' + b"9" * 5000 + b"}", b"'", b"holder=aaaaaaaa&id=1&skip=true",
]  # fmt: skip


@pytest.mark.parametrize("target", POSTS)
@pytest.mark.parametrize("place", range(len(BODIES)))
def test_what_is_no_json_object_is_refused(quiet, target, place):
    answer = quiet.post(target, BODIES[place])
    assert answer.status == 400
    assert answer.json()["error"]


WRONG = {
    "holder": [None, "", "short", "a" * 65, 12345678, ["aaaaaaaa"], {}, True, "\ud800aaaaaaaa"],
    "who": [7, True, ["x"], {"a": 1}, "a" * 101, "\ud800", "\udfff" * 3],
    "id": [None, "", "0", "nosuch", 40, -1, 1.0, 0.5, 1e400, 10**400, True, False, [0], {"id": 0}, "\ud800",
           "\x00"],
    "labels": [None, "joy", 1, True, {}, {"joy": 1}, [1], [None], [["joy"]], ["nosuch"], ["joy", "Joy"],
               ["\ud800"], ["joy "], ["joy\x00"], [True], [0, 1, 0], [""]],
}  # fmt: skip


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_field_of_an_answer_is_refused(server, field):
    valid = {"holder": HOLDER, "who": "me", "id": 0, "labels": ["joy"]}
    for wrong in WRONG[field]:
        answer = server.post("/api/answer", {**valid, field: wrong})
        assert answer.status == 400, wrong
        assert answer.json()["error"]
        if field in ("holder", "who"):
            for target in ("/api/ask", "/api/undo"):
                assert server.post(target, {**valid, field: wrong}).status == 400, wrong
    without = {name: value for name, value in valid.items() if name != field}
    assert server.post("/api/answer", without).status == (200 if field == "who" else 400)
    assert server.n_events() == (field == "who")


@pytest.mark.parametrize("name", [None, "", "  ", 7, True, ["x"], {}, "a" * 201, "\ud800", "a\udc00b"])
def test_a_wrong_name_of_a_label_is_refused(quiet, name):
    assert quiet.post("/api/labels", {"name": name}).status == 400


@pytest.mark.parametrize("skip", [1, "true", "yes", [True], {"a": 1}])
def test_only_true_skips(quiet, skip):
    assert quiet.post("/api/answer", {"holder": HOLDER, "id": 0, "skip": skip}).status == 400


def test_text_of_any_kind_is_kept_to_the_letter(server):
    odd = "\x00\u202e<script>\n\r\t\ufeff\U0001f600'\"=1+1"
    assert server.post("/api/labels", {"name": f"l{odd}l"}).status == 200
    assert server.answer(3, [f"l{odd}l"], holder=f"{odd}-holder", who=odd).status == 200
    event = server.session.history.iloc[-1]
    assert (event["labels"], event["who"]) == ([f"l{odd}l"], odd)
    assert server.get("/api/table.csv").status == 200
    assert server.get("/api/state").json()["labels"][-1] == f"l{odd}l"


def test_another_window_cannot_undo(server):
    server.answer(server.ask()["id"], ["joy"])
    assert server.post("/api/undo", {"holder": OTHER}).json()["row"] is None
    assert server.post("/api/undo", {"holder": HOLDER, "who": "other"}).json()["row"] is None
    assert server.session.n_answered == 1


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=12)
)
JSON = st.recursive(
    SCALARS,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text(max_size=4), some, max_size=3),
    max_leaves=6,
)
FIELDS = {
    "holder": st.just(HOLDER) | JSON,
    "who": st.sampled_from(["me", "Ada", None]) | JSON,
    "id": st.integers(-2, N_ROWS + 2) | JSON,
    "labels": st.lists(st.sampled_from([*LABELS, "other"]), max_size=4) | JSON,
    "skip": st.booleans() | JSON,
}


def is_text(value, least, most):
    return isinstance(value, str) and least <= len(value) <= most


def is_valid(body):
    said = body.get("skip") is True or (
        isinstance(body.get("labels"), list)
        and all(isinstance(one, str) and one in LABELS for one in body["labels"])
    )
    row = body.get("id")
    known = isinstance(row, int) and not isinstance(row, bool) and 0 <= row < N_ROWS
    who = body.get("who") or "me"
    if re.search("[\ud800-\udfff]", json.dumps(body, ensure_ascii=False)):
        return False
    return is_text(body.get("holder"), 8, 64) and is_text(who, 1, 100) and known and said


@settings(deadline=None, max_examples=150)
@given(
    body=st.fixed_dictionaries({}, optional=FIELDS) | st.dictionaries(st.text(max_size=4), JSON, max_size=3)
)
@pytest.mark.slow
def test_no_object_breaks_it_and_only_valid_answers_are_noted(shared, body):
    before = shared.n_events()
    answer = shared.post("/api/answer", json.dumps(body).encode())
    assert answer.status == (200 if is_valid(body) else 400)
    assert shared.n_events() - before in ((0, 1) if is_valid(body) else (0,))
    for target in ("/api/ask", "/api/undo"):
        assert shared.post(target, body).status in (200, 400)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=JSON)
@pytest.mark.parametrize("target", POSTS[:3])
def test_any_json_is_answered(quiet, target, body):
    assert quiet.post(target, json.dumps(body).encode()).status == 400
