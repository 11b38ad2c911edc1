"""Published pages say what the stored results say, and the repository stays small."""

import importlib
import re
import subprocess

import pytest

from benchmarks import report
from benchmarks.common import ROOT, Results, read_table, records, stored, tell_origin

WITH_BLOCKS = [page for page in report.pages() if "<!-- results:" in page.read_text(encoding="utf-8")]
STORED = stored()


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_says_what_is_stored(page):
    text = page.read_text(encoding="utf-8")
    assert report.fill(text) == text, "run make bench-report"


def test_results_are_on_pages():
    found = {name for page in WITH_BLOCKS for name in re.findall(r"<!-- results:(\S+) -->", page.read_text())}
    unused = {
        name for name in report.BLOCKS if name not in found and not name.startswith(("origin-", "panels-"))
    }
    assert unused == set()
    for page in WITH_BLOCKS:  # all have an end
        text = page.read_text(encoding="utf-8")
        names = re.findall(r"<!-- results:(.*?) -->", text)
        assert names == re.findall(r"<!-- /results:(.*?) -->", text)
        assert report.BLOCKS.keys() >= {*names}
    assert ROOT / "benchmarks" / "README.md" in WITH_BLOCKS


def test_blocks_are_made_where_they_stand():
    inline = "Of <!-- results:bits-range -->{}<!-- /results:bits-range --> times\n\n"
    table = "<!-- results:bits -->\n{}<!-- /results:bits -->\n"
    filled = report.fill(inline.format(7) + table.format(""))
    made = {name: report.BLOCKS[name]() for name in ("bits-range", "bits")}
    assert filled == inline.format(made["bits-range"]) + table.format(f"\n{made['bits']}\n\n")
    assert report.fill(filled) == filled
    with pytest.raises(ValueError, match="no results 'bit'; there are new-data"):
        report.fill("<!-- results:bit --><!-- /results:bit -->")
    with pytest.raises(ValueError, match="inside a line"):
        report.fill("- <!-- results:bits-range --><!-- /results:bits-range -->")


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_stored_table_says_how_it_was_made(path):
    module = re.match(
        r"Measured with `python -m (benchmarks\.\w+)[^`]*` at commit \w+ on 20..-..-..: ", tell_origin(path)
    ).group(1)
    assert callable(importlib.import_module(module).main)
    assert len(read_table(path)) > 0


@pytest.mark.parametrize("name", ["some.csv", "some.csv.gz"])
def test_results_are_stored_one_by_one(tmp_path, name):
    results = Results(tmp_path / name)
    results.add(data="flags", seconds=1.23456789, chosen='{"C": null}', same=None)
    results.add(data="yeast", seconds=0.5, chosen="NA", same=3)
    found = read_table(tmp_path / name)
    assert found["seconds"].tolist() == [1.23457, 0.5]
    assert found["chosen"].tolist() == ['{"C": null}', "NA"]
    assert found["same"].isna().tolist() == [True, False]
    assert records(found.set_index("data"))[1]["data"] == "yeast"
    again = Results(tmp_path / name, go_on=True)
    assert again.has(data="yeast", seconds=0.5)
    assert not again.has(data="yeast", seconds=1)
    assert not Results(tmp_path / name).has(data="yeast")
    assert " at commit " in tell_origin(tmp_path / name)


def test_figures_of_pages_are_there_and_small():
    expected = {path for path, _ in report.figures()}
    folder = ROOT / "docs" / "results"
    assert set(folder.rglob("figures/*")) == expected
    assert max(path.stat().st_size for path in expected) < 60_000


def test_what_is_tracked_is_small():
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, cwd=ROOT, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert sum(file.stat().st_size for file in files if file.exists()) < 6_000_000
