"""Ctrl-C while a kernel runs: a KeyboardInterrupt once it has returned, never a crash."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module
from typing import get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
import pytest
from numba.core.registry import CPUDispatcher

import refpair._kernels
from refpair._kernels._cache import KernelCache

# In a new process, as a crash of the interpreter is what is tested for.
RUN = """\
import os, signal, threading, time
import numpy as np
from refpair._kernels import jit

@jit.njit(nogil=True)
def spin(n_steps):
    values = np.zeros(3)
    for step in range(n_steps):
        values[step % 3] += np.sin(step)
    return {returned}

signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
spin(3)
start = time.perf_counter()
spin(10_000_000)
n_steps = int(10_000_000 * 0.3 / (time.perf_counter() - start))

def interrupt():
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)

for _ in range(3):
    sender = threading.Thread(target=interrupt)
    try:
        sender.start()
        spin(n_steps)
    except KeyboardInterrupt:
        print("interrupted")
    sender.join()
"""


def is_interrupted(returned):
    script = RUN.format(returned=returned)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    return ran.stdout.split() == ["interrupted"] * 3


@pytest.mark.slow
def test_arrays_can_be_returned_and_tuples_of_them_cannot():
    assert is_interrupted("values")
    assert not is_interrupted("(values, n_steps)")  # if it is some day, the rule can go


def test_no_kernel_returns_a_tuple():
    names = [found.name for found in pkgutil.iter_modules(refpair._kernels.__path__)]
    modules = [import_module(f"refpair._kernels.{name}") for name in names]
    kernels = {
        value.py_func
        for module in modules
        for value in vars(module).values()
        if isinstance(value, CPUDispatcher) and isinstance(value._cache, KernelCache)
    }
    assert len(kernels) > 30
    an_array = get_origin(npt.NDArray[np.int64])  # newer versions of NumPy have an alias
    for function in kernels:
        returned = get_type_hints(function)["return"]
        assert returned in {type(None), int, float} or get_origin(returned) is an_array, function
