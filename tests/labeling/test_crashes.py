"""A server that is killed at any moment loses nothing that it has acknowledged."""

from __future__ import annotations

import os
import random
import threading
import time

import httpx
import pandas as pd
import pytest

from refpair.labeling import Session
from tests.labeling.browser import Server

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("REFPAIR_KILLS", "4"))  # 200 before a release
LABELS = ["joy", "anger", "calm"]


def test_what_was_acknowledged_is_there_after_kills(tmp_path):
    draw = random.Random(0)
    n_rows = 2000 + 100 * KILLS  # more than can be answered
    cells = {"id": range(n_rows), "tempo": [draw.random() for _ in range(n_rows)]}
    pd.DataFrame(cells).to_csv(tmp_path / "songs.csv", index=False)
    server = Server("songs.csv", "--labels", ",".join(LABELS), "--session", "a.sqlite", folder=tmp_path)
    acknowledged: dict[int, list[str]] = {}
    unknown: dict[int, list[str]] = {}  # sent, but the server was killed before it could answer
    starting = 3.0
    for _ in range(KILLS):
        begin = time.monotonic()
        server.start()
        stop = threading.Event()
        person = threading.Thread(target=label, args=(server, acknowledged, unknown, stop, draw.random()))
        person.start()
        # Also while it starts; most often while answers come in.
        time.sleep(draw.uniform(0.2, 1.0) * starting if draw.random() < 0.2 else 0)
        if time.monotonic() - begin < 0.1:
            server.wait()
            starting = time.monotonic() - begin
            time.sleep(draw.uniform(0.0, 1.0))
        server.kill()
        stop.set()
        person.join()
    with Session.open(tmp_path / "a.sqlite") as session:
        answers = session.answers()
        found = {row: [name for name in LABELS if answers.loc[row, name]] for row in answers.index}
    lost = {row: labels for row, labels in acknowledged.items() if found.get(row) != labels}
    print(f"{KILLS} kills, {len(acknowledged)} acknowledged answers, {len(lost)} lost")
    assert not lost
    assert len(acknowledged) > KILLS
    # Besides those, there is nothing but what was sent.
    assert {row: found[row] for row in found.keys() - acknowledged.keys()}.items() <= unknown.items()


def label(server, acknowledged, unknown, stop, seed):
    """Answer rows until the server is killed."""
    draw = random.Random(seed)
    person = {"holder": f"holder-{draw.random()}"}
    headers = {"authorization": "Bearer a-token-for-tests-only"}
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=5.0) as client:
        while not stop.is_set():
            try:
                answer = client.post("/api/ask", json=person)
                row = answer.json()["row"]["id"]
                labels = [name for name in LABELS if draw.random() < 0.5]
                unknown[row] = labels
                answer = client.post("/api/answer", json={**person, "id": row, "labels": labels})
                assert answer.status_code == 200, answer.text
                acknowledged[row] = labels
            except httpx.TransportError:
                time.sleep(0.02)
