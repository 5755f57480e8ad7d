"""Which replica stands still while its siblings go on.

A process is *behind* where a replica of its rank is further on in the program, or has ended. It
stands still there

1. if it is outside of MPI, and has been for longer than `--straggler-wait`, and than `_FACTOR`
   times the longest that any replica further on was outside of MPI at a time. Time in which it had
   no core, waited for a disk or was held by a debugger does not count.
2. if it waits in a call of MPI, as long as that, and so does everybody who could still help it: all
   of the job, or, where planes do not wait for each other, all of its plane.

Who waits in a call of MPI for one that stands still is none itself: hence the two cases.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resprout.launch.positions import (
    BEFORE_INIT,
    ENDED,
    OVER,
    RUNNING,
    BeforeInit,
    Position,
    has_exited,
    read_position,
)

_FACTOR = 5.0
_LOOK_SECONDS = 1.0
# How long who is told to end may take for it.
_OBEYS_SECONDS = 10.0

Sights = Mapping[tuple[int, int], Position]
"""By replica and rank."""


@dataclass(frozen=True)
class StandsStill:
    replica: int
    rank: int
    at: Position
    is_outvoted: bool
    """Two replicas of it are further on."""


def find(sights: Sights, seconds: float, are_independent: bool) -> StandsStill | None:
    """`sights`: of all processes that live, or have come to their ends. `are_independent`: no plane
    waits for another one."""
    for (replica, rank), own in sorted(sights.items()):
        ahead = _ahead(sights, replica, rank)
        if not ahead or own.waits or own.phase not in (BEFORE_INIT, RUNNING, OVER):
            continue
        took = [o.longest_seconds if own.phase else o.started_seconds for o in ahead]
        is_long = own.still_seconds > max(seconds, _FACTOR * max(took))
        if is_long and not _is_backed(sights, replica, rank):
            return StandsStill(replica, rank, own, len(ahead) > 1)
    return _find_stuck(sights, seconds, are_independent)


def _ahead(sights: Sights, replica: int, rank: int) -> list[Position]:
    own = sights[replica, rank].place
    others = (other for (plane, r), other in sights.items() if r == rank and plane != replica)
    return [other for other in others if other.place > own]


def _is_backed(sights: Sights, replica: int, rank: int) -> bool:
    """A sibling is not further on either: the one that is may be the one that is wrong."""
    return any(
        r == rank and plane != replica and other.place <= sights[replica, rank].place
        for (plane, r), other in sights.items()
    )


def _find_stuck(sights: Sights, seconds: float, are_independent: bool) -> StandsStill | None:
    """Case 2. A plane that differs alone from two that are alike is the one."""
    stuck = {
        replica: all(
            own.has_ended or (own.waits and own.still_seconds > seconds)
            for (plane, _), own in sights.items()
            if plane == replica
        )
        for replica, _ in sights
    }
    if not are_independent and not all(stuck.values()):
        return None
    found = [
        StandsStill(replica, rank, own, len(ahead) > 1)
        for (replica, rank), own in sorted(sights.items())
        if stuck[replica] and not own.has_ended and (ahead := _ahead(sights, replica, rank))
    ]
    outvoted = [one for one in found if one.is_outvoted]
    if len({one.replica for one in outvoted}) == 1:
        return outvoted[0]
    # Of what cannot be decided the rank that is least far has most to do with it.
    return min(found, key=lambda one: (one.at.place, -one.replica), default=None)


class Standing:
    """The processes of one job. `folders`: the run directory of each plane; `ranks`: of each."""

    def __init__(
        self,
        folders: Sequence[Path],
        seconds: float | None,
        ranks: int,
        are_independent: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`seconds`: as --straggler-wait; nothing: nobody is ended."""
        self._folders = list(folders)
        self._seconds = seconds
        self._ranks = ranks
        self._are_independent = are_independent
        self._clock = clock
        self._looked_at = clock()
        self._began = clock()
        self._before_init: dict[Path, BeforeInit] = {}
        self._starts: dict[Path, float] = {}
        self._told: dict[tuple[int, int], float] = {}

    def come_back(self, replica: int, folder: Path) -> None:
        """The plane has been started again, there, and is one of them."""
        self._folders[replica] = folder
        self._told = {key: at for key, at in self._told.items() if key[0] != replica}

    def look(
        self, over: Mapping[int, bool], is_lost: Callable[[int, int], bool]
    ) -> StandsStill | None:
        """Who is found to stand still now; once. `over`: planes that have ended, and whether that
        was well. `is_lost`: of a replica and a rank whose siblings stand in for it. Nobody is found
        while one that was told to end has not: the others of its plane wait for it."""
        now = self._clock()
        if self._seconds is None or now - self._looked_at < _LOOK_SECONDS:
            return None
        if self._ending(over, is_lost):
            return None
        self._looked_at = now
        found = find(self._sights(over, is_lost), self._seconds, self._are_independent)
        if found is not None:
            self._told[found.replica, found.rank] = now
        return found

    def disobedient(self, over: Collection[int], is_lost: Callable[[int, int], bool]) -> set[int]:
        """Planes in which somebody was told to end, and has not; once. Arguments: as of look()."""
        late = {
            replica
            for replica, rank in self._ending(over, is_lost)
            if self._clock() - self._told[replica, rank] > _OBEYS_SECONDS
        }
        self._told = {k: at if k[0] not in late else float("inf") for k, at in self._told.items()}
        return late

    def _ending(
        self, over: Collection[int], is_lost: Callable[[int, int], bool]
    ) -> list[tuple[int, int]]:
        """Who was told to end, and neither it nor its plane has."""
        return [told for told in self._told if told[0] not in over and not is_lost(*told)]

    def _sights(self, over: Mapping[int, bool], is_lost: Callable[[int, int], bool]) -> Sights:
        sights = {}
        for replica, folder in enumerate(self._folders):
            if not over.get(replica, True):
                continue
            for rank in range(self._ranks):
                if is_lost(replica, rank) or (replica, rank) in self._told:
                    continue
                own = self._sight(folder, rank)
                if own is not None:
                    sights[replica, rank] = own
        return sights

    def _sight(self, folder: Path, rank: int) -> Position | None:
        position = read_position(folder, rank)
        path = folder / f"position-{rank}"
        if position is not None:
            self._before_init.pop(path, None)
            started = self._starts.setdefault(path, self._clock() - self._began)
            if has_exited(folder, rank):
                position = replace(ENDED, longest_seconds=position.longest_seconds)
            return replace(position, started_seconds=started)
        if has_exited(folder, rank) or not (folder / f"started-{rank}").exists():
            return None
        return self._before_init.setdefault(path, BeforeInit(folder, rank, self._clock)).look()
