from __future__ import annotations

import os
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from sklearn.linear_model import LogisticRegression

from refpair import TableVectorizer
from refpair.tables._images import find_file, find_picture
from refpair.tables.columns import find_kinds

N_FEATURES = 3 * 3 * 4 * 9 + 64


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "pictures"
    path.mkdir()
    return path


def stripes(rng, upright, side=40):
    picture = np.zeros((side, side), np.uint8)
    shift = rng.integers(0, 8)
    picture[:, [i for i in range(side) if (i + shift) % 8 < 4]] = rng.integers(120, 255)
    return picture if upright else picture.T.copy()


def save(folder, name, array, **options):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(array).save(path, **options)
    return name


@pytest.fixture
def photos(folder):
    rng = np.random.default_rng(0)
    return [save(folder, f"sub/{i}.png", stripes(rng, i % 2)) for i in range(60)]


def vectorized(values, folder, **more):
    frame = pd.DataFrame({"photo": values, **more.pop("columns", {})})
    vectorizer = TableVectorizer(folder=folder, **more)
    X = vectorizer.fit_transform(frame)
    return vectorizer, X.toarray() if hasattr(X, "toarray") else X


def test_pictures_are_learned(folder, photos):
    vectorizer, X = vectorized(photos, folder)
    assert vectorizer.columns_.loc["photo"].tolist() == ["image", "paths of images", 0, N_FEATURES]
    assert X.shape == (60, N_FEATURES)
    names = vectorizer.get_feature_names_out()
    assert (names[0], names[-1]) == ("photo: outline 0", "photo: pixel (7, 7)")
    np.testing.assert_allclose((X**2).sum(axis=1).mean(), 1)
    y = np.arange(60) % 2
    model = LogisticRegression(C=10).fit(X[:20], y[:20])
    assert model.score(X[20:], y[20:]) > 0.95


def test_new_pictures_are_in_another_folder(folder, photos, tmp_path):
    vectorizer, X = vectorized(photos, folder)
    folder.rename(tmp_path / "moved")
    vectorizer.set_params(folder=tmp_path / "moved")
    np.testing.assert_allclose(vectorizer.transform(pd.DataFrame({"photo": photos[7:9]})), X[7:9])
    vectorizer.set_params(folder=None)
    with pytest.raises(ValueError, match=r"column 'photo' names images: give their folder, TableVectorizer"):
        vectorizer.transform(pd.DataFrame({"photo": photos[7:9]}))


def test_what_is_missing_or_broken_is_zero(folder, photos):
    (folder / "text.png").write_text("no picture")
    whole = (folder / photos[0]).read_bytes()
    (folder / "half.png").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.JPEG").touch()
    (folder / "directory.png").mkdir()
    missing = [None, "absent.png", "directory.png", "x\0y.png", "long" * 999 + ".png"]
    values = [*photos[:9], *missing, "text.png", "half.png", "empty.JPEG"]
    vectorizer, X = vectorized(values, folder)
    names = vectorizer.get_feature_names_out().tolist()
    assert names[0] == "photo is missing"
    np.testing.assert_array_equal(X[9:, 1:], 0)
    assert (X[:, 0] > 0).tolist() == [value is None for value in values]
    assert (np.abs(X[:9, 1:]).sum(axis=1) > 0).all()


def test_pictures_without_differences_are_ignored(folder, photos):
    vectorizer, _ = vectorized(photos[:1] * 7, folder, columns={"n": [1.5, 2, 3, 4, 5, 6, 7]})
    assert vectorizer.columns_["kind"].tolist() == ["ignored", "number"]
    assert vectorizer.columns_.loc["photo", "why"] == "no two images that can be read differ"
    (folder / "a.png").touch()
    (folder / "b.png").touch()
    with pytest.raises(ValueError, match=r"nothing to learn from .*no two images"):
        vectorized(["a.png", "b.png"], folder)


