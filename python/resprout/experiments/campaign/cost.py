"""What the runs of a point cost: estimates, in nanoseconds of one core.

Parts are cut and the time left is told by them, so being wrong by a factor of three does no harm.
What they do need: to depend on the point alone, and on whole numbers, so that every host cuts
alike. The figures were measured on a core of an EPYC of 2021, with 2^10 to 2^20 processes.
"""

import functools

from resprout import native
from resprout.experiments.campaign.plan import NONE, Point

# A row of the results: measured, copied and stored.
_ROW_NS = 1000
# The engine, for each process: most broadcasts are 6 to 12 messages a process.
_PROCESS_NS = 120
# The engine of steps, likewise: a few messages, and questions while others are late.
_STEPPED_PROCESS_NS = 2000
_LATE_NS = 14  # for each tick of the spread
# Each process is told of each death, where there is a detector.
_SUSPICION_NS = 10
_WITH_DETECTOR = ("ftco-", "reliable-broadcast", "native-until-loss", "revoke", "agree")
# Revocations, likewise: two messages a process for each doubling, and those of the plans.
_REVOKE_PROCESS_NS = 600
_PLAN_PROCESS_NS = 3000
_IN_BAND = "detection=in-band"
# A run that is computed (docs/explanation/exact.md): what the faults touch, at most all processes;
# and what follows from each fault, more where borders of gaps are followed one by one.
_TOUCHED_BY_FAULT_NS = 300
_PROCESSES_PER_NS = 4
_FAULT_NS = 50
_FOLLOWED_FAULT_NS = 350
_FOLLOWED = ("optimized-opportunistic", "in-order")
# The tables that a run is computed with, for each process. The engine's are nothing beside a run.
_TABLES_NS = 50


@functools.cache
def run_ns(point: Point) -> int:
    """One run. REQUIRES: the point has been checked."""
    deaths = _fault_count(point) + len(point.deaths)
    if _is_computed(point):
        is_followed = any(word in point.protocol for word in _FOLLOWED)
        touched = min(deaths * _TOUCHED_BY_FAULT_NS, point.procs // _PROCESSES_PER_NS)
        return _ROW_NS + touched + deaths * (_FOLLOWED_FAULT_NS if is_followed else _FAULT_NS)
    if _IN_BAND in point.protocol:
        return _ROW_NS + point.procs * (_STEPPED_PROCESS_NS + _spread(point) * _LATE_NS)
    process = _PROCESS_NS
    if point.protocol.startswith("revoke"):
        process = _PLAN_PROCESS_NS if "plan=" in point.protocol else _REVOKE_PROCESS_NS
    if point.protocol.startswith(_WITH_DETECTOR):
        process += deaths * _SUSPICION_NS
    return _ROW_NS + point.procs * process


def setup_ns(point: Point) -> int:
    """What is made once for many runs. REQUIRES: the point has been checked."""
    return point.procs * _TABLES_NS if _is_computed(point) else 0


@functools.cache
def _is_computed(point: Point) -> bool:
    return native.is_computed(
        point.protocol,
        procs=point.procs,
        latency=point.latency,
        overhead=point.overhead,
        gap=point.gap,
        root=point.root,
        fail_at=point.deaths,
        noise=point.noise,
    )


def _fault_count(point: Point) -> int:
    """How many are dead from the beginning or die: none | N | X% | N+M@T | 3,7,9."""
    text = point.faults
    if text == NONE:
        return 0
    if "," in text:
        return len([rank for rank in text.split(",") if rank])
    if text.endswith("%"):
        return round(float(text[:-1]) * point.procs / 100)
    dead, _, dying = text.partition("+")
    return int(dead) + int(dying.partition("@")[0] or 0)


def _spread(point: Point) -> int:
    """Within how many ticks processes enter: none | uniform:S | normal:S."""
    return 0 if point.late == NONE else int(point.late.partition(":")[2])
