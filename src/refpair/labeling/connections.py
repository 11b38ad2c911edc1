"""Connections that do not send a whole request in time are closed.

Uvicorn closes connections that are idle between two requests, but waits without end for a first request, for
the rest of a header, and for the rest of a body.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_MOST = 200  # connections; a page has six at most


class Connection(H11Protocol):
    """A connection that has `deadline` seconds to send a request, however it sends it.

    If there are too many connections, the one goes that has been waited for longest: others can still
    connect.
    """

    deadline = 20.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > _MOST:
            waiting: list[Any] = [one for one in self.connections if getattr(one, "_timer", None) is not None]
            min(waiting, key=lambda one: one._timer.when())._give_up()

    def data_received(self, data: bytes) -> None:
        """Go on waiting, unless it was the last part of a request."""
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._timer is None:  # a part of a request gives no more time
            self._timer = self.loop.call_later(self.deadline, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()
