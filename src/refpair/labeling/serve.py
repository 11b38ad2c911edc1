"""Run the labelling server: find a port, keep the token, say where the page is."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import platformdirs

from refpair.labeling.session import Session
from refpair.labeling.worker import Worker

try:
    import uvicorn

    from refpair.labeling.guard import is_loopback
    from refpair.labeling.server import make_app
except ImportError as error:
    raise ImportError(
        f"the labelling page needs starlette and uvicorn ({error}): pip install 'refpair[label]'"
    ) from error

__all__ = ["PORT", "kept_token", "open_socket", "page_address", "serve"]

PORT = 8732
_TOKEN_LENGTH = 24  # bytes
_CLOSING = 3  # seconds that requests may still take when the server ends


def serve(
    session: Session,
    listening: socket.socket,
    *,
    name: str,
    token: str,
    names: tuple[str, ...] = (),
    ready: Callable[[], None],
) -> None:
    """Serve the page until the process is interrupted.

    Parameters
    ----------
    session : Session
    listening : socket
        As `open_socket` returns it.
    name : str
        Of the table.
    token : str
        Whoever has it may label.
    names : tuple of str
        Host names that the server may be called by, besides localhost and addresses.
    ready : callable
        Called when the first row is there.
    """
    session.learn()  # the first row should not be waited for in the page
    worker = Worker(session)
    host = listening.getsockname()[0]
    names = (*names, _public_name(host))
    app = make_app(session, worker, name=name, token=token, names=names, loopback=is_loopback(host))
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=_CLOSING, ws="none"
    )
    worker.start()
    try:
        ready()
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        pass  # uvicorn has ended all requests, and then raises it
    finally:
        worker.stop()


def open_socket(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens; at the usual port or, if that is taken, at any that is free.

    Parameters
    ----------
    host : str
    port : int or None
        If it is given, no other one is taken.
    """
    if port is not None:
        return _bound(host, port)
    try:
        return _bound(host, PORT)
    except OSError:
        return _bound(host, 0)  # which also tells if it is not the port that is wrong


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError):
        raise _no_address(host) from None
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two programs listen at one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise _no_address(host) from None
        raise OSError(
            f"{host}:{port} cannot be listened at ({error.strerror}); choose another --port"
        ) from None
    return listening


def _no_address(host: str) -> ValueError:
    return ValueError(f"--host {host}: this machine has no such address")


def page_address(listening: socket.socket, token: str) -> str:
    """Return the address of the page, with the token."""
    address, port = listening.getsockname()[:2]
    host = _public_name(address)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/?token={token}"


def _public_name(address: str) -> str:
    """Return what to call a server by, which listens at this address or at all of this machine's."""
    return socket.gethostname() if address in ("0.0.0.0", "::") else address


def kept_token(session: Path) -> str:
    """Return the token of a session: the same one when it is served again, so that open pages go on.

    It is kept where only the user may read it, not in the session's file, which may be given to others.
    """
    name = hashlib.sha256(str(session.resolve()).encode()).hexdigest()[:32]
    path = platformdirs.user_state_path("refpair") / "tokens" / name
    try:
        token = path.read_text(encoding="ascii").strip()
        if len(token) >= _TOKEN_LENGTH and _is_private(path):
            return token
    except (OSError, UnicodeDecodeError):
        pass
    token = secrets.token_urlsafe(_TOKEN_LENGTH)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(token)
    except OSError:
        pass  # a home that cannot be written to: pages have to be opened anew next time
    return token


def _is_private(path: Path) -> bool:
    """Whether a file is the user's own, and nobody else can have read it."""
    if os.name != "posix":
        return True
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077 and found.st_uid == os.getuid()
