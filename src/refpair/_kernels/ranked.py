"""What labels are worth in lists: the mean of y_j · v(|y|), where v(s) is the value of one of s labels.

If labels are independent, that is P_j Σ_s F_j(s) G_j(s): F_j(s) is the probability that s of the labels
before j are there, and G_j(s) the mean of v(1 + s + how many of those after j are there). F is found from the
first label to the last, and G from the last to the first. Both only ever take means, so that no digits are
lost, as they would be if label j were divided out of the distribution of |y|.
"""

from __future__ import annotations

import numpy as np

from refpair._kernels.expected import add_label
from refpair._kernels.jit import Floats, kernel


@kernel
def mean_values_of_independent(marginals: Floats, value_of_size: Floats) -> Floats:
    """Return the mean of y_j · v(|y|) for each row and label j.

    Sizes that `value_of_size` leaves out must be as good as impossible.
    """
    n, n_labels = marginals.shape
    n_sizes = value_of_size.shape[0]
    out = np.empty((n, n_labels))
    before = np.empty((n_labels + 1, n_sizes))
    after = np.empty(n_sizes)
    for i in range(n):
        before[0] = 0.0
        before[0, 0] = 1.0
        for j in range(n_labels):
            add_label(before[j], marginals[i, j], before[j + 1])
        after[: n_sizes - 1] = value_of_size[1:]
        after[n_sizes - 1] = 0.0
        for j in range(n_labels - 1, -1, -1):
            p = marginals[i, j]
            mean = 0.0
            for s in range(n_sizes):
                mean += before[j, s] * after[s]
            out[i, j] = p * mean
            for s in range(n_sizes - 1):
                after[s] = (1.0 - p) * after[s] + p * after[s + 1]
    return out
