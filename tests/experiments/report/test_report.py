"""Reports: what they say, and the files they are."""

import re
import sys
from html.parser import HTMLParser

import pandas as pd
import pytest

from refpair.experiments.report import (
    About,
    Section,
    SectionFigure,
    code_length_section,
    compare_section,
    relevant_set_section,
    write_report,
)
from refpair.experiments.report.tables import ResultTable
from tests.experiments.fake import GREATER, LENGTHS, make_results

DECODERS = ("CSRPE-nearest", "CSRPE-posterior")
EXTENDED = ("CSRPE-nearest", "CSRPE-ext-nearest", "CSRPE-posterior", "CSRPE-ext-posterior")


@pytest.fixture
def about():
    return About("refpair <x>", ["a laptop"], "9 bits", [0, 1, 2, 7], {"BR": 7200.0}, n_results=12)


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
    section = compare_section(make_results(["yeast", "scene", "Corel5k"], n_ours=8), GREATER)
    assert headings(section) == ["Scores", "Tests", "Ranks", "Beside the paper", "Times and parameters"]
    extent, posterior, nearest = section.paragraphs
    assert extent.startswith("8 algorithms, 3 data sets and 4 costs; BR, ")
    assert "on 5 random half splits and CSRPE-nearest and CSRPE-posterior on 8" in extent
    splits = section.parts[0].tables[-1]
    assert splits.title == "Random half splits"
    assert splits.shown.loc["yeast"].tolist() == ["5"] * 6 + ["8"] * 2
    best, cells, level = map(int, re.findall(r"\d+", posterior)[:3])
    assert posterior.startswith(f"CSRPE-posterior has the best mean in {best} of 12 cells and is level with")
    assert cells == 12
    assert f"loses in {12 - best - level} cells: Hamming loss on Corel5k (to BR, RAkEL, HAMR and" in posterior
    assert nearest.startswith("CSRPE-nearest has")
    tests = section.parts[1]
    assert "the paper" not in tests.paragraphs[0]
    assert len(tests.tables) == 4
    tests = compare_section(make_results(n_splits=2), GREATER).parts[1]
    assert "the paper's CSRPE wins 166, ties 38 and loses 36 of its 240." in tests.paragraphs[0]


def test_on_how_many_splits():
    results = make_results(["yeast", "flags"], ["f1", "rank"], ["BR", "CC"])
    assert not any(table.name == "splits" for table in compare_section(results, GREATER).parts[0].tables)
    few = results[(results["algorithm"] == "BR") | (results["split"] < 2) | (results["cost"] == "f1")]
    section = compare_section(few[(few["data"] == "flags") | (few["algorithm"] == "CC")], GREATER)
    assert "; CC on 2 to 5 random half splits and BR on 5 random half splits. " in section.paragraphs[0]
    table = section.parts[0].tables[-1]
    assert table.shown.to_dict("index") == {
        "flags": {"BR": "5", "CC": "2 to 5"},
        "yeast": {"BR": "–", "CC": "2 to 5"},
    }
    assert table.values["splits"].tolist().count(2) == 2


def test_one_that_never_loses():
    results = make_results(["yeast"], ["f1"])
    text = compare_section(results, GREATER).paragraphs[1]
    assert text.startswith("CSRPE-posterior has the best mean in 1 of 1 cell and is level")
    assert text.endswith(" 0 more; it never loses.")


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (make_results(["yeast"], ["f1"], ["CSRPE-nearest"]), ["Scores", "Beside the paper"]),
        (make_results(["birds"], ["f1"], ["BR"], n_splits=1), ["Scores"]),
        (make_results(["yeast"], algorithms=["BR", "CC"]), ["Scores", "Tests", "Ranks", "Beside the paper"]),
        (make_results(["birds"], algorithms=DECODERS), ["Scores", "Tests", "Ranks"]),
        (make_results(["yeast"], n_splits=1), ["Scores", "Tests", "Ranks", "Beside the paper"]),
    ],
)
def test_small_comparisons(results, expected, tmp_path, about):
    section = compare_section(results, GREATER)
    assert headings(section) == [*expected, "Times and parameters"]
    write_report(tmp_path, "Small", [section], about=about)
    check_page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_algorithms_that_share_no_cell():
    results = pd.concat(
        [make_results(["yeast"], algorithms=["BR"]), make_results(["flags"], algorithms=["CC", DECODERS[0]])]
    )
    section = compare_section(results, GREATER)
    assert headings(section) == ["Scores", "Tests", "Beside the paper", "Times and parameters"]
    section = compare_section(results[results["algorithm"] != "CC"], GREATER)
    assert headings(section) == ["Scores", "Beside the paper", "Times and parameters"]


