"""The data set inside the package: which digits are in a picture."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from .arff import MultiLabelData

N_PICTURES = 3000
N_CLASSES = 10
MAX_DIGITS = 3
_N_DIGITS = np.array([1, 1, 1, 2, 2, 3])
_SEED = 20_170


def make_overlaid_digits() -> MultiLabelData:
    """Make pictures of one to three handwritten digits laid over each other.

    Each of the 3000 pictures takes one, two or three different digits (a half, a third and a sixth of all
    pictures), a random specimen of each from scikit-learn's ``load_digits``, and the largest of their values
    at each of the 8 x 8 pixels. Pictures are in random order and independent, so any cut is a fair split; but
    they share specimens, so that a score here is higher than it would be for new writers.
    """
    source = load_digits()
    # Specimens in one run per class: number i of class d is at starts[d] + i.
    by_class = np.argsort(source.target, kind="stable")
    images = source.data[by_class]
    sizes = np.bincount(source.target)
    starts = np.cumsum(sizes) - sizes

    # numpy promises the raw stream of a bit generator for ever, that of Generator's methods not, and
    # remainders of 64-bit numbers are even enough here. One row of draws makes one picture.
    width = 1 + N_CLASSES + MAX_DIGITS
    draws = np.random.PCG64(_SEED).random_raw(N_PICTURES * width).reshape(N_PICTURES, width)
    n_digits = _N_DIGITS[draws[:, 0] % _N_DIGITS.size]
    digits = np.argsort(draws[:, 1 : 1 + N_CLASSES], axis=1, kind="stable")[:, :MAX_DIGITS]
    specimens = starts[digits] + (draws[:, 1 + N_CLASSES :] % sizes[digits].astype(np.uint64)).astype(np.intp)

    X = np.zeros((N_PICTURES, images.shape[1]))
    Y = np.zeros((N_PICTURES, N_CLASSES), dtype=np.uint8)
    for layer in range(MAX_DIGITS):
        rows = np.flatnonzero(n_digits > layer)
        X[rows] = np.maximum(X[rows], images[specimens[rows, layer]])
        Y[rows, digits[rows, layer]] = 1
    pixels = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    return MultiLabelData("digits", X, Y, pixels, [str(digit) for digit in range(N_CLASSES)])
