"""Print the requirements of pyproject.toml and of the extras named, each at exactly its minimum version.

python .ci/minimum.py label test > minimum.txt
"""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in sum((extras[name] for name in sys.argv[1:]), project["dependencies"]):
    print(requirement.replace(">=", "=="))
