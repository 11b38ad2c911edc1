"""What a report says about where its results come from."""

from refpair.experiments.machine import describe_machine
from refpair.experiments.report import About, describe_missing
from refpair.experiments.settings import QUICK
from tests.experiments.fake import make_results


def test_about_tells_machines_and_settings():
    results = make_results(["yeast"], ["f1"], ["BR"], n_splits=3)
    about = About.of(
        results,
        command="refpair compare",
        machines=[describe_machine(), "another one"],
        settings=str(QUICK),
        missing=["All of CC is missing."],
        quick=True,
    )
    assert about.n_results == 3
    assert about.splits == [0, 1, 2]
    machines = [text for name, text in about.rows() if name == "Machine"]
    assert machines[1] == "another one"
    for word in ("core", "Python 3.", "refpair 0.", "numpy", "scipy", "scikit-learn", "numba"):
        assert word in machines[0]
    assert ("Settings", str(QUICK)) in about.rows()
    first, second = about.warnings()
    assert first.startswith("Made with quick settings")
    assert second == "All of CC is missing."


def test_what_is_missing():
    planned = make_results(["yeast", "flags"], ["f1", "rank"], ["BR", "CC"])
    there = planned[(planned["algorithm"] == "BR") | (planned["data"] == "flags") | (planned["split"] > 2)]
    assert describe_missing("x", planned, there) == ["x: 6 of 20 results of CC are missing, on yeast."]
    assert describe_missing("x", planned, planned) == []
    assert describe_missing("x", planned, planned[1:]) == ["x: 1 of 20 results of BR is missing, on yeast."]
    assert describe_missing("x", planned, planned[:0]) == ["x: there are no results of BR and CC."]
    of_both = ["x: 15 of 20 results of each of BR and CC are missing, on all data sets."]
    assert (
        describe_missing("x", planned, planned[planned["data"].eq("flags") & (planned["cost"] == "f1")])
        == of_both
    )


def test_nothing_has_no_splits_and_took_no_time():
    about = About.of(make_results(["yeast"])[:0], command="x", machines=[], settings="y")
    assert about.rows() == [("Command", "x"), ("Settings", "y"), ("Results", "0")]