def test_a_single_split_is_no_test():
    for n_ours in (1, 20):  # whatever ours has alone
        section = compare_section(make_results(["yeast"], ["f1"], n_splits=1, n_ours=n_ours), GREATER)
        assert section.paragraphs[1] == (
            "CSRPE-posterior has the best mean in 1 of 1 cell. No test is possible with one split."
        )
        tests = section.parts[1]
        assert tests.paragraphs == ["No test is possible with one split."]
        assert len(tests.tables) == (0 if n_ours == 1 else 2)  # the decoders against each other
    decoders = compare_section(make_results(["yeast"], ["f1"], DECODERS, n_splits=1), GREATER).parts[1]
    assert decoders.paragraphs == ["No test is possible with one split."]


def test_some_cells_have_too_few_splits():
    results = make_results(["yeast", "flags"], ["f1"], ["BR", "CSRPE-nearest"], n_splits=3)
    results = results[(results["data"] == "yeast") | (results["algorithm"] != "BR") | (results["split"] == 0)]
    results.loc[(results["data"] == "flags") & (results["algorithm"] == "BR"), "score"] = 1.0
    section = compare_section(results, GREATER)
    assert section.paragraphs[1].endswith(
        "In 1 more cell a single split that it shares with a better one cannot tell level from worse."
    )
    assert "of its 1 comparison with BR." in section.parts[1].paragraphs[0]


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
    section = compare_section(results, GREATER)
    tables = [table.name for table in section.parts[1].tables if table.name.startswith("t-tests")]
    assert tables == [f"t-tests-{name.replace(':', '-')}" for name in expected]
    assert [text.partition(" ")[0] for text in section.paragraphs[1:]] == expected


def test_the_paper_is_beside_its_own_costs_only():
    results = make_results(costs=["f1"], n_splits=2)
    assert (
        "the paper's CSRPE wins 54, ties 5 and loses 1 of its 60."
        in compare_section(results, GREATER).parts[1].paragraphs[0]
    )
    others = results[~results["algorithm"].isin(DECODERS)]
    assert "the paper" not in compare_section(others, GREATER).parts[1].paragraphs[0]


def ranks_text(scores, datas):
    results = make_results(datas, ["f1"], list(scores), n_splits=1)
    results["score"] = results["algorithm"].map(scores)
    (section,) = (part for part in compare_section(results, GREATER).parts if part.heading == "Ranks")
    return section.paragraphs[0]


def test_what_ranks_tell():
    alone = ranks_text({"BR": 0.5, "CC": 0.6}, ["yeast"])
    assert alone.startswith("Over the 1 cell that all algorithms have, CC has the best mean rank, 1.00. ")
    assert alone.endswith(
        "differ from 1.96 on, and those of 2 algorithms cannot: so few cells can tell nothing."
    )
    datas = [f"data {i}" for i in range(30)]
    both = ranks_text({"BR": 0.6, "CC": 0.6, "PCC": 0.5}, datas)
    assert "BR and CC have the best mean rank, 1.50. " in both
    assert both.endswith(": PCC is worse.")
    assert "PCC" not in ranks_text({"BR": 0.6, "CC": 0.6}, datas)
    level = ranks_text({"BR": 0.7, "CC": 0.6, "PCC": 0.5}, datas[:4])
    assert level.endswith("on: CC cannot be told from BR.")


def test_costs_and_models_of_ones_own(tmp_path, about):
    results = make_results(["yeast"], ["mine:a", "mine-a"], ["mine:Model", *DECODERS])
    section = compare_section(results, {"mine:a": False, "mine-a": True})
    write_report(tmp_path, "Own", [section], about=about)
    assert {"comparison-mine-a.csv", "comparison-mine-a-2.csv"} <= {file.name for file in tmp_path.iterdir()}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "mine:a ↓" in page
    assert "mine-a ↑" in page
    with pytest.raises(ValueError, match="is better for the cost 'mine-a'"):
        compare_section(results, {"mine:a": False})


