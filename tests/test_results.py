"""Published pages say what the stored results say."""

from pathlib import Path

import pandas as pd

from benchmarks import new_data, paper_sets

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def test_the_page_on_new_data_is_made_of_its_single_results():
    page = (RESULTS / "new-data.md").read_text(encoding="utf-8")
    assert page == new_data.describe(pd.read_csv(RESULTS / "new-data.csv"))


def test_the_page_on_the_paper_s_data_is_made_of_its_single_results():
    page = (RESULTS / "paper-sets.md").read_text(encoding="utf-8")
    assert page == paper_sets.describe(pd.read_csv(RESULTS / "paper-sets.csv"), paper_sets.stored(RESULTS))
