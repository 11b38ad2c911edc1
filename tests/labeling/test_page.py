"""The labeling page in a real browser, by keyboard."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from refpair import load
from refpair.datasets import load_dataset
from refpair.labeling import Session
from tests.labeling.browser import PATIENCE, Server, chromium

pytestmark = pytest.mark.slow

LAPTOP, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def digits():
    return load_dataset("digits")


@pytest.fixture
def server(tmp_path):
    server = Server("digits", "--session", "answers.sqlite", folder=tmp_path)
    server.start()
    server.wait()
    yield server
    server.stop()


@pytest.fixture
def browser():
    with chromium() as browser:
        yield browser


def opened(browser, address, size=LAPTOP, **how):
    page = browser.new_context(viewport=size, **how).new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on(
        "console", lambda message: page.problems.append(message.text) if message.type == "error" else None
    )
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.wait_for_selector("#row[data-id]")
    return page


def shown(page):
    """The id of the row that the page shows, once it is not busy; None if there is none."""
    page.wait_for_selector("body:not([aria-busy])")  # the page's policy allows no scripts to wait by
    return json.loads(page.get_attribute("#row", "data-id") or "null")


def chosen(page):
    """The labels that are chosen."""
    return [button.get_attribute("data-label") for button in page.query_selector_all("[aria-pressed=true]")]


def press(page, keys):
    """Press keys, and wait until the answer is saved and the next row is there."""
    for key in keys:
        page.keyboard.press(key)
    return shown(page)


def test_thirty_digits_by_keyboard(server, browser, digits, tmp_path):
    page = opened(browser, server.address)
    assert "token" not in page.url
    expected = {}
    row = shown(page)
    for _ in range(30):
        labels = [name for name, there in zip(digits.label_names, digits.Y[row], strict=True) if there]
        expected[row] = labels
        row = press(page, [*labels, "Enter"])  # the key of a label of one character is that character
    assert page.inner_text("#count").startswith("30 of 3,000 answered")

    # Enter without a label says nothing; a second look can be had with undo.
    assert press(page, ["Enter"]) == row
    assert "No label is chosen" in page.inner_text("#hint")
    last = press(page, ["u"])
    assert expected[last] == [
        b.get_attribute("data-label") for b in page.query_selector_all("[aria-pressed=true]")
    ]
    corrected = [name for name in digits.label_names if name not in expected[last]][:1]
    row = press(page, [*expected[last], *corrected, "Enter"])  # the old ones off, another one on
    expected[last] = corrected

    none_of_these, row = row, press(page, ["n"])
    skipped, row = row, press(page, ["s"])
    expected[none_of_these] = []
    assert "1 skipped" in page.inner_text("#count")

    while page.query_selector(".percent") is None:  # thirty answers may be faster than the first lesson
        page.wait_for_timeout(200)
        page.reload()
        shown(page)
        page.wait_for_selector(".toggle")
    page.keyboard.press("g")  # hides the guess
    assert page.query_selector(".percent") is None
    page.keyboard.press("g")
    page.wait_for_selector(".percent")
    page.keyboard.press("Space")  # takes it over
    assert chosen(page) or "none of these" in page.inner_text("#hint")
    assert page.inner_text("#why").startswith("Why this row?")
    page.wait_for_selector("#curve circle")
    page.screenshot(path=tmp_path / "laptop.png")
    assert page.problems == []

    with Session.open(tmp_path / "answers.sqlite") as session:
        answers = session.answers()
        assert {row: answers.columns[answers.loc[row] == 1].tolist() for row in answers.index} == expected
        history = session.history
        assert history[history["kind"] == "skip"]["id"].tolist() == [skipped]
        assert (history["who"] == "me").all()
        assert history[history["kind"] == "labels"]["model"].str.contains("answers").all()


def test_an_answer_that_breaks_a_rule_is_saved_the_second_time(browser, digits, tmp_path):
    server = Server(
        "digits", "--session", "answers.sqlite", "--rule", "at most 1", "--rule", "9 -> 8", folder=tmp_path
    )
    server.start()
    server.wait()
    page = opened(browser, server.address)
    first = shown(page)
    assert press(page, ["3", "9", "Enter"]) == first
    assert page.inner_text("#hint") == "This breaks a rule: at most 1; 9 -> 8. The same again saves it."
    assert press(page, ["3", "Enter"]) == first  # another answer is warned of anew
    assert page.inner_text("#hint") == "This breaks a rule: 9 -> 8. The same again saves it."
    second = press(page, ["Enter"])
    assert second != first
    assert press(page, ["3", "Enter"]) not in (first, second)
    assert page.problems == []
    server.stop()
    with Session.open(tmp_path / "answers.sqlite") as session:
        answers = session.answers()
        assert answers.columns[answers.loc[first] == 1].tolist() == ["9"]
        assert answers.columns[answers.loc[second] == 1].tolist() == ["3"]


def test_it_fits_a_phone(server, browser, tmp_path):
    page = opened(browser, server.address, PHONE, is_mobile=True, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    first = shown(page)
    page.tap("[data-label='3']")
    page.tap("#save")
    page.wait_for_selector(f"#row[data-id]:not([data-id='{first}'])")
    page.screenshot(path=tmp_path / "phone.png", full_page=True)
    for target in page.query_selector_all(".toggle, #actions button:not([hidden])"):
        assert target.bounding_box()["height"] >= 40  # a thumb is wide
    assert page.problems == []


def test_a_page_goes_on_when_the_server_comes_back(server, browser):
    page = opened(browser, server.address)
    row = shown(page)
    server.kill()
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem:not([hidden])")
    assert "sent again" in page.inner_text("#problem")
    server.start()
    server.wait()
    page.wait_for_selector("#problem", state="hidden")
    assert shown(page) != row
    assert page.inner_text("#count").startswith("1 of")
    assert press(page, ["u"]) == row


def test_two_windows_get_different_rows(server, browser):
    pages = [opened(browser, server.address) for _ in range(2)]
    seen = [{shown(page)} for page in pages]
    for _ in range(5):
        for page, rows in zip(pages, seen, strict=True):
            rows.add(press(page, ["1", "Enter"]))
    assert seen[0].isdisjoint(seen[1])
    before = shown(pages[0])
    pages[0].reload()
    pages[0].wait_for_selector("#row[data-id]")
    assert shown(pages[0]) == before


def test_labels_are_downloaded_and_the_model_is_saved(server, browser, digits, tmp_path):
    page = opened(browser, server.address)
    page.click("#savemodel")
    page.wait_for_selector("#hint:not(:empty)")
    assert "answer at least two rows with different labels first" in page.inner_text("#hint")
    asked = []
    for key in "1234":
        asked.append(shown(page))
        press(page, [key, "Enter"])
    page.click("#savemodel")
    page.wait_for_selector("#saved:not(:empty)")
    page.wait_for_selector("body:not([aria-busy])")
    assert page.inner_text("#saved") == "The model is in answers.refpair, beside the answers."
    page.screenshot(path=tmp_path / "saved.png")
    predicted = load(tmp_path / "answers.refpair").predict(
        pd.DataFrame(digits.X, columns=digits.feature_names)
    )
    assert list(predicted.columns) == digits.label_names
    with page.expect_download() as download:
        page.click("a[download]")
    table = pd.read_csv(download.value.path())
    assert table["id"].tolist() == asked
    assert table[digits.label_names].to_numpy().argmax(axis=1).tolist() == [1, 2, 3, 4]
    assert page.problems == [
        "Failed to load resource: the server responded with a status of 400 (Bad Request)"
    ]


def test_a_label_is_added(server, browser):
    page = opened(browser, server.address)
    page.on("dialog", lambda dialog: dialog.accept("<b>smudged</b>"))
    page.click("#addlabel")
    page.wait_for_selector("[data-label='<b>smudged</b>']")
    assert page.query_selector(".toggle b") is None
    press(page, ["a", "Enter"])  # the digits have their own keys, so it has the first letter
    assert page.inner_text("#count").startswith("1 of")


def test_after_a_restart_with_another_token_the_page_says_where_to_go(server, browser, tmp_path):
    page = opened(browser, server.address)
    row = shown(page)
    page.keyboard.press("3")
    server.stop()
    server.token = "another-token-for-tests"
    server.start()
    server.wait()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    assert press(page, ["Enter"]) == row
    assert "open the new address" in page.inner_text("#problem")
    page.screenshot(path=tmp_path / "stale.png")
    page.wait_for_timeout(1500)
    assert len(asked) == 1  # it is not sent again and again
    assert chosen(page) == ["3"]
    assert "printed in the terminal" in reloaded(page)

    fresh = page.context.new_page()  # as somebody does who follows the advice
    fresh.goto(server.address)
    fresh.wait_for_selector("#row[data-id]")
    press(page, ["Enter"])
    page.wait_for_selector("#problem", state="hidden")
    assert page.inner_text("#count").startswith("1 of")


def reloaded(page):
    """What somebody reads who opens the page again instead."""
    again = page.context.new_page()
    again.goto(page.url)
    return again.inner_text("body")
