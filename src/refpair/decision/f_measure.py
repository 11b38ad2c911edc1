"""F-beta costs: the general F-measure maximiser, exact for any distribution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair._kernels import f_measure
from refpair.posterior import IndependentLabels, LabelDistribution

__all__ = ["best_f_beta"]


def best_f_beta(distribution: LabelDistribution | IndependentLabels, beta: float) -> npt.NDArray[np.uint8]:
    """Return the labels of largest expected F-beta for each row; of sets that tie a smallest one."""
    if isinstance(distribution, IndependentLabels):
        return np.asarray(f_measure.best_sets_of_independent(distribution.marginals(), beta**2))
    return np.asarray(
        f_measure.best_sets(
            distribution.start,
            distribution.index,
            distribution.weight,
            *distribution.labels_of_vector(),
            distribution.vectors.shape[1],
            beta**2,
        )
    )
