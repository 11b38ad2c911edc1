"""The command line, as users type it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import refpair
from refpair import Cost, CSRPEClassifier, get_cost
from refpair.cli import demo as demo_module
from refpair.cli import fit as fit_module
from refpair.cli.app import app
from refpair.datasets import load_dataset

LABELS = ["joy", "anger", "calm"]
FEATURES = ["tempo", "volume", "pitch", "length"]


def refpair_(*args):
    """Run the command in this process."""
    return CliRunner(env={"COLUMNS": "160", "REFPAIR_DATA": ""}).invoke(app, [str(arg) for arg in args])


def works(*args):
    result = refpair_(*args)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def refuses(*args):
    """Run the command, which must end in one sentence, and return that."""
    result = refpair_(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("error: ").strip()


@pytest.fixture(scope="module")
def songs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)).round(2)
    Y = (X[:, :3] + rng.normal(size=(80, 3)) / 3 > 0).astype(int)
    frame = pd.DataFrame(X, columns=FEATURES)
    frame.loc[3, "pitch"] = np.nan
    frame.insert(0, "id", [f"{i:03d}" for i in range(80)])
    frame[LABELS] = Y
    return frame


@pytest.fixture
def folder(tmp_path, songs, monkeypatch):
    monkeypatch.chdir(tmp_path)
    songs.to_csv("songs.csv", index=False)
    return tmp_path


FIT = ("--labels", "joy,anger,calm", "--drop", "id", "--n-bits", "28", "-o", "model")


@pytest.fixture
def model(folder):
    works("fit", "songs.csv", *FIT)
    return folder / "model"


def same_in_python(songs, **how):
    how = {"n_bits": 28, "random_state": 0, **how}
    return CSRPEClassifier(**how).fit(songs[FEATURES], songs[LABELS])


# ---- fit ----


def test_fit_makes_the_model_that_python_makes(folder, songs):
    said = works(
        "fit", "songs.csv", *FIT, "--cost", "rank", "--max-depth", 3, "--min-samples-leaf", 2,
        "--max-features", "sqrt", "--max-samples", 0.7, "--seed", 5, "--jobs", 1,
    )  # fmt: skip
    expected = same_in_python(
        songs,
        cost="rank",
        max_depth=3,
        min_samples_leaf=2,
        max_features="sqrt",
        max_samples=0.7,
        random_state=5,
    )
    loaded = refpair.load("model")
    pd.testing.assert_frame_equal(loaded.predict(songs[FEATURES]), expected.predict(songs[FEATURES]))
    np.testing.assert_array_equal(
        loaded.predict_code(songs[FEATURES]), expected.predict_code(songs[FEATURES])
    )
    assert loaded.verbose == 0
    n_vectors, n_bits = len(expected.relevant_set_), len(expected.code_)
    assert said.startswith(
        f"80 rows, 4 features, 3 labels, {n_vectors} distinct label vectors, {n_bits} bits for rank in "
    )
    assert "; model, " in said


def test_a_single_thing_is_counted_in_the_singular(folder):
    (folder / "one.csv").write_text("a,joy\n1,1\n2,1\n")
    said = works("fit", "one.csv", "--labels", "joy", "-o", "m")
    assert said.startswith("2 rows, 1 feature, 1 label, 1 distinct label vector, 0 bits for f1 in ")


def test_prices_make_a_cost_for_each_label(folder):
    works("fit", "songs.csv", *FIT, "--false-negative", "2,anger=50", "--false-positive", "calm=0.5")
    expected = Cost.per_label(false_positive=[1, 1, 0.5], false_negative=[2, 50, 2])
    assert refpair.load("model").cost_ == expected


@pytest.mark.parametrize(
    ("given", "prices"),
    [
        ([], (1, 1)),
        (["3"], (3, 3)),
        (["3", "b=7"], (3, 7)),
        (["b=7,3"], (3, 7)),
        (["a=1", "b = 2"], (1, 2)),
        (["x=y=4"], (1, 1, 4)),
    ],
)
def test_how_prices_are_written(given, prices):
    labels = ["a", "b", "x=y"][: len(prices)]
    cost = fit_module.cost_of(None, given, ["1"], labels)
    assert cost.false_positive == prices


def test_a_model_can_replace_an_older_one(model):
    works("fit", "songs.csv", *FIT, "--n-bits", 5)
    assert refpair.load(model).n_bits == 5


# ---- predict ----


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


def test_columns_are_found_by_name_in_any_order_and_format(model, songs):
    expected = works("predict", model, "songs.csv")
    others = songs.drop(columns=["joy"]).assign(remark="text")[
        ["remark", "pitch", "id", "volume", "tempo", "length"]
    ]
    others.to_csv("others.csv", index=False)
    others.to_parquet("others.parquet")
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
    X = songs[FEATURES].fillna(0)
    expected = CSRPEClassifier(n_bits=28, random_state=0).fit(X, songs[LABELS]).predict(X)
    printed = pd.read_csv(io.StringIO(works("predict", "from_svm", "songs.svm")))
    assert printed.columns.tolist() == ["0", "1", "2"]
    np.testing.assert_array_equal(printed, expected)


def test_a_data_set_by_its_name(folder):
    works("fit", "digits", "--drop", "pixel_0_0", "--n-bits", 20, "-o", "model")
    digits = load_dataset("digits")
    expected = (
        CSRPEClassifier(n_bits=20, random_state=0).fit(digits.X[:, 1:], digits.Y).predict(digits.X[:, 1:])
    )
    printed = pd.read_csv(io.StringIO(works("predict", "model", "Digits")))
    np.testing.assert_array_equal(printed, expected)
    score = get_cost("f1").score(digits.Y, expected)
    assert f"f1 * │ {score:.4f} │ higher" in works("evaluate", "model", "digits")


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


# ---- evaluate ----


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
    assert f"│ per_label * │ {cost.score(test[LABELS], predicted):.4f} │ lower  │" in printed
    for name in ("hamming", "zero_one", "rank", "f1", "accuracy"):
        score = get_cost(name).score(test[LABELS], predicted)
        better = "higher" if get_cost(name).greater_is_better else "lower "
        assert f"│ {name:<11} │ {score:.4f} │ {better} │" in printed


def test_evaluate_reports_the_costs_asked_for(model, songs):
    printed = works("evaluate", model, "songs.csv", "--cost", "f2", "--cost", "jaccard", "--cost", "accuracy")
    costs = [line.split("│")[1].strip() for line in printed.splitlines() if line.startswith("│")]
    assert costs == ["f1 *", "f2", "accuracy"]


def test_evaluate_label_by_label(folder):
    (folder / "train.csv").write_text("a,one,two,[b]\n0,0,0,0\n1,1,0,0\n2,0,1,0\n")
    works("fit", "train.csv", "--labels", "one,two,[b]", "--cost", "hamming", "--n-bits", 28, "-o", "model")
    (folder / "test.csv").write_text("a,one,two,[b]\n0,1,0,0\n1,1,0,1\n1,1,0,0\n1,0,0,0\n2,0,1,0\n")
    printed = works("evaluate", "model", "test.csv", "--per-label")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    assert rows[-3:] == [
        ["one", "0.667", "0.667", "0.667", "3", "3"],
        ["two", "1.000", "1.000", "1.000", "1", "1"],
        ["[b]", "–", "0.000", "0.000", "1", "0"],
    ]


# ---- datasets, version, help ----


def test_datasets_tells_where_each_is(tmp_path, monkeypatch):
    for name in ("emotions.arff", "emotions.xml"):
        (tmp_path / "emotions").mkdir(exist_ok=True)
        (tmp_path / "emotions" / name).touch()
    runner = CliRunner(env={"COLUMNS": "160", "REFPAIR_DATA": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)})
    printed = runner.invoke(app, ["datasets"]).stdout
    rows = {
        line.split("│")[1].strip(): line.split("│")[5].strip() for line in printed.splitlines() if "│" in line
    }
    assert len(rows) == 11
    assert rows["digits"] == "in the package"
    assert rows["emotions"] == "$REFPAIR_DATA/emotions"
    assert rows["yeast"] == "not here yet"
    assert "set REFPAIR_DATA" in printed


def test_version():
    assert works("--version") == f"refpair {refpair.__version__}\n"


@pytest.mark.parametrize("command", ["demo", "fit", "predict", "evaluate", "datasets"])
def test_every_command_explains_itself(command):
    assert f"Usage: refpair {command}" in works(command, "--help")
    assert command in works("--help")


def test_help_does_not_wait_for_slow_imports():
    script = (
        "import sys\n"
        "from refpair.cli import main\n"
        "sys.argv = ['refpair', 'fit', '--help']\n"
        "try:\n    main()\n"
        "finally:\n"
        "    slow = {'numba', 'numpy', 'pandas', 'scipy', 'sklearn'} & sys.modules.keys()\n"
        "    sys.exit(f'imported {slow}' if slow else 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


# ---- mistakes ----

FIT_SONGS = ("fit", "songs.csv", *FIT)
MISTAKES = {
    "no file": (("fit", "nosuch.csv", *FIT), "nosuch.csv: there is no such file"),
    "no data set": (
        ("fit", "digit", "-o", "m"),
        "there is no such file; unknown data set 'digit'; did you mean",
    ),
    "folder": (("fit", "folder", *FIT), "folder: there is no such file; unknown data set 'folder'"),
    "no labels": (("fit", "songs.csv", "-o", "m"), "which columns are the labels? Name them, for example"),
    "labels of a data set": (("fit", "digits", "--labels", "1", "-o", "m"), "'digits' has its own labels"),
    "unknown label": ((*FIT_SONGS, "--labels", "joi"), "unknown column 'joi'; did you mean 'joy'?"),
    "label twice": ((*FIT_SONGS, "--labels", "joy,joy"), "the label 'joy' is named twice"),
    "unknown drop": ((*FIT_SONGS, "--drop", "idd"), "unknown column 'idd'; did you mean 'id'?"),
    "unknown pixel": (("fit", "digits", "--drop", "pixel", "-o", "m"), "digits: unknown column 'pixel'"),
    "text": (("fit", "text.csv", "--labels", "joy", "-o", "m"), "column 'a' does not hold numbers"),
    "bad label": (("fit", "bad.csv", "--labels", "joy", "-o", "m"), "expected 0, 1, true or false"),
    "no rows": (("fit", "norows.csv", "--labels", "joy", "-o", "m"), "no rows below the header"),
    "unknown format": (("fit", "broken", "--labels", "joy", "-o", "m"), "cannot tell the format by the name"),
    "unknown cost": ((*FIT_SONGS, "--cost", "haming"), "did you mean 'hamming'?"),
    "cost before table": (("fit", "nosuch.csv", *FIT, "--cost", "haming"), "did you mean 'hamming'?"),
    "two costs": ((*FIT_SONGS, "--cost", "f1", "--false-positive", "2"), "--cost goes without"),
    "price of no label": ((*FIT_SONGS, "--false-negative", "angr=2"), "did you mean 'anger'?"),
    "no price": ((*FIT_SONGS, "--false-negative", "anger=much"), "neither a number nor label=number"),
    "empty price": ((*FIT_SONGS, "--false-negative", ""), "neither a number nor label=number"),
    "negative price": ((*FIT_SONGS, "--false-positive=-2"), "a price is a number from 0 up, not -2"),
    "NaN price": ((*FIT_SONGS, "--false-positive", "nan"), "a price is a number from 0 up, not nan"),
    "no bits": ((*FIT_SONGS, "--n-bits", "0"), "n_bits must be an integer of at least 1"),
    "bad word": ((*FIT_SONGS, "--max-features", "some"), "max_features must be"),
    "no folder": ((*FIT_SONGS, "-o", "nowhere/m"), "nowhere: there is no such folder"),
    "folder for a model": ((*FIT_SONGS, "-o", "folder"), "folder: this is a folder"),
    "no model": (("predict", "nosuch", "songs.csv"), "nosuch: no such file or directory"),
    "broken model": (("predict", "broken", "songs.csv"), "broken: this is no refpair model"),
    "table for model": (("evaluate", "songs.csv", "songs.csv"), "songs.csv: this is no refpair model"),
    "columns missing": (("predict", "model", "text.csv"), "4 of 4 feature columns are missing: 'tempo'"),
    "pixels missing": (("predict", "model", "digits"), "4 of 4 feature columns are missing: 'tempo'"),
    "unknown id": (("predict", "model", "songs.csv", "--id", "idd"), "did you mean 'id'?"),
    "id is a label": (("predict", "model", "songs.csv", "--id", "joy"), "the id column 'joy' is a label"),
    "id of a data set": (("predict", "on_digits", "digits", "--id", "x"), "leave out --id"),
    "unknown output": (("predict", "model", "songs.csv", "-o", "out.xlsx"), "ends in .csv or .parquet"),
    "no output folder": (("predict", "model", "songs.csv", "-o", "no/o.csv"), "no: there is no such folder"),
    "labels missing": (
        ("evaluate", "model", "new.csv"),
        "not all labels of the model to compare with, which",
    ),
    "other labels": (("evaluate", "two_labels", "digits"), "not all labels of the model to compare with"),
    "unknown cost to report": (("evaluate", "model", "songs.csv", "--cost", "f0"), "unknown cost 'f0'"),
    "one class a row": (("predict", "one_class", "new.csv"), "predicts one class a row"),
    "function as cost": (("predict", "function", "new.csv"), "is a Python function, which a file cannot"),
}


@pytest.fixture
def mistakes(model, songs):
    X, Y = songs[FEATURES], songs[LABELS]
    model.with_name("folder").mkdir()
    model.with_name("broken").write_bytes(model.read_bytes()[:999])
    model.with_name("text.csv").write_text("a,joy\nx,1\ny,0\n")
    model.with_name("bad.csv").write_text("a,joy\n1,3\n2,0\n")
    model.with_name("norows.csv").write_text("a,joy\n")
    X.to_csv("new.csv", index=False)
    digits = load_dataset("digits")
    refpair.save(CSRPEClassifier(n_bits=2).fit(digits.X, digits.Y), "on_digits")
    refpair.save(CSRPEClassifier(n_bits=2).fit(digits.X, digits.Y[:, :2]), "two_labels")
    refpair.save(CSRPEClassifier(n_bits=2).fit(X, Y["joy"]), "one_class")
    refpair.save(CSRPEClassifier(n_bits=2, cost=lambda Y, Z: (Y != Z).sum(axis=1)).fit(X, Y), "function")


@pytest.mark.usefixtures("mistakes")
@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_ends_in_one_sentence(what, folder):
    args, sentence = MISTAKES[what]
    before = sorted(folder.iterdir())
    assert sentence in refuses(*args)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "args", [("fit",), ("fit", "songs.csv"), ("nosuch",), ("fit", "a", "-o", "b", "--n-bits", "x")]
)
def test_a_mistyped_command_ends_with_code_2(args):
    result = refpair_(*args)
    assert result.exit_code == 2
    assert "Usage: refpair" in result.stderr


# ---- how a process ends ----


def process(script, **how):
    prepare = "import sys, time\nfrom refpair.cli import main, datasets\nsys.argv = ['refpair', 'datasets']\n"
    return subprocess.Popen(
        [sys.executable, "-c", f"{prepare}{script}\nmain()"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how,
    )  # fmt: skip


def test_ctrl_c_ends_with_code_130_and_without_a_traceback():
    running = process("datasets.run = lambda: (print('ready', flush=True), time.sleep(60))")
    assert running.stdout.readline() == "ready\n"
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert (running.returncode, said) == (130, "interrupted\n")


def test_a_reader_that_has_seen_enough_is_no_error():
    running = process("datasets.run = lambda: [print(i) for i in range(10**6)]")
    assert running.stdout.readline() == "0\n"
    running.stdout.close()
    said = running.stderr.read()
    assert (running.wait(timeout=30), said) == (141, "")
    running.stderr.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_told():
    script = "import sys\nfrom refpair.cli import main\nsys.argv = ['refpair', 'datasets']\nmain()"
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", script], check=False, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == 2
    assert ended.stderr == "error: no space left on device\n"


def test_the_command_is_installed(folder):
    command = os.path.join(os.path.dirname(sys.executable), "refpair")
    subprocess.run([command, "fit", "songs.csv", *FIT], check=True, stdout=subprocess.DEVNULL)
    printed = subprocess.check_output([command, "predict", "model", "songs.csv"], text=True)
    assert printed == works("predict", "model", "songs.csv")


# ---- demo ----


def test_demo_shows_what_it_has_computed(monkeypatch):
    small = partial(CSRPEClassifier, n_bits=60, max_depth=6)
    monkeypatch.setattr(demo_module, "CSRPEClassifier", small)
    monkeypatch.setattr(demo_module, "N_TREES", 5)
    printed = works("demo")
    digits = load_dataset("digits")
    train, test = slice(0, 1500), slice(1500, None)
    f1, price = get_cost("f1"), Cost.per_label(false_positive=3)
    scores = {}
    for name, cost in {"F1": f1, "price": price}.items():
        predicted = small(cost, random_state=0).fit(digits.X[train], digits.Y[train]).predict(digits.X[test])
        scores[name] = [each.score(digits.Y[test], predicted) for each in (f1, price)]
        row = next(line for line in printed.splitlines() if f"│ CSRPE for {name} " in line)
        cells = [cell.strip(" *") for cell in row.split("│")[2:4]]
        assert cells == [f"{score:.3f}" for score in scores[name]]
    assert "random forest (5 trees)" in printed
    assert ("CSRPE for F1 comes first" in printed) == (scores["F1"][0] > scores["price"][0])


def test_the_verdict_admits_defeat_and_a_draw():
    def result(name, made_for, f1):
        return demo_module.Result(name, made_for, {"F1": f1, "price": 1.0}, 1.0)

    for other in (0.9, 0.8):
        assert demo_module.verdict([result("A", "F1", 0.8), result("B", None, other)]) == [
            f"By F1, A does not come first: 0.800, and B has {other:.3f}."
        ]
    assert demo_module.verdict([result("A", "F1", 0.8), result("B", None, 0.7)]) == [
        "By F1, A comes first: 0.800, then B with 0.700."
    ]


@pytest.mark.slow
def test_in_the_demo_each_model_wins_by_its_own_cost():
    printed = works("demo")
    assert "By F1, CSRPE for F1 comes first" in printed
    assert "By price, CSRPE for price comes first" in printed