def test_names_that_look_like_html(tmp_path, about):
    nasty = "--><script>alert(1)</script>"
    results = make_results(["yeast"], ["f1"], ["BR", "CC"], lengths=(100,)).replace(
        {"yeast": nasty, "BR": nasty}
    )
    curves = make_results(["yeast"], ["f1"], DECODERS, lengths=(100, 300)).replace({"yeast": nasty})
    sections = [compare_section(results, GREATER), code_length_section(curves, GREATER)]
    write_report(tmp_path, nasty, sections, about=about)
    check_page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_how_long_codes_must_be():
    results = make_results(["yeast", "flags"], ["f1", "rank"], DECODERS, lengths=LENGTHS)
    section = code_length_section(results, GREATER)
    assert headings(section) == ["F1 score ↑", "Rank loss ↓", "Times"]
    assert len(section.paragraphs) == 3
    assert section.paragraphs[2].startswith("A shorter CSRPE-posterior is read as the longest one was")
    nearest = results[results["algorithm"] == "CSRPE-nearest"]
    assert len(code_length_section(nearest, GREATER).paragraphs) == 1
    assert re.match(r"CSRPE-nearest: flat from 3000 bits or fewer in \d of 4 curves", section.paragraphs[0])
    slope = results.assign(score=results["n_bits"] / 1e4)
    text = code_length_section(slope[slope["cost"] == "f1"], GREATER).paragraphs[0]
    assert "in 0 of 2 curves; not in F1 score on yeast (not before the longest 5000) and F1" in text
    short = code_length_section(results[results["n_bits"] <= 3000], GREATER)
    assert short.paragraphs[0].startswith(
        "CSRPE-nearest: 4 curves cannot tell, having no code longer than 3000 "
    )


def test_codes_that_run_out_of_pairs():
    results = make_results(["yeast", "flags"], ["f1"], DECODERS[:1], lengths=LENGTHS)
    there = {"yeast": 5000, "flags": 640}
    capped = results["n_bits"] > results["data"].map(there)
    noted = results.assign(chosen=results["chosen"].where(~capped, '{"n_bits": 640}'))
    section = code_length_section(noted, GREATER)
    assert "of 1 curve" in section.paragraphs[0]
    assert "1 curve cannot tell" in section.paragraphs[1]
    shown = section.parts[0].tables[0].shown.loc["flags nearest"]
    assert [length for length in LENGTHS if shown[str(length)] != "–"] == [50, 100, 200, 500]
    tiny = noted.assign(chosen='{"n_bits": 6}')
    assert code_length_section(tiny, GREATER).parts[0].tables[0].shown.columns.tolist() == ["50", "flat from"]


def test_a_curve_that_rises_to_its_end_is_not_flat():
    results = make_results(["yeast"], ["f1"], DECODERS[:1], lengths=LENGTHS)
    table = code_length_section(results.assign(score=results["n_bits"] / 1e4), GREATER).parts[0].tables[0]
    assert table.shown["flat from"].tolist() == ["not before 5000"]
    assert not table.bold["flat from"].any()
    single = code_length_section(results[results["n_bits"] == 50], GREATER)
    assert single.paragraphs == ["There are no curves of two lengths or more yet."]


def test_what_the_relevant_set_changes():
    results = make_results(["yeast", "flags"], algorithms=EXTENDED)
    section = relevant_set_section(results, GREATER)
    assert section.paragraphs[1].startswith("CSRPE-posterior keeps to the label vectors that it is given")
    assert [text.split(":")[0] for text in section.paragraphs[2:]] == ["nearest", "posterior"]
    worse = results.assign(score=results["score"].where(~results["algorithm"].str.contains("ext"), 0.0))
    worse = relevant_set_section(worse[worse["cost"] == "f1"], GREATER)
    assert "gaining −100.0 % in the median. By" in worse.paragraphs[2]
    wins = [
        int(number)
        for number in re.findall(r"wins (\d+), ties (\d+) and loses (\d+)", section.paragraphs[2])[0]
    ]
    assert sum(wins) == 8
    assert len(section.tables) == 4
    single = relevant_set_section(results[results["split"] == 0], GREATER).paragraphs[2]
    assert single.endswith("No test is possible with one split.")
    nothing = results.assign(score=results["algorithm"].str.contains("ext").astype(float))
    text = relevant_set_section(nothing, GREATER).paragraphs[2]
    assert text.startswith("nearest: 8 cells with a mean of 0 cannot tell a gain. By paired t-tests")
    alone = relevant_set_section(results[results["algorithm"] == "CSRPE-nearest"], GREATER)
    assert alone.tables == []


