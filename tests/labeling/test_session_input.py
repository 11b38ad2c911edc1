"""What a session is given: rows and ids in many forms, labels, costs, and mistakes, which are told."""

from __future__ import annotations

from enum import Enum

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier

from refpair.active import RandomQuery
from refpair.costs import Cost
from refpair.labeling import Session
from tests.labeling.sessions import LABELS, N_ROWS, QUICK, make_rows, open_quick

X, Y = make_rows()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def session(path):
    with open_quick(path) as session:
        yield session


def refused(path, message, *args, **options):
    with pytest.raises(ValueError, match=message):
        Session.open(path, *args, **options)


@pytest.mark.parametrize("cost", ["macro_f1", "ndcg@3"])
def test_a_cost_is_one_of_label_vectors(path, cost):
    refused(
        path, f"a session needs a cost of label vectors, such as \"f1\", not '{cost}'", X, LABELS, cost=cost
    )


# ---- ids ----


class Color(str, Enum):  # noqa: UP042  # a str that says otherwise
    RED = "red"


HOSTILE = [
    1,
    "1",
    -3,
    2**70,
    "",
    " ",
    "漢字 é 🎵",
    "e\u0301",
    "é",
    "x" * 10_000,
    "a'; DROP TABLE events; --",
    "<script>",
    "null",
    "NaN",
    "a\rb\tc\0d\u2028",
]


def test_ids_come_back_as_they_were(path, tmp_path):
    with open_quick(path, X[: len(HOSTILE)], ids=HOSTILE) as session:
        assert session.ids == HOSTILE
        for place, row in enumerate(HOSTILE):
            session.tell([row], Y[[place]])
        assert session.history["id"].tolist() == HOSTILE
        table = session.table()
        assert table["id"].tolist() == HOSTILE
        np.testing.assert_array_equal(table[LABELS], Y[: len(HOSTILE)])
        assert session.undo().id == HOSTILE[-1]
    with open_quick(path, X[: len(HOSTILE)], ids=HOSTILE) as session:
        assert session.ask() == HOSTILE[-1:]
        np.testing.assert_array_equal(session.answers().to_numpy(), Y[: len(HOSTILE) - 1])
        for name in ("out.csv", "out.parquet"):
            session.export(tmp_path / name)
        read = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
        answered = [str(row) for row in HOSTILE[:-1]]  # the last one was taken back
        assert read["id"].tolist() == answered
        assert pd.read_parquet(tmp_path / "out.parquet")["id"].tolist() == answered


@pytest.mark.parametrize("ids", [np.arange(5, 35, dtype=np.uint8), pd.RangeIndex(5, 35), range(5, 35)])
def test_numbers_are_plain_numbers(path, ids):
    with open_quick(path, ids=ids) as session:
        assert {type(row) for row in session.ids} == {int}
        rows = session.ask(2)
        assert {type(row) for row in rows} == {int}
        session.tell(np.array(rows, np.int16), Y[:2])
        assert session.answers().index.tolist() == rows


def test_texts_are_plain_texts(path):
    names = [f"row {number}" for number in range(N_ROWS - 1)]
    with open_quick(path, ids=[*np.array(names), Color.RED]) as session:
        assert {type(row) for row in session.ids} == {str}
        assert session.ids == [*names, "red"]
        session.tell(["red", np.str_("row 3")], Y[:2])
        assert session.answers().index.tolist() == ["red", "row 3"]


def test_ids_of_a_table_are_its_index_and_others_are_their_positions(path, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"row {number}" for number in range(N_ROWS)])
    with open_quick(path, frame) as session:
        assert session.ids == frame.index.tolist()
    with open_quick(tmp_path / "2.sqlite", frame, ids=range(100, 130)) as session:
        assert session.ids == list(range(100, 130))
    with open_quick(tmp_path / "3.sqlite", X.tolist()) as session:
        assert session.ids == list(range(N_ROWS))


@pytest.mark.parametrize(
    "bad", [1.0, np.float64(2), True, np.True_, None, (1, 2), b"x", pd.Timestamp(0), pd.NA]
)
def test_other_ids_are_refused(path, bad):
    message = r"an id must be a str or an int, not .*; for others, give ids=\[str\(one\) for …\]"
    refused(path, message, X[:2], LABELS, ids=["a", bad])
    assert not path.exists()
    with open_quick(path) as session:
        for use in (
            lambda: session.tell([bad], Y[:1]),
            lambda: session.skip([bad]),
            lambda: session.why(bad),
        ):
            with pytest.raises(ValueError, match="an id must be a str or an int, not"):
                use()


