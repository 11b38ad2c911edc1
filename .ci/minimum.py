"""Print the requirements of pyproject.toml and of the extras named, each at exactly its minimum version.

python .ci/minimum.py label test > minimum.txt
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(names: list[str]) -> Iterator[str]:
    """Yield what extras require; one that names others, as in refpair[tables], requires what they do."""
    for requirement in (one for name in names for one in project["optional-dependencies"][name]):
        others = re.fullmatch(r"refpair\[(.+)\]", requirement)
        yield from requirements(others[1].split(",")) if others else [requirement]


for requirement in dict.fromkeys([*project["dependencies"], *requirements(sys.argv[1:])]):
    print(requirement.replace(">=", "=="))
