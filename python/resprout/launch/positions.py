"""Where a process is in its program: what ranks leave in position-<rank> of their run directory.

src/mpi/process/report/position.hpp writes it, once a second, and says what is in it. Who has not
called MPI_Init yet leaves none: of these the launcher itself looks how long they take.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from resprout.launch import processes

BEFORE_INIT = 0
RUNNING = 2
OVER = 4
_ENDED = 5
# A look that comes much later was itself kept from its core, or the machine stood still.
_ELAPSED_SECONDS_MAX = 2.0


@dataclass(frozen=True)
class Position:
    """Of one process, when it last said so."""

    place: tuple[int, int, int]
    """Its phase, the checkpoint, and how many calls since: the same in all replicas that do the
    same. The greater one is further on."""
    still_seconds: float = 0.0
    """So long it has been there, of time in which it could run."""
    longest_seconds: float = 0.0
    """So long it was at most anywhere outside of MPI."""
    waits: bool = False
    """It is inside of MPI."""
    started_seconds: float = 0.0
    """So long after the job began it had called MPI_Init."""

    @property
    def phase(self) -> int:
        return self.place[0]

    @property
    def has_ended(self) -> bool:
        return self.phase == _ENDED

    @property
    def where(self) -> str:
        if self.waits:
            return "in a call of MPI"
        words = {BEFORE_INIT: "before MPI_Init", OVER: "after MPI_Finalize"}
        return words.get(self.phase, "outside of MPI")


ENDED = Position((_ENDED, 0, 0))


def read_position(directory: Path, rank: int) -> Position | None:
    """Nothing: it has not called MPI_Init, or what is there cannot be understood."""
    try:
        line = (directory / f"position-{rank}").read_text()
        phase, checkpoint, calls, still_ms, longest_ms, waits, _pid = map(int, line.split())
    except (OSError, ValueError):
        return None
    return Position((phase, checkpoint, calls), still_ms / 1e3, longest_ms / 1e3, waits == 1)


def has_exited(directory: Path, rank: int) -> bool:
    """Whether the process has come to its end by itself."""
    if (directory / f"exit-{rank}").exists():
        return True
    try:
        return len((directory / f"started-{rank}").read_text().splitlines()) > 1
    except OSError:
        return False


class BeforeInit:
    """A process that was started and has not called MPI_Init yet."""

    def __init__(self, directory: Path, rank: int, clock: Callable[[], float]) -> None:
        self._directory = directory
        self._rank = rank
        self._clock = clock
        self._looked_at = clock()
        self._waited: float | None = None
        self._still = 0.0

    def look(self) -> Position:
        """REQUIRES: it has left no position, and has not ended."""
        now = self._clock()
        elapsed = min(now - self._looked_at, _ELAPSED_SECONDS_MAX)
        self._looked_at = now
        self._still += max(0.0, elapsed - self._not_its_own(elapsed))
        return Position((BEFORE_INIT, 0, 0), self._still)

    def _not_its_own(self, elapsed: float) -> float:
        """As OwnTime of the ranks (process/report/own_time.hpp): in which it could not go on.

        Of a process on another host nothing is known.
        """
        try:
            pid = int((self._directory / f"started-{self._rank}").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return elapsed
        if not processes.has_run_directory(pid, self._directory):
            return 0.0
        try:
            waited = int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
            status = Path(f"/proc/{pid}/status").read_text()
        except (OSError, ValueError, IndexError):
            return 0.0
        before, self._waited = self._waited, waited
        is_held = "TracerPid:\t0\n" not in status or "State:\tD" in status
        return elapsed if is_held or before is None else waited - before
