"""What a session writes is for its owner alone; what somebody asks for is as the umask says."""

from __future__ import annotations

import os
import stat

import pytest

from refpair._files import written_whole
from refpair.labeling import Session
from refpair.labeling.store import AnswerStore
from tests.labeling.requests import LabelServer
from tests.labeling.sessions import LABELS, open_quick

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such modes here")
CSV = "id,tempo\n" + "".join(f"{i},{i * 7 % 5}\n" for i in range(9))


@pytest.fixture(autouse=True)
def umask():
    """That of somebody who lets everybody read everything."""
    old = os.umask(0)
    yield
    os.umask(old)


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_a_new_session_its_log_and_its_folders(tmp_path):
    with open_quick(tmp_path / "one" / "two" / "a.sqlite") as session:
        session.tell([0], [["joy"]])
        found = modes(tmp_path / "one" / "two")
        assert found == {"a.sqlite": 0o600, "a.sqlite-wal": 0o600, "a.sqlite-shm": 0o600}
    assert modes(tmp_path) == {"one": 0o700}
    assert modes(tmp_path / "one") == {"two": 0o700}


@pytest.mark.parametrize(
    ("before", "after"), [(0o644, 0o600), (0o600, 0o600), (0o664, 0o660), (0o666, 0o660)]
)
def test_others_are_kept_out_of_a_session_that_they_could_read(tmp_path, before, after):
    path = tmp_path / "a.sqlite"
    open_quick(path).close()
    path.chmod(before)
    path.parent.chmod(0o755)
    with Session.open(path) as session:
        session.tell([0], [["joy"]])
        assert set(modes(tmp_path).values()) == {after}  # the log, too
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755  # which is not the session's


def test_a_log_that_a_crash_left_is_narrowed(tmp_path):
    path = tmp_path / "a.sqlite"
    first = open_quick(path)
    for one in tmp_path.iterdir():
        one.chmod(0o644)
    with Session.open(path):
        assert set(modes(tmp_path).values()) == {0o600}
    first.close()


def test_what_is_no_session_is_left_as_it_is(tmp_path):
    table = tmp_path / "pool.csv"
    table.write_text(CSV)
    table.chmod(0o644)
    with pytest.raises(ValueError, match="is no labeling session"):
        AnswerStore(table)
    server = LabelServer(tmp_path, CSV, LABELS)
    server.session.close()
    assert modes(tmp_path)["pool.csv"] == 0o644


def test_the_model_that_the_page_saves_is_private_and_the_export_of_a_user_is_not(tmp_path):
    server = LabelServer(tmp_path, CSV, LABELS)
    for row in range(4):
        assert server.answer(row, [LABELS[row % 2]]).status == 200
    assert server.post("/api/model", {}).status == 200
    server.session.export(tmp_path / "mine.csv")
    server.session.save_model(tmp_path / "mine.refpair")
    server.session.close()
    assert modes(tmp_path) == {
        "pool.csv": 0o666,
        "answers.sqlite": 0o600,
        "answers.refpair": 0o600,
        "mine.csv": 0o666,
        "mine.refpair": 0o666,
    }


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(mode)
    with written_whole(path) as file:
        assert set(modes(tmp_path).values()) == {mode}  # already while it is written
        file.write(b"new")
    assert path.read_text() == "new"
    assert modes(tmp_path) == {"out.csv": mode}
