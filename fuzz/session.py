"""Running one target under libFuzzer, and telling what came of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fuzz import limits
from fuzz.target import load_target

HERE = Path(__file__).parent
CORPUS, FOUND = HERE / "corpus", HERE / "found"

_SECONDS_BETWEEN_WORDS = 30.0
_WITH_CHECKS = " (with bounds checks)"
_STATUS = re.compile(r"^#(\d+)\t.*?cov: (\d+)", re.MULTILINE)
_ARTIFACT = re.compile(r"Test unit written to (\S+)")


@dataclass(frozen=True)
class Outcome:
    """What came of a session: inputs, branches covered at first and at last, and what was found."""

    target: str
    n_inputs: int
    seconds: float
    coverage: tuple[int, int]
    found: Path | None
    returncode: int
    log: str
    checks_bounds: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return self.returncode == 0

    def __str__(self) -> str:
        first, last = self.coverage
        result = "clean" if self.is_clean else "FAILED"
        return (
            f"{self.target:12} {self.n_inputs:9,} inputs {self.seconds:7.0f} s   "
            f"coverage {first:,} -> {last:,}   {result}{_WITH_CHECKS if self.checks_bounds else ''}"
        )

    def how_to_repeat(self) -> str:
        """Say what failed and which command shows it again."""
        tail = "\n".join(self.log.splitlines()[-60:])
        flag = " --check-bounds" if self.checks_bounds else ""
        again = f"repeat it: python -m fuzz {self.target} {self.found}{flag}"
        again = again if self.found else "no input was kept"
        return f"{tail}\n\n{self.target}: exit code {self.returncode}; {again}"


def run_session(
    name: str,
    n_inputs: int,
    corpus: Path = CORPUS,
    found: Path = FOUND,
    seed: int | None = None,
    *,
    checks_bounds: bool = False,
) -> Outcome:
    """Give a target so many inputs, beginning with its seeds and what earlier sessions kept in ``corpus``.

    Parameters
    ----------
    name : str
        The target; see :func:`fuzz.target.load_target`.
    n_inputs : int
        How many inputs, those of the corpus included.
    corpus : path-like
        The folder for inputs that reach new branches.
    found : path-like
        The folder for inputs that fail.
    seed : int, optional
        For sessions that are the same each time, if the corpus is.
    checks_bounds : bool, default=False
        Whether kernels look at each index before they follow it.
    """
    target = load_target(name)
    found, kept = found.resolve(), corpus.resolve() / name
    kept.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="refpair-fuzz-") as temporary:
        seeds, words = Path(temporary, "seeds"), Path(temporary, "words")
        seeds.mkdir()
        for i, content in enumerate(target.SEEDS):
            (seeds / f"seed-{i}").write_bytes(content)
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.WORDS))
        arguments = [
            f"-runs={n_inputs}",
            f"-timeout={limits.SECONDS}",
            f"-report_slow_units={limits.SECONDS}",
            f"-max_len={limits.LONGEST_INPUT}",
            f"-dict={words}",
            *([] if seed is None else [f"-seed={seed}"]),
            str(kept),
            str(seeds),
        ]
        started = time.monotonic()
        with subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", name, str(found), *arguments],
            cwd=HERE.parent,
            env=os.environ | (bounds_checks() if checks_bounds else {}),
            stdout=subprocess.PIPE,  # atheris writes the traceback there, libFuzzer all else to stderr
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            log = _followed(name, process, n_inputs, started)
    status = _STATUS.findall(log) or [("0", "0")]
    artifact = _ARTIFACT.search(log)
    return Outcome(
        name,
        max(int(n) for n, _ in status),
        time.monotonic() - started,
        (int(status[0][1]), int(status[-1][1])),
        Path(artifact[1]) if artifact else None,
        process.returncode,
        log,
        checks_bounds,
    )


def bounds_checks() -> dict[str, str]:
    """Return the environment in which numba checks all indices; its cache does not know of that."""
    return {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(HERE / "checked")}


def _followed(name: str, process: subprocess.Popen[str], n_inputs: int, started: float) -> str:
    """Wait for the end, telling now and then how far it is; return all that was written."""
    lines, next_word = [], _SECONDS_BETWEEN_WORDS
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        status, seconds = _STATUS.match(line), time.monotonic() - started
        if status is not None and seconds > next_word:
            next_word = seconds + _SECONDS_BETWEEN_WORDS
            word = f"{name:12} {int(status[1]):9,} of {n_inputs:,} inputs after {seconds:.0f} s"
            print(word, file=sys.stderr, flush=True)
    return "".join(lines)


def _escaped(word: str) -> str:
    """Write a word as libFuzzer's dictionaries have it."""
    return "".join(f"\\x{byte:02x}" for byte in word.encode())
