"""``refpair predict``."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import refpair
from refpair import CSRPEClassifier, TableVectorizer, get_cost
from refpair.datasets import load_dataset
from tests.cli.running import FEATURES, FIT, LABELS, refpair_, same_in_python, works


def test_predictions_go_to_the_terminal_as_csv(model, songs):
    printed = pd.read_csv(io.StringIO(works("predict", model, "songs.csv")))
    expected = same_in_python(songs).predict(songs[FEATURES])
    pd.testing.assert_frame_equal(printed, expected)


def test_predictions_go_to_a_file_with_the_id_as_it_is_written(model, songs):
    printed = works("predict", model, "songs.csv", "--id", "id")
    assert printed.splitlines()[1].startswith("000,")
    result = refpair_("predict", model, "songs.csv", "--id", "id", "-o", "out.csv")
    assert result.stdout == ""
    assert result.stderr == "80 rows, 3 labels; out.csv\n"
    assert (model.parent / "out.csv").read_text() == printed
    works("predict", model, "songs.csv", "--id", "id", "-o", "out.parquet")
    written = pd.read_parquet(model.parent / "out.parquet")
    assert written["id"].tolist() == songs["id"].tolist()
    pd.testing.assert_frame_equal(
        written[LABELS], pd.read_csv(io.StringIO(printed))[LABELS], check_dtype=False
    )


def test_lists_of_labels(folder, songs):
    works("fit", "songs.csv", *FIT, "--cost", "recall@2")
    model = same_in_python(songs, cost="recall@2")
    printed = pd.read_csv(io.StringIO(works("predict", "model", "songs.csv", "--top", 3)))
    scaled = model[:-1].transform(songs[FEATURES])
    labels, probabilities = model[-1].predict_top(scaled, 3)
    columns = ["label_1", "label_2", "label_3"]
    assert printed[columns].to_numpy().tolist() == labels.tolist()
    found = printed[[f"{name}_probability" for name in columns]]
    np.testing.assert_allclose(found, probabilities, atol=1e-6)
    assert (printed[LABELS].sum(axis=1) == 2).all()
    assert works("predict", "model", "songs.csv", "--top", 9) == works(
        "predict", "model", "songs.csv", "--top", 3
    )


def test_columns_are_found_by_name_in_any_order_and_format(model, songs):
    expected = works("predict", model, "songs.csv")
    others = songs.drop(columns=["joy"]).assign(remark="text")[
        ["remark", "pitch", "id", "volume", "tempo", "length"]
    ]
    others.to_csv("others.csv", index=False)
    others.set_index(np.arange(80)[::-1]).to_parquet("others.parquet")
    others.rename(columns=lambda name: f" {name}").to_csv("others.tsv", sep="\t", index=False)
    for name in ("others.csv", "others.parquet", "others.tsv"):
        assert works("predict", model, name) == expected
        assert works("predict", model, name, "--id", "id").splitlines()[8].startswith("007,")


def test_arff_and_libsvm(folder, songs):
    header = "\n".join(["@relation songs", *(f"@attribute {name} numeric" for name in FEATURES)])
    labels = "\n".join(f"@attribute {name} {{0,1}}" for name in LABELS)
    rows = songs[FEATURES + LABELS].to_csv(index=False, header=False, na_rep="?")
    (folder / "songs.arff").write_text(f"{header}\n{labels}\n@data\n{rows}")
    names = "".join(f'<label name="{name}"/>' for name in LABELS)
    (folder / "songs.xml").write_text(f'<labels xmlns="http://mulan.sourceforge.net/labels">{names}</labels>')
    works("fit", "songs.arff", "--n-bits", 28, "-o", "from_arff")
    expected = same_in_python(songs).predict(songs[FEATURES])
    printed = pd.read_csv(io.StringIO(works("predict", "from_arff", "songs.arff")))
    pd.testing.assert_frame_equal(printed, expected)

    lines = []
    for x, y in zip(songs[FEATURES].fillna(0).to_numpy(), songs[LABELS].to_numpy(), strict=True):
        cells = " ".join(f"{i + 1}:{value}" for i, value in enumerate(x) if value)
        lines.append(",".join(str(k) for k in np.flatnonzero(y)) + " " + cells)
    (folder / "songs.svm").write_text("\n".join(lines))
    works("fit", "songs.svm", "--n-bits", 28, "-o", "from_svm")
    X = songs[FEATURES].fillna(0).set_axis(["1", "2", "3", "4"], axis=1).astype("Sparse[float]")
    model = make_pipeline(TableVectorizer(), CSRPEClassifier(n_bits=28, random_state=0))
    expected = model.fit(X, songs[LABELS]).predict(X)
    printed = pd.read_csv(io.StringIO(works("predict", "from_svm", "songs.svm")))
    assert printed.columns.tolist() == ["0", "1", "2"]
    np.testing.assert_array_equal(printed, expected)


def test_a_data_set_by_its_name(folder):
    works("fit", "digits", "--drop", "pixel_0_0", "--n-bits", 10, "-o", "model")
    digits = load_dataset("digits")
    X = pd.DataFrame(digits.X, columns=digits.feature_names).drop(columns="pixel_0_0")
    model = make_pipeline(TableVectorizer(), CSRPEClassifier(n_bits=10, random_state=0))
    expected = model.fit(X, digits.Y).predict(X)
    printed = pd.read_csv(io.StringIO(works("predict", "model", "Digits")))
    np.testing.assert_array_equal(printed, expected)
    score = get_cost("f1").mean(digits.Y, expected)
    assert f"│ f1 *              │ {score:.4f} │ higher │" in works("evaluate", "model", "digits")


@pytest.mark.parametrize("kind", ["array", "sparse", "polars"])
def test_models_made_in_python_without_names(kind, folder, songs):
    X, Y = songs[FEATURES].to_numpy(), songs[LABELS].to_numpy()
    given = {"array": Y, "sparse": sp.csr_array(Y), "polars": pl.DataFrame(Y, schema=LABELS)}[kind]
    model = CSRPEClassifier(n_bits=28, random_state=0).fit(X, given)
    refpair.save(model, "model")
    songs[FEATURES].to_csv("new.csv", index=False)
    printed = pd.read_csv(io.StringIO(works("predict", "model", "new.csv")))
    assert printed.columns.tolist() == (LABELS if kind == "polars" else ["0", "1", "2"])
    np.testing.assert_array_equal(printed, CSRPEClassifier(n_bits=28, random_state=0).fit(X, Y).predict(X))
