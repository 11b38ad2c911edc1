"""Checks of what skops has written, before skops reads it: it reads whatever it is told to, and as often."""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile
from typing import Any

import numpy as np

from refpair._saved import require

__all__ = ["check_skops"]

_SCHEMA = "schema.json"
_ENTRY = re.compile(r"schema\.json|\d{1,20}\.npy")
_MAX_SCHEMA = 1 << 26
_MAX_GROWTH, _ALWAYS_ALLOWED = 50, 1 << 24
_LOADERS = {
    "DictNode", "ListNode", "TupleNode", "SetNode", "ObjectNode", "JsonNode", "NdArrayNode",
    "MaskedArrayNode",
    "DTypeNode", "TypeNode", "FunctionNode", "RandomStateNode", "SliceNode", "LossNode",
}  # fmt: skip


def check_skops(content: bytes) -> None:
    """Check that entries are what skops writes for estimators, no larger than they say, and asked for once.

    Parameters
    ----------
    content : bytes
        A zip file.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = archive.infolist()
        require(len({info.filename for info in infos}) == len(infos), "entries of estimators are there twice")
        for info in infos:
            require(_ENTRY.fullmatch(info.filename), f"{info.filename!r} does not belong to estimators")
            stored = info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size
            require(stored, f"{info.filename!r} is packed in another way")
        sizes = {info.filename: info.file_size for info in infos}
        require(0 < sizes.get(_SCHEMA, 0) <= _MAX_SCHEMA, "the estimators have no schema, or too long a one")
        total = sum(sizes.values())
        require(total <= _ALWAYS_ALLOWED + _MAX_GROWTH * len(content), "the estimators are a zip bomb")
        for name in sizes.keys() - {_SCHEMA}:
            _check_npy(archive.read(name))
        total = _n_asked_for(json.loads(archive.read(_SCHEMA)), sizes)
        require(total <= _ALWAYS_ALLOWED + _MAX_GROWTH * len(content), "the estimators are a bomb")


def _check_npy(content: bytes) -> None:
    stream = io.BytesIO(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        version = np.lib.format.read_magic(stream)
        require(version == (1, 0), "an array is in another version of numpy's format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    require(dtype.kind in "biufcUS" and dtype.itemsize, "an array is not one of plain numbers or strings")
    size = dtype.itemsize
    for n in shape:
        require(type(n) is int and n >= 0, "an array has a negative size")
        size *= n
    require(size == len(content) - stream.tell(), "the size of an array is not what it says")


def _n_asked_for(schema: Any, sizes: dict[str, int]) -> int:
    """Return how many bytes of entries a schema asks for, all together, if it asks in known ways only."""
    total, waiting = 0, [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            loader = node.get("__loader__")
            if isinstance(loader, str):
                require(loader in _LOADERS, f"estimators hold a {loader}, which cannot be checked")
                total += sizes.get(str(node.get("file")), 0)
    return total
