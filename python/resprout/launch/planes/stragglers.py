"""Which plane may be ended because two others need not wait for it.

Each plane leaves notes in its run directory: `arrived`, all its ranks are in MPI_Finalize;
`agreed`, and all that they have received is what a replica in another plane has, too;
`tainted-<rank>`, the rank has worked with what two others have out-voted, and has not come to its
next checkpoint yet; `waits-<rank>`, the rank is at a checkpoint and waits for another plane.
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
        self._folders = list(folders)
        self._seconds = seconds
        self._clock = clock
        self._since: float | None = None

    def come_back(self, replica: int, folder: Path) -> None:
        """The plane has been started again, there, and is one of them."""
        self._folders[replica] = folder
        self.ended.discard(replica)

    def look(self, over: Collection[int]) -> list[int]:
        """The plane that is to be ended now, once. `over`: planes that have ended."""
        # With a plane less, two that differ could not be told apart, and nobody waits for a third.
        if self._seconds is None or len(self._folders) < 3 or over or self.ended:
            return []
        behind = self._behind_at_the_end()
        if behind is None:
            behind = self._astray()
        if behind is None:
            self._since = None
            return []
        now = self._clock()
        self._since = self._since if self._since is not None else now
        if now - self._since < self._seconds:
            return []
        self.ended.add(behind)
        return sorted(self.ended)

    def _behind_at_the_end(self) -> int | None:
        arrived = [self._has(replica, "arrived") for replica in range(len(self._folders))]
        agreed = any(self._has(replica, "agreed") for replica, is_in in enumerate(arrived) if is_in)
        return arrived.index(False) if arrived.count(False) == 1 and agreed else None

    def _astray(self) -> int | None:
        """It is wrong, and wrong data may have led it anywhere; and somebody waits for it."""
        replicas = range(len(self._folders))
        tainted = [replica for replica in replicas if self._has(replica, "tainted-*")]
        waits = any(self._has(replica, "waits-*") for replica in replicas if replica not in tainted)
        return tainted[0] if len(tainted) == 1 and waits else None

    def _has(self, replica: int, note: str) -> bool:
        return any(self._folders[replica].glob(note))
