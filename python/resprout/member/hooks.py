"""A command of the user for each event, one after the other, beside the member."""

import json
import os
import subprocess
import tempfile
from collections import deque

from resprout import log

KEPT_MAX = 1000
"""So many events wait for the command; then the oldest are dropped, and a line says so."""


class Hook:
    """Runs `sh -c COMMAND` for each event, with its line of JSON as stdin.

    RESPROUT_EVENT is the kind of event. Events wait for each other, and the member for none.
    """

    def __init__(self, command: str | None) -> None:
        self._command = command
        self._waiting: deque[str] = deque()
        self._running: subprocess.Popen[bytes] | None = None
        self._has_dropped = False

    def note(self, line: str) -> None:
        if self._command is None:
            return
        self._waiting.append(line)
        if len(self._waiting) > KEPT_MAX:
            self._waiting.popleft()
            if not self._has_dropped:
                log.warn(f"--on-event: {KEPT_MAX} events wait for the command; older are dropped")
            self._has_dropped = True
        self.move()

    def move(self) -> None:
        """Begins the next one if the last one is over. To be called now and then."""
        if self._running is not None:
            status = self._running.poll()
            if status is None:
                return
            if status != 0:
                log.warn(f"--on-event: the command ended with status {status}")
            self._running = None
        if self._waiting and self._command is not None:
            self._running = self._start(self._command, self._waiting.popleft())

    def end(self, seconds: float) -> None:
        """Waits for the command that runs, but not longer. Events that wait are dropped."""
        if self._running is None:
            return
        try:
            self._running.wait(seconds)
        except subprocess.TimeoutExpired:
            log.warn("--on-event: the command still runs at the member's end")

    @staticmethod
    def _start(command: str, line: str) -> "subprocess.Popen[bytes] | None":
        try:
            with tempfile.TemporaryFile() as text:
                text.write(line.encode() + b"\n")
                text.seek(0)
                return subprocess.Popen(
                    ["/bin/sh", "-c", command],
                    stdin=text,
                    env={**os.environ, "RESPROUT_EVENT": json.loads(line)["event"]},
                )
        except OSError as error:
            log.warn(f"--on-event: {error.strerror}")
            return None
