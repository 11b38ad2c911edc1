"""``python -m refpair`` is the command ``refpair``."""

from __future__ import annotations

from refpair.cli import main

if __name__ == "__main__":
    main()
