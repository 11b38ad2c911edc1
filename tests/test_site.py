"""The site builds without warnings, and loads nothing from elsewhere."""

import os
import re
import subprocess
import sys

import pytest

from tests.labeling.browser import chromium
from tests.pages import ROOT

pytest.importorskip("material", reason="mkdocs-material is not installed")
pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_pages_load_nothing_from_other_hosts(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        for tag in re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*>", page.read_text()):
            elsewhere = re.search(r"""(?:src|href)=["']?(?:https?:)?//""", tag)
            assert not elsewhere, f"{page.relative_to(site)}: {tag}"
    assert "//" not in (site / "assets" / "refpair.css").read_text()


@pytest.mark.slow
def test_docstrings_are_shown_as_they_are_meant(site):
    for page in (site / "api").glob("*.html"):
        text = re.sub(r"<[^>]*>", "", page.read_text())
        assert not re.search(r":(?:class|meth|func|attr|mod|exc):", text), page.name
    costs = (site / "api" / "costs.html").read_text()
    assert re.search(r'<a class="autorefs[^>]*href="#refpair.get_cost"><code>get_cost</code></a>', costs)


@pytest.mark.slow
def test_what_belongs_to_the_repository_only_is_not_there(site):
    assert (site / "results" / "figures" / "comparison.webp").exists()
    assert (site / "search" / "search_index.js").exists()  # for pages that are opened as files
    assert [path for path in site.rglob("*") if path.suffix in (".py", ".sqlite")] == []


@pytest.mark.slow
def test_pages_work_as_files_fit_a_phone_and_ask_nobody(site):
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        asked, problems = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        for path in sorted([*site.glob("*.html"), *(site / "api").glob("*.html")]):
            if path.name == "404.html":  # its links are those of a server
                continue
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path.name
        assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []

        page.goto((site / "custom-costs.html").as_uri())
        page.evaluate("document.querySelector('#__search').click()")  # opens the search, as its icon does
        page.locator(".md-search__input").press_sequentially("temperature")  # it listens to keys
        page.wait_for_selector(".md-search-result__item")
        assert "matching documents" in page.inner_text(".md-search-result__meta")
        assert problems == []