@pytest.mark.parametrize("section_of", [compare_section, code_length_section, relevant_set_section])
def test_no_results(section_of):
    assert section_of(make_results(["yeast"])[:0], GREATER).paragraphs == ["There are no results yet."]


# ---- files ----


def test_the_files_of_a_report(tmp_path, about):
    results = make_results(["yeast", "flags"], ["f1"], ["BR", "CC", "CSRPE-nearest"])
    folder = tmp_path / "new" / "folder"
    for _ in range(2):  # the second time they are replaced
        write_report(folder, "A <report>", [compare_section(results, GREATER)], about=about)
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    tables = {"comparison-f1", "t-tests-CSRPE-nearest", "best-CSRPE-nearest", "ranks", "against-paper-f1"}
    tables |= {"times-compare", "parameters"}
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
    assert "seeds 0 to 2, 7" in page
    assert "BR 120 min" in page or "BR 2.0 h" in page
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((.*?)\)", markdown) == ["figures/comparison.svg", "figures/ranks.svg"]
    assert (folder / "figures" / "ranks.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_the_same_results_give_the_same_files(tmp_path, about):
    results = make_results(["yeast"], ["f1"], DECODERS, lengths=(100, 4000))
    for name in "ab":
        write_report(tmp_path / name, "Twice", [code_length_section(results, GREATER)], about=about)
    for file in (tmp_path / "a").rglob("*.*"):
        assert file.read_bytes() == (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes()


def test_a_report_without_matplotlib(tmp_path, about, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    results = make_results(["yeast"], ["f1"], ["BR", "CSRPE-nearest"])
    write_report(tmp_path, "Plain", [compare_section(results, GREATER)], about=about)
    assert not (tmp_path / "figures").exists()
    for name in ("report.html", "report.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "There are no figures: plotting needs matplotlib" in text
        assert "svg" not in text.partition("</style>")[2]


def test_a_file_is_whole_or_not_there(tmp_path, about, monkeypatch):
    write_report(tmp_path, "First", [], about=about)
    before = (tmp_path / "report.html").read_bytes()
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report(tmp_path, "Second", [], about=about)
    assert (tmp_path / "report.html").read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == [".report-files", "report.html", "report.md"]


def test_files_of_a_former_report_go(tmp_path, about):
    folder = tmp_path / "report"
    outside, mine = tmp_path / "outside.csv", folder / "mine.csv"
    curves = make_results(["yeast"], ["f1"], ["CSRPE-nearest"], lengths=(100, 4000))
    write_report(folder, "First", [code_length_section(curves, GREATER)], about=about)
    assert (folder / "figures" / "code-length-f1.svg").exists()
    assert (folder / "times-code-length.csv").exists()
    for file in (outside, mine):
        file.write_text("kept", encoding="utf-8")
    with (folder / ".report-files").open("a", encoding="utf-8") as listed:
        listed.write("../outside.csv\nREPORT.html\ngone.csv\n")
    write_report(folder, "Second", [], about=about)
    files = {file.name for file in folder.rglob("*") if file.is_file()}
    assert files == {".report-files", "mine.csv", "report.html", "report.md"}
    assert outside.exists()


def test_names_of_files_are_kept_apart(tmp_path, about):
    shown = pd.DataFrame({"a": ["1"]}, index=pd.Index(["x"], name="data"))
    tables = [
        ResultTable(name, name, "", shown, shown, shown == "2") for name in ("scores", "Scores", "scores")
    ]
    section = Section("One", tables=tables[:1], parts=[Section("Two", tables=tables[1:])])
    write_report(tmp_path, "Names", [section], about=about)
    assert {file.stem for file in tmp_path.glob("*.csv")} == {"scores", "Scores-2", "scores-3"}


def test_mistakes_in_drawing_are_not_hidden(tmp_path, about):
    figure = SectionFigure("broken", "caption", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(tmp_path, "Broken", [Section("One", figures=[figure])], about=about)
