"""Zero-one cost: the most probable label vector."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair.posterior import LabelDistribution

__all__ = ["most_probable"]


def most_probable(distribution: LabelDistribution) -> npt.NDArray[np.uint8]:
    """Return each row's most probable label vector, the one of lowest index where several are."""
    return np.ascontiguousarray(distribution.most_likely(1)[0][:, 0])
