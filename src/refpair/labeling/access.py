"""The token of the labeling page: given, kept or new, and how the browser gets it.

Arguments of processes can be read by all users of a machine, so a token is never one, neither of the command
nor of the browser: that opens a file which only its owner may read, and which leads to the page.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from contextlib import suppress
from html import escape
from pathlib import Path

from refpair._files import make_private_folder, new_private
from refpair._folders import state_folder

VARIABLE = "REFPAIR_TOKEN"
_LENGTH = 24  # bytes
_MOST = 1000  # characters
_REDIRECT = (
    '<!doctype html><meta charset="utf-8"><title>refpair</title><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Label</a>\n'
)


def given_token(file: Path | None) -> str | None:
    """Return the token that a file or, without one, the environment gives; None if neither does."""
    if file is not None:
        with file.open(encoding="utf-8", errors="replace") as stream:
            token, where = stream.read(_MOST + 2).strip(), str(file)
    else:
        token, where = os.environ.get(VARIABLE, ""), f"the environment variable {VARIABLE}"
        if not token:
            return None
    if not re.fullmatch(f"[A-Za-z0-9._~-]{{16,{_MOST}}}", token):
        raise ValueError(
            f"{where}: a token must have 16 to {_MOST:,} characters, a to z, digits and ._~- only; by "
            "default it is made at random"
        )
    return token


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(_LENGTH)


def kept_token(session: Path) -> str:
    """Return the token of a session: the same one when it is served again, so that open pages go on.

    It is kept where only the user may read it, not in the session's file, which may be given to others.
    """
    name = hashlib.sha256(str(session.resolve()).encode()).hexdigest()[:32]
    path = state_folder() / "tokens" / name
    try:
        token = path.read_text(encoding="ascii").strip()
        if len(token) >= _LENGTH and _is_private(path):
            return token
    except (OSError, UnicodeDecodeError):
        pass
    token = new_token()
    make_private_folder(path.parent)
    with new_private(path) as file:
        file.write(token)
    return token


def _is_private(path: Path) -> bool:
    """Whether a file is the user's own, and nobody else can have read it."""
    if os.name != "posix":
        return True
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077 and found.st_uid == os.getuid()


class Redirect:
    """A file for its owner alone that leads the browser to the page.

    It is beside the session: browsers that are shut in, as snaps are, may not read temporary or hidden
    folders.
    """

    def __init__(self, session: Path, address: str) -> None:
        self.path = session.with_suffix(".open.html").absolute()
        self.address = address
        self._is_written = False

    def write(self) -> str:
        """Write the file, and return its own address."""
        with new_private(self.path) as file:
            self._is_written = True
            file.write(_REDIRECT.format(address=escape(self.address)))
        return self.path.as_uri()

    def remove(self) -> None:
        """Remove the file, if there is one; it is needed only once."""
        if self._is_written:
            with suppress(OSError):
                self.path.unlink()
            self._is_written = False
