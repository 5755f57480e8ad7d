"""Which plane is started again, one at a time, and the folders in which it meets the others.

A plane that is over can come back where the others take checkpoints: its program starts from the
beginning, and at its first checkpoint waits until they give it what is protected. Files say who
meets whom; `<job>` is the job's run directory, in which the first launches of the planes meet:

    <job>/has-checkpoints   by a rank 0 that has kept its first checkpoint
    <job>/returning         which start again is the newest, as a number; by us, appears whole
    <job>/return-<g>/       where the plane that is started again meets the others: by us, before it
                            starts; with `secret` and `several-hosts` as in <job>
      returns-<K>           it is plane K that comes back there
      ended-<J>, lost-<J>   as in <job>
      plane-<K>/            its run directory
      joined                the others have taken it in, at the checkpoint whose number it has

1. `ended-<J>` is in a folder if, and only if, that launch of plane J that belongs to it is over:
   the newest one whose number is not greater than the folder's. <job> and the first launches have
   number 0.
2. The next one begins when the one before is back, or is over.
"""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from resprout.files import replacing

# How a plane that may come back has ended; and if another one has ended otherwise, none does.
_MAY_COME_BACK = {"lost", "excluded", "ended"}
# They may have taken it in just before they were lost: then it says so as soon as it goes on.
_GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class Again:
    """A start again of a plane."""

    number: int
    """The how manieth of the job, from 1."""
    replica: int
    folder: Path
    """Where it meets the others."""
    started_ns: int

    @property
    def run_directory(self) -> Path:
        return self.folder / f"plane-{self.replica}"


@dataclass(frozen=True)
class Joined:
    """The others have taken a plane in."""

    again: Again
    checkpoint: int
    joined_ns: int


class Returns:
    """Those of one job. Its methods take the planes that are over, and how they ended."""

    def __init__(self, job: Path, planes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.pending: Again | None = None
        """Has been started again, and is not back yet."""
        self._folders = [job]
        self._clock = clock
        # Of each plane the numbers of its launches, and which of them is one of the planes now.
        self._numbers: list[list[int]] = [[0] for _ in range(planes)]
        self._current = [job / f"plane-{replica}" for replica in range(planes)]
        # Of launches that are over, by plane and number: whether they were lost.
        self._over: dict[tuple[int, int], bool] = {}
        self._kept_out: set[int] = set()
        self._alone_since: float | None = None

    def note_end(self, replica: int, number: int, is_lost: bool) -> None:
        """That launch of the plane is over. May be said again when it is known that it was lost."""
        self._over[replica, number] = is_lost
        for at, folder in enumerate(self._folders):
            if self._newest(replica, at) == number:
                _leave_word(folder, replica, is_lost)

    def can_be_joined(self, over: Mapping[int, str]) -> bool:
        """Whether planes are there that can take in another one."""
        return len(over) < len(self._numbers) and _MAY_COME_BACK.issuperset(over.values())

    def begin(self, over: Mapping[int, str]) -> Again | None:
        """The plane that is to be started again now, of which all is prepared.

        Raises OSError: it is pending, and cannot be started.
        """
        waiting = [replica for replica in over if replica not in self._kept_out]
        if self.pending is not None or not waiting or not self.can_be_joined(over):
            return None
        if not (self._folders[0] / "has-checkpoints").exists() or self._are_arriving(over):
            return None
        number = len(self._folders)
        folder = self._folders[0] / f"return-{number}"
        self.pending = Again(number, waiting[0], folder, time.time_ns())
        self._folders.append(folder)
        self._numbers[waiting[0]].append(number)
        self._alone_since = None
        self._prepare(self.pending)
        return self.pending

    def is_hopeless(self, over: Mapping[int, str]) -> bool:
        """No plane comes back any more, whatever the others do."""
        if self.pending is not None:
            return False
        may_come = any(replica not in self._kept_out for replica in over)
        return not may_come or not self.can_be_joined(over) or self._are_arriving(over)

    def joined(self) -> Joined | None:
        """The pending one, once it is back."""
        if self.pending is None:
            return None
        path = self.pending.folder / "joined"
        try:
            checkpoint = int(path.read_text())
            written_ns = path.stat().st_mtime_ns
        except (OSError, ValueError):
            return None
        again, self.pending = self.pending, None
        self._current[again.replica] = again.run_directory
        # The clock of a file system may be another one.
        return Joined(again, checkpoint, min(max(again.started_ns, written_ns), time.time_ns()))

    def keep_out(self, replica: int) -> None:
        """The plane is not started again any more."""
        self._kept_out.add(replica)

    def give_up(self) -> None:
        """The pending one is over, or cannot be started; and is not tried again."""
        assert self.pending is not None
        self.keep_out(self.pending.replica)
        with contextlib.suppress(FileNotFoundError):  # there may be no room for its folder
            self.note_end(self.pending.replica, self.pending.number, is_lost=True)
        self.pending = None

    def is_in_vain(self, over: Mapping[int, str]) -> bool:
        """Nobody is left who could take the pending one in: it is to be ended."""
        if self.pending is None or len(over) < len(self._numbers):
            return False
        if not _MAY_COME_BACK.issuperset(over.values()):
            return True
        now = self._clock()
        self._alone_since = now if self._alone_since is None else self._alone_since
        return now - self._alone_since >= _GRACE_SECONDS

    def _newest(self, replica: int, at: int) -> int:
        return max(number for number in self._numbers[replica] if number <= at)

    def _are_arriving(self, over: Mapping[int, str]) -> bool:
        """A plane that is in MPI_Finalize takes no checkpoint any more."""
        return any(
            (directory / "arrived").exists()
            for replica, directory in enumerate(self._current)
            if replica not in over
        )

    def _prepare(self, again: Again) -> None:
        job = self._folders[0]
        again.folder.mkdir(mode=0o700)
        descriptor = os.open(again.folder / "secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write((job / "secret").read_bytes())
        if (job / "several-hosts").exists():
            (again.folder / "several-hosts").touch()
        for replica in range(len(self._numbers)):
            is_lost = self._over.get((replica, self._newest(replica, again.number)))
            if is_lost is not None:
                _leave_word(again.folder, replica, is_lost)
        (again.folder / f"returns-{again.replica}").touch()
        again.run_directory.mkdir(mode=0o700)
        with replacing(job / "returning") as draft:
            draft.write_text(f"{again.number}\n")


def _leave_word(folder: Path, replica: int, is_lost: bool) -> None:
    (folder / f"ended-{replica}").touch()
    if is_lost:
        (folder / f"lost-{replica}").touch()
