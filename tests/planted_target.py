"""A target with a fault that only a search guided by branches finds: no random input has these letters."""

from __future__ import annotations

import numpy as np

INSTRUMENTED = ("tests.planted_target",)
SEEDS = (b"abcd",)
WORDS = ("x",)


def check(data: bytes) -> None:
    if data[:1] == b"b" and data[1:2] == b"o" and data[2:3] == b"o" and data[3:4] == b"m":
        np.empty(4 << 30, dtype=np.uint8)  # more than an input may ask for
