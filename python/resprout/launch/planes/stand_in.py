"""Planes that go on with gaps: siblings stand in for the ranks that they have lost.

What --on-replica-loss stand-in asks for. The job goes on as long as one replica of each rank lives,
in whatever plane; so it is lost if some rank has come to its end in none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from resprout.report.job import PlaneEnd
from resprout.report.signals import STATUS_KILLED


class Living:
    """Which processes of a job are left."""

    def __init__(self, planes: int, ranks: int) -> None:
        self._ranks = ranks
        self._lost: list[set[int]] = [set() for _ in range(planes)]

    def lose(self, replica: int, rank: int) -> bool:
        """Whether nobody has said so before."""
        is_new = rank not in self._lost[replica]
        self._lost[replica].add(rank)
        return is_new

    def end_plane(self, replica: int, plane: PlaneEnd) -> None:
        """The plane is over: now it is known for sure."""
        is_gone = plane.is_lost or plane.how == "ended"
        lost = range(self._ranks) if is_gone else (loss.rank for loss in plane.report.losses)
        self._lost[replica] = set(lost)

    def planes_with(self, rank: int) -> list[int]:
        """Those that have not lost it."""
        return [replica for replica, lost in enumerate(self._lost) if rank not in lost]

    def left(self) -> tuple[int, ...]:
        """How many replicas of each rank."""
        return tuple(len(self.planes_with(rank)) for rank in range(self._ranks))


def settled(planes: Sequence[PlaneEnd], ranks: int) -> tuple[PlaneEnd, ...]:
    """With the statuses that those with gaps have together with their siblings.

    If a rank has come to its end in none of them, they are lost.
    """
    known: dict[int, int] = {}
    for plane in sorted(planes, key=lambda plane: plane.how != "whole"):
        if plane.how in ("whole", "gaps"):
            known = {**plane.statuses, **known}
    has_all = any(plane.how == "whole" for plane in planes) or len(known) == ranks
    return tuple(
        _settled(plane, known, has_all) if plane.how == "gaps" else plane for plane in planes
    )


def _settled(plane: PlaneEnd, known: Mapping[int, int], has_all: bool) -> PlaneEnd:
    if has_all:
        return replace(plane, status=max({**known, **plane.statuses}.values()))
    exits = [loss.exit_status or 0 for loss in plane.report.losses]
    status = max([*plane.statuses.values(), *exits], default=0) or STATUS_KILLED
    return replace(plane, how="lost", status=status)
