"""Images: files that a column names, and pictures whose pixels are columns."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from refpair._extras import from_extra, pd
from refpair._progress import progress
from refpair._saved import require

from ._cells import Floats, Matrix, row_name, strings_of
from ._encoders import Encoder

_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
_SIDE = 64
_CELL = 16
_THUMBNAIL = 8
# Numbers that describe outlines (blocks of 2 x 2 cells overlap), and of light and shade.
_SIZES = ((_SIDE // _CELL - 1) ** 2 * 4 * 9, _THUMBNAIL**2)
PIXEL_NAME = re.compile(r"(.+)_([0-9]{1,5})_([0-9]{1,5})", re.DOTALL)


class OutsideError(ValueError):
    """A path leads out of the folder of the pictures."""


def find_picture(names: Sequence[str]) -> list[list[str]] | None:
    """Return the names of the pixels of the largest picture among columns, row by row, or None.

    Pixels are named ``<prefix>_<row>_<column>``; they must be a full rectangle of at least 2 x 2, each pixel
    once, counted from 0 or from 1.
    """
    return max(find_pictures(names), key=lambda picture: len(picture) * len(picture[0]), default=None)


def find_pictures(names: Iterable[str]) -> list[list[list[str]]]:
    """Return the pictures of all prefixes, in the order of their first pixels among the names."""
    groups: dict[str, list[tuple[int, int, str]]] = {}
    for name in names:
        if match := PIXEL_NAME.fullmatch(name):
            groups.setdefault(match[1], []).append((int(match[2]), int(match[3]), name))
    return [picture for group in groups.values() if (picture := _rectangle(group))]


def _rectangle(group: list[tuple[int, int, str]]) -> list[list[str]] | None:
    names = {(row, column): name for row, column, name in group}
    rows, columns = (sorted({position[axis] for position in names}) for axis in (0, 1))
    is_full = len(group) == len(names) == len(rows) * len(columns)
    for numbers in (rows, columns):  # sales_2020_1 to sales_2023_12 are no picture
        first, n = numbers[0], len(numbers)
        is_full = is_full and n > 1 and first in (0, 1) and numbers[-1] == first + n - 1
    return [[names[row, column] for column in columns] for row in rows] if is_full else None


def are_file_names(values: Sequence[str]) -> bool:
    """Whether all of these, and at least one, end as files of pictures do."""
    return bool(values) and all(value.lower().endswith(_ENDINGS) for value in values)


def leads_to_pictures(values: Sequence[str], folder: Path) -> bool:
    """Whether these name pictures of which one is in the folder, or leads out of it: an error later on."""
    if not are_file_names(values):
        return False
    try:
        return any(find_file(value, folder) is not None for value in values)
    except OutsideError:
        return True


def find_file(value: str, folder: Path) -> Path | None:
    """Return the file of this path below the folder, or None if there is none.

    A path that is absolute, has ".." in it, or follows a link out of the folder raises an OutsideError.
    """
    windows = PureWindowsPath(value)  # it knows both slashes, and a table may come from another system
    if windows.root or windows.drive or ".." in windows.parts:
        raise OutsideError(value)
    try:
        path, root = (folder / value).resolve(), folder.resolve()
        is_inside, is_file = path.is_relative_to(root), path.is_file()
    except (OSError, ValueError, RuntimeError):  # too long, with a zero byte, a circle of links
        return None
    if not is_inside:
        raise OutsideError(value)
    return path if is_file else None  # a pipe is no file: to open it would wait for ever


@dataclass(frozen=True, eq=False)
class ImageEncoder(Encoder):
    """Outlines and a thumbnail of image files, less those of the mean image."""

    mean: Floats
    lengths: list[float]

    def _check_saved(self) -> None:
        fits = self.mean.shape == (sum(_SIZES),) and len(self.lengths) == len(_SIZES)
        require(fits, f"the images of the column {self.column!r} have another size")
        require(np.isfinite(self.mean).all() and min(self.lengths) > 0, "images have no scale")

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str, folder: Path, verbose: int) -> tuple[Self, Matrix] | None:
        """Read the images, and return the encoder with their features; None if no two of them differ."""
        raw, found = _read_images(frame[column], folder, verbose)
        if not found.any():
            return None
        mean = raw[found].mean(axis=0)
        centred = np.where(found[:, None], raw - mean, 0.0)
        centred[np.abs(centred) < 1e-12] = 0.0  # equal images differ from their mean by rounding
        if not centred.any():
            return None
        parts = np.split(centred, [_SIZES[0]], axis=1)
        lengths = [float(np.sqrt((part**2).sum() / found.sum())) or 1.0 for part in parts]
        made = cls([column], mean, lengths)
        return made, made._scaled(raw, found)

    def _scaled(self, raw: Floats, found: npt.NDArray[np.bool_]) -> Floats:
        scale = np.repeat(self.lengths, _SIZES)
        return np.where(found[:, None], (raw - self.mean) / scale, 0.0)

    def transform(self, frame: pd.DataFrame, folder: Path | None = None, verbose: int = 0) -> Matrix:
        if folder is None:
            raise ValueError(
                f"column {self.column!r} names images: give their folder, TableVectorizer(folder=...)"
            )
        return self._scaled(*_read_images(frame[self.column], folder, verbose))

    def feature_names(self) -> list[str]:
        outlines = [f"{self.column}: outline {i}" for i in range(_SIZES[0])]
        return outlines + [f"{self.column}: pixel {divmod(i, _THUMBNAIL)}" for i in range(_SIZES[1])]


def _read_images(column: pd.Series, folder: Path, verbose: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return outlines and thumbnails of the images that a column names, and which rows have one to read."""
    hog = from_extra("skimage.feature", "image", "images need scikit-image").hog
    paths: list[Path | None] = []
    for row, value in enumerate(strings_of(column)):
        try:
            paths.append(None if value is None else find_file(value, folder))
        except OutsideError as error:
            raise ValueError(
                f"column {column.name!r}, row {row_name(column.index, row)}: {value!r} leads out of the "
                f"folder {str(folder)!r}; paths of images must be relative to it and stay in it; move the "
                "file, or leave the column out"
            ) from error
    different = sorted({path for path in paths if path})
    known: dict[Path, Floats | None] = {}
    with progress(f"images of {column.name}", len(different), verbose=verbose) as advance:
        for one in different:
            known[one] = _outlines_and_light(one, hog)
            advance(1)
    features, found = np.zeros((len(paths), sum(_SIZES))), np.zeros(len(paths), bool)
    for row, path in enumerate(paths):
        if path is not None and (numbers := known[path]) is not None:
            features[row], found[row] = numbers, True
    return features, found


