"""What do the paper's experiments say? Eight algorithms, the length of codes, and the relevant set.

`--run FOLDER` runs what is missing, which takes a night; without it, nothing is run. Each single result is
stored in ``docs/results/paper.csv.gz``; ``make bench-report`` makes the page of them.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path

import pandas as pd

from benchmarks.common import ROOT, read_table, tell_origin, write_table
from refpair.experiments import Part, Settings, Study
from refpair.experiments.algorithms import POSTERIOR
from refpair.experiments.report.comparison import compare_section, outcome_table, summary_table
from refpair.experiments.report.figures import PAPER_BITS
from refpair.experiments.report.pages import markdown_section
from refpair.experiments.report.sections import Section
from refpair.experiments.report.studies import code_length_section, relevant_set_section

TABLE = ROOT / "docs" / "results" / "paper.csv.gz"
PARTS = (Part("compare", 20), Part("code-length", 3), Part("relevant-set", 3))
CHOSEN_ON = 3  # splits: test scores of 0 to 2 settled how many bits ask for single labels
_SECTIONS = {
    "compare": compare_section,
    "code-length": code_length_section,
    "relevant-set": relevant_set_section,
}


@cache
def sections() -> list[Section]:
    """Return the section of each experiment."""
    parts = read_table(TABLE).groupby("experiment", sort=False)
    return [_SECTIONS[str(experiment)](own) for experiment, own in parts]


def show(pictures: str) -> str:
    """Return all tables, with links to figures."""
    return "\n\n".join(block for section in sections() for block in markdown_section(section, 2, pictures))


def show_unseen() -> str:
    """Return the summary and the tests on splits that nothing was chosen on."""
    found = read_table(TABLE)
    unseen = found[(found["experiment"] == "compare") & (found["split"] >= CHOSEN_ON)]
    tests = outcome_table(unseen, POSTERIOR)
    section = Section("", tables=[summary_table(unseen), *([tests] if tests else [])])
    return "\n\n".join(list(markdown_section(section, 2, ""))[1:])


def show_flat() -> str:
    """Say how many curves that go beyond the paper's length of codes are flat from there on."""
    (found,) = (section.tables[0].values for section in sections() if section.heading == "Length of codes")
    flat, later = (int(found[name].sum()) for name in (f"flat from {PAPER_BITS} bits", "flat later"))
    return f"{flat} of {flat + later} curves"


def show_origin() -> str:
    """Say how the results came to be."""
    return f"{tell_origin(TABLE)} Settings: {Settings().describe({part.experiment for part in PARTS})}."


def main() -> None:
    """Run what is missing, and store all results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", metavar="FOLDER", help="the folder of the paper's data sets")
    parser.add_argument("--store", type=Path, default=Path("refpair-paper"))
    given = parser.parse_args()
    if given.run:
        study = Study(given.store, PARTS, [given.run])
        study.run(jobs=-1, verbose=1)
        found = pd.concat([study.results(part.experiment) for part in PARTS])
        # A last digit decides which of two means that are level comes first.
        write_table(TABLE, found.drop(columns=["fingerprint", "sources", "run"]), digits=15)
    print(show_unseen())


if __name__ == "__main__":
    main()
