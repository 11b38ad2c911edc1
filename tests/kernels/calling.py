"""Helpers of kernels, for tests: Python cannot call them, kernels can."""

from numba import njit


def from_python(helper):
    """A kernel that does nothing but call a helper."""

    def call(*given):
        return helper(*given)

    return njit(error_model="numpy")(call)
