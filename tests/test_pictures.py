"""The pictures of the pages show what their scripts find."""

import io
import json
import re
import sys
from importlib import import_module
from xml.etree import ElementTree

import pytest

from tests.pages import ROOT

PICTURES = ROOT / "docs" / "pictures"
DRAWN = sorted(path.stem for path in PICTURES.glob("*.svg"))


@pytest.fixture
def script(monkeypatch, request):
    monkeypatch.syspath_prepend(PICTURES)
    before = set(sys.modules)
    yield import_module(request.param)
    for name in {"_drawing", request.param} - before:
        sys.modules.pop(name, None)


@pytest.mark.slow
@pytest.mark.parametrize("script", DRAWN, indirect=True)
def test_numbers_are_those_of_the_picture(script):
    kept = json.loads((PICTURES / f"{script.__name__}.json").read_text())
    assert json.loads(json.dumps(script.numbers())) == kept, f"python docs/pictures/{script.__name__}.py"
    drawn = io.BytesIO()
    script.draw(kept).savefig(drawn, format="svg")
    assert ElementTree.fromstring(drawn.getvalue()).tag.endswith("svg")


def test_pictures_have_scripts_are_small_and_are_used():
    assert len(DRAWN) >= 5
    pages = "".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    for picture in [*PICTURES.glob("*.svg"), *PICTURES.glob("*.png")]:
        assert picture.with_suffix(".py").exists()
        assert picture.stat().st_size < 150_000
        assert f"(pictures/{picture.name})" in pages
    assert not re.search(r"!\[\s*\]\(", pages)  # each says in words what it shows
