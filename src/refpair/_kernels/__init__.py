"""Numba kernels: pure, deterministic functions on contiguous arrays. They import nothing from the package.

Every kernel has a slow, obvious twin in ``tests/naive.py``. Kernels release the GIL, so chunks of bits run in
threads. Numba's disk cache looks only at the file of the kernel itself: after changing a function that
kernels of *another* file call, delete the caches (``make clean``).
"""
