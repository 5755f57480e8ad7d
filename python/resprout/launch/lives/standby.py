"""The next life of a job, started before it is needed: its ranks wait at the end of MPI_Init.

1. Its ranks are let go when no rank of the life before is left, and not before.
2. There is one at a time, and one attempt a life: whatever ends it would come again.
3. It begins only when all ranks of the life before are in our MPI_Init: a program that runs without
   Resprout would not wait.
"""

import os
import time
from pathlib import Path

# As src/mpi/lifecycle/standby.cpp has them.
NAME = "gate"
WORD = "needed"
VARIABLE = "RESPROUT_STANDBY"

# Its start takes cores from the ranks that compute, so these get to work first.
_PAUSE_SECONDS = 1.0


class Gate:
    """Holds the ranks of one life."""

    def __init__(self, directory: Path) -> None:
        os.mkfifo(directory / NAME, 0o600)
        self._word = directory / WORD
        # At both ends, as nobody may be there yet who reads.
        self._pipe: int | None = os.open(directory / NAME, os.O_RDWR | os.O_CLOEXEC)
        self.opened_ns: int | None = None

    @property
    def is_open(self) -> bool:
        return self.opened_ns is not None

    def open(self) -> None:
        self.opened_ns = time.time_ns()
        self._word.touch()
        self.close()

    def close(self) -> None:
        """That wakes who waits, and finds out whether it may go on."""
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


class Readiness:
    """Whether a life has got so far that the next one may be started beside it."""

    def __init__(self, directory: Path, ranks: int) -> None:
        self._directory = directory
        self._ranks = ranks
        self._since: float | None = None

    def __call__(self) -> bool:
        if self._since is None and self._are_all_in():
            self._since = time.monotonic()
        return self._since is not None and time.monotonic() - self._since >= _PAUSE_SECONDS

    def _are_all_in(self) -> bool:
        if (self._directory / "starting").exists():
            return False
        return sum(1 for _ in self._directory.glob("entered-*")) == self._ranks
