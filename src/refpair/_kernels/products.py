"""Products with a matrix of rows, dense or sparse. The rows of the other matrix are bits."""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import helper
from refpair._kernels.types import Floats, IndexArray

Csr = tuple[Floats, IndexArray, IndexArray]  # data, indices, indptr; empty arrays if the rows are dense


@helper
def onto_rows(bits: Floats, Z: Floats, sparse: Csr, out: Floats) -> None:
    """Write bits @ Z.T, of dense or sparse rows."""
    data, indices, indptr = sparse
    if len(indptr) == 0:
        np.dot(bits, Z.T, out)
        return
    for bit in range(len(bits)):
        for row in range(out.shape[1]):
            total = bits.dtype.type(0.0)
            for k in range(indptr[row], indptr[row + 1]):
                total += data[k] * bits[bit, indices[k]]
            out[bit, row] = total


@helper
def onto_columns(bits: Floats, Z: Floats, sparse: Csr, out: Floats) -> None:
    """Write bits @ Z, of dense or sparse rows."""
    data, indices, indptr = sparse
    if len(indptr) == 0:
        np.dot(bits, Z, out)
        return
    out[:] = 0.0
    for bit in range(len(bits)):
        for row in range(bits.shape[1]):
            for k in range(indptr[row], indptr[row + 1]):
                out[bit, indices[k]] += data[k] * bits[bit, row]
