"""A campaign cut into parts: what a core works on at a time, and what a file of the results holds.

1. The cut depends on the plan alone, not on the number of workers.
2. All parts in their order are all runs in the order of the plan, each once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from resprout import native
from resprout.campaign.plan import Plan, Point

# The work of a run, in processes: those that it has, and this for itself.
_RUN_WORK = 64
# A part is large enough (about a second) that starting and storing it is nothing beside it, and
# small enough (at most so small a share of all work) that losing one is no loss.
_PART_WORK_MIN = 1 << 22
_PARTS_MAX = 2048
# How much is done in one native call, at the end of which a worker can be stopped.
_CALL_WORK = 1 << 19


class StoppedError(Exception):
    """The work was asked to end before it was done."""


@dataclass(frozen=True)
class Piece:
    """Some runs of one point, one after the other."""

    point: Point
    repetition: int
    """Of the first run; the others follow."""
    seed: int
    """Likewise."""
    count: int


@dataclass(frozen=True)
class Part:
    number: int
    pieces: tuple[Piece, ...]

    @property
    def runs(self) -> int:
        return sum(piece.count for piece in self.pieces)

    @property
    def work(self) -> int:
        return sum(piece.count * _work(piece.point) for piece in self.pieces)


def _work(point: Point) -> int:
    return point.procs + _RUN_WORK


def cut(plan: Plan) -> list[Part]:
    """Parts of `runs_per_part` runs; if the plan leaves it open, of about equal work."""
    if plan.runs_per_part is not None:
        return list(_cut(plan, plan.runs_per_part, lambda _: 1))
    total = sum(repetitions * _work(point) for point, repetitions in plan.points)
    return list(_cut(plan, max(_PART_WORK_MIN, -(-total // _PARTS_MAX)), _work))


def _cut(plan: Plan, target: int, size: Callable[[Point], int]) -> Iterator[Part]:
    """Parts that are as large as `target`, by the sizes of their runs, as soon as they can be."""
    number = 0
    pieces: list[Piece] = []
    room = target
    for point, repetitions in plan.points:
        first_seed = plan.first_seed(point)
        done = 0
        while done < repetitions:
            count = min(repetitions - done, -(-room // size(point)))
            pieces.append(Piece(point, done, first_seed + done, count))
            done += count
            room -= count * size(point)
            if room <= 0:
                yield Part(number, tuple(pieces))
                number, pieces, room = number + 1, [], target
    if pieces:
        yield Part(number, tuple(pieces))


def simulate(part: Part, is_stopped: Callable[[], bool] = lambda: False) -> bytes:
    """The rows of native.Simulation.run_many() of all runs. StoppedError once it is."""
    rows = []
    for piece in part.pieces:
        point = piece.point
        simulation = native.Simulation(
            point.protocol,
            procs=point.procs,
            latency=point.latency,
            overhead=point.overhead,
            gap=point.gap,
            root=point.root,
        )
        step = max(1, _CALL_WORK // _work(point))
        for done in range(0, piece.count, step):
            if is_stopped():
                raise StoppedError
            rows.append(
                simulation.run_many(
                    faults=point.faults,
                    fail_at=point.deaths,
                    first_seed=piece.seed + done,
                    count=min(step, piece.count - done),
                )
            )
    return b"".join(rows)
