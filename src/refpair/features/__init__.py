"""Features that a linear model can learn from, made from tables as people have them."""

from refpair.features.table import (
    Kind,
    TableFeatures,
    find_picture,
    guess_kinds,
    make_features,
    read_features,
)

__all__ = ["Kind", "TableFeatures", "find_picture", "guess_kinds", "make_features", "read_features"]
