"""The paper's benchmark on the LogP machine, and the campaigns that figures share.

Section 4.1: operations of plan A, one that is revoked, operations of plan B. The duration of an
operation is the most that a process spends in it, on average over repetitions. The paper names no
LogP parameters of its Cray XC30. So there are two machines, one where a message is short against
its overheads (L = 2, o = 1) and one where it is long (L = 10, o = 1), and a claim holds if it holds
on both. Both have noise as every real machine has: a receive takes longer by chance, half a tick on
average.
"""

import math
from collections.abc import Iterable, Mapping

from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.experiment import Row, Study
from resprout.experiments.reproduce.store import Campaign, campaign

LATENCIES = (2, 10)
NOISE = "0.5"
PROCS = 6000
NORMAL, REVOKED = -1, 0
"""Operations by their number. The normal one is the sixth of plan B where nobody revokes: in the
first ones after a common start noise has not yet spread. The revoked one is the last of plan A.
From 1 on they are plan B's after it."""
_SETTLED = 6
SHARE_OF_NOTHING = 0.05
"""Times that differ by less are called equal."""

_SQL = """
    SELECT regexp_extract(protocol, 'plan=([a-z]+)', 1),
           CASE initiators WHEN 'none' THEN -1
               ELSE CAST(regexp_extract(protocol, 'operation=(-?[0-9]+)', 1) AS INT) END,
           procs, latency, root, avg(completion_latency),
           coalesce(stddev_samp(completion_latency), 0.0), avg(output_spread),
           coalesce(avg(coloring_latency), 0.0), count(*)
    FROM runs GROUP BY ALL ORDER BY ALL"""
_COLUMNS = (
    *("plan", "operation", "procs", "latency", "initiator"),
    *("duration", "deviation", "spread", "propagation", "runs"),
)


def procs_of_paper(study: Study) -> int:
    return min(PROCS, study.procs_max)


def benchmark(
    name: str,
    plans: Iterable[str],
    operations: Iterable[int],
    sizes: Iterable[int],
    repetitions: int,
    initiators: Iterable[int] = (0,),
) -> Campaign:
    points = [
        Point(
            f"revoke:plan={plan},operation={_SETTLED if operation == NORMAL else operation}",
            procs,
            latency,
            root=initiator,
            noise=NOISE,
            initiators="none" if operation == NORMAL else "root",
        )
        for plan in plans
        for operation in operations
        for procs in sizes
        for latency in LATENCIES
        for initiator in initiators
    ]
    return campaign(name, points, repetitions)


def broadcast(study: Study) -> Campaign:
    """A broadcast of few bytes down a binomial tree, without faults."""
    spec = "corrected-tree:tree=binomial,correction=none"
    procs = procs_of_paper(study)
    points = [Point(spec, procs, latency, noise=NOISE) for latency in LATENCIES]
    return campaign("broadcast", points, study.scale.runs(20, 200))


def benchmark_rows(study: Study, measured: Campaign) -> list[Row]:
    """A row for each operation and initiator, means over repetitions: the most that a process spent
    in it, between the first and the last end of it, and from the first to the last process that was
    revoked."""
    return study.rows(measured, _COLUMNS, _SQL)


# Of a normal distribution: six means, all of one, are within so many of their standard errors in
# 99 of 100 cases (the studentized range).
_RANGE_OF_SIX = 4.76


def spread_of(rows: list[Row]) -> float:
    """Of durations, between the least and the most, as a share of the mean."""
    values = [row["duration"] for row in rows]
    return float((max(values) - min(values)) * len(values) / sum(values))


def chance_of(rows: list[Row]) -> float:
    """The spread that chance alone may give six of them."""
    error = max(row["deviation"] / math.sqrt(row["runs"]) for row in rows)
    return float(_RANGE_OF_SIX * error * len(rows) / sum(row["duration"] for row in rows))


def by_machine(values: Mapping[int, float], digits: int = 2) -> str:
    """A value for each L, as text."""
    return ", ".join(f"{value:.{digits}f} (L = {latency})" for latency, value in values.items())