def test_what_is_taken_for_pictures(folder, photos):
    def kind(values, where=folder):
        return find_kinds(pd.DataFrame({"x": values}), None, where)["x"].kind

    assert kind(photos) == "image"
    assert kind([photos[0], None, "absent.JPG"]) == "image"
    assert kind([photos[0], "notes.txt"]) == "ignored"
    assert kind(["absent.png", "other.gif"]) == "ignored"
    assert kind(photos, None) == "ignored"
    assert kind(["cat.png", "dog.png"] * 4) == "category"
    with pytest.raises(ValueError, match=r"x: names of images, and none of them is in "):
        TableVectorizer(folder=folder).fit(pd.DataFrame({"x": ["absent.png", "other.gif"]}))


def test_folder_must_be_one(tmp_path):
    with pytest.raises(ValueError, match=r"folder must be the directory of the images, and .* is none"):
        TableVectorizer(folder=tmp_path / "none").fit(pd.DataFrame({"a": [1, 2]}))


HOSTILE = [
    "/etc/passwd.png",
    "../secret.png",
    "sub/../../secret.png",
    "sub/../0.png",
    "C:\\a.png",
    "..\\a.png",
]
HOSTILE += ["\\\\host\\share\\a.png", "//host/a.png", "C:a.png", ".././a.png"]


@pytest.mark.parametrize("path", HOSTILE)
@pytest.mark.parametrize("asked", [None, {"photo": "image"}])
def test_paths_must_stay_in_the_folder(folder, photos, path, asked):
    save(folder.parent, "secret.png", np.zeros((9, 9), np.uint8))
    for values, row in (([photos[0], photos[1], path], 3), ([path], 1)):
        with pytest.raises(ValueError, match=rf"column 'photo', row {row}: .* leads out of the folder"):
            vectorized(values, folder, kinds=asked)


@pytest.mark.parametrize("target", ["secret.png", "absent.png", "."])
def test_links_must_stay_in_the_folder(folder, photos, target):
    save(folder.parent, "secret.png", np.zeros((9, 9), np.uint8))
    (folder / "link.png").symlink_to(folder.parent / target)
    with pytest.raises(ValueError, match=r"row 2: 'link\.png' leads out of the folder"):
        vectorized([photos[0], "link.png"], folder)
    (folder / "way").symlink_to(folder.parent)
    with pytest.raises(ValueError, match=r"row 2: 'way/secret\.png' leads out of the folder"):
        vectorized([photos[0], "way/secret.png"], folder)


def test_links_inside_the_folder_are_followed(folder, photos):
    (folder / "link.png").symlink_to(folder / photos[0])
    other = folder.parent / "other"
    other.symlink_to(folder)
    assert find_file("link.png", folder) == (folder / photos[0]).resolve()
    _, X = vectorized([photos[0], "link.png", photos[1]], other)
    np.testing.assert_array_equal(X[0], X[1])


def test_what_is_no_file_is_not_opened(folder, photos):
    os.mkfifo(folder / "pipe.png")  # to open it would wait for ever
    (folder / "circle.png").symlink_to(folder / "circle.png")
    _, X = vectorized([*photos, "pipe.png", "circle.png"], folder)
    assert not X[60:].any()


@given(st.text())
def test_no_text_is_a_path_out(value):
    here = Path(__file__).parent
    try:
        found = find_file(value, here)
    except ValueError:
        return
    assert found is None or found.is_relative_to(here.resolve())


def bomb(width, height):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * 10_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(10_000, 10_000), (60_000, 60_000), (2**31 - 1, 2**31 - 1)])
def test_pictures_of_too_many_pixels_are_broken(folder, photos, size, monkeypatch):
    (folder / "bomb.png").write_bytes(bomb(*size))
    loaded = []
    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", lambda self: loaded.append(self.size))
    vectorizer, _ = vectorized(
        ["bomb.png", "absent.png"], folder, columns={"n": [1, 2]}, kinds={"photo": "image"}
    )
    assert vectorizer.columns_.loc["photo", "kind"] == "ignored"
    assert loaded == []


def test_the_limit_of_pillow_counts(folder, photos, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 40 * 40)
    save(folder, "large.png", np.zeros((40, 41), np.uint8))
    _, X = vectorized([*photos, "large.png"], folder)
    assert X[59].any()
    assert not X[60].any()


