"""From what was measured to who carries what: pure.

A collective is left to the MPI library where Resprout takes more than `MARGIN` times as long. Among
the measured sizes the ratio is interpolated, the logarithm of one over that of the other; beyond
them it is that of the nearest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum, log

OPERATIONS = ("barrier", "bcast", "reduce", "allreduce")
MODES = ("single", "stream")
"""One call after a barrier; calls back to back."""

MARGIN = 1.05
"""What the library carries has to be settled after a loss: a little faster is not enough."""


@dataclass(frozen=True)
class Measured:
    """One case: medians, in microseconds, and of the ratio of Resprout's time to the library's."""

    ranks: int
    operation: str
    mode: str
    bytes: int
    resprout_us: float
    native_us: float
    ratio: float


@dataclass(frozen=True)
class Point:
    """One size, both modes counting alike."""

    bytes: int
    resprout_us: float
    native_us: float
    ratio: float


def points_of(measured: Iterable[Measured], ranks: int, operation: str) -> list[Point]:
    """By ascending size."""
    by_size: dict[int, list[Measured]] = {}
    for case in measured:
        if (case.ranks, case.operation) == (ranks, operation):
            by_size.setdefault(case.bytes, []).append(case)
    return [
        Point(
            size,
            _mean([case.resprout_us for case in cases]),
            _mean([case.native_us for case in cases]),
            _mean([case.ratio for case in cases]),
        )
        for size, cases in sorted(by_size.items())
    ]


def _mean(values: Sequence[float]) -> float:
    """The geometric one: of ratios, so that twice and half make one."""
    return exp(fsum(map(log, values)) / len(values))


def switches_of(points: Sequence[Point]) -> list[int]:
    """The sizes in bytes, ascending, from which on somebody else carries it; at first Resprout.

    REQUIRES: points, by ascending size.
    """
    above = [log(point.ratio / MARGIN) for point in points]
    switches = [0] if above[0] > 0 else []
    for i in range(1, len(points)):
        if (above[i] > 0) == (above[i - 1] > 0):
            continue
        share = above[i - 1] / (above[i - 1] - above[i])
        low, high = log(points[i - 1].bytes), log(points[i].bytes)
        # In between, and never two at the same size.
        at = round(exp(low + share * (high - low)))
        switches.append(min(max(at, points[i - 1].bytes + 1), points[i].bytes))
    return switches


def ranks_of(measured: Iterable[Measured]) -> list[int]:
    return sorted({case.ranks for case in measured})


def as_text(measured: Sequence[Measured], cores: int) -> str:
    """For the ranks, as src/mpi/process/calibration.hpp reads it."""
    rows = [f"cores={cores}"]
    for ranks in ranks_of(measured):
        parts = [f"ranks={ranks}"]
        for operation in OPERATIONS:
            sizes = switches_of(points_of(measured, ranks, operation))
            parts.append(f"{operation}={'.'.join(map(str, sizes))}")
        rows.append(",".join(parts))
    return ";".join(rows)
