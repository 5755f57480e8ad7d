"""What the processes of the NAS Parallel Benchmarks say to each other in one iteration.

Each process has a list of steps. Who talks to whom, in which order and in how many bytes follows
from the benchmarks' published decompositions. How long a process computes does not: a step of
computing has a weight, and the weights of a process add up to 1. Collectives are point-to-point
messages, as they are in RedMPI (Lazy Fault Detection, chapter 5).
Thread rule: pure functions.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

Kind = Literal["compute", "send", "receive"]
DOUBLE, COMPLEX, KEY = 8, 16, 4
WORDS = 5
"""Unknowns at each point of BT, LU and SP."""


class Step(NamedTuple):
    kind: Kind
    peer: int = -1
    amount: float = 0.0
    """Bytes of a message, or the weight of computing."""


class Trace(NamedTuple):
    ranks: Sequence[Sequence[Step]]
    """Of a part of the run, which `parts` of make up the whole."""
    parts: float


def _compute(weight: float) -> Step:
    return Step("compute", amount=weight)


def _exchange(peer: int, size: float) -> list[Step]:
    """Both say something of one size, and wait for it."""
    return [Step("send", peer, size), Step("receive", peer)]


def _allreduce(rank: int, ranks: int, size: float) -> Iterator[Step]:
    """Dissemination: any number of ranks."""
    distance = 1
    while distance < ranks:
        yield Step("send", (rank + distance) % ranks, size)
        yield Step("receive", (rank - distance) % ranks)
        distance *= 2


def _all_to_all(rank: int, ranks: int, size: float) -> Iterator[Step]:
    """All sends first, as requests that are waited for together."""
    for distance in range(1, ranks):
        yield Step("send", (rank + distance) % ranks, size)
    for distance in range(1, ranks):
        yield Step("receive", (rank - distance) % ranks)


def _cg(problem: str, ranks: int) -> Trace:
    """One step of conjugate gradients, of 75 times 26: rows are summed, then transposed."""
    unknowns = {"B": 75_000, "C": 150_000}[problem]
    columns = 2 ** math.ceil(math.log2(ranks) / 2)
    rows = ranks // columns
    size = unknowns / rows * DOUBLE

    def rank_of(rank: int) -> Iterator[Step]:
        row, column = divmod(rank, columns)
        yield _compute(0.9)
        for bit in range(int(math.log2(columns))):
            yield from _exchange(row * columns + (column ^ 1 << bit), size)
        if rows == columns:
            peer = column * columns + row
        else:  # pairs of columns have one half each
            peer = 2 * ((column // 2) * rows + row) + column % 2
        if peer != rank:
            yield from _exchange(peer, size * rows / columns)
        for _ in range(2):
            yield _compute(0.05)
            for bit in range(int(math.log2(columns))):
                yield from _exchange(row * columns + (column ^ 1 << bit), DOUBLE)

    return Trace([list(rank_of(rank)) for rank in range(ranks)], 75 * 26)


def _multipartition(problem: str, ranks: int, forward: int, back: int, iterations: int) -> Trace:
    """One iteration of BT or SP: each rank has a cell of each diagonal; sweeps go through all.

    `forward`, `back`: doubles for each point of a cell's face in the two halves of a sweep.
    """
    side = math.isqrt(ranks)
    points = {"A": 64, "B": 102}[problem]
    face = (points / side) ** 2

    def neighbors(rank: int) -> list[tuple[int, int]]:
        """Before and behind, in each direction."""
        row, column = divmod(rank, side)

        def at(row: int, column: int) -> int:
            return row % side * side + column % side

        return [
            (at(row, column - 1), at(row, column + 1)),
            (at(row - 1, column), at(row + 1, column)),
            (at(row - 1, column + 1), at(row + 1, column - 1)),
        ]

    def rank_of(rank: int) -> Iterator[Step]:
        both = [peer for pair in neighbors(rank) for peer in pair]
        for peer in both:
            yield Step("send", peer, side * 2 * WORDS * face * DOUBLE)
        for peer in both:
            yield Step("receive", peer)
        yield _compute(0.4)
        for before, behind in neighbors(rank):
            for size, (source, target) in (
                (forward, (before, behind)),
                (back, (behind, before)),
            ):
                for cell in range(side):
                    if cell > 0:
                        yield Step("receive", source)
                    yield _compute(0.1 / side)
                    if cell < side - 1:
                        yield Step("send", target, size * face * DOUBLE)

    return Trace([list(rank_of(rank)) for rank in range(ranks)], iterations)


def _bt(problem: str, ranks: int) -> Trace:
    return _multipartition(problem, ranks, WORDS * WORDS + WORDS, WORDS, 200)


def _sp(problem: str, ranks: int) -> Trace:
    return _multipartition(problem, ranks, 22, 10, 400)


def _lu(problem: str, ranks: int) -> Trace:
    """Two sweeps through a quarter of the planes, of 250 iterations; borders of all planes."""
    points = {"B": 102}[problem]
    width = 2 ** math.ceil(math.log2(ranks) / 2)
    height = ranks // width
    planes = points // 4
    across, along = WORDS * points / height * DOUBLE, WORDS * points / width * DOUBLE

    def rank_of(rank: int) -> Iterator[Step]:
        row, column = divmod(rank, width)

        def at(row: int, column: int) -> list[int]:
            return [row * width + column] if 0 <= row < height and 0 <= column < width else []

        west, east = at(row, column - 1), at(row, column + 1)
        north, south = at(row - 1, column), at(row + 1, column)
        for before, behind in (((west, north), (east, south)), ((east, south), (west, north))):
            for _ in range(planes):
                for peers in before:
                    yield from (Step("receive", peer) for peer in peers)
                yield _compute(0.4 / planes)
                for peers, size in zip(behind, (across, along), strict=True):
                    yield from (Step("send", peer, size) for peer in peers)
        peers_of = ((west, across), (east, across), (north, along), (south, along))
        for peers, size in peers_of:
            yield from (Step("send", peer, 2 * size * planes) for peer in peers)
        for peers, _ in peers_of:
            yield from (Step("receive", peer) for peer in peers)
        yield _compute(0.2)

    return Trace([list(rank_of(rank)) for rank in range(ranks)], 250 * points / planes)


def _ft(problem: str, ranks: int) -> Trace:
    """One of 20 iterations: a transpose of the whole cube."""
    points = {"B": 512 * 256 * 256, "A": 256 * 256 * 128}[problem]

    def rank_of(rank: int) -> Iterator[Step]:
        yield _compute(0.6)
        yield from _all_to_all(rank, ranks, points * COMPLEX / ranks**2)
        yield _compute(0.4)
        yield from _allreduce(rank, ranks, COMPLEX)

    return Trace([list(rank_of(rank)) for rank in range(ranks)], {"B": 20, "A": 6}[problem])


def _is(problem: str, ranks: int) -> Trace:
    """One of 10 iterations: sizes of buckets, then all keys to where they belong."""
    keys = {"C": 2**27, "D": 2**31}[problem]

    def rank_of(rank: int) -> Iterator[Step]:
        yield _compute(0.5)
        yield from _allreduce(rank, ranks, 1024 * KEY)
        yield from _all_to_all(rank, ranks, KEY)
        yield from _all_to_all(rank, ranks, keys * KEY / ranks**2)
        yield _compute(0.5)

    return Trace([list(rank_of(rank)) for rank in range(ranks)], 10)


def _ep(problem: str, ranks: int) -> Trace:
    """Computes, and adds up three times at the end."""
    del problem

    def rank_of(rank: int) -> Iterator[Step]:
        yield _compute(1.0)
        for size in (DOUBLE, DOUBLE, 10 * DOUBLE):
            yield from _allreduce(rank, ranks, size)

    return Trace([list(rank_of(rank)) for rank in range(ranks)], 1)


_TRACES: dict[str, Callable[[str, int], Trace]] = {
    "bt": _bt, "cg": _cg, "ep": _ep, "ft": _ft, "is": _is, "lu": _lu, "sp": _sp,
}  # fmt: skip


def trace_of(benchmark: str, problem: str, ranks: int) -> Trace:
    """REQUIRES: one of the benchmarks, in a class and with a number of ranks that the paper has."""
    return _TRACES[benchmark](problem, ranks)
