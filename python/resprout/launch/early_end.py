"""Whether a rank has ended before all were through MPI_Init: whoever waits there waits for ever.

An mpirun that lets ranks die does not end such a job. Files of the run directory say what has
happened (src/mpi/lifecycle/report/arrival.hpp):

    starting         ours; rank 0 removes it when all have what they need of each other
    entered-<rank>   it is in MPI_Init
    missed-<rank>    others in MPI_Init have lost it, and may end for that
    started-<rank>   its process id; exit-<rank> its status, signal-<rank> what
                     ended it, or `ended` either (report/ranks.py, report/ends.py), which is
                     all that is known of ranks on hosts that do not see the folder

Where rank 0 does not see the folder nobody could remove `starting`: then nothing is judged.
"""

import contextlib
import signal
from collections.abc import Callable
from pathlib import Path

from resprout.report.ends import Ends, read_ends
from resprout.report.launch_end import EarlyEnd

_STARTING = "starting"


def expect_start(directory: Path) -> None:
    """Of a launch that is about to begin. Without room for the file nothing is judged."""
    with contextlib.suppress(OSError):
        (directory / _STARTING).touch()


class StartWatch:
    """Of one launch, asked several times a second."""

    def __init__(self, directory: Path, is_running: Callable[[int], bool] | None) -> None:
        """`is_running`: of a process id; nothing: ranks may be on other hosts."""
        self._directory = directory
        self._is_running = is_running
        self._is_over = False
        self._suspected: EarlyEnd | None = None

    def __call__(self) -> EarlyEnd | None:
        """Whoever ended too early, if others wait. It is said a little later than it is seen: what
        the rank said last shall come through."""
        if self._is_over:
            return None
        found = self._find()
        if not (self._directory / _STARTING).exists():  # looked at last: nobody ends in between
            self._is_over = True
            return None
        self._is_over = found is not None and found == self._suspected
        suspected, self._suspected = self._suspected, found
        return found if found == suspected else None

    def at_end(self) -> EarlyEnd | None:
        """The launch is over, and mpirun may have ended it: a rank that has a status ended by
        itself, unless it was for one that was lost or killed before. mpirun kills nobody first."""
        if self._is_over or not (self._directory / _STARTING).exists():
            return None
        if 0 not in self._numbers("started") or not self._numbers("entered"):
            return None
        ends = read_ends(self._directory)
        for rank in self._in_order({*self._numbers("started"), *ends.elsewhere}, ends):
            end = self._how(rank, ends)
            is_first = end.signal == signal.SIGKILL and ends.place(rank, self._pid(rank)) == 0
            if end.status is not None or is_first or rank in self._numbers("missed"):
                return end
        return None

    def _find(self) -> EarlyEnd | None:
        started = self._numbers("started")
        if 0 not in started:
            return None
        entered = self._numbers("entered")
        if not entered:
            return None
        ends = read_ends(self._directory)
        possible = self._in_order({*started, *ends.elsewhere}, ends)
        ended = [rank for rank in possible if self._has_ended(rank, ends)]
        if not ended or not entered - set(ended):
            return None
        return self._how(ended[0], ends)

    def _in_order(self, ranks: set[int], ends: Ends) -> list[int]:
        """As they ended: others may have ended for the first one, and for one that they lost."""
        lost = self._numbers("missed")
        return sorted(
            ranks,
            key=lambda rank: (rank not in lost, ends.place(rank, self._pid(rank)), rank),
        )

    def _how(self, rank: int, ends: Ends) -> EarlyEnd:
        """What it says itself goes first."""
        seen = ends.of(rank, self._pid(rank))
        status, number = self._status(rank), self._left("signal", rank)
        if seen is not None:
            status = seen.status if status is None else status
            number = seen.signal if number is None else number
        return EarlyEnd(rank, status, number if status is None else None)

    def _numbers(self, kind: str) -> set[int]:
        return {int(path.name.partition("-")[2]) for path in self._directory.glob(f"{kind}-*")}

    def _status(self, rank: int) -> int | None:
        return self._left("exit", rank)

    def _left(self, kind: str, rank: int) -> int | None:
        try:
            return int((self._directory / f"{kind}-{rank}").read_text())
        except (OSError, ValueError):
            return None

    def _has_ended(self, rank: int, ends: Ends) -> bool:
        pid = self._pid(rank)
        if self._is_running is None:
            return self._status(rank) is not None or ends.of(rank, pid) is not None
        return pid is not None and not self._is_running(pid)

    def _pid(self, rank: int) -> int | None:
        try:
            return int((self._directory / f"started-{rank}").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None
