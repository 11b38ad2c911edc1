"""Markdown pages as programs: their blocks run in order, and what is printed is what the page shows.

- ```` ```python ```` runs; a plain block right below it is what it prints, exactly.
- ```` ```console ```` runs the lines behind ``$``, and what stands below such a line is what it prints: … is
  any text of a line, or, alone in a line, any lines; blanks before it that fill a column are part of it.
  Where nothing stands below, it only has to succeed.
- ```` ```python title="name.py" ```` is a file that the reader saves; it is written where the page runs.
- The folder that a page runs in has the tables of ``examples/tickets``.
- ```` ```python no-test ```` and ```` ```sh ```` are for what needs another package, a person or an hour.

After a change, ``python -m tests.pages docs/quick-start.md …`` writes what is printed now into the pages.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from refpair.cli.app import app

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ ((?:[^\n]*\\\n)*[^\n]*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass
class Block:
    """A fenced block: the words behind its fence, its text, and where that is in the page."""

    info: str
    text: str
    start: int
    stop: int
    line: int


@dataclass
class Printed:
    """Something that printed: its line, what the page shows and where, what it printed, if … is text."""

    line: int
    shown: str
    start: int
    stop: int
    printed: str
    exact: bool

    def is_right(self):
        return self.printed == self.shown if self.exact else not self.shown or fits(self.shown, self.printed)


def blocks_of(page):
    """The fenced blocks of a page."""
    text = page.read_text()
    return [
        Block(m[1].strip(), m[2], m.start(2), m.end(2), text.count("\n", 0, m.start(2)))
        for m in _BLOCK.finditer(text)
    ]


def pages():
    """All pages with blocks that run, found by themselves."""
    there = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "examples" / "README.md"]
    return [page for page in there if any(block.info in ("python", "console") for block in blocks_of(page))]


def run_page(page):
    """Run a page in a folder of its own, and yield all that it prints."""
    blocks, text, names = blocks_of(page), page.read_text(), {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _importing_from(folder):
        for table in (ROOT / "examples" / "tickets").glob("*.csv"):
            shutil.copy(table, folder)
        for block, below in zip(blocks, [*blocks[1:], None], strict=False):
            if named := re.fullmatch(r'python title="(\w+\.py)"', block.info):
                Path(named[1]).write_text(block.text)
            elif block.info == "console":
                yield from _run_console(block)
            elif block.info == "python":
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    # Empty lines first, so that errors tell the line of the page.
                    exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
                if below is None or below.info or text[block.stop + 3 : below.start - 4].strip():
                    below = Block("", "", block.stop, block.stop, block.line)
                yield Printed(block.line, below.text, below.start, below.stop, printed.getvalue(), exact=True)


def fits(shown, printed):
    """Whether what is printed is what is shown, … standing for any text of a line, or for any lines."""
    lines = shown.splitlines(keepends=True)
    lines = [re.sub(r"  +…", " …", line) for line in lines]
    parts = [r"(?:.*\n)*" if line == "…\n" else re.escape(line).replace("…", ".*") for line in lines]
    return re.fullmatch("".join(parts), printed) is not None


def _run_console(block):
    for found in _COMMAND.finditer(block.text):
        program, *arguments = shlex.split(found[1].replace("\\\n", " "))
        assert program == "refpair", f"{found[1]}: only refpair is run; make it a block of sh"
        done = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "REFPAIR_DATA": ""}).invoke(app, arguments)
        assert done.exit_code == 0, f"{found[1]}: {done.stderr}"
        at = block.start + found.start(2), block.start + found.end(2)
        yield Printed(block.line, found[2], *at, done.stdout, exact=False)


@contextlib.contextmanager
def _importing_from(folder):
    """Let a page import modules that it writes, and forget them afterwards."""
    path, modules = list(sys.path), set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
                del sys.modules[name]


def _rewrite(page):
    text = page.read_text()
    for piece in reversed(list(run_page(page))):
        if piece.exact and piece.printed and piece.start == piece.stop:
            print(f"{page}:{piece.line}: prints, but no plain block below shows what:\n{piece.printed}")
        elif not piece.is_right():
            text = text[: piece.start] + piece.printed + text[piece.stop :]
    page.write_text(text)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        _rewrite(Path(name).resolve())
