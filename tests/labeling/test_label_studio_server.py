"""The whole way to a real Label Studio and back, on this machine only.

pip install label-studio                     # in an environment of its own
REFPAIR_LABEL_STUDIO=.../bin/label-studio pytest tests/labeling/test_label_studio_server.py
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import time
from http.cookiejar import CookieJar
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

import numpy as np
import pandas as pd
import pytest

from refpair.labeling import label_studio
from refpair.labeling.label_studio import Annotation, labeling_config, write_tasks

EXECUTABLE = os.environ.get("REFPAIR_LABEL_STUDIO")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not EXECUTABLE, reason="REFPAIR_LABEL_STUDIO does not name a label-studio to start"),
]

PATIENCE = 300  # seconds; the first start makes a database, which takes one minute
NAMES = ["joy", "R & B", 'say "hi" <b>', "漢字", "1", " two\nlines "]
IDS = ["row/1", 7, "8", 9, "last"]
SCORES = [0.5, 0.1, 0.4, 0.2, 0.3]
PREDICTED = [
    [1, 1, 1, 1, 1, 1],
    [0, 0, 0, 0, 0, 0],
    [1, 0, 0, 0, 0, 0],
    [0, 1, 0, 1, 0, 0],
    [0, 0, 0, 0, 1, 0],
]
FRAME = pd.DataFrame(
    {
        "text": ["what a day", "leave <b>me</b> alone", "日本 & more", "“quoted”", "the end"],
        "tempo (bpm)": [120.5, np.nan, 90, 60, 1e300],
        "when": pd.to_datetime(["2026-01-01", None, "2026-01-03", "2026-01-04", "2026-01-05"]),
    }
)


class Person:
    """Somebody who is logged in."""

    def __init__(self, server, email, page):
        self.server = server
        self.cookies = CookieJar()
        # Without proxies: nothing that is said here is meant for anybody else.
        self.opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(self.cookies))
        self.send("GET", page)
        form = {"email": email, "password": server.password, "csrfmiddlewaretoken": self.csrf}
        self.send("POST", page, urlencode(form).encode(), "application/x-www-form-urlencoded")

    @property
    def csrf(self):
        return next((cookie.value for cookie in self.cookies if cookie.name == "csrftoken"), "")

    def send(self, method, path, body=None, kind="application/json"):
        headers = {"Content-Type": kind, "X-CSRFToken": self.csrf, "Referer": self.server.url}
        try:
            with self.opener.open(
                Request(self.server.url + path, body, headers, method=method), timeout=PATIENCE
            ) as answer:
                return answer.read()
        except HTTPError as error:
            raise AssertionError(f"{method} {path}: {error} {error.read().decode()[:2000]}") from None

    def ask(self, method, path, body=None):
        answer = self.send(method, path, None if body is None else json.dumps(body).encode())
        return json.loads(answer) if answer else None

    def upload(self, project, path):
        border = secrets.token_hex(16)
        head = f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"\r\n\r\n'
        body = head.encode() + path.read_bytes() + f"\r\n--{border}--\r\n".encode()
        kind = f"multipart/form-data; boundary={border}"
        return json.loads(self.send("POST", f"/api/projects/{project}/import", body, kind))

    def answer(self, task, labels, **fields):
        region = {"from_name": "labels", "to_name": "row", "type": "choices", "value": {"choices": labels}}
        body = {"result": [region] if labels else [], "lead_time": 1.5, **fields}
        return self.ask("POST", f"/api/tasks/{task}/annotations/", body)

    def next_row(self, project):
        task = self.ask("GET", f"/api/projects/{project}/next/")
        return task["data"]["refpair_id"], task["id"]

    def export(self, project, kind, path, **options):
        query = urlencode({"exportType": kind, **options})
        path.write_bytes(self.send("GET", f"/api/projects/{project}/export?{query}"))
        return path

    def snapshot(self, project, path):
        options = {"serialization_options": {"annotations__completed_by": {"only_id": False}}}
        number = self.ask("POST", f"/api/projects/{project}/exports/", options)["id"]
        path.write_bytes(self.send("GET", f"/api/projects/{project}/exports/{number}/download"))
        return path


class Server:
    """A Label Studio of its own, with an empty database, that talks to nobody but this machine."""

    def __init__(self, folder):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.url, self.password = f"http://127.0.0.1:{port}", secrets.token_hex(16)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data"),
            "COLLECT_ANALYTICS": "false",
            "LATEST_VERSION_CHECK": "false",
            "SENTRY_DSN": "",
            "FRONTEND_SENTRY_DSN": "",
        }
        command = [EXECUTABLE, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]
        command += ["--username", "ann@example.org", "--password", self.password]
        self.log = folder / "log.txt"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def wait(self):
        opener, end = build_opener(ProxyHandler({})), time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with opener.open(f"{self.url}/health", timeout=5):
                    return
            except (URLError, OSError):
                time.sleep(0.5)
        raise AssertionError(f"the server does not start:\n{self.log.read_text()[-3000:]}")

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("label-studio"))
    try:
        one.wait()
        yield one
    finally:
        one.stop()


@pytest.fixture(scope="module")
def ann(server):
    return Person(server, "ann@example.org", "/user/login/")


@pytest.fixture(scope="module")
def ben(server, ann):
    return Person(server, "ben@example.org", "/user/signup/")


def new_project(person, config, **settings):
    settings = {"title": "Songs", "label_config": config, "sampling": "Uncertainty sampling", **settings}
    return person.ask("POST", "/api/projects/", settings)["id"]


def write(path, rows=range(len(IDS)), **options):
    options = {"model_version": "first", **options}
    ids, scores, predicted = ([values[i] for i in rows] for values in (IDS, SCORES, PREDICTED))
    probabilities = np.full((len(ids), len(NAMES)), 0.5)
    write_tasks(path, FRAME.iloc[list(rows)], ids, NAMES, probabilities, predicted, scores, **options)
    return path


def read_export(path, labels):
    return pd.DataFrame(label_studio.read_export(path, labels), columns=Annotation._fields, dtype=object)


def label(ann, ben, folder):
    """Let two people label; return the project, and the rows in the order in which the first one saw them."""
    project = new_project(ann, labeling_config(NAMES, text="text"))
    # In two parts, the second of which is more urgent, so that the order is not that of the import.
    assert ann.upload(project, write(folder / "tasks.json", [0, 2, 4]))["task_count"] == 3
    assert ann.upload(project, write(folder / "more.json", [1, 3]))["task_count"] == 2
    ann.ask("PATCH", f"/api/projects/{project}/", {"model_version": "first"})
    seen = []
    for labels, fields in [(NAMES, {}), ([], {}), ([], {"was_cancelled": True}), (["joy", "漢字"], {})]:
        row, task = ann.next_row(project)
        seen.append((row, task))
        ann.answer(task, labels, **fields)
    row, task = ann.next_row(project)
    seen.append((row, task))
    ann.ask("POST", f"/api/tasks/{task}/drafts", {"result": []})  # begun, but not submitted
    ben.answer(seen[0][1], ["joy"])
    return project, seen


def test_there_and_back(tmp_path, ann, ben):
    project, seen = label(ann, ben, tmp_path)
    assert [row for row, _ in seen] == [7, 9, "last", "8", "row/1"]  # lowest score first
    answers = read_export(ann.export(project, "JSON", tmp_path / "export.json"), NAMES)
    assert list(zip(answers["id"], answers["kind"], answers["labels"], strict=True)) == [
        ("last", "skip", []),
        ("8", "labels", ["joy", "漢字"]),
        (7, "labels", NAMES),
        (7, "labels", ["joy"]),
        (9, "labels", []),
    ]
    assert list(answers["who"]) == ["1", "1", "1", "2", "1"]
    assert answers["at"].idxmax() == 3
    every = ann.export(project, "JSON", tmp_path / "all.json", download_all_tasks="true")
    assert read_export(every, NAMES).equals(answers)
    named = read_export(ann.snapshot(project, tmp_path / "snapshot.json"), NAMES)
    assert named.drop(columns="who").equals(answers.drop(columns="who"))
    assert [who.split("@")[0] for who in named["who"]] == ["ann", "ann", "ann", "ben", "ann"]
    with pytest.raises(ValueError, match="JSON_MIN"):
        read_export(ann.export(project, "JSON_MIN", tmp_path / "min.json"), NAMES)


def test_what_is_kept_of_a_row(tmp_path, ann):
    project = new_project(ann, labeling_config(NAMES, text="text"))
    ann.upload(project, write(tmp_path / "tasks.json"))
    assert ann.ask("GET", f"/api/projects/{project}/")["model_version"] == "first"
    tasks = {task["data"]["refpair_id"]: task for task in ann.ask("GET", f"/api/projects/{project}/tasks/")}
    assert set(tasks) == set(IDS)
    assert tasks[7]["data"]["tempo (bpm)"] is None
    assert tasks["last"]["data"]["tempo (bpm)"] == 1e300
    assert tasks[7]["meta"]["refpair_probabilities"] == dict.fromkeys(NAMES, 0.5)
    predictions = ann.ask("GET", f"/api/predictions/?project={project}")
    found = {one["task"]: one for one in predictions}
    for row, score, predicted in zip(IDS, SCORES, PREDICTED, strict=True):
        prediction = found[tasks[row]["id"]]
        chosen = [name for name, is_chosen in zip(NAMES, predicted, strict=True) if is_chosen]
        assert prediction["score"] == score
        assert [region["value"]["choices"] for region in prediction["result"]] == ([chosen] if chosen else [])


def test_a_table(tmp_path, ann):
    project = new_project(ann, labeling_config(NAMES))
    with pytest.raises(AssertionError, match=r"refpair_row.* key is expected in task data"):
        ann.upload(project, write(tmp_path / "without.json"))
    ann.upload(project, write(tmp_path / "tasks.json", table=True))
    assert ann.next_row(project)[0] == 7


def test_pictures(tmp_path, ann):
    config = labeling_config(NAMES, image="text", text="when")
    ann.ask("POST", "/api/projects/validate/", {"label_config": config})
    project = new_project(ann, config)
    with pytest.raises(AssertionError, match=r"when.* is of type 'NoneType'"):  # an empty cell that is shown
        ann.upload(project, write(tmp_path / "tasks.json"))


def test_sequential_sampling_serves_the_same_order(tmp_path, ann):
    project = new_project(ann, labeling_config(NAMES, text="text"), sampling="Sequential sampling")
    ann.upload(project, write(tmp_path / "tasks.json"))
    seen = []
    for _ in IDS:
        row, task = ann.next_row(project)
        seen.append(row)
        ann.answer(task, [])
    assert seen == [7, 9, "last", "8", "row/1"]
