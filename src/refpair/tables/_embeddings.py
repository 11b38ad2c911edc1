"""Embeddings of texts by a sentence-transformers model that is on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["embed_texts"]


def embed_texts(texts: Sequence[str], model: str, *, verbose: int = 0) -> npt.NDArray[np.float64]:
    """Return the embeddings of texts, each of length 1.

    Parameters
    ----------
    texts : sequence of str
    model : str
        A folder with a sentence-transformers model, the name of an installed package that holds one, or of
        one in the cache of this machine. Nothing is downloaded.
    verbose : int, default=0
        Whether to show a progress bar.

    Raises
    ------
    ImportError
        If sentence-transformers is not installed.
    ValueError
        If the model is not on this machine.
    """
    different = sorted(set(texts))
    found = _load(model).encode(different, normalize_embeddings=True, show_progress_bar=verbose > 0)
    place = {text: i for i, text in enumerate(different)}
    return np.asarray(found, np.float64)[[place[text] for text in texts]]


@lru_cache(maxsize=2)
def _load(model: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (an extra; and slow to import)
    except ImportError as error:
        raise ImportError(
            "embeddings of texts need sentence-transformers: pip install 'refpair[text]'"
        ) from error
    try:
        return SentenceTransformer(str(_folder(model)), device="cpu", local_files_only=True)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"the text model {model!r} is not on this machine; give the folder of a model of "
            "sentence-transformers, or the name of an installed package that holds one"
        ) from error


def _folder(model: str) -> Path | str:
    """Return where a model is: a folder, that of a package, or a name in the cache."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    package = find_spec(model) if model.isidentifier() else None
    if package is not None and package.origin is not None:
        return Path(package.origin).parent / "model"
    return model
