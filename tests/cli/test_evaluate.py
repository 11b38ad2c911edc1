"""``refpair evaluate``."""

from __future__ import annotations

import re

import numpy as np
from sklearn.metrics import f1_score

from refpair import BinaryRelevance, Cost, get_cost, save
from tests.cli.running import FEATURES, FIT, LABELS, refpair_, same_in_python, works


def test_evaluate_reports_all_costs_and_marks_the_models_own(folder, songs):
    works("fit", "songs.csv", *FIT, "--false-negative", 5)
    train, test = songs[:40], songs[40:]
    train.to_csv("train.csv", index=False)
    test.to_csv("test.csv", index=False)
    works("fit", "train.csv", *FIT, "--false-negative", 5)
    cost = Cost.per_label(false_negative=5)
    predicted = same_in_python(train, cost=cost).predict(test[FEATURES])
    printed = works("evaluate", "model", "test.csv")
    assert "model on test.csv, 40 rows" in printed
    assert f"│ per_label *       │ {cost.mean(test[LABELS], predicted):.4f} │ lower  │" in printed
    for name in ("hamming", "zero_one", "rank", "f1", "jaccard"):
        score = get_cost(name).mean(test[LABELS], predicted)
        better = "higher" if get_cost(name).greater_is_better else "lower "
        assert f"│ {name:<17} │ {score:.4f} │ {better} │" in printed


def test_evaluate_has_measures_of_the_table_below_costs_of_rows(folder, songs):
    songs[:40].to_csv("train.csv", index=False)
    songs[40:].to_csv("test.csv", index=False)
    works("fit", "train.csv", *FIT, "--cost", "macro_f1")
    predicted = same_in_python(songs[:40], cost="macro_f1").predict(songs[40:][FEATURES])
    score = f1_score(songs[40:][LABELS], predicted, average="macro")
    printed = works("evaluate", "model", "test.csv")
    _, rows, table = re.split("[├┡]", printed)
    assert re.findall(r"^│ (\S+)", rows, re.MULTILINE) == ["hamming", "zero_one", "rank", "f1", "jaccard"]
    assert re.findall(r"^│ (\S+)", table, re.MULTILINE)[1:] == [
        "macro_jaccard",
        "micro_f1",
        "micro_jaccard",
        "balanced_accuracy",
    ]
    assert f"│ macro_f1 *        │ {score:.4f} │ higher │" in table
    assert max(map(len, printed.splitlines())) <= 80


def test_evaluate_reports_the_costs_asked_for(model, songs):
    printed = works("evaluate", model, "songs.csv", "--cost", "f2", "--cost", "jaccard", "--cost", "accuracy")
    costs = [line.split("│")[1].strip() for line in printed.splitlines() if line.startswith("│")]
    assert costs == ["f1 *", "f2", "jaccard"]


def test_evaluate_lists_of_labels(folder, songs):
    train, test = songs[:60], songs[60:].astype(dict.fromkeys(LABELS, float))
    test.loc[63:66, "joy"] = np.nan
    train.to_csv("train.csv", index=False)
    test.to_csv("test.csv", index=False)
    fitted = works("fit", "train.csv", *FIT, "--cost", "ndcg@2", "--test", "test.csv")
    model = same_in_python(train, cost="ndcg@2")
    own = model.score(test[FEATURES], test[LABELS])
    assert f"measured on 20 other rows: ndcg@2 {own:.4f} (higher is better)" in fitted
    other = get_cost("precision@1")(model, test[FEATURES], test[LABELS])
    printed = works("evaluate", "model", "test.csv", "--cost", "precision@1", "--cost", "f1")
    assert f"│ ndcg@2 * │ {own:.4f} │ higher │" in " ".join(printed.split())
    assert f"│ precision@1 │ {other:.4f} │ higher │" in " ".join(printed.split())


def test_evaluate_label_by_label(folder):
    (folder / "train.csv").write_text("a,one,two,[b]\n" + "0,0,0,0\n1,1,0,0\n2,0,1,0\n" * 10)
    works("fit", "train.csv", "--labels", "one,two,[b]", "--cost", "hamming", "--n-bits", 28, "-o", "model")
    (folder / "test.csv").write_text("a,one,two,[b]\n0,1,0,0\n1,1,0,1\n1,1,0,0\n1,0,0,0\n2,0,1,0\n")
    printed = works("evaluate", "model", "test.csv", "--per-label")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    assert rows[-3:] == [
        ["one", "0.667", "0.667", "0.667", "3", "3"],
        ["two", "1.000", "1.000", "1.000", "1", "1"],
        ["[b]", "–", "0.000", "0.000", "1", "0"],
    ]


def test_evaluate_a_model_that_knows_no_cost(folder, songs):
    save(BinaryRelevance("tree", random_state=0).fit(songs[FEATURES], songs[LABELS]), folder / "model")
    songs.to_csv("songs.csv", index=False)
    printed = works("evaluate", "model", "songs.csv", "--cost", "f1")
    assert "f1 " in printed
    assert "*" not in printed


def test_evaluate_by_the_labels_that_are_known(folder, songs):
    model = BinaryRelevance("tree", random_state=0).fit(songs[FEATURES][:30], songs[LABELS][:30])
    save(model, folder / "model")
    partial = songs.astype(dict.fromkeys(LABELS, float))
    partial.loc[:3, LABELS] = np.nan
    partial.loc[4:20, "joy"] = np.nan
    partial.to_csv("songs.csv", index=False)
    result = refpair_("evaluate", "model", "songs.csv", "--per-label")
    told = "4 of 80 rows have no labels and are left out; 17 of 228 cells in the label columns are empty"
    assert told in " ".join(result.stderr.split())
    score = get_cost("hamming").mean(partial[LABELS], model.predict(songs[FEATURES]))
    assert f"│ hamming           │ {score:.4f} │ lower  │" in result.stdout
    assert 0 < score < get_cost("hamming").mean(songs[LABELS], model.predict(songs[FEATURES]) * 0)
    joy = next(line for line in result.stdout.splitlines() if line.startswith("│ joy"))
    assert joy.split("│")[5].strip() == f"{songs['joy'][21:].sum():.0f}"


def test_holdout_of_labels_that_are_not_all_known(folder, songs):
    partial = songs.astype(dict.fromkeys(LABELS, float))
    partial.loc[4:20, "joy"] = np.nan
    partial.to_csv("songs.csv", index=False)
    assert "measured on 20 other rows" in works("fit", "songs.csv", *FIT, "--holdout", "0.25")
