"""Which plane may be ended because two others are at their end and agree.

Each plane leaves notes in its run directory: `arrived`, all its ranks are in MPI_Finalize;
`agreed`, and all that they have received is what a replica in another plane has, too.
"""

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

WAIT_SECONDS = 30.0


def seconds_of(text: str | None) -> float | None:
    """What --straggler-wait asks for; nothing: for ever. REQUIRES: it was checked."""
    if text is None:
        return WAIT_SECONDS
    return None if text == "none" else float(text)


class Stragglers:
    """Those of one job. `folders`: the run directory of each plane."""

    def __init__(
        self,
        folders: Sequence[Path],
        seconds: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ended: set[int] = set()
        """That this has named."""
        self._folders = folders
        self._seconds = seconds
        self._clock = clock
        self._since: float | None = None

    def look(self, over: Collection[int]) -> list[int]:
        """The plane that is to be ended now, once. `over`: planes that have ended."""
        # With a plane less, two that differ could not be told apart, and nobody waits for a third.
        if self._seconds is None or len(self._folders) < 3 or over or self.ended:
            return []
        arrived = [self._has(replica, "arrived") for replica in range(len(self._folders))]
        agreed = any(self._has(replica, "agreed") for replica, is_in in enumerate(arrived) if is_in)
        if arrived.count(False) != 1 or not agreed:
            self._since = None
            return []
        now = self._clock()
        self._since = self._since if self._since is not None else now
        if now - self._since < self._seconds:
            return []
        self.ended.add(arrived.index(False))
        return sorted(self.ended)

    def _has(self, replica: int, note: str) -> bool:
        return (self._folders[replica] / note).exists()
