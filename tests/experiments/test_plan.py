from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refpair.experiments.data import find_sources
from refpair.experiments.settings import Settings
from refpair.experiments.study import Part, plan_tasks
from refpair.experiments.tasks import fingerprint
from refpair.tables import TableOptions

JOY = TableOptions(("joy",))


def write_table(path, n_rows=8):
    frame = pd.DataFrame(np.arange(2 * n_rows).reshape(n_rows, 2), columns=["a", "b"])
    frame["joy"] = np.arange(n_rows) % 2
    frame.to_csv(path, index=False)
    return str(path)


def test_a_table_that_only_has_the_name_of_a_paper_s_data_set_is_called_by_its_file(tmp_path):
    names = [s.name for s in find_sources([write_table(tmp_path / "flags.csv")], JOY)]
    assert names == ["flags.csv"]
    names = [s.name for s in find_sources([write_table(tmp_path / "mine.csv")], JOY)]
    assert names == ["mine"]


def test_a_folder_of_the_paper_s_data_is_found_in_its_order(paper_data, tmp_path):
    for name in ("scene", "flags"):
        (tmp_path / name).symlink_to(paper_data / name)
    assert [s.name for s in find_sources([str(tmp_path)])] == ["flags", "scene"]


def test_data_sets_are_named_as_they_name_themselves():
    assert [s.name for s in find_sources(["Digits", "digits", "DIGITS"])] == ["digits"]


def test_own_costs_are_tried_before_anything_is_run(tmp_path):
    data, own = [write_table(tmp_path / "mine.csv")], "tests.experiments.own"
    assert find_sources(data, JOY, costs=["f1", f"{own}:first_label", f"{own}:misses"])
    with pytest.raises(
        ValueError, match=f"{own}:broken fails on labels of mine.* .RuntimeError: boom with 1"
    ):
        find_sources(data, JOY, costs=["f1", f"{own}:broken"])


def test_a_fingerprint_changes_with_the_settings_that_take_part():
    base = Settings()

    def changed(experiment, algorithm, **settings):
        names = "ab", experiment, algorithm, "f1"
        return fingerprint(*names, base) != fingerprint(*names, Settings(**settings))

    assert changed("compare", "CSRPE-nearest", n_bits=10)
    assert not changed("compare", "CSRPE-nearest", n_bits=3000)
    assert changed("compare", "CSRPE-posterior", n_bits=3000)
    assert not changed("compare", "CSRPE-nearest", n_trees=10)
    assert not changed("compare", "BR", n_bits=10)
    assert changed("compare", "BR", n_trees=10)
    assert changed("compare", "BR", stratified=True)
    assert changed("compare", "CFT", n_rounds=1)
    assert not changed("compare", "BR", n_rounds=1)
    assert changed("code-length", "CSRPE-nearest", lengths=(10, 20))
    assert not changed("code-length", "CSRPE-nearest", n_bits=10)
    assert changed("compare", "tests.experiments.own:Constant", max_rows=10)
    assert not changed("compare", "tests.experiments.own:Constant", search=False)
    names = "compare", "BR", "f1", base
    assert fingerprint("ab", *names) != fingerprint("cd", *names)


def test_one_fit_for_all_costs_is_one_task():
    part = Part("compare", 2, algorithms=("BR", "CSRPE-nearest"))
    tasks = plan_tasks(part, find_sources(["digits"]), ["f1", "rank"], Settings())
    assert [(task.algorithm, task.costs, task.split) for task in tasks] == [
        (name, costs, split)
        for split in (0, 1)
        for name, costs in (("BR", ("f1", "rank")), ("CSRPE-nearest", ("f1",)), ("CSRPE-nearest", ("rank",)))
    ]


def test_how_files_are_written_is_known_to_tasks(tmp_path):
    path = tmp_path / "songs.csv"
    path.write_bytes("größe:joy\n".encode("latin-1") + b"1:0\n2:1\n3:0\n4:1\n")
    (source,) = find_sources([str(path)], TableOptions(("joy",), sep=":", encoding="latin-1"))
    assert source.read().feature_names == ["größe"]


def test_standard_input_is_refused():
    with pytest.raises(ValueError, match="standard input can be read only once; experiments need a file"):
        find_sources(["-"], JOY)


def test_splits_may_begin_later(tmp_path):
    data, part = [write_table(tmp_path / "mine.csv")], Part("compare", 3, 1, ("BR", "CSRPE-nearest"), 10)
    tasks = plan_tasks(part, find_sources(data, JOY), ["f1"], Settings())
    assert [(task.algorithm, task.split) for task in tasks] == [
        ("BR", 10), ("CSRPE-nearest", 10), ("CSRPE-nearest", 11), ("CSRPE-nearest", 12)
    ]  # fmt: skip
