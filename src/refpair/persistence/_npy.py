"""Arrays of plain numbers as the bytes that :func:`numpy.save` writes, and back.

numpy's own reader evaluates the header as a Python literal and allocates what it claims. This one takes only
the header that numpy writes for plain numbers, and only as many of them as there are.
"""

from __future__ import annotations

import io
import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["from_npy", "narrowed", "to_npy"]

_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([<|][biuf]\d{1,2})', 'fortran_order': False, 'shape': \(((?:\d{1,18},? ?){0,8})\), \} *\n"
)


def to_npy(array: npt.NDArray[Any]) -> bytes:
    """Return an array as bytes, which are the same on all machines.

    Examples
    --------
    >>> from_npy(to_npy(np.array([[1, 2]], np.int8)))
    array([[1, 2]], dtype=int8)
    """
    stream = io.BytesIO()
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def from_npy(content: bytes | bytearray) -> npt.NDArray[Any]:
    """Return the array in these bytes; it shares their memory, so that it can be written to if they can."""
    size = int.from_bytes(content[8:10], "little")
    header = _HEADER.fullmatch(bytes(content[10 : 10 + size]))
    if content[:8] != _MAGIC or header is None:
        raise ValueError("an array is not one of plain numbers")
    dtype = np.dtype(header[1].decode())
    shape = tuple(int(number) for number in re.findall(rb"\d+", header[2]))
    if math.prod(shape) * dtype.itemsize != len(content) - 10 - size:
        raise ValueError("the size of an array is not what it says")
    array = np.frombuffer(content, dtype, offset=10 + size).reshape(shape)
    if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise ValueError("an array holds more than true and false")
    return array


def narrowed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return integers in the smallest type that holds them all and is a part of their own.

    Examples
    --------
    >>> narrowed(np.array([-1, 300])).dtype, narrowed(np.int32([70_000])).dtype
    (dtype('int16'), dtype('int32'))
    """
    if array.dtype.kind not in "iu" or array.size == 0:
        return array
    low, high = int(array.min()), int(array.max())
    for kind in ("u1", "i1", "u2", "i2", "u4", "i4"):
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max and np.can_cast(kind, array.dtype):
            return array.astype(kind)
    return array