def _outlines_and_light(path: Path, hog: Any) -> Floats | None:
    """Return the histograms of oriented gradients of an image, and a thumbnail; None if it is broken."""
    try:
        square = _grey_square(path)
    except Exception:  # of a broken file Pillow raises nearly anything, SyntaxError and struct.error too
        return None
    outlines = hog(square, orientations=9, pixels_per_cell=(_CELL, _CELL), cells_per_block=(2, 2))
    part = _SIDE // _THUMBNAIL
    light = square.reshape(_THUMBNAIL, part, _THUMBNAIL, part).mean(axis=(1, 3))
    return np.concatenate([outlines, light.ravel()])


def _grey_square(path: Path) -> Floats:
    """Read a picture as a small gray square, white is 1.

    Pillow, which scikit-image reads most files with, is called directly: it can refuse a picture of too many
    pixels before it unpacks it, and makes it small before it becomes floats.
    """
    from PIL import Image  # noqa: PLC0415  (comes with scikit-image)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd metadata
        warnings.simplefilter("error", Image.DecompressionBombWarning)  # more than MAX_IMAGE_PIXELS
        with Image.open(path, formats=_FORMATS) as file:  # by content: no .png may start another decoder
            file.draft("L", (2 * _SIDE, 2 * _SIDE))  # JPEGs can be unpacked small
            if file.mode in ("I", "F") or file.mode.startswith("I;16"):
                square = np.asarray(_small(file, "F"), np.float64)
                square = np.where(np.isfinite(square), square, 0.0)
                low, high = square.min(), square.max()  # more than 8 bits seldom use their whole range
                return (square - low) / (high - low) if high > low else np.zeros_like(square)
            if not (file.mode.endswith("A") or "transparency" in file.info):
                return np.asarray(_small(file, "L"), np.float64) / 255
            paper = Image.new("RGBA", (_SIDE, _SIDE), "white")
            on_paper = Image.alpha_composite(paper, _small(file, "RGBA"))
            return np.asarray(on_paper.convert("L"), np.float64) / 255


def _small(image: Any, mode: str) -> Any:
    """Return the square in this mode, turned as the camera says."""
    from PIL import Image, ImageOps  # noqa: PLC0415  (comes with scikit-image)

    image = image if image.mode == mode else image.convert(mode)
    return ImageOps.exif_transpose(image.resize((_SIDE, _SIDE), Image.Resampling.BILINEAR))