def test_ids_that_do_not_fit_are_refused(path):
    refused(path, "X has 30 rows, and there are 2 ids", X, LABELS, ids=[1, 2])
    refused(path, "the id 'a' is that of 2 rows; ids must be different", X[:3], LABELS, ids=["a", "b", "a"])
    refused(path, "the id 7 is that of 2 rows", X[:2], LABELS, ids=[7, np.int8(7)])
    refused(path, "ids must be a list of ids, one for each row of X, not 'abc'", X[:3], LABELS, ids="abc")
    refused(path, "ids must be a list of ids, one for each row of X, not 3", X[:3], LABELS, ids=3)
    refused(path, "ids are those of the rows of X: give X, too", None, LABELS, ids=[1])
    refused(path, r"the id '\\ud800' has characters that no file can hold", X[:1], LABELS, ids=["\ud800"])
    twice = pd.DataFrame(X, index=[0, *range(N_ROWS - 1)], columns=list("abcd"))
    refused(path, "the id 0 is that of 2 rows", twice, LABELS)
    deep = pd.MultiIndex.from_product([range(6), range(5)])
    refused(path, r"an id must be a str or an int, not \(0, 0\)", pd.DataFrame(X, index=deep), LABELS)
    assert not path.exists()


def test_rows_that_are_not_there_are_refused(session):
    for use in (
        lambda row: session.tell([0, row], Y[:2]),
        lambda row: session.skip([0, row]),
        session.why,
    ):
        for row in ("0", 30, -1):
            with pytest.raises(ValueError, match=f"there is no row with the id {row!r}"):
                use(row)
    for row in ("0", 0, np.int64(0), None):
        with pytest.raises(ValueError, match=r"ids must be a list of ids: \["):
            session.skip(row)
    assert len(session.history) == 0


# ---- rows ----


def test_sparse_rows_and_tables_with_texts(path, tmp_path):
    words = np.array(["so good", "so bad", "quite loud", "rather calm and good"])
    texts = pd.DataFrame({"said": words[np.arange(N_ROWS) % 4] + " indeed", "age": np.arange(N_ROWS) % 7})
    for place, rows in enumerate([sp.csr_array(X), sp.coo_matrix(X), sp.csr_matrix(np.eye(N_ROWS)), texts]):
        with Session.open(tmp_path / f"{place}.sqlite", rows, LABELS) as session:
            session.tell(session.ids[:6], Y[:6])
            (row,) = session.ask()
            assert row in session.ids[6:]
            assert len(session.predictions()) == N_ROWS
            assert session.why(row).probabilities.keys() == set(LABELS)


def test_rows_that_hardly_tell_anything(tmp_path):
    for place, rows in enumerate([[[1.0]], np.zeros((5, 2)), np.ones((3, 600)), sp.csr_array((4, 3))]):
        with Session.open(tmp_path / f"{place}.sqlite", rows, ["joy"]) as session:
            asked = []
            while one := session.ask():
                asked += one
                session.tell(one, [[len(asked) % 2]])
            assert sorted(asked) == session.ids
            assert session.should_stop() == "All rows are answered or skipped."
            assert len(session.table()) == len(asked)


def test_bad_rows_are_refused(path):
    refused(path, "Expected 2D array", [1, 2, 3], LABELS)
    refused(path, "Input X contains NaN", [[np.nan]], LABELS)
    refused(path, r"Found array with 0 sample\(s\)", np.empty((0, 2)), LABELS)
    assert not path.exists()


# ---- labels ----


