"""Processes are killed while they write, and several write at once: nothing is lost, or given twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from refpair.labeling import Session

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("REFPAIR_KILLS", "10"))
LABELS = ["joy", "anger", "calm"]

# Starts a process for each line that it reads, which is quicker than to import everything each time.
WRITER = """
import os, sys
from refpair.labeling import Session

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())  # the whole line or nothing

for line in sys.stdin:
    path, start = line.rsplit(maxsplit=1)
    child = os.fork()
    if not child:
        say("pid", os.getpid())
        with Session.open(path, labels=["joy", "anger", "calm"]) as session:
            for number in range(int(start), 10**9):
                rows = [number, f"row {number}"]
                session.tell(rows, [[number % 2, number % 3 == 0, 1], [0, 0, 0]])
                say("told", number)
                if number % 5 == 0:
                    session.skip([f"skipped {number}"])
                    say("skipped", number)
                    session.undo()
                    say("undone", number)
    os.waitpid(child, 0)
    say("dead")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_all_that_was_said_is_there_after_a_kill(tmp_path):
    rng = random.Random(0)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    lines = {}
    with subprocess.Popen([sys.executable, "-c", WRITER], **pipes) as writer:
        for kill in range(KILLS):
            # Some are killed while they make the file, others after many an answer.
            path = tmp_path / (f"new-{kill}" if kill % 3 == 0 else "old")
            seconds = rng.uniform(0.0, 0.02 if kill % 3 == 0 else 0.15)
            told = lines.setdefault(path, [])
            told += kill_after(writer, path, kill * 1_000_000, seconds)
            check(path, told)
        writer.stdin.close()
    assert sum(map(len, lines.values())) > KILLS


def kill_after(writer, path, start, seconds):
    """Return what the process had said that it had done when it was killed."""
    writer.stdin.write(f"{path} {start}\n")
    writer.stdin.flush()
    pid = int(writer.stdout.readline().split()[1])
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    lines = []
    while (line := writer.stdout.readline()) != "dead\n":
        what, number = line.split()
        lines.append((what, int(number)))
    return lines


def check(path, lines):
    with Session.open(path, labels=LABELS) as session:
        answers = session.answers()
        history = session.history
    done = Counter(zip(history["id"], history["kind"], strict=True))
    numbers = [number for what, number in lines if what == "told"]
    for number in numbers:
        assert answers.loc[number].tolist() == [number % 2, number % 3 == 0, 1]
        assert answers.loc[f"row {number}"].tolist() == [0, 0, 0]
    for what, number in lines:
        if what != "told":
            assert done[f"skipped {number}", {"skipped": "skip", "undone": "undo"}[what]] == 1
    names = {row for row in answers.index if isinstance(row, str)}
    assert names == {f"row {row}" for row in answers.index if isinstance(row, int)}  # all or none
    assert len(names) <= len(numbers) + KILLS  # nothing but what was told, or about to be


# A process with some threads, each of which has a window of its own.
WORKER = """
import json, sys, threading, time
import numpy as np
from refpair.active import RandomQuery
from refpair.labeling import Session
from tests.labeling.sessions import Commonest

path, name, n_rows, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
X = np.random.default_rng(0).standard_normal((n_rows, 2))
session = Session.open(path, X, ["joy", "anger"], estimator=Commonest(), strategy=RandomQuery(random_state=0))
session.learn()
print("ready", flush=True)
end = float(sys.stdin.readline()) + seconds
log, errors = [], []

def work(window):
    try:
        turn = 0
        while time.time() < end:
            rows = session.ask(1 + turn % 3, holder=window, wait=False)
            if not rows:
                break
            log.append((window, rows))
            answers = [[int(row % 2 == 0), int(row % 3 == 0)] for row in rows]
            session.tell(rows, answers, who=window, holder=window)
            if turn % 7 == 0:
                undone = session.undo(who=window, holder=window)
                assert undone.id == rows[-1], (undone, rows)
                assert session.ask(1, holder=window, wait=False) == rows[-1:]
                session.tell(rows[-1:], answers[-1:], who=window, holder=window)
            turn += 1
    except BaseException as error:
        errors.append(f"{window}: {error!r}")

def learn():
    try:
        while time.time() < end:
            session.learn()
            session.should_stop()
            time.sleep(0.05)
    except BaseException as error:
        errors.append(f"learning: {error!r}")

threads = [threading.Thread(target=work, args=(f"{name} {place}",)) for place in range(3)]
threads.append(threading.Thread(target=learn))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
session.close()
print(json.dumps([log, errors]))
"""


def test_many_ask_and_answer_at_once(tmp_path):
    n_rows, seconds = 6000, 2.5
    path = tmp_path / "answers.sqlite"
    root = Path(__file__).parents[2]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": root}
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(path), name, str(n_rows), str(seconds)], **pipes)
        for name in ("left", "right")
    ]
    assert [worker.stdout.readline() for worker in workers] == ["ready\n"] * 2
    now = str(time.time())
    for worker in workers:
        worker.stdin.write(now + "\n")
        worker.stdin.flush()
    results = [json.loads(worker.communicate()[0]) for worker in workers]
    logs = [one for log, _ in results for one in log]
    assert [error for _, errors in results for error in errors] == []
    given = Counter(row for _, rows in logs for row in rows)
    assert set(given.values()) == {1}  # leases are longer than this test: no row was given twice
    assert len({window for window, _ in logs}) == 6
    with Session.open(path) as session:
        answers = session.answers()
        assert set(answers.index) == set(given)
        assert (answers["joy"] == [int(row % 2 == 0) for row in answers.index]).all()
        assert (answers["anger"] == [int(row % 3 == 0) for row in answers.index]).all()
        holders = {row: window for window, rows in logs for row in rows}
        history = session.history
        assert (history["who"] == [holders[row] for row in history["id"]]).all()
        assert session.table()["who"].tolist() == [holders[row] for row in session.table()["id"]]
    assert [file.name for file in tmp_path.iterdir()] == ["answers.sqlite"]
