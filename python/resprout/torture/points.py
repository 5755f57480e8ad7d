"""Where a rank can be made to die: on entering each of its calls."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# How often a program asks whether something is there may differ from run to run.
_ASKING = ("test", "iprobe", "improbe", "request_get_status")


@dataclass(frozen=True, order=True)
class Point:
    """On entering the `number`-th such call, from 1."""

    rank: int
    call: str
    number: int

    def fault(self, kind: str) -> str:
        """As --inject takes it."""
        return f"{kind}:rank={self.rank},at={self.call}#{self.number}"


def all_points(calls: Mapping[int, Mapping[str, int]]) -> list[Point]:
    """`calls`: of each rank, how often it made each call in a run without faults."""
    points = [
        Point(rank, call, number)
        for rank, of_rank in sorted(calls.items())
        for call, count in sorted(of_rank.items())
        if not call.startswith(_ASKING)
        for number in range(1, count + 1)
    ]
    return points + [Point(rank, "finalize", 1) for rank in sorted(calls)]


def choose(points: Sequence[Point], most: int, seed: int) -> list[Point]:
    """At most so many: of each rank's calls the first and the last, then what `seed` draws."""
    if len(points) <= most:
        return list(points)
    draw = random.Random(seed)
    ends: dict[tuple[int, str], list[Point]] = {}
    for point in points:
        ends.setdefault((point.rank, point.call), []).append(point)
    edges = sorted({edge for same in ends.values() for edge in (same[0], same[-1])})
    if len(edges) >= most:
        return sorted(draw.sample(edges, most))
    rest = sorted(set(points) - set(edges))
    return sorted(edges + draw.sample(rest, most - len(edges)))


def choose_pairs(points: Sequence[Point], count: int, seed: int) -> list[tuple[Point, Point]]:
    """Of different ranks; fewer if there are not so many."""
    draw = random.Random(seed)
    pairs: set[tuple[Point, Point]] = set()
    if len({point.rank for point in points}) < 2:
        return []
    for _ in range(20 * count):
        if len(pairs) == count:
            break
        first, second = sorted(draw.sample(list(points), 2))
        if first.rank != second.rank:
            pairs.add((first, second))
    return sorted(pairs)