def test_a_new_session_needs_labels(path):
    refused(path, "answers.sqlite is a new session: what are the labels", X)
    assert not path.exists()
    path.touch()  # as if it had been killed before it noted them
    refused(path, "answers.sqlite has no labels yet: give labels=", X)
    with open_quick(path) as session:
        assert session.labels == LABELS


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("joy", r"labels must be a list of names: \['joy'\]"),
        ([], "labels must be names, at least one, and none of them empty"),
        (["joy", " "], "none of them empty"),
        (["joy", "anger", "joy "], "the label 'joy' is named 2 times; remove all but one"),
        (["\udcff"], "has characters that no file can hold; rename it"),
        (["id"], "the label 'id' needs a column 'id' in tables, where another one has that name"),
        (["joy", "who"], "the label 'who' needs a column 'who'"),
        (["at"], "choose another name"),
        (["skipped"], "choose another name"),
        (["expected_cost"], "choose another name"),
        (["joy", "joy_predicted"], "the label 'joy_predicted' needs a column 'joy_predicted'"),
    ],
)
def test_bad_labels_are_refused(path, tmp_path, labels, message):
    refused(path, message, X, labels)
    with open_quick(tmp_path / "good.sqlite", labels=["joy", "calm"]) as session:
        if labels not in (["joy", "anger", "joy "],):
            with pytest.raises(ValueError, match=message):
                session.add_labels(labels)
        assert session.labels == ["joy", "calm"]


def test_labels_when_a_session_goes_on(session, path):
    session.close()
    refused(path, "has labels that are not named: calm. Name them too", X, ["joy", "anger"])
    order = (
        "has the labels in another order, by which columns of Y and prices go: joy, anger, calm. Name them"
    )
    refused(path, order, X, ["anger", "joy", "calm"])
    refused(path, order, X, ["joy", "awe", "anger", "calm"])
    with open_quick(path, labels=None) as again:
        assert again.labels == LABELS
    with open_quick(path, labels=np.array([*LABELS, "awe"])) as again:
        assert again.labels == [*LABELS, "awe"]
    refused(path, "labels that are not named: awe", X, LABELS)


def test_a_label_that_is_added_is_unknown_where_rows_were_answered(session):
    session.tell([0, 1, 2], [["joy"], [], ["calm"]])
    session.skip([3])
    session.add_labels(["awe", "joy"])
    assert session.labels == [*LABELS, "awe"]
    assert session.answers()["awe"].isna().all()
    assert {0, 1, 2} <= set(session.ranking())
    assert 3 not in session.ranking()
    session.learn()
    assert session.model[-1].estimator_.n_rows_ == 3  # of the labels that are known
    session.tell([1, 2], [["awe"], ["anger"]])
    assert session.answers().loc[[1, 2], "awe"].tolist() == [1, 0]
    assert {0, 1, 2} & set(session.ranking()) == {0}
    assert session.model[-1].estimator_.n_rows_ == 2  # which wants all labels
    assert session.undo().id == 2
    assert session.answers().loc[2, "calm"] == 1  # that of before
    assert {0, 1, 2} & set(session.ranking()) == {0, 2}


def test_who_did_not_know_of_a_label_said_nothing_of_it(session, path):
    with open_quick(path, labels=None) as other:
        other.add_labels(["awe"])
        session.tell([0, 1], np.array([[1, 0, 0], [0, 1, 0]]))
        assert session.answers()["awe"].isna().all()
        assert {0, 1} <= set(session.ranking())
        other.add_labels(["fear"])
        session.tell([2], [["fear"]])  # who names it knows of it
        assert session.answers().loc[2].tolist() == [0, 0, 0, 0, 1]
        assert 2 not in session.ranking()


# ---- costs ----


def false_alarms(Y, Z):
    return ((Y == 0) & (Z == 1)).sum(axis=1)


def test_the_cost_is_that_of_the_file_unless_another_one_is_given(session, path):
    assert session.cost.name == "f1"
    session.close()
    for given, name in ((None, "f1"), ("hamming", "hamming"), (None, "hamming"), (Cost.f_beta(2), "f2")):
        with open_quick(path, cost=given) as again:
            assert again.cost.name == name
    with open_quick(path) as again:
        assert again.cost == Cost.f_beta(2)


def test_a_cost_of_ones_own_must_be_given_again(path):
    with open_quick(path, cost=false_alarms) as session:
        assert session.cost.name == "false_alarms"
    refused(path, "answers.sqlite has a cost that is a Python function: give cost= again", X)
    with open_quick(path, cost=false_alarms) as session:
        assert session.cost.name == "false_alarms"