def test_only_pictures_are_decoded(folder, photos):
    # Pillow goes by the content and knows many formats; PostScript it would hand to another program.
    (folder / "y.png").write_bytes(b"P5 2 2 255\nabcd")
    (folder / "x.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n%%EOF\n")
    _, X = vectorized([*photos, "x.png", "y.png"], folder)
    assert not X[60:].any()


def features_of(folder, values):
    return vectorized(values, folder)[1]


def test_the_same_picture_in_other_forms(folder):
    rng = np.random.default_rng(1)
    white = np.where(stripes(rng, True, side=64) > 0, 255, 0).astype(np.uint8)
    other = save(folder, "other.png", stripes(rng, False, side=64))
    clear = np.dstack([np.zeros_like(white)] * 3 + [255 - white])  # black, and clear where it is white
    names = [
        save(folder, "l.png", white),
        save(folder, "rgb.bmp", np.dstack([white] * 3)),
        save(folder, "l.TIFF", white),
        save(folder, "deep.tif", white.astype(np.uint16) * 16),
        save(folder, "float.tif", white.astype(np.float32) * 1e5),
        save(folder, "one.gif", white),
        save(folder, "lossless.webp", np.dstack([white] * 3), lossless=True),
        save(folder, "clear.png", clear),
        save(folder, "clear.webp", clear, lossless=True),
    ]
    palette = Image.fromarray(np.where(white, 1, 0).astype(np.uint8)).convert("P")
    palette.putpalette([0, 0, 0, 10, 20, 30])
    palette.save(folder / "palette.png", transparency=1)
    names.append("palette.png")
    X = features_of(folder, [*names, other])
    for i, name in enumerate(names):
        np.testing.assert_allclose(X[i], X[0], atol=1e-6, err_msg=name)
    assert np.abs(X[-1] - X[0]).max() > 0.01


def test_pictures_are_turned_as_the_camera_says(folder):
    rng = np.random.default_rng(1)
    upright = stripes(rng, True)
    exif = Image.Exif()
    exif[0x0112] = 6
    upright[:9] = 0  # the top can be told from the bottom
    turned = np.rot90(upright).copy()
    names = [save(folder, "a.png", upright), save(folder, "b.png", turned)]
    names += [save(folder, f"c.{end}", turned, exif=exif) for end in ("png", "jpg", "webp", "tif")]
    X = features_of(folder, names)
    for x in X[2:]:
        assert np.linalg.norm(x - X[0]) < 0.5 * np.linalg.norm(X[1] - X[0])


def test_large_photos_are_read_small(folder):
    rng = np.random.default_rng(2)
    names = [save(folder, f"{i}.jpg", np.dstack([stripes(rng, i, 2000)] * 3)) for i in (0, 1)]
    assert features_of(folder, names).shape == (2, N_FEATURES)


def test_not_finite_pixels(folder, photos):
    square = np.ones((9, 9), np.float32)
    square[3] = np.nan
    X = features_of(folder, [*photos, save(folder, "a.tif", square), save(folder, "b.tif", square * np.inf)])
    assert np.isfinite(X).all()


