"""Reports: what they say, and the files they are."""

import re
import sys
from html.parser import HTMLParser

import pandas as pd
import pytest

from refpair.experiments.report.comparison import compare_section
from refpair.experiments.report.pages import write_report
from refpair.experiments.report.sections import (
    About,
    Section,
    SectionFigure,
    describe_missing,
    describe_runs,
)
from refpair.experiments.report.studies import code_length_section, relevant_set_section
from refpair.experiments.report.table import ResultTable
from refpair.experiments.runner import describe_machine
from tests.experiments.fake import LENGTHS, make_results

DECODERS = ("CSRPE-nearest", "CSRPE-posterior")
EXTENDED = ("CSRPE-nearest", "CSRPE-ext-nearest", "CSRPE-posterior", "CSRPE-ext-posterior")


@pytest.fixture
def about():
    return About([("Command", "refpair <x>"), ("Machine", "a laptop")], ["Mind <this>."])


def headings(section):
    return [part.heading for part in section.parts]


class Checker(HTMLParser):
    """Checks that elements are closed, and collects ids, links and what would be loaded from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.loaded = [], [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if tag == "a" else []
        self.loaded += [attrs["src"]] if "src" in attrs else []
        self.loaded += [tag] if tag in ("link", "script", "img") else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check_page(text):
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert len(set(checker.ids)) == len(checker.ids)
    assert {link[1:] for link in checker.links} <= set(checker.ids)
    assert checker.loaded == []
    return checker


# ---- what is said ----


def test_a_whole_comparison():
    section = compare_section(make_results(["yeast", "scene", "Corel5k"], n_ours=8))
    assert headings(section) == ["Scores", "Tests", "Ranks", "Beside the paper", "Times and parameters"]
    assert [table.name for table in section.tables] == ["summary-compare"]
    splits = section.parts[0].tables[-1]
    assert splits.title == "Random half splits"
    assert splits.shown.loc["yeast"].tolist() == ["5"] * 6 + ["8"] * 2
    names = [table.name for table in section.parts[1].tables]
    decoders = [name.removeprefix("CSRPE-") for name in DECODERS[::-1]]
    assert names == [f"{kind}-CSRPE-{name}" for name in decoders for kind in ("t-tests", "best")]
    assert "Friedman's test that all are alike: p < 0.001." in section.parts[2].tables[0].note


def test_on_how_many_splits():
    results = make_results(["yeast", "flags"], ["f1", "rank"], ["BR", "CC"])
    assert not any(table.name == "splits" for table in compare_section(results).parts[0].tables)
    few = results[(results["algorithm"] == "BR") | (results["split"] < 2) | (results["cost"] == "f1")]
    section = compare_section(few[(few["data"] == "flags") | (few["algorithm"] == "CC")])
    assert section.tables[0].shown["splits"].to_dict() == {"BR": "5", "CC": "2 to 5"}
    table = section.parts[0].tables[-1]
    assert table.shown.to_dict("index") == {
        "flags": {"BR": "5", "CC": "2 to 5"},
        "yeast": {"BR": "–", "CC": "2 to 5"},
    }
    assert table.values["splits"].tolist().count(2) == 2


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (make_results(["yeast"], ["f1"], ["CSRPE-nearest"]), ["Scores", "Beside the paper"]),
        (make_results(["birds"], ["f1"], ["BR"], n_splits=1), ["Scores"]),
        (make_results(["yeast"], algorithms=["BR", "CC"]), ["Scores", "Tests", "Ranks", "Beside the paper"]),
        (make_results(["birds"], algorithms=DECODERS), ["Scores", "Tests", "Ranks"]),
        (make_results(["yeast"], n_splits=1), ["Scores", "Ranks", "Beside the paper"]),
    ],
)
def test_small_comparisons(results, expected, tmp_path, about):
    section = compare_section(results)
    assert headings(section) == [*expected, "Times and parameters"]
    write_report(tmp_path, "Small", [section], about)
    check_page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_algorithms_that_share_no_cell():
    results = pd.concat(
        [make_results(["yeast"], algorithms=["BR"]), make_results(["flags"], algorithms=["CC", DECODERS[0]])]
    )
    section = compare_section(results)
    assert headings(section) == ["Scores", "Tests", "Beside the paper", "Times and parameters"]
    section = compare_section(results[results["algorithm"] != "CC"])
    assert headings(section) == ["Scores", "Beside the paper", "Times and parameters"]
    assert section.tables[0].shown["mean rank"].tolist() == ["–", "–"]


def test_a_single_split_is_no_test():
    for n_ours in (1, 20):  # whatever ours has alone
        section = compare_section(make_results(["yeast"], ["f1"], n_splits=1, n_ours=n_ours))
        assert section.tables[0].shown.loc["CSRPE-posterior", "wins/ties/losses"] == "–"
        tests = [table for part in section.parts if part.heading == "Tests" for table in part.tables]
        assert len(tests) == (0 if n_ours == 1 else 2)  # the decoders against each other


def test_some_cells_have_too_few_splits():
    results = make_results(["yeast", "flags"], ["f1"], ["BR", "CSRPE-nearest"], n_splits=3)
    results = results[(results["data"] == "yeast") | (results["algorithm"] != "BR") | (results["split"] == 0)]
    results.loc[(results["data"] == "flags") & (results["algorithm"] == "BR"), "score"] = 1.0
    shown = compare_section(results).tables[0].shown
    assert shown.loc["CSRPE-nearest", "not tested"] == "1"


@pytest.mark.parametrize(
    ("algorithms", "expected"),
    [
        (["BR", "mine:B", "mine:A"], ["mine:B", "mine:A"]),
        (["BR", "PCC", "CC"], ["PCC"]),
        (["BR", "mine:A", "CSRPE-nearest"], ["CSRPE-nearest"]),
    ],
)
def test_whose_wins_are_told(algorithms, expected):
    results = make_results(["yeast"], ["f1"], algorithms)
    results.loc[results["algorithm"] == "PCC", "score"] += 0.3
    section = compare_section(results)
    tables = [table.name for table in section.parts[1].tables if table.name.startswith("t-tests")]
    assert tables == [f"t-tests-{name.replace(':', '-')}" for name in expected]


def test_costs_and_models_of_ones_own(tmp_path, about):
    costs = ["tests.experiments.own:misses", "tests.experiments:own.misses"]
    results = make_results(["yeast"], costs, ["mine:Model", *DECODERS])
    write_report(tmp_path, "Own", [compare_section(results)], about)
    name = "comparison-tests-experiments-own-misses"
    assert {f"{name}.csv", f"{name}-2.csv"} <= {file.name for file in tmp_path.iterdir()}
    assert "tests.experiments.own:misses ↓" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_names_that_look_like_html(tmp_path, about):
    nasty = "--><script>alert(1)</script>"
    results = make_results(["yeast"], ["f1"], ["BR", "CC"], lengths=(100,)).replace(
        {"yeast": nasty, "BR": nasty}
    )
    curves = make_results(["yeast"], ["f1"], DECODERS, lengths=(100, 300)).replace({"yeast": nasty})
    sections = [compare_section(results), code_length_section(curves)]
    write_report(tmp_path, nasty, sections, about)
    check_page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_how_long_codes_must_be():
    results = make_results(["yeast", "flags"], ["f1", "rank"], DECODERS, lengths=LENGTHS)
    section = code_length_section(results)
    assert headings(section) == ["F1 score ↑", "Rank loss ↓", "Times"]
    shown = section.tables[0].shown
    assert shown.index.tolist() == list(DECODERS)
    assert shown["curves"].tolist() == ["4", "4"]
    slope = results.assign(score=results["n_bits"] / 1e4)
    shown = code_length_section(slope[slope["cost"] == "f1"]).tables[0].shown
    assert shown.loc["CSRPE-nearest"].tolist() == ["2", "0", "2", "0"]
    short = code_length_section(results[results["n_bits"] <= 3000]).tables[0].shown
    assert short.loc["CSRPE-nearest"].tolist() == ["4", "0", "0", "4"]


def test_codes_that_run_out_of_pairs():
    results = make_results(["yeast", "flags"], ["f1"], DECODERS[:1], lengths=LENGTHS)
    there = {"yeast": 5000, "flags": 640}
    capped = results["n_bits"] > results["data"].map(there)
    noted = results.assign(chosen=results["chosen"].where(~capped, '{"n_bits": 640}'))
    section = code_length_section(noted)
    assert section.tables[0].shown.loc[DECODERS[0], ["curves", "cannot tell"]].tolist() == ["2", "1"]
    shown = section.parts[0].tables[0].shown.loc["flags nearest"]
    assert [length for length in LENGTHS if shown[str(length)] != "–"] == [50, 100, 200, 500]
    tiny = noted.assign(chosen='{"n_bits": 6}')
    assert code_length_section(tiny).parts[0].tables[0].shown.columns.tolist() == ["50", "flat from"]


def test_a_curve_that_rises_to_its_end_is_not_flat():
    results = make_results(["yeast"], ["f1"], DECODERS[:1], lengths=LENGTHS)
    table = code_length_section(results.assign(score=results["n_bits"] / 1e4)).parts[0].tables[0]
    assert table.shown["flat from"].tolist() == ["not before 5000"]
    assert table.style["flat from"].tolist() == [""]
    single = code_length_section(results[results["n_bits"] == 50])
    assert single.tables[0].shown.empty


def test_what_the_relevant_set_changes():
    results = make_results(["yeast", "flags"], algorithms=EXTENDED)
    section = relevant_set_section(results)
    summary = section.tables[0].shown
    assert summary.index.tolist() == ["nearest", "posterior"]
    assert summary["cells"].tolist() == ["8", "8"]
    assert sum(map(int, summary.loc["nearest", "wins/ties/losses"].split("/"))) == 8
    assert len(section.tables) == 1 + 4
    worse = results.assign(score=results["score"].where(~results["algorithm"].str.contains("ext"), 0.0))
    worse = relevant_set_section(worse[worse["cost"] == "f1"]).tables[0].shown
    assert worse.loc["nearest", ["better", "median gain"]].tolist() == ["0", "−100.0 %"]
    single = relevant_set_section(results[results["split"] == 0]).tables[0].shown
    assert single.loc["nearest", "wins/ties/losses"] == "0/0/0"
    nothing = results.assign(score=results["algorithm"].str.contains("ext").astype(float))
    assert relevant_set_section(nothing).tables[0].shown.loc["nearest", "median gain"] == "–"
    alone = relevant_set_section(results[results["algorithm"] == "CSRPE-nearest"])
    assert alone.tables == []


@pytest.mark.parametrize("section_of", [compare_section, code_length_section, relevant_set_section])
def test_no_results(section_of):
    section = section_of(make_results(["yeast"])[:0])
    assert (section.text, section.tables) == ("There are no results yet.", ())


# ---- where results come from ----


def test_what_a_report_tells_of_its_runs():
    results = make_results(["yeast"], ["f1"], ["BR"], n_splits=3)
    machine = describe_machine()
    for word in ("core", "Python 3.", "refpair 0.", "numpy", "scipy", "scikit-learn", "numba"):
        assert word in machine
    rows = describe_runs(results, command="x", settings="y", machines=[machine, "another"], sources=["ab12"])
    assert [name for name, _ in rows] == [
        "Command", "Settings", "Machine", "Machine", "Sources", "Results", "Splits", "Time",
    ]  # fmt: skip
    assert dict(rows)["Results"] == "3"
    assert dict(rows)["Splits"] == "half and half, random; seeds 0 to 2"
    some = results.assign(split=[0, 1, 7])
    assert dict(describe_runs(some, command="", settings="", machines=[], sources=[]))["Splits"].endswith(
        "seeds 0 to 1, 7"
    )
    nothing = describe_runs(results[:0], command="x", settings="y", machines=[], sources=[])
    assert nothing == [("Command", "x"), ("Settings", "y"), ("Results", "0")]


def test_what_is_missing():
    planned = make_results(["yeast", "flags"], ["f1", "rank"], ["BR", "CC"])
    there = planned[(planned["algorithm"] == "BR") | (planned["data"] == "flags") | (planned["split"] > 2)]
    assert describe_missing("x", planned, there) == ["x: missing are 6 of 20 results of CC, on yeast."]
    assert describe_missing("x", planned, planned) == []
    assert describe_missing("x", planned, planned[:0]) == [
        "x: missing are 20 of 20 results of BR, CC, on yeast, flags."
    ]


# ---- files ----


def test_the_files_of_a_report(tmp_path, about):
    results = make_results(["yeast", "flags"], ["f1"], ["BR", "CC", "CSRPE-nearest"])
    folder = tmp_path / "new" / "folder"
    for _ in range(2):  # the second time they are replaced
        write_report(folder, "A <report>", [compare_section(results)], about)
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    tables = {"comparison-f1", "t-tests-CSRPE-nearest", "best-CSRPE-nearest", "ranks", "against-paper-f1"}
    tables |= {"times-compare", "parameters", "summary-compare"}
    assert files == {
        ".report-files",
        "report.html",
        "report.md",
        "figures/comparison.svg",
        "figures/ranks.svg",
    } | {f"{name}.{kind}" for name in tables for kind in ("csv", "tex")}
    page = (folder / "report.html").read_text(encoding="utf-8")
    checker = check_page(page)
    assert len(checker.links) == 7
    assert page.count("<svg") == 2
    assert "<title>A &lt;report&gt;</title>" in page
    assert "refpair &lt;x&gt;" in page
    assert "<dt>Machine</dt><dd>a laptop</dd>" in page
    assert "<p>Mind &lt;this&gt;.</p>" in page
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((.*?)\)", markdown) == ["figures/comparison.svg", "figures/ranks.svg"]
    assert (folder / "figures" / "ranks.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_the_same_results_give_the_same_files(tmp_path, about):
    results = make_results(["yeast"], ["f1"], DECODERS, lengths=(100, 4000))
    for name in "ab":
        write_report(tmp_path / name, "Twice", [code_length_section(results)], about)
    for file in (tmp_path / "a").rglob("*.*"):
        assert file.read_bytes() == (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes()


def test_a_report_without_matplotlib(tmp_path, about, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    results = make_results(["yeast"], ["f1"], ["BR", "CSRPE-nearest"])
    write_report(tmp_path, "Plain", [compare_section(results)], about)
    assert not (tmp_path / "figures").exists()
    for name in ("report.html", "report.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "There are no figures: plotting needs matplotlib" in text
        assert "svg" not in text.partition("</style>")[2]


def test_a_file_is_whole_or_not_there(tmp_path, about, monkeypatch):
    write_report(tmp_path, "First", [], about)
    before = (tmp_path / "report.html").read_bytes()
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report(tmp_path, "Second", [], about)
    assert (tmp_path / "report.html").read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == [".report-files", "report.html", "report.md"]


def test_files_of_a_former_report_go(tmp_path, about):
    folder = tmp_path / "report"
    outside, mine = tmp_path / "outside.csv", folder / "mine.csv"
    curves = make_results(["yeast"], ["f1"], ["CSRPE-nearest"], lengths=(100, 4000))
    write_report(folder, "First", [code_length_section(curves)], about)
    assert (folder / "figures" / "code-length-f1.svg").exists()
    assert (folder / "times-code-length.csv").exists()
    for file in (outside, mine):
        file.write_text("kept", encoding="utf-8")
    with (folder / ".report-files").open("a", encoding="utf-8") as listed:
        listed.write("../outside.csv\nREPORT.html\ngone.csv\n")
    write_report(folder, "Second", [], about)
    files = {file.name for file in folder.rglob("*") if file.is_file()}
    assert files == {".report-files", "mine.csv", "report.html", "report.md"}
    assert outside.exists()


def test_names_of_files_are_kept_apart(tmp_path, about):
    shown = pd.DataFrame({"a": ["1"]}, index=pd.Index(["x"], name="data"))
    tables = [ResultTable(name, name, "", shown, shown) for name in ("scores", "Scores", "scores")]
    section = Section("One", tables=tables[:1], parts=[Section("Two", tables=tables[1:])])
    write_report(tmp_path, "Names", [section], about)
    assert {file.stem for file in tmp_path.glob("*.csv")} == {"scores", "Scores-2", "scores-3"}


def test_mistakes_in_drawing_are_not_hidden(tmp_path, about):
    figure = SectionFigure("broken", "caption", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(tmp_path, "Broken", [Section("One", figures=[figure])], about)
