"""How the processes of this host ended, as the launcher has seen it (src/launcher/waits.cpp,
launch/own/ranks.py).

It knows what they cannot say themselves. But who leaves a job early ends by SIGKILL at last, and
has said before with which status: what a rank says itself goes first.
"""

import contextlib
import signal
from dataclasses import dataclass
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


def read_ends(directory: Path) -> dict[int, SeenEnd]:
    """By process id; but for ends by a signal that somebody else has sent."""
    ends: dict[int, SeenEnd] = {}
    with contextlib.suppress(OSError):
        for line in (directory / "ended").read_text().splitlines():
            with contextlib.suppress(ValueError):
                pid, how, number = line.split()
                if how == "exit":
                    ends[int(pid)] = SeenEnd(int(number), None)
                elif int(number) in MISTAKES:
                    ends[int(pid)] = SeenEnd(None, int(number))
    return ends


def ended_pids(directory: Path) -> set[int]:
    """Of all processes whose end it has seen."""
    with contextlib.suppress(OSError, ValueError):
        return {int(line.split()[0]) for line in (directory / "ended").read_text().splitlines()}
    return set()
