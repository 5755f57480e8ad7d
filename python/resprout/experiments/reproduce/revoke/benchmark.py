"""The paper's benchmark on the LogP machine, and the campaigns that figures share.

Section 4.1: operations of plan A, one that is revoked, operations of plan B. The paper names no
LogP parameters of its Cray XC30, so each claim is judged twice: where a message is short against
its overheads (L = 2, o = 1) and where it is long (L = 10, o = 1). There is no chance in it: one run
is a point.
"""

from collections.abc import Iterable

from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.experiment import Row, Study
from resprout.experiments.reproduce.store import Campaign, campaign

LATENCIES = (2, 10)
PROCS = 6000
BEFORE, REVOKED = -1, 0
"""Operations by their number: the last one of plan A that ended, and the one that did not. From 1
on they are plan B's."""
SHARE_OF_NOTHING = 0.05
"""Times that differ by less are called equal."""

_SQL = """
    SELECT regexp_extract(protocol, 'plan=([a-z]+)', 1),
           CAST(regexp_extract(protocol, 'operation=(-?[0-9]+)', 1) AS INT),
           procs, latency, root, completion_latency, output_spread, coloring_latency
    FROM runs GROUP BY ALL ORDER BY ALL"""
_COLUMNS = (
    *("plan", "operation", "procs", "latency", "initiator"),
    *("duration", "spread", "propagation"),
)


def procs_of_paper(study: Study) -> int:
    return min(PROCS, study.procs_max)


def benchmark(
    name: str,
    plans: Iterable[str],
    operations: Iterable[int],
    sizes: Iterable[int],
    initiators: Iterable[int] = (0,),
) -> Campaign:
    points = [
        Point(f"revoke:plan={plan},operation={operation}", procs, latency, root=initiator)
        for plan in plans
        for operation in operations
        for procs in sizes
        for latency in LATENCIES
        for initiator in initiators
    ]
    return campaign(name, points, 1)


def broadcast(study: Study) -> Campaign:
    """A broadcast of few bytes down a binomial tree, without faults."""
    spec = "corrected-tree:tree=binomial,correction=none"
    procs = procs_of_paper(study)
    return campaign("broadcast", [Point(spec, procs, latency) for latency in LATENCIES], 1)


def benchmark_rows(study: Study, measured: Campaign) -> list[Row]:
    """A row for each operation: the most that a process spent in it, between the first and the last
    end of it, and from the first to the last process that was revoked."""
    return study.rows(measured, _COLUMNS, _SQL)


def spread_of(values: list[int]) -> float:
    """Between the least and the most, as a share of the mean."""
    return (max(values) - min(values)) * len(values) / sum(values)
