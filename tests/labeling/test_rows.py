"""Tables to be labelled: what rows are called, which labels they have already, what is learnt from."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from refpair.labeling.pool import _checksums, read_pool

from refpair.datasets import load_dataset

SONGS = "title,tempo,joy\nHey you,120,1\nOh no,90,0\nLa la,,\nSo what,60,true\n"


@pytest.fixture
def read(tmp_path):
    def read(text, labels=("joy",), *, name="pool.csv", **how):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_pool(str(path), None if labels is None else list(labels), **how)

    return read


# -- ids ---------------------------------------------------------------------------------------------------


def test_without_a_column_of_ids_rows_are_called_by_what_is_in_them(read):
    pool = read(SONGS)
    assert len(set(pool.ids)) == 4
    assert all(isinstance(one, str) and len(one) == 12 for one in pool.ids)
    turned = read("\n".join([SONGS.splitlines()[0], *SONGS.splitlines()[:0:-1]]) + "\n")
    assert turned.ids == pool.ids[::-1]


def test_ids_do_not_change_when_labels_are_filled_in(read):
    assert read(SONGS.replace(",1\n", ",0\n")).ids == read(SONGS).ids
    assert read("title,tempo\nHey you,120\nOh no,90\nLa la,\nSo what,60\n").ids == read(SONGS).ids


def test_ids_do_not_change_when_rows_are_added(read):
    # An empty cell makes floats of all whole numbers of its column.
    before = read("title,year,share\nHey you,1999,0.5\nOh no,2001,2\n").ids
    after = read("title,year,share\nnew one,,\nHey you,1999,0.5\nOh no,2001,2\n").ids
    assert after[1:] == before


def test_equal_rows_have_different_ids(read):
    pool = read("a,b\nx y,1\nx y,1\nz w,2\nx y,1\n")
    first = pool.ids[0]
    assert pool.ids == [first, f"{first}-2", pool.ids[2], f"{first}-3"]


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
    pool = read(f"{name},tempo\n7,1\n3,2\n5,4\n")
    assert pool.ids == [7, 3, 5]
    assert all(type(one) is int for one in pool.ids)
    assert pool.features.names == ["tempo"]
    assert list(pool.frame.columns) == [name, "tempo"]  # but it is shown


def test_ids_may_be_text_or_large(read):
    assert read("id,n\na b,1\nc,2\n").ids == ["a b", "c"]
    assert read(f"id,n\n{2**70},1\n3,2\n").ids == [str(2**70), "3"]
    assert read("id,n\n1.5,1\n2.5,2\n").ids == ["1.5", "2.5"]
    assert read('id,n\n<script>,1\n"a\nb",2\n').ids == ["<script>", "a\nb"]


@pytest.mark.parametrize("text", ["id,n\n1,1\n1,2\n3,3\n", "id,n\n1,1\n,2\n3,3\n"])
def test_a_column_called_id_that_does_not_name_each_row_is_one_of_the_cells(read, text):
    pool = read(text)
    assert all(isinstance(one, str) for one in pool.ids)
    assert "id" in pool.features.names


def test_the_column_of_ids_can_be_chosen(read):
    pool = read("id,key,n\n1,a,1\n2,b,2\n", id_column="key")
    assert pool.ids == ["a", "b"]
    assert "id" in pool.features.names  # it is an ordinary column then
    assert not [name for name in pool.features.names if "key" in name]


def test_wrong_columns_of_ids_are_told(read):
    with pytest.raises(ValueError, match=r"pool.csv: unknown column 'idd'; did you mean 'id'\?"):
        read("id,n\n1,1\n2,2\n", id_column="idd")
    with pytest.raises(ValueError, match=r"pool.csv: row 2 has no id in the column 'id'"):
        read("id,n\n1,1\n,2\n", id_column="id")
    with pytest.raises(ValueError, match=r"pool.csv: several rows have the id 'x'; choose another column"):
        read("id,n\nx,1\nx,2\n", id_column="id")
    with pytest.raises(ValueError, match=r"pool.csv: unknown column 'joy'"):  # a label names no rows
        read(SONGS, id_column="joy")


# -- labels that are there already -------------------------------------------------------------------------


def test_rows_with_all_labels_are_answered(read):
    pool = read("id,n,joy,anger\na,1,1,0\nb,2,,1\nc,3,true,FALSE\nd,4,,\n", ["anger", "joy"])
    assert pool.labels == ["anger", "joy"]
    assert pool.answered.to_dict("index") == {"a": {"anger": 0, "joy": 1}, "c": {"anger": 0, "joy": 1}}
    assert list(pool.frame.columns) == ["id", "n"]
    assert pool.features.names == ["n"]


@pytest.mark.parametrize(
    "column", ["1,0,1", "True,False,True", "1.0,0.0,1.0", "1,0,", "True,False,", "yes,0,1"]
)
def test_labels_are_read_as_they_are_written(read, column):
    values = column.split(",")
    text = "id,n,joy\n" + "".join(f"{i},{i},{value}\n" for i, value in enumerate(values))
    if "yes" in column:
        with pytest.raises(
            ValueError, match=r"label column 'joy', row 1: expected 0, 1, true or false, got 'yes'"
        ):
            read(text)
        return
    wanted = {i: {"joy": int(value in ("1", "True", "1.0"))} for i, value in enumerate(values) if value}
    assert read(text).answered.to_dict("index") == wanted


def test_the_row_of_a_wrong_label_is_counted_as_in_the_file(read):
    with pytest.raises(ValueError, match="label column 'anger', row 4: expected 0, 1, true or false, got 7"):
        read("n,joy,anger\n1,,\n2,,1\n3,1,1\n4,1,7\n", ["joy", "anger"])


def test_labels_that_are_not_all_there_are_no_answers_and_no_features(read):
    pool = read(SONGS, ["joy", "anger"])
    assert len(pool.answered) == 0
    assert "joy" not in " ".join([*pool.frame.columns, *pool.features.names])


def test_labels_must_be_named(read):
    for labels in (None, []):
        with pytest.raises(
            ValueError, match=r"pool.csv: what are the labels\? For example --labels joy,anger"
        ):
            read(SONGS, labels)


# -- hostile and broken tables -----------------------------------------------------------------------------

BROKEN = {
    b"": "cannot read it as a table",
    b"a,b\n": "there are no rows below the header",
    b"a,a\n1,2\n": "2 columns are named 'a'; rename all but one",
    b"a,b\n1,2,3\n4,5,6\n9,5,6\n": "rows have more cells than the header",
    b"a,b\n\xff\xfe,1\nx,2\n": "cannot read it as a table",
    b"a\nx\nx\n": "nothing to learn from in 1 column and 2 rows",
    b'a,b\n"x,1\ny,2\n': "cannot read it as a table",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_table_ends_in_a_sentence(read, text):
    with pytest.raises(ValueError, match=BROKEN[text]) as caught:
        read(text)
    assert "pool.csv: " in str(caught.value)


def test_zero_bytes_and_very_wide_tables_are_read(read):
    assert len(read(b"a,b\nx\0y z,1\nv w,2\n").ids) == 2
    wide = (
        ",".join(f"c{i}" for i in range(300))
        + "\n"
        + "".join(",".join([str(i)] * 300) + "\n" for i in range(3))
    )
    assert read(wide).frame.shape == (3, 300)


def test_a_column_can_be_left_out_of_what_is_learnt(read):
    pool = read("said,tempo,seed\nso good,1,5\nso bad,2,6\nso so,3,9\n", drop=["seed"])
    assert "seed" not in pool.features.names
    assert "seed: ignored (as asked for)" in pool.features.used
    assert list(pool.frame.columns) == ["said", "tempo", "seed"]
    with pytest.raises(ValueError, match=r"pool.csv: unknown column 'sed'; did you mean 'seed'\?"):
        read("said,seed\nso good,5\nso bad,6\n", drop=["sed"])


def test_features_of_another_program_take_the_place_of_the_cells(read, tmp_path):
    np.save(tmp_path / "emb.npy", np.arange(8.0).reshape(4, 2))
    pool = read(SONGS, features=tmp_path / "emb.npy")
    assert pool.features.X.shape == (4, 2)
    assert pool.kinds == {"title": "text", "tempo": "number"}  # as they are shown
    sp.save_npz(tmp_path / "emb.npz", sp.csr_array(np.eye(4)))
    assert read(SONGS, features=tmp_path / "emb.npz").features.X.shape == (4, 4)


def test_features_that_do_not_fit_or_are_pickled_are_refused(read, tmp_path):
    np.save(tmp_path / "few.npy", np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"few.npy: has 3 rows, and the table 4"):
        read(SONGS, features=tmp_path / "few.npy")
    np.save(tmp_path / "evil.npy", np.array([[_Evil(tmp_path)]] * 4, dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"evil.npy: cannot read it as an array of numbers"):
        read(SONGS, features=tmp_path / "evil.npy")
    assert not (tmp_path / "owned").exists()


class _Evil:
    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return (open, (str(self.folder / "owned"), "w"))


# -- other formats -----------------------------------------------------------------------------------------


def test_tables_of_other_kinds_are_read(read, tmp_path):
    csv = read(SONGS)
    assert read(SONGS.replace(",", "\t"), name="pool.tsv").ids == csv.ids
    assert read(gzip.compress(SONGS.encode()), name="pool.csv.gz").ids == csv.ids
    csv.frame.to_parquet(tmp_path / "pool.parquet")
    assert read_pool(str(tmp_path / "pool.parquet"), ["joy"]).ids == csv.ids


def test_a_data_set_has_its_own_labels_which_count_as_unknown():
    pool = read_pool("digits", None)
    digits = load_dataset("digits")
    assert pool.labels == digits.label_names
    assert pool.ids == list(range(len(digits.X)))
    assert len(pool.answered) == 0
    assert pool.folder is None


ARFF = "@relation x\n@attribute tempo numeric\n@attribute joy {0,1}\n@data\n1,1\n2,0\n3,1\n"


def test_arff_and_libsvm_files_are_read(read, tmp_path):
    pool = read(ARFF, name="pool.arff")
    assert (pool.ids, pool.labels, list(pool.frame.columns)) == ([0, 1, 2], ["joy"], ["tempo"])
    more = read(ARFF, ["joy", "anger"], name="pool.arff")  # a label that was added since
    assert list(more.frame.columns) == ["tempo"]
    (tmp_path / "pool.xml").write_text(
        '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="joy"/></labels>'
    )
    assert read(ARFF, None, name="pool.arff").labels == ["joy"]
    pool = read("0,2 1:1.5 3:2\n1 2:1\n 1:3\n", None, name="pool.svm")
    assert pool.labels == ["0", "1", "2"]
    assert pool.ids == [0, 1, 2]
    with pytest.raises(ValueError, match="only CSV and Parquet files have columns of ids; leave out --id"):
        read(ARFF, name="pool.arff", id_column="tempo")


def test_what_is_no_table_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read_pool(str(tmp_path / "nosuch.csv"), ["joy"])
    with pytest.raises(
        ValueError, match=r"digit: there is no such file; unknown data set 'digit'; did you mean"
    ):
        read_pool("digit", ["joy"])
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    with pytest.raises(ValueError, match="cannot tell the format by the name"):
        read_pool(str(tmp_path / "x.xlsx"), ["joy"])
