"""What do the published results say on splits that nothing was settled on?

Defaults of the posterior were settled by test scores of the splits 0 to 2 of the paper's data sets, so that
it looks too good on them by an unknown amount. This compares the algorithms on the other splits alone, by the
same tests as the report in ``docs/results``. Nothing is fitted.
"""

from __future__ import annotations

import argparse
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd

from refpair.experiments import PAPER_COSTS
from refpair.experiments.names import find_cost
from refpair.experiments.report import compare_section

STORE = Path(__file__).parent.parent / "docs" / "results" / "store.sqlite"
FIRST_UNSEEN = 3


def read_results(path: Path) -> pd.DataFrame:
    """Return all results of the comparison, in the paper's order of costs; the file is only read."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        results = pd.read_sql_query("SELECT * FROM results WHERE experiment = 'compare'", connection)
    return results.sort_values("cost", key=lambda names: names.map(PAPER_COSTS.index), kind="stable")


def main() -> None:
    """Print what there is to say, and the table of wins, ties and losses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from-split", type=int, default=FIRST_UNSEEN)
    parser.add_argument("--store", type=Path, default=STORE)
    arguments = parser.parse_args()
    results = read_results(arguments.store)
    unseen = results[(results["split"] >= arguments.from_split) & (results["algorithm"] != "CSRPE-nearest")]
    section = compare_section(unseen, {name: find_cost(name).greater_is_better for name in PAPER_COSTS})
    print("\n\n".join(section.paragraphs))
    tests = next(part for part in section.parts if part.heading == "Tests")
    print("\n\n".join(["", *tests.paragraphs, *(table.to_markdown() for table in tests.tables)]))


if __name__ == "__main__":
    main()