def test_prices_must_fit_the_labels(path):
    prices = Cost.per_label(false_negative=[1, 2, 3])
    message = "false_negative of the cost 'per_label' has 3 prices for"
    refused(path, f"{message} 2 labels", X, ["joy", "calm"], cost=prices)
    with open_quick(path, cost=prices) as session:  # nothing was noted
        with pytest.raises(ValueError, match=f"{message} 4 labels"):
            session.add_labels(["awe"])
        assert session.labels == LABELS
        session.add_labels(["joy"])
    refused(path, f"{message} 4 labels", X, [*LABELS, "awe"])
    refused(path, "has 1 prices for 3 labels", X, cost=Cost.per_label(false_positive=[1]))
    with open_quick(path, labels=None) as session:
        assert session.cost == prices
        assert session.labels == LABELS
    with open_quick(path, labels=None, cost=Cost.per_label(false_negative=2)) as session:
        session.add_labels(["awe"])
        assert session.labels == [*LABELS, "awe"]


# ---- mistakes ----


def test_bad_answers_are_refused_and_nothing_of_them_is_noted(session):
    values = "Y(:| must be 0/1, boolean or yes/no:) column .* in row"
    for bad, message in [
        ([["joy"]], "there are 2 ids, and 1 answers"),
        ([["joy"], ["Joy"]], "there is no label 'Joy'; the labels are joy, anger, calm"),
        ([["joy"], [1, 0, 0]], "there is no label 1"),
        ([0, 1, 0], "Y must have the labels of the model: joy, anger, calm"),
        ([[], [0, 1, 0]], "there is no label 0"),
        (Y[:3], "there are 2 ids, and 3 answers"),
        (Y[:2, :2], r"Y has 2 labels \(columns\), but the model has 3"),
        ([[0, 2, 0], [0, 0, 0]], values),
        (Y[:2] - 0.5, values),
        ([{"joy": True}, ["joy"]], "Y has mappings for some rows and .* for another"),
        ([{"joy": True}, {"Joy": True}], "unknown label 'Joy'; did you mean 'joy'"),
        ([{"joy": True}, {"joy": 3}], values),
        (pd.DataFrame(Y[:2, :2], columns=LABELS[:2]), "Y has 2 labels"),
        (pd.DataFrame(Y[:2]), "the columns of Y are .*, but the labels of the model are"),
    ]:
        with pytest.raises(ValueError, match=message):
            session.tell([0, 1], bad)
    assert len(session.history) == 0


@pytest.mark.parametrize("at", ["yesterday", "", 5, float("nan"), "2026-13-01", "0001-01-01T00:00:00+05:00"])
def test_a_time_that_is_none_is_refused(session, at):
    for say in (lambda: session.tell([0], [["joy"]], at=at), lambda: session.skip([0], at=at)):
        with pytest.raises(ValueError, match="is not a time such as 2026-03-01T10:00:00"):
            say()
    assert len(session.history) == 0


@pytest.mark.parametrize("n", [0, -1, 1.0, 2.5, True, None, "3"])
def test_n_must_be_a_count(session, n):
    with pytest.raises(ValueError, match=f"n must be an integer of at least 1, not {n!r}"):
        session.ask(n)


def test_bad_options_are_told(path):
    for message, options in [
        ("lease must be a number above 0, not 0", {"lease": 0}),
        ("lease must be a number above 0, not nan", {"lease": np.nan}),
        ("lease must be a number above 0, not '5'", {"lease": "5"}),
        ('who must be a name, such as "me"', {"who": ""}),
        ("random_state must be an integer from 0 to .*, not None", {"random_state": None}),
        ("unknown cost 'haming', did you mean 'hamming'", {"cost": "haming"}),
        (r"strategy must be a query strategy such as RandomQuery\(\), not 'x'", {**QUICK, "strategy": "x"}),
        ("strategy must be a query strategy", {**QUICK, "strategy": RandomQuery}),
        (r"estimator must be an instance, KNeighborsClassifier\(\)", {"estimator": KNeighborsClassifier}),
        ("estimator must be a multi-label classifier or None, not 'svm'", {"estimator": "svm"}),
    ]:
        refused(path, message, X, LABELS, **options)
    with pytest.raises(TypeError, match="a cost is a name, a Cost or a function, not int"):
        Session.open(path, X, LABELS, 1)


def test_files_that_are_no_sessions_are_told(tmp_path):
    text = tmp_path / "songs.csv"
    text.write_text("id,joy\n" * 50)
    refused(text, r"songs\.csv is no labeling session of refpair .*choose another file", X, LABELS)
    with pytest.raises(OSError, match="unable to open database file; choose another file"):
        Session.open(tmp_path, X, LABELS)
    with pytest.raises(OSError, match=r"songs\.csv"):
        Session.open(text / "answers.sqlite", X, LABELS)
