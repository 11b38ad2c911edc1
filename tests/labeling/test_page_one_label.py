"""The labeling page in a real browser: one label at a time, and rows of which some labels are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refpair.labeling import Session
from tests.labeling.browser import Server, chromium
from tests.labeling.test_page import LAPTOP, PHONE, chosen, opened, press, shown

pytestmark = pytest.mark.slow

WORDS = {"spam": "win a prize", "fraud": "confirm your account", "urgent": "answer before noon"}
LABELS = list(WORDS)


@pytest.fixture(scope="module")
def mails():
    """Mails by id, and their labels."""
    Y = np.random.default_rng(0).random((60, 3)) < 0.4
    texts = [
        f"Dear number {i}, " + ", ".join(word for word, has in zip(WORDS.values(), row, strict=True) if has)
        for i, row in enumerate(Y)
    ]
    return pd.DataFrame({"id": range(60), "text": texts}), Y


@pytest.fixture
def serve(tmp_path, mails):
    servers = []

    def start(*arguments):
        mails[0].to_csv(tmp_path / "mails.csv", index=False)
        server = Server("mails.csv", "--labels", ",".join(LABELS), *arguments, folder=tmp_path)
        servers.append(server)
        server.start()
        server.wait()
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def browser():
    with chromium() as browser:
        yield browser


def answers(folder):
    with Session.open(folder / "mails.labels.sqlite") as session:
        return session.answers()


def mode(page, value):
    page.select_option("#mode", value)
    shown(page)


def states(page):
    """What the buttons of labels say."""
    return {
        button.get_attribute("data-label"): button.get_attribute("aria-pressed")
        for button in page.query_selector_all(".toggle")
    }


def test_one_label_by_keyboard(serve, browser, mails, tmp_path):
    server = serve("--label", "fraud")
    page = opened(browser, server.address)
    assert page.inner_text("#question").startswith("fraud?")
    assert not page.is_visible("#save")
    expected = {}
    row = shown(page)
    for place in range(12):
        expected[row] = int(mails[1][row, 1])
        keys = (["n", "y"], ["ArrowLeft", "ArrowRight"])[place % 2]
        row = press(page, [keys[expected[row]]])
    n_yes = sum(expected.values())
    assert page.inner_text("#count") == f"fraud: 12 of 60 answered, {n_yes} yes"
    assert press(page, ["1", "Enter", " "]) == row  # keys of the other mode
    skipped, row = row, press(page, ["s"])
    assert page.inner_text("#count").endswith("1 skipped")
    assert press(page, ["u"]) == skipped
    assert page.inner_text("#hint") == "The answer was: skipped."
    last = press(page, ["u"])
    assert page.inner_text("#hint") == f"The answer was: {['no', 'yes'][expected[last]]}."
    page.click(["#no", "#yes"][expected[last]])
    shown(page)
    found = answers(tmp_path)
    assert found["fraud"].to_dict() == expected
    assert found[["spam", "urgent"]].isna().all(axis=None)

    while page.query_selector("#question .percent") is None:
        page.wait_for_timeout(200)
        page.reload()  # stays in its mode
        page.wait_for_selector("#row[data-id]")
        shown(page)
    assert page.inner_text("#why").startswith("Why this row? The model gives fraud ")
    page.keyboard.press("g")
    assert page.query_selector("#question .percent") is None
    page.keyboard.press("g")
    page.screenshot(path=tmp_path / "one_label.png")
    assert page.problems == []


def test_answered_rows_are_reviewed(serve, browser, mails, tmp_path):
    with Session.open(tmp_path / "mails.labels.sqlite", mails[0], LABELS) as session:
        session.tell(range(60), np.ones((60, 3)))
    suspects = pd.DataFrame({"row": [8, 3, 8, 1], "label": ["fraud", "spam", "urgent", "spam"]})
    suspects.assign(wrong=[0.9, 0.8, 0.7, 0.04]).to_csv(tmp_path / "suspects.csv", index=False)
    page = opened(browser, serve("--review", "suspects.csv").address)
    assert shown(page) == 7
    assert page.inner_text("#count") == "60 of 60 answered, 2 to review"
    assert states(page) == dict.fromkeys(LABELS, "true")
    doubted = [
        button.get_attribute("data-label") for button in page.query_selector_all(".toggle:has(.right)")
    ]
    assert doubted == ["fraud", "urgent"]
    why = "Why this row? What was answered may be wrong: fraud, urgent. Correct it, or save it as it is."
    assert page.inner_text("#why") == why
    page.screenshot(path=tmp_path / "review.png")
    page.click("[data-label=fraud]")
    assert press(page, ["Enter"]) == 2
    assert press(page, ["u"]) == 7
    assert states(page)["fraud"] == "false"
    assert press(page, ["Enter"]) == 2
    press(page, ["Enter"])  # it is right
    assert page.inner_text("#count") == "60 of 60 answered"
    assert page.is_visible("text=There is nothing left to ask")
    found = answers(tmp_path)
    assert found.loc[7].tolist() == [1, 0, 1]
    assert (found.drop(index=7) == 1).all(axis=None)
    assert page.problems == []


def test_a_row_with_known_labels_shows_which_are_unknown(serve, browser, mails, tmp_path):
    with Session.open(tmp_path / "mails.labels.sqlite", mails[0], LABELS) as session:
        session.tell([1], [{"fraud": True, "urgent": False}])
        session.skip([row for row in range(60) if row != 1])
    page = opened(browser, serve().address)
    assert shown(page) == 1
    assert states(page) == {"spam": "mixed", "fraud": "true", "urgent": "false"}
    assert page.inner_text("[data-label=spam] .unknown") == "?"
    assert page.inner_text("#none").startswith("None of those with ?")
    page.screenshot(path=tmp_path / "partial.png")
    press(page, ["n"])  # leaves what is known
    assert answers(tmp_path).loc[1].tolist() == [0, 1, 0]
    assert press(page, ["u"]) == 1
    assert states(page)["fraud"] == "true"
    page.keyboard.press("1")
    assert states(page)["spam"] == "true"
    press(page, ["Enter"])
    assert answers(tmp_path).loc[1].tolist() == [1, 1, 0]
    assert "left to ask" in page.inner_text("#row")
    assert page.problems == []


def test_an_added_label_is_unknown_in_old_rows_and_asked_for_on_its_own(serve, browser, tmp_path):
    page = opened(browser, serve().address)
    old = [shown(page)]
    for _ in range(3):
        old.append(press(page, ["1", "Enter"]))
    old = old[:3]
    page.on("dialog", lambda dialog: dialog.accept("awe"))
    page.click("#addlabel")
    page.wait_for_selector("[data-label=awe]")
    shown(page)
    assert "3 of them in part" in page.inner_text("#count")
    mode(page, '"awe"')
    assert page.inner_text("#count").startswith("awe: 0 of 60 answered")
    asked = {}
    while (row := shown(page)) is not None:
        asked[row] = "y" if row in old else "n"
        press(page, [asked[row]])
    assert set(old) <= set(asked)
    assert "left to ask" in page.inner_text("#row")
    press(page, ["y"])  # about nothing
    assert page.problems == []
    found = answers(tmp_path)
    assert {row: "ny"[has] for row, has in found["awe"].items()} == asked
    assert found.loc[old, LABELS].to_numpy().tolist() == [[1, 0, 0]] * 3
    mode(page, "null")
    assert page.is_visible("#save")


def test_nothing_is_lost_in_one_label_mode_when_the_server_is_killed(serve, browser, tmp_path):
    server = serve("--label", "urgent")
    page = opened(browser, server.address)
    row = shown(page)
    server.kill()
    page.keyboard.press("y")
    page.wait_for_selector("#problem:not([hidden])")
    server.start()
    server.wait()
    page.wait_for_selector("#problem", state="hidden")
    after = shown(page)
    assert after != row
    assert answers(tmp_path)["urgent"].to_dict() == {row: 1}
    server.kill()
    server.start()
    server.wait()
    assert press(page, ["u"]) == row
    assert page.inner_text("#hint") == "The answer was: yes."


def test_undo_of_an_answer_about_other_labels_shows_all(serve, browser):
    page = opened(browser, serve("--label", "spam").address)
    first = shown(page)
    press(page, ["y"])
    mode(page, "null")
    second = shown(page)
    press(page, ["2", "Enter"])
    mode(page, '"urgent"')
    assert press(page, ["u"]) == second
    assert page.is_visible("#save")
    assert "fraud" in chosen(page)
    assert press(page, ["u"]) == first
    assert chosen(page) == ["spam"]


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_one_label_fits(serve, browser, tmp_path, size):
    page = opened(browser, serve("--label", "fraud").address, size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for button in ("#yes", "#no", "#skip", "#undo"):
        box = page.query_selector(button).bounding_box()
        assert box["height"] >= 40
        assert box["y"] + box["height"] <= size["height"]
    page.screenshot(path=tmp_path / "fits.png")
