"""Which plane speaks for a job of several, and which ended otherwise."""

from collections import Counter
from collections.abc import Collection, Sequence

from resprout.report.job import PlaneEnd

# Planes that the launcher has ended, whose ends say nothing.
_WITHOUT_WORD = ("ended", "unverified")


def decide(planes: Sequence[PlaneEnd]) -> PlaneEnd:
    """The plane whose word counts: of those that were not lost, the first of the largest group that
    ended alike, rather one without gaps. If all were lost, the one that lasted longest. One that
    was corrupted speaks for all."""
    for plane in planes:
        if plane.how == "corrupted":
            return plane
    whole = [plane for plane in planes if not plane.is_lost and plane.how not in _WITHOUT_WORD]
    if not whole:
        return max(planes, key=lambda plane: plane.ended_ns)
    alike = Counter(plane.ending for plane in whole)
    return max(whole, key=lambda p: (alike[p.ending], p.how != "gaps", -p.replica))


def stragglers(planes: Sequence[PlaneEnd]) -> list[PlaneEnd]:
    """Those that were ended as they were behind."""
    if any(plane.how == "corrupted" for plane in planes):
        return []
    return [plane for plane in planes if plane.how == "ended"]


def different(planes: Sequence[PlaneEnd]) -> list[PlaneEnd]:
    """Those that ended, but not as the job did."""
    if not planes:
        return []
    chosen = decide(planes)
    return [
        plane
        for plane in planes
        if not (plane.is_lost or plane.how in _WITHOUT_WORD) and plane.ending != chosen.ending
    ]


def weakest(left: Sequence[int]) -> list[int]:
    """The ranks with the fewest replicas."""
    return [rank for rank, count in enumerate(left) if count == min(left)]


def listed(noun: str, numbers: Collection[int]) -> str:
    """As in "ranks 1, 2 and 5"; of many only how many they are."""
    names = [str(number) for number in sorted(numbers)]
    if len(names) == 1:
        return f"{noun} {names[0]}"
    if len(names) > 4:
        return f"{len(names)} {noun}s"
    return f"{noun}s {', '.join(names[:-1])} and {names[-1]}"
