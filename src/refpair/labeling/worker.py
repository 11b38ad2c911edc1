"""Learns in the background, so that nobody who labels has to wait."""

from __future__ import annotations

import threading
import traceback

from refpair.labeling.session import Session

__all__ = ["Worker"]

_LOOK = 5.0  # seconds, after which to look whether another process has brought answers


class Worker:
    """A thread that lets a session learn whenever there are new answers.

    Parameters
    ----------
    session : Session

    Attributes
    ----------
    problem : str or None
        What went wrong in the last fit; labelling goes on all the same.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.problem: str | None = None
        self._wake = threading.Event()
        self._stop = False
        self._thread = threading.Thread(target=self._run, name="refpair-worker", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Say that there are new answers."""
        self._wake.set()

    def stop(self) -> None:
        """End after the fit that is under way."""
        self._stop = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._wake.clear()
            if self._stop:  # looked at after the event is cleared, so that it cannot be missed
                return
            try:
                self.session.learn()
                self.problem = None
            except Exception as error:  # whatever a model of the user's may raise
                traceback.print_exc()
                self.problem = f"{type(error).__name__}: {error}"
            self._wake.wait(_LOOK)
