"""Two people who label as fast as they can: no row comes twice, no answer is lost, nothing breaks."""

from __future__ import annotations

import os
import random
import statistics
import threading
import time
from collections import Counter

import httpx
import pandas as pd
import pytest

from refpair.labeling import Session
from tests.labeling.browser import Server

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("REFPAIR_HAMMER", "5"))  # 60 before a release
LABELS = ["joy", "anger", "calm"]


class Person(threading.Thread):
    """Asks, answers, skips, takes back and opens new windows, and notes what must be true in the end."""

    def __init__(self, server, name, given):
        super().__init__()
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{server.port}",
            headers={"authorization": "Bearer a-token-for-tests-only"},
            timeout=60.0,
        )
        self.name = name
        self.draw = random.Random(name)
        self.given = given  # who was given which row, of all people
        self.said = {}  # row: labels, None if skipped
        self.done = []  # rows that were answered in this window, and not taken back
        self.window = 0
        self.counts = Counter()
        self.latencies = []
        self.twice = []
        self.wrong = []

    @property
    def holder(self):
        return f"{self.name}-window-{self.window}"

    def run(self):
        end = time.monotonic() + SECONDS
        with self.client:
            while time.monotonic() < end:
                try:
                    self.step()
                except Exception as error:
                    self.wrong.append(repr(error))
                    return

    def step(self):
        chance = self.draw.random()
        if chance < 0.02:
            self.window += 1  # a row that was asked for in the old one stays there
            self.done = []
        elif chance < 0.1:
            self.undo()
        elif chance < 0.12:
            assert self.send("GET", "/api/state")["n_rows"]
        else:
            self.ask_and_answer()

    def ask_and_answer(self):
        begin = time.perf_counter()
        row = self.send("POST", "/api/ask")["row"]
        self.latencies.append(time.perf_counter() - begin)
        if row is None:
            self.counts["nothing left"] += 1
            return
        if self.given.setdefault(row["id"], self.holder) != self.holder:
            self.twice.append(row["id"])
        if self.draw.random() < 0.05:
            return  # looked at, and left
        labels = [name for name in LABELS if self.draw.random() < 0.4]
        what = {"skip": True} if self.draw.random() < 0.1 else {"labels": labels}
        for _ in range(2 if self.draw.random() < 0.1 else 1):  # a page sends it again if it is not sure
            assert self.send("POST", "/api/answer", id=row["id"], **what) == {"saved": True}
        self.said[row["id"]] = what.get("labels")
        self.done.append(row["id"])

    def undo(self):
        row = self.send("POST", "/api/undo")["row"]
        assert (row["id"] if row else None) == (self.done.pop() if self.done else None)
        if row:
            assert row["answer"] == self.said.pop(row["id"])

    def send(self, method, path, **body):
        sent = {"holder": self.holder, "who": self.name, **body} if method == "POST" else None
        answer = self.client.request(method, path, json=sent)
        self.counts[f"{path} {answer.status_code}"] += 1
        assert answer.status_code == 200, answer.text
        return answer.json()


def test_two_people_label_as_fast_as_they_can(tmp_path):
    draw = random.Random(0)
    n_rows = int(2000 + 300 * SECONDS)
    cells = {"id": range(n_rows), **{name: [draw.gauss(0, 1) for _ in range(n_rows)] for name in "abc"}}
    pd.DataFrame(cells).to_csv(tmp_path / "pool.csv", index=False)
    server = Server("pool.csv", "--labels", ",".join(LABELS), "--session", "a.sqlite", folder=tmp_path)
    server.start()
    server.wait()
    given: dict[int, str] = {}
    people = [Person(server, name, given) for name in ("Ada", "Bob")]
    try:
        for person in people:
            person.start()
        for person in people:
            person.join()
    finally:
        server.stop()
    with Session.open(tmp_path / "a.sqlite") as session:
        answers = session.answers()
        history = session.history
    found = {row: [name for name in LABELS if answers.loc[row, name]] for row in answers.index}
    said = {row: labels for person in people for row, labels in person.said.items() if labels is not None}
    skipped = {row for person in people for row, labels in person.said.items() if labels is None}
    latencies = sorted(1000 * one for person in people for one in person.latencies)
    median, slow = statistics.median(latencies), statistics.quantiles(latencies, n=20)[-1]
    print(f"\n{SECONDS:g} s, {n_rows} rows, {len(given)} given, {len(said)} answered, {len(skipped)} skipped")
    print(f"ask: median {median:.1f} ms, 95 % {slow:.1f} ms, max {latencies[-1]:.1f} ms")
    print(dict(sum((person.counts for person in people), Counter())))
    assert [person.wrong for person in people] == [[], []]
    assert [person.twice for person in people] == [[], []]
    assert found == said
    last = history[(history["kind"] != "undo") & ~history["undone"]].groupby("id").last()
    assert set(last.index[last["kind"] == "skip"]) == skipped
    assert len(said) > SECONDS
    assert "Traceback" not in server.output()
