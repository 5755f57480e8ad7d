"""How the processes of a job ended, as the launcher has seen it (src/launcher/ends.hpp,
launch/own/ranks.py).

It knows what they cannot say themselves. But who leaves a job early ends by SIGKILL at last, and
has said before with which status: what a rank says itself goes first.
"""

import contextlib
import signal
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# A process is ended by them for what it has done. Others somebody has sent.
MISTAKES = frozenset(
    {
        signal.SIGSEGV,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGABRT,
        signal.SIGSYS,
        signal.SIGTRAP,
    }
)


@dataclass(frozen=True)
class SeenEnd:
    """Of a process: one of them is known."""

    status: int | None
    signal: int | None

    @property
    def is_sent(self) -> bool:
        """Somebody else has ended it."""
        return self.signal is not None and self.signal not in MISTAKES


@dataclass(frozen=True)
class Ends:
    """Of all processes of a job."""

    here: dict[int, SeenEnd] = field(default_factory=dict)
    """On mpirun's host, by process id."""
    elsewhere: dict[int, SeenEnd] = field(default_factory=dict)
    """On other hosts, by rank: of those that a signal ended, or that exited without
    MPI_Finalize."""
    order: list[int] = field(default_factory=list)
    """Of them all, as mpirun has heard of them: process ids, and of rank r the number -1 - r."""

    def of(self, rank: int, pid: int | None) -> SeenEnd | None:
        """`pid`: its own, if it is known."""
        return self.elsewhere.get(rank) or self.here.get(pid or 0)

    def place(self, rank: int, pid: int | None) -> int:
        """In the order in which they ended; those of whom mpirun has heard nothing come last."""
        for place, who in enumerate(self.order):
            if who in (pid, -1 - rank):
                return place
        return len(self.order)

    def first_killed(self, pids: Mapping[int, int], besides: Collection[int] = ()) -> int | None:
        """The rank that somebody has ended before any other, if all are known that ended before.
        `pids`: of ranks; `besides`: who ended over the loss of another one."""
        ranks = {pid: rank for rank, pid in pids.items()}
        for who in self.order:
            rank = -1 - who if who < 0 else ranks.get(who)
            if rank is None:
                return None
            end = self.of(rank, pids.get(rank))
            if end is not None and end.is_sent and rank not in besides:
                return rank
        return None


def read_ends(directory: Path) -> Ends:
    ends = Ends()
    with contextlib.suppress(OSError):
        for line in (directory / "ended").read_text().splitlines():
            with contextlib.suppress(ValueError):
                *kind, who, how, number = line.split()
                end = SeenEnd(*((int(number), None) if how == "exit" else (None, int(number))))
                (ends.elsewhere if kind else ends.here)[int(who)] = end
                ends.order.append(-1 - int(who) if kind else int(who))
    return ends


def ended_pids(directory: Path) -> set[int]:
    """Of all processes of this host whose end it has seen."""
    return set(read_ends(directory).here)
