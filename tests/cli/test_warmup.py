"""``refpair warmup``: afterwards nothing is left to compile. Without it, a line says what takes so long."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What models need after the command that they do not need during it. In a new process: here, other tests have
# compiled.
RUN = """\
import pkgutil
from importlib import import_module

import numpy as np
import scipy.sparse as sp
from numba.core.registry import CPUDispatcher

import refpair._kernels
from refpair import Cost, CSRPEClassifier
from refpair._kernels._cache import KernelCache
from refpair.cli.warmup import warmup
from refpair.datasets import load_dataset

def compiled():
    names = [found.name for found in pkgutil.iter_modules(refpair._kernels.__path__)]
    values = [v for n in names for v in vars(import_module(f"refpair._kernels.{n}")).values()]
    kernels = {v for v in values if isinstance(v, CPUDispatcher) and isinstance(v._cache, KernelCache)}
    return {kernel: set(kernel.signatures) for kernel in kernels}

warmup()
before = compiled()
for kernel, signatures in before.items():
    if not signatures:
        print("never compiled:", kernel)
digits = load_dataset("digits")
X, Y = digits.X[:200], digits.Y[:200]
prices = Cost.per_label(false_positive=[1.0] * Y.shape[1], false_negative=2.0)
for cost in ("f1", "hamming", "rank", "zero_one", "jaccard", prices):
    for form in (X, X.astype(np.float32), sp.csr_matrix(X), sp.csr_array(X * (X > 12))):
        for decoder in ("posterior", "nearest"):
            model = CSRPEClassifier(cost, n_bits=50, decoder=decoder, random_state=0).fit(form, Y)
            model.predict(form[:1])
            if decoder == "posterior":
                model.predict_proba(form)
                model.expected_cost(form)
for kernel, signatures in compiled().items():
    for signature in signatures - before[kernel]:
        print("compiled later:", kernel, signature)
"""


@pytest.mark.slow
def test_nothing_is_left_to_compile():
    ran = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    said = ran.stdout.splitlines()
    assert len(said) == 1, ran.stdout
    assert "kernels compiled in" in said[0]


@pytest.mark.slow
def test_the_first_use_says_that_it_compiles(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    use = "from refpair._kernels.rng import draw_rows; import numpy as np; draw_rows(9, 3, np.uint64(0))"
    said = []
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", use], capture_output=True, text=True, check=True)
        said.append(ran.stderr)
    assert said[0].count("\n") == 1
    assert said[0].startswith("refpair: compiling kernels, once: up to half a minute")
    assert said[1] == ""
