"""Tables to be labeled: what rows are called, which labels they have already, and what is remembered."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.datasets.load import read_data
from refpair.labeling import Session
from refpair.labeling.rows import _checksums
from tests.labeling.sessions import Commonest

SONGS = "title,tempo,joy\nHey you,120,1\nOh no,90,0\nLa la,,\nSo what,60,true\n"
PLAIN = "title,tempo\nHey you,120\nOh no,90\nLa la,\nSo what,60\n"


@pytest.fixture
def read(tmp_path):
    """Read a file into a session of its own."""
    sessions = []

    def read(text, labels=("joy",), *, name="pool.csv", session=None, **how):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        session = tmp_path / (session or f"{len(sessions)}.sqlite")
        sessions.append(Session.open(session, read_data(str(path)).X, labels, **how))
        return sessions[-1]

    yield read
    for one in sessions:
        one.close()


def names_of(session):
    """The names of the features."""
    return list(session._model._steps[0][1].get_feature_names_out())


# -- ids ---------------------------------------------------------------------------------------------------


def test_without_a_column_of_ids_rows_are_called_by_what_is_in_them(read):
    songs = read(SONGS)
    assert len(set(songs.ids)) == 4
    assert all(isinstance(one, str) and len(one) == 12 for one in songs.ids)
    turned = read("\n".join([SONGS.splitlines()[0], *SONGS.splitlines()[:0:-1]]) + "\n")
    assert turned.ids == songs.ids[::-1]


def test_ids_do_not_change_when_labels_are_filled_in(read):
    assert read(SONGS.replace(",1\n", ",0\n")).ids == read(SONGS).ids
    assert read(PLAIN).ids == read(SONGS).ids


def test_ids_do_not_change_when_rows_are_added(read):
    # An empty cell makes floats of all whole numbers of its column.
    before = read("title,year,share\nHey you,1999,0.5\nOh no,2001,2\n").ids
    after = read("title,year,share\nnew one,,\nHey you,1999,0.5\nOh no,2001,2\n").ids
    assert after[1:] == before


def test_equal_rows_have_different_ids(read):
    ids = read("a,b\nx y,1\nx y,1\nz w,2\nx y,1\n").ids
    assert ids == [ids[0], f"{ids[0]}-2", ids[2], f"{ids[0]}-3"]


CELLS = st.none() | st.integers() | st.floats() | st.booleans() | st.text(max_size=5)


@settings(deadline=None, max_examples=80)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=8),
    draw=st.randoms(use_true_random=False),
)
def test_checksums_do_not_depend_on_the_order_of_rows(rows, draw):
    frame = pd.DataFrame(rows, columns=["a", "b", "c"], dtype=object)
    order = list(range(len(rows)))
    draw.shuffle(order)
    ids, shuffled = _checksums(frame), _checksums(frame.iloc[order])
    assert len(set(ids)) == len(rows)
    assert sorted(ids) == sorted(shuffled)
    assert all(ids[i].split("-")[0] == shuffled[place].split("-")[0] for place, i in enumerate(order))


@pytest.mark.parametrize("name", ["id", "ID", "Id"])
def test_a_column_that_is_called_id_names_the_rows_and_is_not_learnt_from(read, name):
    session = read(f"{name},tempo\n7,1\n3,2\n5,4\n")
    assert session.ids == [7, 3, 5]
    assert all(type(one) is int for one in session.ids)
    assert names_of(session) == ["tempo"]
    assert list(session.rows.cells.columns) == [name, "tempo"]  # but it is shown


def test_ids_may_be_text_or_fractions(read):
    assert read("id,n\na b,1\nc,5\n").ids == ["a b", "c"]
    assert read("id,n\n1.5,1\n2.5,5\n").ids == ["1.5", "2.5"]
    assert read('id,n\n<script>,1\n"a\nb",5\n').ids == ["<script>", "a\nb"]


@pytest.mark.parametrize("text", ["id,n\n1,1\n1,2\n3,3\n", "id,n\n1,1\n,2\n3,3\n"])
def test_a_column_called_id_that_does_not_name_each_row_is_one_of_the_cells(read, text):
    session = read(text, kinds={"id": "number"})
    assert all(isinstance(one, str) for one in session.ids)
    assert "id" in names_of(session)


def test_the_column_of_ids_can_be_chosen(read):
    session = read("id,key,n\n1,a,1\n2,b,5\n", id_column="key", kinds={"id": "number"})
    assert session.ids == ["a", "b"]
    assert "id" in names_of(session)  # it is an ordinary column then
    assert session.columns.loc["key", "kind"] == "ignored"


def test_an_index_names_the_rows_unless_it_is_the_default(tmp_path):
    frame = pd.DataFrame({"said": ["so good", "so bad", "well"], "n": [1, 5, 2]})
    for place, index in enumerate([[3, 1, 2], ["a", "b", "c"]]):
        with Session.open(tmp_path / f"{place}.sqlite", frame.set_axis(index), ["joy"]) as session:
            assert session.ids == index
    with Session.open(tmp_path / "c.sqlite", frame, ["joy"]) as session:
        assert all(isinstance(one, str) and len(one) == 12 for one in session.ids)
    sparse = pd.DataFrame.sparse.from_spmatrix(sp.eye_array(3).tocsr())
    with Session.open(tmp_path / "d.sqlite", sparse, ["joy"]) as session:
        assert session.ids == [0, 1, 2]


def test_wrong_columns_of_ids_are_told(read):
    with pytest.raises(ValueError, match=r"unknown column 'idd'; did you mean 'id'\?"):
        read("id,n\n1,1\n2,2\n", id_column="idd")
    with pytest.raises(ValueError, match=r"row 2 has no id in the column 'id'; fill it in"):
        read("id,n\n1,1\n,2\n", id_column="id")
    with pytest.raises(ValueError, match=r"several rows have the id 'x' in the column 'id'; choose another"):
        read("id,n\nx,1\nx,2\n", id_column="id")
    with pytest.raises(ValueError, match=r"unknown column 'joy'"):  # a label names no rows
        read(SONGS, id_column="joy")
    with pytest.raises(ValueError, match=r"id_column 'a': X has no named columns; give ids="):
        Session.open("nowhere.sqlite", np.eye(3), ["joy"], id_column="a")


# -- labels that are there already -------------------------------------------------------------------------


def test_filled_cells_are_answered(read):
    session = read("id,n,joy,anger\na,1,1,0\nb,2,,1\nc,5,1.0,0\nd,4,,\n", ["anger", "joy"])
    assert session.labels == ["anger", "joy"]
    wanted = {
        "a": {"anger": 0, "joy": 1},
        "b": {"anger": 1, "joy": None},
        "c": {"anger": 0, "joy": 1},
    }
    assert session.answers().to_dict("index") == wanted
    assert session.n_taken_over == 3
    assert session.progress().n_partly == 1
    assert set(session.history["who"]) == {"table"}
    assert sorted(session.ranking()) == ["b", "d"]
    assert list(session.rows.cells.columns) == ["id", "n"]
    assert names_of(session) == ["n"]


@pytest.mark.parametrize(
    "column", ["1,0,1", "True,False,True", "1.0,0.0,1.0", "1,0,", "True,False,", "yes,no,", "-1,1,-1"]
)
def test_labels_are_read_as_they_are_written(read, column):
    values = column.split(",")
    text = "id,n,joy\n" + "".join(f"{i},{i * 3 % 5},{value}\n" for i, value in enumerate(values))
    wanted = {
        i: {"joy": int(value in ("1", "True", "1.0", "yes"))} for i, value in enumerate(values) if value
    }
    assert read(text).answers().to_dict("index") == wanted


def test_the_row_of_a_wrong_label_is_counted_as_in_the_file(read):
    with pytest.raises(
        ValueError, match="label column 'anger', row 4: expected 0 and 1, or yes and no, got 7"
    ):
        read("n,joy,anger\n1,,\n2,,1\n5,1,1\n4,1,7\n", ["joy", "anger"])
    with pytest.raises(ValueError, match=r"label column 'joy', row 3: expected .* got 'yes'"):
        read("n,joy,anger\n1,0,1\n2,,1\n5,yes,1\n4,1,0\n", ["joy", "anger"])


def test_a_name_that_is_no_column_where_others_are_is_probably_mistyped(read):
    with pytest.raises(
        ValueError, match=r"columns of some labels, but none of 'jy' \(did you mean 'joy'\?\)"
    ):
        read("n,joy,anger\n1,,\n2,,1\n3,1,1\n", ["jy", "anger"])
    with pytest.raises(ValueError, match=r"the table has no column 'tgas' \(did you mean 'tags'\?\)"):
        read("n,tags\n1,a|b\n2,\n3,a\n", ["tgas"])
    session = read("n,joy\n1,\n5,1\n3,0\n", ["joy"], session="a.sqlite")
    session.add_labels(["calm"])
    again = read("n,joy\n1,\n5,1\n3,0\n", ["joy", "calm"], session="a.sqlite")  # the session knows it
    assert again.labels == ["joy", "calm"]
    assert again.answers()["calm"].isna().all()


def test_what_a_person_said_counts_more_than_the_table(read):
    text = "id,n,joy,anger\na,1,{},0\nb,2,1,1\nc,5,,\n"
    session = read(text.format(""), ["joy", "anger"], session="a.sqlite")
    session.tell(["a"], [["anger"]], who="Ada")
    session.skip(["c"])
    again = read(text.replace("5,,", "5,1,1").format(1), session="a.sqlite", labels=None)
    assert again.n_taken_over == 0
    assert again.answers().loc["a"].tolist() == [0, 1]
    assert again.n_skipped == 1
    again.undo()  # the skip
    last = read(text.replace("5,,", "5,1,1").format(1), session="a.sqlite", labels=None)
    assert last.n_taken_over == 1  # the table counts again
    assert last.answers().loc["c"].tolist() == [1, 1]


# -- one column of joined names ----------------------------------------------------------------------------

JOINED = "id,said,mood\na,so good,joy|calm\nb,so bad,anger\nc,so what,\nd,oh well,calm\n"


def test_a_column_of_joined_names_has_the_labels(read):
    session = read(JOINED, ["mood"])
    assert session.labels == ["anger", "calm", "joy"]
    assert session.answers().to_numpy().tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 0]]
    assert session.ranking() == ["c"]
    assert list(session.rows.cells.columns) == ["id", "said"]
    session.tell(["c"], [["joy"]])
    assert session.labeled().to_dict("records")[2:] == [
        {"id": "d", "said": "oh well", "mood": "calm"},
        {"id": "c", "said": "so what", "mood": "joy"},
    ]


@pytest.mark.parametrize("separator", [";", ",", "|"])
def test_the_separator_is_found_out_and_kept(read, separator):
    text = JOINED.replace(",", "\t").replace("|", separator)
    session = read(text, ["mood"], name="pool.tsv", session="a.sqlite")
    assert session.labels == ["anger", "calm", "joy"]
    new = f"id\tsaid\tmood\na\tso good\t\nc\tso what\tjoy{separator}awe\n"
    again = read(new, None, name="pool.tsv", session="a.sqlite")
    assert again.labels == ["anger", "calm", "joy", "awe"]  # what is new comes last
    again.tell(["c"], [["joy", "awe"]])
    assert list(again.labeled().columns) == ["id", "said", *again.labels]  # "awe" is unknown in a row
    again.tell(["a"], [{"awe": False}])
    found = again.labeled().set_index("id")["mood"]
    assert found.to_dict() == {"a": f"calm{separator}joy", "c": f"joy{separator}awe"}


def test_a_label_that_would_be_two_in_a_joined_column_is_refused(read):
    session = read(JOINED, ["mood"])
    with pytest.raises(
        ValueError, match=r"the label 'a\|b' holds '\|', which separates the names in the column"
    ):
        session.add_labels(["a|b"])
    session.add_labels(["a;b"])
    assert session.labels[-1] == "a;b"


def test_a_joined_column_that_tells_no_labels_is_refused(read):
    empty = "id,said,mood\na,so good,\nb,so bad,\n"
    with pytest.raises(ValueError, match=r"the column 'mood' is empty in all rows.*--labels joy,anger"):
        read(empty, ["mood"])
    read(JOINED, ["mood"], session="a.sqlite").close()
    assert read(empty, None, session="a.sqlite").labels == ["anger", "calm", "joy"]
    assert read(empty, ["mood"], session="a.sqlite").labels == ["anger", "calm", "joy"]
    texts = "id,said\n" + "".join(f"{i},it is {i // 2} of all\n" for i in range(200))
    with pytest.raises(
        ValueError, match=r"the column 'said' is a text \(.*\), no label; name the labels, as"
    ):
        read(texts, ["said"])
    with pytest.raises(ValueError, match="no label is that of two rows"):
        read("id,said\n" + "".join(f"{i},it is {i} of all\n" for i in range(40)), ["said"])


# -- what is remembered ------------------------------------------------------------------------------------


def test_a_session_remembers_how_its_table_is_read(read, tmp_path):
    text = "key,id,size,seed\na,1,3,5\nb,2,1,7\nc,3,2,6\nd,4,1,1\n"
    session = read(
        text, ["joy"], session="a.sqlite", id_column="key", drop=["seed"], kinds={"size": "category"}
    )
    session.tell(["a", "b"], [["joy"], []])
    session.close()
    turned = "\n".join([text.splitlines()[0], *text.splitlines()[:0:-1]]) + "\n"
    again = read(turned, None, session="a.sqlite")
    assert again.ids == ["d", "c", "b", "a"]
    assert again.n_answered == 2
    assert again.columns["kind"].to_dict() == {
        "key": "ignored", "id": "ignored", "size": "category", "seed": "ignored"
    }  # fmt: skip
    other = read(text, None, session="a.sqlite", drop=["size"])
    assert other.columns.loc["size", "kind"] == "ignored"
    with pytest.raises(ValueError, match="the ids of rows: unknown column 'key'"):
        read("size,seed\n1,2\n3,4\n", None, session="a.sqlite")


def test_the_command_and_python_agree_on_ids(read, tmp_path):
    session = read(SONGS, session="a.sqlite")
    frame = pd.read_csv(tmp_path / "pool.csv")
    session.close()
    with Session.open(tmp_path / "a.sqlite", frame) as again:
        assert again.ids == session.ids
        assert again.n_answered == 3


def test_a_table_without_any_known_row_is_refused(read):
    session = read("key,n\na,1\nb,5\n", session="a.sqlite", id_column="key")
    session.tell(["a"], [["joy"]])
    message = (
        r"a\.sqlite has 1 answers, and none is of a row of this table, whose rows are called by the column "
        r"'key'; give the table that was labeled, the column with its ids \(--id or id_column=\), or another"
    )
    with pytest.raises(ValueError, match=message):
        read("key,n\nc,1\nd,5\n", None, session="a.sqlite")
    with pytest.raises(ValueError, match="rows are called by the column 'n'"):
        read("key,n\na,1\nb,5\n", None, session="a.sqlite", id_column="n")
    other = read("said,n\nso good,1\nso bad,5\n", session="b.sqlite")
    other.tell(other.ids[:1], [["joy"]])
    with pytest.raises(ValueError, match="rows are called by checksums of their cells"):
        read("said,n\nso good,2\nso bad,6\n", None, session="b.sqlite")
    assert read("key,n\nc,1\na,5\n", None, session="a.sqlite").n_answered == 1


# -- features ----------------------------------------------------------------------------------------------


def test_a_column_can_be_left_out_of_what_is_learnt(read):
    text = "said,tempo,seed\nso good,1,5\nso bad,4,6\nso so,3,9\n"
    session = read(text, drop=["seed"])
    assert "seed" not in names_of(session)
    assert session.columns.loc["seed", ["kind", "why"]].tolist() == ["ignored", "as asked for"]
    assert list(session.rows.cells.columns) == ["said", "tempo", "seed"]
    for how in ({"drop": ["sed"]}, {"kinds": {"sed": "text"}}):
        with pytest.raises(ValueError, match=r"unknown column 'sed'; did you mean 'seed'\?"):
            read(text, **how)


def test_features_of_another_program_take_the_place_of_the_cells(read, tmp_path):
    np.save(tmp_path / "emb.npy", np.arange(8.0).reshape(4, 2))
    quick = {"estimator": Commonest()}
    session = read(SONGS, session="a.sqlite", features=tmp_path / "emb.npy", **quick)
    assert session._model.features.shape == (4, 2)
    assert session.rows.kinds == {"title": "text", "tempo": "number"}  # as they are shown
    assert read(SONGS, session="a.sqlite", **quick)._model.features.shape == (4, 2)  # it is remembered
    sp.save_npz(tmp_path / "emb.npz", sp.csr_array(np.eye(4)))
    assert read(SONGS, features=tmp_path / "emb.npz", **quick)._model.features.shape == (4, 4)
    assert read(SONGS, features=np.eye(4), **quick)._model.features.shape == (4, 4)


def test_features_that_do_not_fit_or_are_pickled_are_refused(read, tmp_path):
    np.save(tmp_path / "few.npy", np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"few.npy: has 3 rows, and the table 4"):
        read(SONGS, features=tmp_path / "few.npy")
    np.save(tmp_path / "evil.npy", np.array([[_Evil(tmp_path)]] * 4, dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"evil.npy: cannot read it as an array of numbers"):
        read(SONGS, features=tmp_path / "evil.npy")
    assert not (tmp_path / "owned").exists()
    np.save(tmp_path / "words.npy", np.array([["a"]] * 4))
    with pytest.raises(ValueError, match=r"words.npy: must hold numbers, not <U1; save it with X.astype"):
        read(SONGS, features=tmp_path / "words.npy")
    np.savez(tmp_path / "two.npz", a=np.eye(4))
    with pytest.raises(ValueError, match=r"two.npz: cannot read it as a sparse matrix"):
        read(SONGS, features=tmp_path / "two.npz")
    with pytest.raises(ValueError, match=r"emb.csv: cannot tell the format by the name"):
        read(SONGS, features=tmp_path / "emb.csv")
    np.save(tmp_path / "gaps.npy", np.full((4, 2), np.nan))
    with pytest.raises(ValueError, match=r"contains NaN"):
        read(SONGS, features=tmp_path / "gaps.npy")


class _Evil:
    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return (open, (str(self.folder / "owned"), "w"))


# -- other formats -----------------------------------------------------------------------------------------


def test_tables_of_other_kinds_have_the_same_ids(read, tmp_path):
    csv = read(SONGS)
    assert read(SONGS.replace(",", "\t"), name="pool.tsv").ids == csv.ids
    assert read(SONGS.replace(",", ";"), name="pool.csv").ids == csv.ids
    assert read(gzip.compress(SONGS.encode()), name="pool.csv.gz").ids == csv.ids
    frame = pd.read_csv(tmp_path / "pool.tsv", sep="\t")
    frame.to_parquet(tmp_path / "pool.parquet")
    frame.to_json(tmp_path / "pool.jsonl", orient="records", lines=True)
    for name in ("pool.parquet", "pool.jsonl"):
        assert read((tmp_path / name).read_bytes(), name=name).ids == csv.ids


def test_columns_of_the_same_name_are_refused(tmp_path):
    frame = pd.DataFrame([[1, 2], [3, 5]], columns=["a", "a"])
    with pytest.raises(ValueError, match="2 columns are named 'a'; rename all but one"):
        Session.open(tmp_path / "a.sqlite", frame, ["joy"])
