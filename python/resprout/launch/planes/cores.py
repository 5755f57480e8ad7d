"""Which cores of this host each plane uses: a share of its own.

The ranks of a plane wait for each other all the time, and for other planes hardly ever. Where they
share cores with another plane's, whoever waits gives way to strangers as often as to the rank it
waits for (docs/explanation/adr/029).
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from resprout.launch import processes


def shares(cores: Sequence[int], planes: int) -> list[frozenset[int]]:
    """The k-th plane has those that the k-th of so many equal parts touches."""
    count = len(cores)
    return [
        frozenset(cores[k * count // planes : -(-(k + 1) * count // planes)]) for k in range(planes)
    ]


class Cores:
    """Those that this process may use, shared by the planes that run."""

    def __init__(self, directories: Sequence[Path]) -> None:
        """`directories`: the run directories of those that begin together."""
        self._all = sorted(os.sched_getaffinity(0))
        self._of = dict(zip(directories, shares(self._all, len(directories)), strict=True))

    def of(self, directory: Path) -> frozenset[int]:
        """Of a plane that is about to begin. If it is a further one the others make room for it."""
        if directory not in self._of:
            self._deal([*self._of, directory])
        return self._of[directory]

    def remove(self, directory: Path) -> None:
        """It is over: the others have its cores."""
        self._deal([one for one in self._of if one != directory])

    def _deal(self, directories: Sequence[Path]) -> None:
        before = self._of
        self._of = dict(zip(directories, shares(self._all, len(directories)), strict=True))
        for directory in directories:
            if directory in before and before[directory] != self._of[directory]:
                _move(directory, before[directory], self._of[directory])


def _move(directory: Path, before: frozenset[int], after: frozenset[int]) -> None:
    """All threads of a plane, but those that its program has bound itself."""
    for process in processes.descendants():
        if not process.is_alive or not processes.has_run_directory(process.pid, directory):
            continue
        for thread in _threads_of(process.pid):
            with contextlib.suppress(OSError):
                if os.sched_getaffinity(thread) == before:
                    os.sched_setaffinity(thread, after)


def _threads_of(pid: int) -> list[int]:
    try:
        return [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []
