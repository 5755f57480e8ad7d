"""Which plane may be ended because others need not wait for it.

Each plane leaves notes in its run directory: `arrived`, all its ranks are in MPI_Finalize;
`agreed`, and all that they have received is what a replica in another plane has, too;
`tainted-<rank>`, the rank has worked with what two others have out-voted, and has not come to its
next checkpoint yet; `doubted-<rank>`, as that, but nobody can tell who is wrong; `waits-<rank>`,
the rank is at a checkpoint and waits for another plane.

Where all ranks of all planes wait at a checkpoint nobody will ever go on: the planes have not sent
the same. Then one has to go.
"""

import contextlib
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

WAIT_SECONDS = 30.0
# What is on its way when all wait needs a moment.
_STUCK_SECONDS_MIN = 5.0


def seconds_of(text: str | None) -> float | None:
    """What --straggler-wait asks for; nothing: for ever. REQUIRES: it was checked."""
    if text is None:
        return WAIT_SECONDS
    return None if text == "none" else float(text)


class Stragglers:
    """Those of one job. `folders`: the run directory of each plane; `ranks`: of each."""

    def __init__(
        self,
        folders: Sequence[Path],
        seconds: float | None,
        ranks: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ended: set[int] = set()
        """That this has named."""
        self.differing: set[int] = set()
        """Of those the ones for which all planes have waited, and that for all."""
        self._folders = list(folders)
        self._ranks = ranks
        self._came_back: list[int] = []
        self._waiting: dict[Path, int] = {}
        self._seconds = seconds
        self._clock = clock
        self._since: float | None = None

    def come_back(self, replica: int, folder: Path) -> None:
        """The plane has been started again, there, and is one of them."""
        self._folders[replica] = folder
        self.ended.discard(replica)
        self._came_back.append(replica)

    def look(self, over: Collection[int]) -> list[int]:
        """The plane that is to be ended now, once. `over`: planes that have ended."""
        replicas = range(len(self._folders))
        living = [one for one in replicas if one not in over and one not in self.ended]
        behind = None
        if len(living) == 3:
            behind = self._behind_at_the_end(living)
            if behind is None:
                behind = self._astray(living)
        elif len(living) == 2:
            behind = self._doubted(living)
        before, self._waiting = self._waiting, self._notes_of_waiting(living)
        is_stuck = behind is None and len(self._waiting) == self._ranks * len(living)
        if is_stuck and self._waiting != before:
            self._since = None  # some have gone on, and wait again
        if is_stuck and len(living) > 1:
            behind = self._likely_other(living)
        if self._seconds is None or behind is None:
            self._since = None
            return []
        now = self._clock()
        self._since = self._since if self._since is not None else now
        if now - self._since < max(self._seconds, _STUCK_SECONDS_MIN if is_stuck else 0.0):
            return []
        self._since = None
        self.ended.add(behind)
        if is_stuck:
            self.differing.add(behind)
        return [behind]

    def _behind_at_the_end(self, living: Sequence[int]) -> int | None:
        arrived = [one for one in living if self._has(one, "arrived")]
        late = [one for one in living if one not in arrived]
        is_agreed = any(self._has(one, "agreed") for one in arrived)
        return late[0] if len(late) == 1 and is_agreed else None

    def _astray(self, living: Sequence[int]) -> int | None:
        """It is wrong, and wrong data may have led it anywhere; and somebody waits for it."""
        tainted = [one for one in living if self._has(one, "tainted-*")]
        waits = any(self._has(one, "waits-*") for one in living if one not in tainted)
        return tainted[0] if len(tainted) == 1 and waits else None

    def _doubted(self, living: Sequence[int]) -> int | None:
        """Nobody can tell which of two is wrong, so both go back. One is there and waits for the
        other: that one may have been led anywhere, and does not help to tell any more."""
        if not any(self._has(one, "doubted-*") for one in living):
            return None
        absent = [one for one in living if not self._has(one, "waits-*")]
        return absent[0] if len(absent) == 1 else None

    def _notes_of_waiting(self, living: Sequence[int]) -> dict[Path, int]:
        """Of all ranks, and since when they are there."""
        notes = {}
        for path in (path for one in living for path in self._folders[one].glob("waits-*")):
            with contextlib.suppress(FileNotFoundError):
                notes[path] = path.stat().st_mtime_ns
        return notes

    def _likely_other(self, living: Sequence[int]) -> int:
        """Who came back last may lack something. If nobody did one is as good as another."""
        return next((one for one in reversed(self._came_back) if one in living), living[-1])

    def _has(self, replica: int, note: str) -> bool:
        return any(self._folders[replica].glob(note))
