"""What the page shows of rows: as it is, whatever it is, and nothing from outside the folder."""

from __future__ import annotations

import json
import os
import struct
import zlib
from urllib.parse import quote

import pandas as pd
import pytest

from refpair.datasets.load import read_data
from refpair.labeling import Session
from refpair.labeling.shown import ShownRows
from tests.labeling.requests import LabelServer

HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg/onload=alert(1)>',
    "'; DROP TABLE events;--", "two\nlines", "tab\there", "\u202egnp.exe", "\u200b\ufeffzero width",
    "=cmd|'/C calc'!A0", "@SUM(1+1)", "+1-1", "{{nonce}}", "${alert(1)}", "javascript:alert(1)",
    "</textarea></title></style></script>", "🙂 日本語", "a,b;c|d", "\\u003cscript\\u003e", "&lt;b&gt;",
    "%3Cscript%3E", "[1]", "{}", "../../etc/passwd", "C:\\x", "\x1b[31mred",
]  # fmt: skip


def png(width=2, height=2, shade=0):
    """The smallest picture that decoders take."""

    def chunk(kind, content):
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    rows = b"".join(b"\0" + bytes([shade] * width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def fields_of(shown):
    return {field["name"]: field["value"] for field in shown["fields"]}


def shown_of(folder, frame, labels=("joy",), **how):
    path = folder / "pool.csv"
    frame.to_csv(path, index=False, lineterminator="\r\n")
    with Session.open(
        folder / "shown.sqlite", read_data(str(path)).X, labels, folder=folder, **how
    ) as session:
        return ShownRows(session.rows)


# -- cells -------------------------------------------------------------------------------------------------


def test_hostile_cells_names_ids_and_labels_come_through_to_the_letter(tmp_path):
    n = len(HOSTILE)
    frame = pd.DataFrame({"id": HOSTILE, **{name: [f"{i} {name}" for i in range(n)] for name in HOSTILE}})
    frame.to_csv(tmp_path / "hostile.csv", index=False, lineterminator="\r\n")
    server = LabelServer(
        tmp_path, (tmp_path / "hostile.csv").read_bytes().decode(), [f"label {name}" for name in HOSTILE]
    )
    server.session.learn()
    seen = set()
    for i in range(n):
        answer = server.post("/api/ask", {"holder": f"window-{i:04d}"}).json()
        row = answer["row"]
        place = HOSTILE.index(row["id"])
        assert fields_of(row) == {"id": HOSTILE[place], **{name: f"{place} {name}" for name in HOSTILE}}
        assert answer["state"]["labels"] == [f"label {name}" for name in HOSTILE]
        assert (
            server.answer(row["id"], [f"label {name}" for name in HOSTILE], holder=f"window-{i:04d}").status
            == 200
        )
        seen.add(row["id"])
    assert seen == set(HOSTILE)
    server.session.close()


def test_numbers_are_shown_as_they_are(tmp_path):
    frame = pd.DataFrame(
        {
            "big": [2**53 + 1, 2**60 + 1],  # JavaScript would round these
            "huge": ["1" * 30, "2" * 30],
            "share": [0.1 + 0.2, 1e-300],
            "whole": [1.0, None],
            "far": [float("inf"), 3.5],
            "flag": [True, False],
            "text": ["one two", "three four"],
        }
    )
    shown = shown_of(tmp_path, frame)
    first, second = (fields_of(shown.show(row)) for row in shown.rows.ids)
    assert first == {
        "big": str(2**53 + 1),
        "huge": 1.11111e29,
        "share": 0.3,
        "whole": 1,
        "far": "inf",
        "flag": "yes",
        "text": "one two",
    }
    assert (second["big"], second["whole"], second["flag"], second["share"]) == (
        str(2**60 + 1),
        None,
        "no",
        1e-300,
    )
    json.dumps([first, second], allow_nan=False)


def test_numbers_of_different_kinds_in_a_row_do_not_round_each_other(tmp_path):
    shown = shown_of(tmp_path, pd.DataFrame({"big": [2**53 + 1, 2**60 + 1], "share": [0.5, 1.5]}))
    assert [fields_of(shown.show(row))["big"] for row in shown.rows.ids] == [
        str(2**53 + 1),
        str(2**60 + 1),
    ]


def test_a_huge_cell_is_cut(tmp_path):
    shown = shown_of(tmp_path, pd.DataFrame({"text": ["word " * 30_000, "other words"], "n": [1, 2]}))
    text = fields_of(shown.show(shown.rows.ids[0]))["text"]
    assert len(text) == 100_002
    assert text.endswith(" …")


def test_of_very_many_columns_text_comes_first_and_the_rest_is_told(tmp_path):
    frame = pd.DataFrame(
        [[i + j + 1 for j in range(300)] for i in range(4)], columns=[f"c{j}" for j in range(300)]
    )
    frame["said"] = ["so good", "so bad", "so what", "so so"]
    shown = shown_of(tmp_path, frame)
    fields = shown.show(shown.rows.ids[2])["fields"]
    assert len(fields) == 201
    assert (fields[0]["name"], fields[0]["value"]) == ("said", "so what")
    assert fields[1]["name"] == "c0"
    assert fields[-1] == {"name": "…", "kind": "ignored", "value": "101 more columns are not shown"}


def test_of_many_counts_only_those_are_shown_that_are_not_zero(tmp_path):
    frame = pd.DataFrame(
        [[int(i == j) for j in range(250)] for i in range(5)], columns=[f"w{j}" for j in range(250)]
    )
    shown = shown_of(tmp_path, frame)
    assert fields_of(shown.show(shown.rows.ids[3])) == {"w3": 1}


def test_a_picture_of_columns_is_drawn(tmp_path):
    frame = pd.DataFrame(
        [[i, 2, -4, i * 0.5] for i in range(3)], columns=["p_0_0", "p_0_1", "p_1_0", "p_1_1"]
    )
    frame["name"] = ["a b", "c d", "e f"]
    shown = shown_of(tmp_path, frame)
    shown = shown.show(shown.rows.ids[1])
    assert shown["picture"] == {"pixels": [[1, 2], [-4, 0.5]], "darkest": 4.0}
    assert fields_of(shown) == {"name": "c d"}


def test_a_picture_with_gaps_and_no_light_is_drawn_too(tmp_path):
    frame = pd.DataFrame({"p_0_0": [0, 0], "p_0_1": [0, None], "p_1_0": [0, 0], "p_1_1": [0, 0], "n": [1, 2]})
    shown = shown_of(tmp_path, frame)
    assert shown.show(shown.rows.ids[1])["picture"] == {
        "pixels": [[0, 0.0], [0, 0]],
        "darkest": 1.0,
    }


def test_text_named_like_pixels_is_no_picture(tmp_path):
    names = ["p_0_0", "p_0_1", "p_1_0", "p_1_1"]
    frame = pd.DataFrame([["a", "<b>", "c", "d"], [1, 2, 3, 4]], columns=names).assign(n=[1, 2])
    shown = shown_of(tmp_path, frame)
    shown = shown.show(shown.rows.ids[0])
    assert shown["picture"] is None
    assert fields_of(shown)["p_0_1"] == "<b>"


# -- images ------------------------------------------------------------------------------------------------


@pytest.fixture
def gallery(tmp_path):
    """Pictures, things that are none, and ways out of the folder."""
    folder, outside = tmp_path / "data", tmp_path / "outside"
    (folder / "sub").mkdir(parents=True)
    outside.mkdir()
    for i, path in enumerate(
        [folder / "a.png", folder / "sub" / "b.PNG", outside / "secret.png", folder / "c d%2e.png"]
    ):
        path.write_bytes(png(shade=60 * i))
    (folder / "page.png").write_bytes(b"<html><script>alert(1)</script>")
    (folder / "drawing.svg").write_bytes(
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    )
    (folder / "words.txt").write_text("secret")
    (folder / "link.png").symlink_to(outside / "secret.png")
    (folder / "folder.png").symlink_to(outside)
    (folder / "svg.png").symlink_to(folder / "drawing.svg")
    (folder / "words.png").symlink_to(folder / "words.txt")
    (folder / "circle.png").symlink_to(folder / "circle.png")
    os.mkfifo(folder / "pipe.png")
    (folder / "directory.png").mkdir()
    return folder


INSIDE = {"a.png": 0, "sub/b.PNG": 60, "./a.png": 0, "c d%2e.png": 180}
OUTSIDE = [
    "../outside/secret.png", "sub/../../outside/secret.png", "..\\outside\\secret.png", "/etc/x.png",
    "C:\\x.png", "\\\\host\\x.png", "link.png", "folder.png/secret.png", "%2e%2e/outside/secret.png",
    "..%2foutside/secret.png", "sub/b.PNG/../../../outside/secret.png", "file:///etc/x.png",
    "http://evil.example/x.png",
]  # fmt: skip
NONE = [
    "nosuch.png", "svg.png", "words.png", "circle.png", "pipe.png", "directory.png", "a.png/x.png",
    "x\0.png", "a" * 5000 + ".png", "~/x.png",
]  # fmt: skip


def image_server(folder, cells, **how):
    frame = pd.DataFrame(
        {
            "picture": cells,
            "id": range(len(cells)),
            "n": [i * i % 7 for i in range(len(cells))],
            "words": "so what",
        }
    )
    return LabelServer(folder, frame, ["joy"], **how)


def test_images_are_served_as_what_they_are(gallery):
    server = image_server(gallery, [*INSIDE, "page.png"])
    for row, shade in enumerate(INSIDE.values()):
        field = next(field for field in server.ask_for(row)["fields"] if field["name"] == "picture")
        assert field["kind"] == "image"
        answer = server.get(field["value"])
        assert (answer.status, answer.header("content-type")) == (200, "image/png")
        assert answer.body == png(shade=shade)
        assert "sandbox" in answer.header("content-security-policy")
    # Not a picture, and not what a browser would run: the type is that of the ending, and it must not guess.
    answer = server.get(f"/image?row={len(INSIDE)}&column=picture")
    assert (answer.header("content-type"), answer.header("x-content-type-options")) == (
        "image/png",
        "nosniff",
    )
    server.session.close()


def test_a_path_that_leads_out_of_the_folder_is_an_error_at_the_start(gallery):
    for cell in OUTSIDE[:8]:
        with pytest.raises(ValueError, match=r"column 'picture', row 2: .* leads out of the folder"):
            image_server(gallery, ["a.png", cell])


def test_what_is_only_shown_cannot_lead_out_of_the_folder_either(gallery):
    cells = ["a.png", *OUTSIDE, *NONE]
    server = image_server(gallery, cells, drop=["picture"])
    assert server.get("/image?row=0&column=picture").status == 200
    for row, cell in enumerate(cells[1:], start=1):
        assert server.get(f"/image?row={row}&column=picture").status == 404, cell
        (field,) = (field for field in server.ask_for(row)["fields"] if field["name"] == "picture")
        assert field["kind"] != "image"
        assert field["value"] == cell
    server.session.close()


def test_svg_is_refused(gallery):
    server = image_server(gallery, ["drawing.svg", "a.png"])
    assert server.get("/image?row=0&column=picture").status == 404
    server.session.close()


def test_only_cells_of_columns_of_images_are_served(gallery):
    server = image_server(gallery, ["a.png", "sub/b.PNG"])
    queries = [
        "", "row=0", "column=picture", "row=&column=picture", "row=0&column=", "row=0&column=words",
        "row=0&column=id", "row=0&column=nosuch", "row=7&column=picture", "row=-1&column=picture",
        'row="0"&column=picture', "row=0.0&column=picture", "row=true&column=picture",
        "row=null&column=picture", "row=[0]&column=picture", "row={}&column=picture",
        "row=%ff&column=picture", "row=%00&column=picture", "row=0&column=picture%00",
        "row=%22%5Cud800%22&column=picture", "row=0&column=../picture", "row=NaN&column=picture",
        "row=0;column=picture", "row=" + "9" * 6000 + "&column=picture",
        "row=" + "[" * 3000 + "&column=picture", "path=a.png",
    ]  # fmt: skip
    for query in queries:
        answer = server.get(f"/image?{query}")
        assert (answer.status, answer.json()) == (404, {"error": "There is no such image."}), query
    server.session.close()


def test_an_image_that_is_gone_or_cannot_be_read_is_not_there(gallery, monkeypatch):
    server = image_server(gallery, ["a.png", "sub/b.PNG"])
    monkeypatch.setattr("pathlib.Path.read_bytes", _refused)
    assert server.get("/image?row=0&column=picture").status == 404
    (gallery / "sub" / "b.PNG").unlink()
    assert server.get("/image?row=1&column=picture").status == 404
    server.session.close()


def _refused(path):
    raise PermissionError(13, "Permission denied", str(path))


def test_ranges_of_an_image_are_not_worked_on(gallery):
    server = image_server(gallery, ["a.png", "sub/b.PNG"])
    ranges = ("Range", "bytes=" + ",".join(f"{i}-{i}" for i in range(5000)))
    answer = server.get("/image?row=0&column=picture", ranges)
    assert (answer.status, answer.body) == (200, png())
    server.session.close()


def test_ids_and_names_of_columns_are_quoted_in_addresses(tmp_path):
    (tmp_path / "a.png").write_bytes(png())
    (tmp_path / "b.png").write_bytes(png(shade=90))
    name, row = "&row=1#?<i>%\" '+/", "&column=x#?<i>%\" '+/"
    frame = pd.DataFrame({"id": [row, "other"], name: ["a.png", "b.png"]})
    server = LabelServer(tmp_path, frame.to_csv(index=False), ["joy"])
    address = next(field["value"] for field in server.ask_for(row)["fields"] if field["name"] == name)
    assert address == f"/image?row={quote(json.dumps(row), safe='')}&column={quote(name, safe='')}"
    assert server.get(address).body == png()
    server.session.close()
