"""``refpair check``."""

from __future__ import annotations

import pandas as pd
from sklearn.pipeline import make_pipeline

from refpair import CSRPEClassifier, TableVectorizer
from refpair.inspection import suspicious_labels
from tests.cli.running import FEATURES, LABELS, refpair_, refuses, works


def test_check_prints_the_top_and_writes_all(folder, songs):
    printed = works(
        "check", "songs.csv", "--labels", ",".join(LABELS), "--id", "id", "--top", 3, "-o", "found.csv"
    )
    model = make_pipeline(TableVectorizer(), CSRPEClassifier(random_state=0))
    expected = suspicious_labels(model, songs[FEATURES], songs[LABELS])
    found = pd.read_csv("found.csv", dtype={"id": str})
    assert list(found.columns) == ["row", "id", "label", "given", "wrong", "cost"]
    assert found["row"].tolist() == (expected["row"] + 1).tolist(), "rows are counted from 1"
    assert found["id"].tolist() == songs["id"].loc[expected["row"]].tolist()
    assert found["label"].tolist() == expected["label"].tolist()
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    first = expected.iloc[0]
    assert len(lines) == 3
    assert lines[0][:3] == [str(first["row"] + 1), songs["id"][first["row"]], first["label"]]
    assert lines[0][3:] == [
        "yes" if first["given"] else "no",
        f"{first['wrong']:.0%}",
        f"{first['cost']:.3g}",
    ]
    assert "of 240 labels may be wrong" in printed
    assert "by f1" in printed


def test_check_leaves_out_what_is_unknown(folder, songs):
    partial = songs.astype(dict.fromkeys(LABELS, object))
    partial.loc[:9, "joy"] = None
    partial.to_csv("partial.csv", index=False)
    result = refpair_(
        "check",
        "partial.csv",
        "--labels",
        "joy,anger,calm",
        "--drop",
        "id",
        "--cost",
        "hamming",
        "-o",
        "c.csv",
    )
    assert result.exit_code == 0, result.stderr
    assert "10 of 240 cells in the label columns are empty" in result.stderr
    assert "230 labels of 80 rows; c.csv" in result.stderr
    found = pd.read_csv("c.csv")
    assert found.loc[found["label"] == "joy", "row"].min() == 11


def test_mistakes_end_in_a_sentence(folder):
    assert "which columns are the labels?" in refuses("check", "songs.csv")
    assert "nothing" in refuses("check", "songs.csv", "--labels", "joy", "--id", "nothing")
    assert ".csv" in refuses("check", "songs.csv", "--labels", "joy", "-o", "found.doc")
    (folder / "costs.csv").write_text("cost,size,one\n" + "1,2,0\n2,1,1\n" * 6)
    told = refuses("check", "costs.csv", "--labels", "one", "--id", "cost")
    assert "--id cost: the list has a column of this name, too; rename that column" in told
    (folder / "few.csv").write_text("a,one,two\n" + "1,0,1\n2,1,\n" * 6)
    result = refpair_("check", "few.csv", "--labels", "one,two")
    assert result.exit_code == 2
    assert "error: few.csv: label two is known in fewer than 10 rows" in result.stderr
