"""Where does CSRPE stand on splits that nothing was chosen on? The results that are in ``docs/results``.

How many bits ask for single labels was settled by test scores of splits 0 to 2; see
``docs/research/posterior.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from refpair.experiments import Part, Study
from refpair.experiments.report.comparison import compare_section


def main() -> None:
    """Print the tables of a report for the splits from one on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data", help="the folder of the paper's data sets")
    parser.add_argument("--from-split", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("docs/results"))
    arguments = parser.parse_args()
    study = Study(arguments.results, [Part("compare")], [arguments.data], any_sources=True)
    results = study.results("compare")
    section = compare_section(results[results["split"] >= arguments.from_split])
    (tests,) = (part for part in section.parts if part.heading == "Tests")
    for table in (*section.tables, *tests.tables):
        print(f"{table.title}\n\n{table.to_markdown()}\n")


if __name__ == "__main__":
    main()
