"""Save a model without pickle, load it, and see that a damaged file is refused."""

import tempfile
from pathlib import Path

import numpy as np

import refpair
from refpair.datasets import load_dataset
from refpair.persistence import ModelFileError


def n_wrong_or_all(Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the number of wrong labels, but 5 where none is right."""
    return np.where((Y & Z).any(axis=1), (Y != Z).sum(axis=1), 5)


def main() -> None:
    """Save two models: one for a named cost, one for a function."""
    digits = load_dataset("digits")
    X, Y, X_new = digits.X[:500], digits.Y[:500], digits.X[500:]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "digits.refpair")
        model = refpair.CSRPEClassifier("f1", n_bits=200, random_state=0).fit(X, Y)
        refpair.save(model, path)
        print("same answers:", (refpair.load(path).predict(X_new) == model.predict(X_new)).all())

        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2] ^= 1  # a single bit
        path.write_bytes(damaged)
        try:
            refpair.load(path)
        except ModelFileError:
            print("a damaged file is refused")

        # A file cannot hold a function: give it again.
        model = refpair.CSRPEClassifier(n_wrong_or_all, n_bits=100, random_state=0).fit(X, Y)
        refpair.save(model, path)
        print("its cost:", refpair.load(path, cost=n_wrong_or_all).cost_.name)


if __name__ == "__main__":
    main()
