"""Features that a linear model can learn from, made from tables as people have them.

Numbers, categories, text and pictures become blocks of numbers of the same weight. Embeddings of another
program are better features than these for text and pictures; :func:`read_features` takes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ._blocks import Block, category_features, join, number_block, picture_block
from ._cells import Matrix, listed, strings_of
from ._features_file import read_block
from ._kinds import Judgement, Kind, checked_frame, guess_kinds, judge
from ._text import text_features
from .images import file_features, find_picture, find_pictures

__all__ = ["Kind", "TableFeatures", "find_picture", "guess_kinds", "make_features", "read_features"]


@dataclass(frozen=True, eq=False, repr=False)
class TableFeatures:
    """The features of a table, and where they come from.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_array of shape (n, n_features)
        The features, float64 and finite. The mean squared length of rows is 1.
    names : list of str
        The names of the columns of X.
    used : list of str
        Sentences that say what was made of the columns of the table, also of those that are ignored.
    kinds : dict of str to {"number", "category", "text", "image", "ignored"}
        What each column of the table is; empty if the features are not made of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from refpair.features import make_features
    >>> make_features(pd.DataFrame({"age": [7, 8, 9], "size": [2, 1, 2]}))
    TableFeatures(3 rows, 2 features; age, size: numbers, standardised)
    """

    X: Matrix
    names: list[str]
    used: list[str]
    kinds: dict[str, Kind]

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        return f"TableFeatures({n_rows} rows, {n_features} features; {'; '.join(self.used)})"


def make_features(
    frame: pd.DataFrame,
    *,
    kinds: Mapping[str, Kind] | None = None,
    folder: Path | None = None,
    verbose: int = 0,
) -> TableFeatures:
    """Turn a table into features.

    Parameters
    ----------
    frame : DataFrame
        The table, without labels.
    kinds : mapping of str to {"number", "category", "text", "image", "ignored"}, optional
        What columns are, where :func:`guess_kinds` is wrong.
    folder : Path, optional
        Where the paths of pictures start. No path may lead out of it.
    verbose : int, default=0
        Whether to show a progress bar while pictures are read.

    Returns
    -------
    TableFeatures
        Numbers are standardised, an empty cell is the mean and a 1 in a column of its own; categories are a
        0/1 column a value; text is TF-IDF of words and pairs of words; files of pictures are their outlines
        and a thumbnail; pictures whose pixels are columns are taken as they are. Numbers together, categories
        together, and each column of text or pictures by itself have the same weight.

    Raises
    ------
    ValueError
        If there is nothing to learn from, a path of a picture leads out of the folder, or `kinds` asks for
        what cannot be.
    ImportError
        If there are pictures to read, and scikit-image is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> from refpair.features import make_features
    >>> frame = pd.DataFrame({"said": ["so good", "so bad", "so so"], "age": [30, None, 40]})
    >>> features = make_features(frame, kinds={"said": "text"})
    >>> features.used
    ['age: number, standardised; 1 empty', 'said: TF-IDF of words, 1 term']
    >>> features.names
    ['age', 'age is missing', 'said: so']
    """
    frame = checked_frame(frame)
    asked: dict[str, Kind] = {str(name): kind for name, kind in (kinds or {}).items()}
    judged = judge(frame, asked, folder)
    blocks = _blocks(frame, judged, folder, verbose)
    ignored = _ignored(judged)
    if not blocks:
        size = f"{_count(len(judged), 'column')} and {_count(len(frame), 'row')}"
        reasons = "; ".join(ignored) or "there are no columns"
        raise ValueError(f"nothing to learn from in {size}: {reasons}; give features with --features emb.npy")
    joined = join(blocks)
    return TableFeatures(
        joined.X, joined.names, joined.used + ignored, {name: one.kind for name, one in judged.items()}
    )


def read_features(path: Path, n_rows: int) -> TableFeatures:
    """Read features that another program made, such as embeddings of text or pictures.

    Parameters
    ----------
    path : Path
        A file ending in .npy with a matrix of numbers, or in .npz with a sparse one of
        ``scipy.sparse.save_npz``. Neither is unpickled.
    n_rows : int
        The number of rows of the table; the file must have as many, in the same order.

    Returns
    -------
    TableFeatures
        Dense features are standardised, sparse ones divided by the largest value of their column; columns
        that are the same in all rows are left out.

    Raises
    ------
    ValueError
        If the file is not such a matrix, or has another number of rows, NaN or infinite values.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from refpair.features import read_features
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "emb.npy"), [[1.0, 5.0], [3.0, 5.0]])
    ...     features = read_features(Path(folder, "emb.npy"), n_rows=2)
    >>> features.X
    array([[-1.],
           [ 1.]])
    >>> features.used
    ['emb.npy: 1 feature, standardised; 1 more is the same in all rows']
    """
    joined = join([read_block(Path(path), n_rows)])
    return TableFeatures(joined.X, joined.names, joined.used, {})


def _blocks(
    frame: pd.DataFrame, judged: dict[str, Judgement], folder: Path | None, verbose: int
) -> list[Block]:
    """Make all blocks; what turns out to be of no use becomes ignored in `judged`."""
    of_kind: dict[Kind, list[str]] = {}
    for name, (kind, _) in judged.items():
        of_kind.setdefault(kind, []).append(name)
    blocks = []
    if numbers := of_kind.get("number"):
        blocks.append(number_block(frame, numbers))
    blocks += _category_blocks(frame, of_kind.get("category", []), judged)
    for name in of_kind.get("text", []):
        if made := text_features(name, strings_of(frame[name])):
            blocks.append(Block(made[0], made[1], [made[2]]))
        else:
            judged[name] = Judgement("ignored", "no words")
    return blocks + _image_blocks(frame, of_kind.get("image", []), judged, folder, verbose)


def _category_blocks(frame: pd.DataFrame, names: list[str], judged: dict[str, Judgement]) -> list[Block]:
    parts = []
    for name in names:
        if made := category_features(name, strings_of(frame[name])):
            parts.append(Block(made[0], made[1], [made[2]]))
        else:
            judged[name] = Judgement("ignored", "no value occurs twice")
    return [join(parts)] if parts else []


def _image_blocks(
    frame: pd.DataFrame, names: list[str], judged: dict[str, Judgement], folder: Path | None, verbose: int
) -> list[Block]:
    pictures = find_pictures(names)
    blocks = [picture_block(frame, picture) for picture in pictures]
    pixels = {name for picture in pictures for row in picture for name in row}
    for name in names:
        if name in pixels or folder is None:
            continue
        if made := file_features(name, strings_of(frame[name]), folder, verbose=verbose):
            blocks.append(Block(made[0], made[1], [made[2]]))
        else:
            judged[name] = Judgement("ignored", "no two pictures that can be read differ")
    return blocks


def _ignored(judged: Mapping[str, Judgement]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for name, (kind, why) in judged.items():
        if kind == "ignored":
            reasons.setdefault(why, []).append(name)
    return [f"{listed(names)}: ignored ({why})" for why, names in reasons.items()]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