@pytest.mark.parametrize("module", ["skimage", "skimage.feature"])
def test_without_scikit_image(folder, photos, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    if module == "skimage.feature":
        monkeypatch.delattr(sys.modules["skimage"], "feature", raising=False)
    with pytest.raises(ImportError, match=r"images need scikit-image: pip install 'refpair\[image\]'"):
        vectorized(photos, folder)
    columns = {"n": np.linspace(0, 1, 60)}
    vectorizer, _ = vectorized(photos, folder, columns=columns, kinds={"photo": "ignored"})
    assert vectorizer.get_feature_names_out().tolist() == ["n"]


def test_progress_bar(folder, photos, capsys):
    vectorized(photos, folder, verbose=1)
    assert "images of photo" in capsys.readouterr().err
    vectorized(photos, folder)
    assert capsys.readouterr().err == ""


def grid(prefix, rows, columns):
    return [f"{prefix}_{i}_{j}" for i in rows for j in columns]


@pytest.mark.parametrize(
    ("names", "shape"),
    [
        (grid("p", range(8), range(8)), (8, 8)),
        (grid("my_pixel", range(2), range(3)), (2, 3)),
        (grid("p", range(1, 4), range(1, 3)), (3, 2)),
        (["p_00_00", "p_00_01", "p_01_00", "p_01_01"], (2, 2)),
        ([*grid("a", range(2), range(2)), *grid("b", range(3), range(3)), "age"], (3, 3)),
        (grid("p", range(8), range(8))[:-1], None),
        ([*grid("p", range(2), range(2)), "p_00_0"], None),
        ([*grid("p", range(2), range(2)), "p_5_5"], None),
        (grid("sales", range(2020, 2024), range(1, 13)), None),
        (grid("p", [0, 2], [0, 2]), None),
        (grid("p", range(1), range(9)), None),
        (["p_0_0"], None),
        (["_0_0", "0_0", "p_-1_0", "p_0_0.5", "p_" + "9" * 5000 + "_0", "p_²_1"], None),
        ([], None),
    ],
)
def test_find_picture(names, shape):
    shuffled = list(np.random.default_rng(0).permutation(names)) if names else []
    picture = find_picture([str(name) for name in shuffled])
    if shape is None:
        assert picture is None
        return
    assert (len(picture), len(picture[0])) == shape
    drawn = [name for row in picture for name in row]
    assert drawn == [name for name in names if name in drawn]


def test_pixels_are_scaled_together():
    names = grid("p", range(2), range(2))
    pixels = np.array([[0, 4, 0, 16], [8, 4, 0, 0], [0, 4, 0, 8]])
    frame = pd.DataFrame(pixels[:, ::-1], columns=names[::-1]).assign(n=[1, 2, 4])
    vectorizer = TableVectorizer().fit(frame)
    assert vectorizer.columns_["kind"].tolist() == ["image"] * 4 + ["number"]
    assert set(vectorizer.columns_["why"]) == {"a pixel of 2 x 2", "numbers"}
    assert vectorizer.get_feature_names_out().tolist() == ["n", *names[::-1]]
    X = np.asarray(vectorizer.transform(frame))[:, :0:-1]
    np.testing.assert_allclose(X * 16 / X.max(), pixels, atol=1e-12)
    np.testing.assert_allclose((X**2).sum(axis=1).mean(), 1)


def test_pixels_that_are_missing_or_far_out():
    cells = [[1, np.nan, 2, 3], [1, 2, 3, np.inf], [5, 5, 5, 5]]
    vectorizer = TableVectorizer().fit(pd.DataFrame(cells, columns=grid("p", (0, 1), (0, 1))))
    X = vectorizer.transform(pd.DataFrame([*cells, [1.7e308] * 4], columns=grid("p", (0, 1), (0, 1))))
    assert X[0, 1] == X[1, 3] == 0
    assert np.isfinite(X).all()
    tiny = TableVectorizer().fit(pd.DataFrame(np.full((2, 4), 5e-324), columns=grid("p", (0, 1), (0, 1))))
    far = tiny.transform(pd.DataFrame(np.full((1, 4), 1.7e308), columns=grid("p", (0, 1), (0, 1))))
    assert np.isfinite(far).all()


def test_pixels_in_sparse_columns():
    frame = pd.DataFrame([[1.0, 0, 2, 0], [1, 2, 0, 0], [5, 0, 0, 5]], columns=grid("p", (0, 1), (0, 1)))
    X = TableVectorizer().fit_transform(frame)
    sparse = frame.astype(pd.SparseDtype(float, fill_value=0.0))
    np.testing.assert_allclose(TableVectorizer().fit_transform(sparse), X)


def test_pictures_that_are_none():
    names = grid("p", (0, 1), (0, 1))
    frame = pd.DataFrame([[1, 2, 3, 4], [2, 1, 2, 3]], columns=names)

    def kinds(frame, asked=None):
        return [found.kind for found in find_kinds(frame, asked).values()]

    assert kinds(frame, {"p_0_0": "number"}) == ["number"] * 4
    assert kinds(frame, dict.fromkeys(names, "image")) == ["image"] * 4
    assert kinds(frame.assign(p_1_1=["so good", "so bad"])) == ["number"] * 3 + ["text"]
