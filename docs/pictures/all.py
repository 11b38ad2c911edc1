"""Draw all pictures anew: ``python docs/pictures/all.py``."""

from __future__ import annotations

import runpy
from pathlib import Path

for script in sorted(Path(__file__).parent.glob("[a-z]*.py")):
    if script.name != "all.py":
        print(script.stem)
        runpy.run_path(str(script), run_name="__main__")
