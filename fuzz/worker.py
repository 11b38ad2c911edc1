"""One session of libFuzzer, in a process of its own: it never returns.

``python -m fuzz.worker <target> <folder for what is found> <arguments of libFuzzer>``
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

import atheris

from fuzz.limits import MEGABYTES_IN_USE
from fuzz.memory import limit_memory, peak_megabytes
from fuzz.target import load_target, warm_up


def main() -> None:
    """Fuzz until libFuzzer has had enough."""
    name, found, *arguments = sys.argv[1:]
    target = load_target(name)
    for function in _functions_of(target.INSTRUMENTED):
        atheris.instrument_func(function)
    warm_up(target)
    limit_memory()

    def check(data: bytes) -> None:
        try:
            target.check(data)
        except BaseException:
            # libFuzzer does so, too, but only if the process gets as far as its last steps.
            path = Path(found, f"crash-{hashlib.sha1(data).hexdigest()}")
            path.write_bytes(data)
            print(f"Test unit written to {path}", file=sys.stderr, flush=True)
            raise

    most = f"-rss_limit_mb={peak_megabytes() + MEGABYTES_IN_USE}"
    atheris.Setup([sys.argv[0], f"-artifact_prefix={found}/", most, *arguments], check)
    atheris.Fuzz()


def _functions_of(prefixes: Sequence[str]) -> Iterator[types.FunctionType]:
    """Find the functions and methods of modules.

    Not by atheris's hook for imports, which takes in whole packages: numba's kernels must stay as they are.
    """
    for prefix in prefixes:
        importlib.import_module(prefix)
    for module_name, module in sorted(sys.modules.items()):
        if any(f"{module_name}.".startswith(f"{prefix}.") for prefix in prefixes):
            classes = [c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == module_name]
            for member in [m for owner in (module, *classes) for m in vars(owner).values()]:
                function = (
                    member.fget if isinstance(member, property) else getattr(member, "__func__", member)
                )
                if isinstance(function, types.FunctionType) and function.__module__ == module_name:
                    yield function


if __name__ == "__main__":
    main()
