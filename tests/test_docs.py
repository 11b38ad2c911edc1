"""What the pages show is what a user gets."""

import json
import pkgutil
import re
from importlib import import_module

import pytest
import yaml
from matplotlib import pyplot as plt
from typer.main import get_command

import refpair
from refpair.cli.app import app
from refpair.labeling import Session
from tests.pages import ROOT, blocks_of, fits, pages, run_page

DOCS = ROOT / "docs"
PACKAGES = [
    "refpair",
    *(f"refpair.{found.name}" for found in pkgutil.iter_modules(refpair.__path__) if found.ispkg),
]
NOT_PYTHON = {"refpair._kernels", "refpair.bits", "refpair.cli"}  # commands, and what is private
ALL_PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.rglob("*.md")),
    ROOT / "examples" / "README.md",
]


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.fixture(autouse=True)
def _no_windows(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_blocks_run_and_print_what_the_page_says(page):
    for piece in run_page(page):
        if not piece.is_right():  # plainly: pytest shows how they differ
            assert piece.printed == piece.shown, f"{name_of(page)}:{piece.line}"


def test_pages_are_found_and_wrong_ones_are_told(tmp_path):
    assert {"README.md", "docs/custom-costs.md", "docs/labeling.md", "docs/scale.md"} <= set(
        map(name_of, pages())
    )
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```\n3\n```\n\n```python no-test\n1 / 0\n```\n")
    assert [(piece.shown, piece.printed, piece.is_right()) for piece in run_page(page)] == [
        ("3\n", "2\n", False)
    ]
    page.write_text(
        "```python\nprint(2)\n```\n\nand\n\n```\n2\n```\n"
    )  # what is printed has to be right below
    assert not any(piece.is_right() for piece in run_page(page))
    ask = "$ refpair --version\n"
    page.write_text(f"```console\n$ refpair \\\n  --version\nrefpair …\n{ask}{ask}five\n```\n")
    assert [piece.is_right() for piece in run_page(page)] == [True, True, False]


@pytest.mark.parametrize(
    ("shown", "printed", "right"),
    [
        ("took … s\n", "took 1.5 s\n", True),
        ("took … s\n", "took 1.5 s\nand more\n", False),
        ("│     … │\n", "│  12.5 │\n", True),
        ("│     … │\n", "│x 12.5 │\n", False),
        ("…\nend\n", "one\ntwo\nend\n", True),
        ("…\nend\n", "one\nthe end\n", False),
    ],
)
def test_dots_stand_for_text_of_a_line_or_for_lines(shown, printed, right):
    assert fits(shown, printed) is right


def _commands():
    """All lines of pages that start the command line, in fenced and in indented blocks."""
    for page in ALL_PAGES:
        text = page.read_text()
        parts = [block.text for block in blocks_of(page) if block.info in ("sh", "console")]
        parts += re.findall(
            r"^ {4}(.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
        )
        for part in parts:
            for line in re.findall(r"^(?:\$ )?(refpair .*)$", re.sub(r"\\\n\s*", "", part), re.MULTILINE):
                yield name_of(page), line.split("#")[0].strip()


def test_commands_on_pages_have_options_that_exist():
    commands = get_command(app).commands
    lines = list(_commands())
    assert len(lines) > 20
    for page, line in lines:
        name, *words = line.split()[1:]
        assert name in commands, f"{page}: {line}"
        known = {"--help"} | {
            option for param in commands[name].params for option in [*param.opts, *param.secondary_opts]
        }
        used = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
        assert set(used) <= known, f"{page}: {line}"


@pytest.mark.parametrize("page", ALL_PAGES, ids=name_of)
def test_links_lead_to_files(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    for link in links:
        file, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", file):
            continue
        target = page.parent / file if file else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if anchor and target.suffix == ".md" and not anchor.startswith("refpair"):
            assert anchor in _anchors(target), f"{name_of(page)} links to {link}"


def _anchors(page):
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("what", ["custom-costs", "labeling", "scale"])
def test_the_readme_leads_to_ten_lines_that_run(what):
    start = (ROOT / "README.md").read_text().split("\n## ")[0]
    assert f"](docs/{what}.md)" in start
    first = next(block for block in blocks_of(DOCS / f"{what}.md") if block.info != "")
    assert first.info in ("python", "console", "sh")
    assert len(first.text.strip().splitlines()) <= 14


def test_every_public_name_is_on_an_api_page():
    shown = set()
    for page in sorted((DOCS / "api").glob("*.md")):
        shown |= set(re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE))
    objects = [_find(path) for path in shown]
    for package in sorted({*PACKAGES} - NOT_PYTHON):
        module = import_module(package)
        for name in module.__all__:
            there = f"{module.__name__}.{name}" in shown or any(getattr(module, name) is it for it in objects)
            assert there, f"{module.__name__}.{name} is on no page of docs/api"


def _find(path):
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def test_pages_have_titles_and_descriptions():
    for page in sorted(DOCS.rglob("*.md")):
        if page.parent.name == "research":
            continue
        start, head, _ = page.read_text().split("---\n", 2)
        assert start == "", name_of(page)
        about = yaml.safe_load(head)
        assert about["title"], name_of(page)
        assert len(about["description"]) > 20, name_of(page)


@pytest.mark.slow
def test_the_notebook_runs():
    names = {}
    for cell in json.loads((DOCS / "labeling.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "labeling.ipynb", "exec"), names)
    with Session.open(names["path"]) as session:
        assert session.n_answered == 60
