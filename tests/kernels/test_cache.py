"""What is kept of compiled kernels between runs: never old code, nor another's; no run fails for want of it.

A copy of the package gets two small files more: a kernel, and a helper that it calls.
"""

from __future__ import annotations

import os
import resource
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import refpair
from refpair._kernels.compiling import SAID
from tests.container import container

HELPER = "from refpair._kernels.jit import helper\n\n@helper\ndef more(x):\n    return x + {}\n"
KERNEL = """\
from refpair._kernels.extra_helper import more
from refpair._kernels.jit import kernel

@kernel
def total(values, first):
    result = more(values[first] * 0)
    for value in values:
        result += value
    return result
"""
# Prints the sum, one more than that of the values, and how often code was found rather than compiled.
RUN = """\
import numpy as np
from refpair._kernels.extra_kernel import *
for kind in {kinds!r}:
    print(total(np.array([1, 2, 4], kind), {first}), sum(total.stats.cache_hits.values()))
"""
SENTENCE = (
    "refpair: compiled code cannot be kept (no folder can be written): each start compiles anew; "
    "set NUMBA_CACHE_DIR to a writable folder\n"
)


@pytest.fixture
def package(tmp_path):
    copy = tmp_path / "copy" / "refpair"
    shutil.copytree(Path(refpair.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    kernels = copy / "_kernels"
    (kernels / "extra_helper.py").write_text(HELPER.format(1))
    (kernels / "extra_kernel.py").write_text(KERNEL)
    return kernels


def start(package, *kinds, first=0, inside=(), **environment):
    known = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    where = {"HOME": str(package / "home"), "PYTHONPATH": str(package.parents[1]), "TMPDIR": os.devnull}
    return subprocess.Popen(
        [*inside, sys.executable, "-c", RUN.format(kinds=kinds or ("i8",), first=first)],
        env=known | where | {name: str(value) for name, value in environment.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(package, *kinds, says="", **how):
    """Return the numbers that a new process prints."""
    out, err = start(package, *kinds, **how).communicate()
    assert err.replace(f"{SAID}\n", "") == says
    return [float(number) for number in out.split()]


def files(folder):
    return sorted(path.name for path in folder.glob("*.nb[ic]"))


def block(package):
    """Leave no folder to write to: neither beside the sources nor in a home. This stops root too."""
    (package / "__pycache__").touch()
    (package / "home").touch()


@pytest.mark.slow
def test_a_change_in_another_file_is_seen(package):
    assert run(package) == [8, 0]
    assert run(package) == [8, 1]
    (package / "extra_helper.py").write_text(HELPER.format(2))
    assert run(package) == [9, 0]
    assert run(package) == [9, 1]


@pytest.mark.slow
def test_code_for_a_class_that_is_gone_is_not_read(package):
    for name in ("Place", "Spot"):
        pair = f"from typing import NamedTuple\n\nclass {name}(NamedTuple):\n    at: int\n\n"
        (package / "extra_kernel.py").write_text(pair + KERNEL.replace("[first]", "[first.at]"))
        for n_found in (0, 1):
            assert run(package, first=f"{name}(0)") == [8, n_found]


def test_new_code_takes_the_place_of_the_old(package):
    assert run(package) == [8, 0]
    kept = files(package / "__pycache__")
    (package / "extra_kernel.py").write_text("# The kernel is in another line.\n" + KERNEL)
    assert run(package) == [8, 0]
    assert files(package / "__pycache__") == kept


def test_code_with_checks_of_bounds_is_kept_apart(package):
    assert run(package) == [8, 0]
    process = start(package, first=3, NUMBA_BOUNDSCHECK=1)
    assert "IndexError" in process.communicate()[1]
    assert run(package, NUMBA_BOUNDSCHECK=1) == [8, 1]
    assert run(package) == [8, 1]


def test_the_users_own_folder_comes_first(package, tmp_path):
    assert run(package, NUMBA_CACHE_DIR=tmp_path / "own") == [8, 0]
    assert not files(package / "__pycache__")
    assert run(package, NUMBA_CACHE_DIR=tmp_path / "own") == [8, 1]
    assert run(package, NUMBA_CACHE_DIR=os.devnull) == [8, 0]  # it cannot be written
    assert files(package / "__pycache__")


def test_without_a_home_it_is_a_private_temporary_folder(package, tmp_path):
    block(package)
    assert run(package, TMPDIR=tmp_path) == [8, 0]
    assert run(package, TMPDIR=tmp_path) == [8, 1]
    private = (tmp_path / f"refpair-{os.getuid()}").stat()
    assert (private.st_uid, stat.S_IMODE(private.st_mode)) == (os.getuid(), 0o700)


@pytest.mark.parametrize("why", ["open to others", "a link", "another's"])
def test_a_temporary_folder_that_others_can_fill_is_not_used(package, tmp_path, why):
    block(package)
    private = tmp_path / f"refpair-{os.getuid()}"
    assert run(package, TMPDIR=tmp_path) == [8, 0]
    if why == "open to others":
        private.chmod(0o770)
    elif why == "a link":
        private.symlink_to(private.rename(tmp_path / "elsewhere"))
    elif os.getuid() == 0:
        os.chown(private, 65534, 65534)
    else:
        pytest.skip("only root can give a folder to another user")
    assert run(package, TMPDIR=tmp_path, says=SENTENCE) == [8, 0]


def test_nothing_can_be_kept(package):
    block(package)
    for _ in range(2):
        assert run(package, "i8", "f8", "i4", says=SENTENCE) == [8, 0] * 3


def test_what_is_kept_in_a_read_only_folder_is_used(package):
    inside = container()
    assert run(package, inside=inside, says=SENTENCE) == [8, 0]
    assert run(package) == [8, 0]
    assert run(package, inside=inside) == [8, 1]
    assert run(package, "i8", "f8", inside=inside, says=SENTENCE) == [8, 1, 8, 1]


def test_a_user_of_no_name_has_no_home(package, tmp_path):
    (work := tmp_path / "work").mkdir()
    unknown = ("--uid", "54321", "--unsetenv", "HOME", "--bind", str(work), str(work), "--chdir", str(work))
    inside = container(*unknown)
    assert run(package, inside=inside, says=SENTENCE) == [8, 0]
    assert not list(work.iterdir())


def test_a_full_disk_is_no_error(package):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        process = start(package)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert process.communicate() == ("8 0\n", f"{SAID}\n{SENTENCE}")
    assert run(package) == [8, 0]


@pytest.mark.parametrize("damage", ["index", "code", "code of other types"])
def test_damaged_files_are_not_used(package, damage):
    assert run(package, "i8", "f4") == [8, 0, 8, 0]
    index, (first, second) = *package.glob("__pycache__/*.nbi"), sorted(package.glob("__pycache__/*.nbc"))
    if damage == "code of other types":
        second.write_bytes(first.read_bytes())  # as two processes at the same time may leave it
    else:
        (index if damage == "index" else second).write_bytes(b"")
    assert run(package, "f4") == [8, 0]
    assert run(package, "f4") == [8, 1]


def test_processes_share_the_folder(package):
    kinds = ("i8", "f8", "i4", "f4")
    together = [start(package, kind) for kind in kinds]
    assert {process.communicate()[0].split()[0] for process in together} <= {"8", "8.0"}
    assert run(package, *kinds)[::2] == [8] * 4
    assert run(package, *kinds) == [8, 1, 8, 2, 8, 3, 8, 4]
