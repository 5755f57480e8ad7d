"""Lines for a log that may be on a full disk: these wait until there is room again."""

import os
import sys
from collections import deque

from resprout.files import NO_ROOM

KEPT_MAX = 10_000
"""So many lines wait; then the oldest are given up, and counted."""


class Output:
    """What a service has to say goes to `descriptor`, in order; a full disk does not end it.

    Raises what the system says if writing fails for another reason.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""  # of the line that is being written
        self._waiting: deque[str] = deque()
        self._given_up = 0
        self._is_stuck = False

    def say(self, line: str) -> None:
        self._waiting.append(line)
        if len(self._waiting) > KEPT_MAX:
            self._waiting.popleft()
            self._given_up += 1
        self.move()

    def move(self) -> bool:
        """Writes what there is room for; whether that is all. To be called now and then."""
        try:
            while self._rest or self._waiting:
                if not self._rest:
                    self._rest = self._waiting.popleft().encode() + b"\n"
                self._rest = self._rest[os.write(self._descriptor, self._rest) :]
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            if not self._is_stuck:
                self._tell(f"{error.strerror}; the member goes on, what it says waits for room")
            self._is_stuck = True
            return False
        if self._is_stuck:
            self._is_stuck = False
            self._tell(f"there is room again{self._loss()}")
        return True

    def end(self) -> bool:
        """The last attempt; False: something was not written, and stderr says so."""
        is_all = self.move()
        if not is_all:
            self._given_up += len(self._waiting) + bool(self._rest)
            self._tell(f"no room until the end{self._loss()}")
        return is_all

    def _loss(self) -> str:
        return f"; lines that were not written: {self._given_up}" if self._given_up else ""

    def _tell(self, what: str) -> None:
        print(f"resprout: stdout: {what}", file=sys.stderr, flush=True)
