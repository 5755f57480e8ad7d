"""A campaign cut into parts: what a core works on at a time, and what a file of the results holds.

1. The cut depends on the plan alone, not on the number of workers.
2. All parts in their order are all runs in the order of the plan, each once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from resprout import native
from resprout.experiments.campaign.cost import run_ns, setup_ns
from resprout.experiments.campaign.plan import Plan, Point

# A part is large enough (about a second) that starting and storing it is nothing beside it, and
# small enough (at most so small a share of all work) that losing one is no loss.
_PART_NS_MIN = 1_000_000_000
_PARTS_MAX = 2048
# A part of one point has at least so many times the work of making the simulation.
_SETUPS_MIN = 8
# How much is done in one native call, at the end of which a worker can be stopped.
_CALL_NS = 100_000_000


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
        """About how many nanoseconds of one core it takes."""
        return sum(
            setup_ns(piece.point) + piece.count * run_ns(piece.point) for piece in self.pieces
        )


def cut(plan: Plan) -> list[Part]:
    """Parts of `runs_per_part` runs; if the plan leaves it open, of about equal work."""
    if plan.runs_per_part is not None:
        return list(_cut(plan, plan.runs_per_part, lambda _: 1))
    total = sum(repetitions * run_ns(point) for point, repetitions in plan.points)
    target = max(_PART_NS_MIN, -(-total // _PARTS_MAX))
    return list(_cut(plan, target, lambda point: _size(point, target)))


def _size(point: Point, target: int) -> int:
    """What a run takes of a part that has room for `target`: its work.

    Less where the simulation is dear to make, so that a part has many runs for it.
    """
    return max(1, run_ns(point) * target // max(target, _SETUPS_MIN * setup_ns(point)))


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
            digest=False,  # the results have none
            late=point.late,
            noise=point.noise,
            initiators=point.initiators,
        )
        step = max(1, _CALL_NS // run_ns(point))
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
