"""The types of what kernels take and give back.

Numba does not read annotations: it compiles for whatever it is given. They are for the reader and for mypy.
All arrays are contiguous unless a kernel says otherwise.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
SignedBytes: TypeAlias = npt.NDArray[np.int8]
Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
Floats: TypeAlias = npt.NDArray[np.floating[Any]]
IndexArray: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.int64]  # as SciPy's sparse matrices have them
