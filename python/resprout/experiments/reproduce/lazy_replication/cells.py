"""The numbers of Tables 5.1 and 5.2, each beside the same from a replay.

A line of a table is calibrated by its first number: processes compute for as long as makes one copy
without replication take the paper's time. The other eight follow.
"""

import math
from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import Any, NamedTuple

from resprout.experiments.bench.replication.paper import PUBLISHED, seconds_of
from resprout.experiments.reproduce.experiment import Row, Study
from resprout.experiments.reproduce.lazy_replication.cluster import CLUSTERS
from resprout.experiments.reproduce.lazy_replication.replay import Replay, compute_seconds
from resprout.experiments.reproduce.lazy_replication.traces import trace_of

METHODS = ("all-to-all", "async", "msg-plus-hash", "async-hash")
DEGREES = (2, 3)


class Line(NamedTuple):
    """Of a table."""

    environment: int
    benchmark: str
    problem: str
    processes: int

    def __str__(self) -> str:
        return f"{self.benchmark.upper()} ({self.problem}), {self.processes} processes"


def lines_of(environment: int, procs_max: int, processes: int | None = None) -> list[Line]:
    """Those of one environment, with as many processes if a number is given."""
    every = (Line(r.environment, r.benchmark, r.problem, r.processes) for r in PUBLISHED)
    return [
        line
        for line in dict.fromkeys(every)
        if line.environment == environment
        and line.processes <= procs_max
        and processes in (None, line.processes)
    ]


@cache
def compute_of(line: Line) -> float:
    """Seconds for which a process computes in a part of the trace."""
    trace = trace_of(line.benchmark, line.problem, line.processes)
    cluster = CLUSTERS[line.environment]
    seconds = seconds_of(line.environment, line.benchmark, line.processes, 1)
    return compute_seconds(trace, cluster, seconds / trace.parts)


@cache
def replayed(line: Line, degree: int, method: str) -> tuple[float, int]:
    """Seconds of the whole run, and messages that were replayed for it."""
    trace = trace_of(line.benchmark, line.problem, line.processes)
    replay = Replay(trace, degree, method, CLUSTERS[line.environment], compute_of(line)).run()
    return replay.seconds * trace.parts, replay.messages


def rows_of(lines: Sequence[Line]) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        about = line._asdict()
        alone = seconds_of(line.environment, line.benchmark, line.processes, 1)
        for degree, method in [(1, ""), *((d, m) for m in METHODS for d in DEGREES)]:
            paper = seconds_of(line.environment, line.benchmark, line.processes, degree, method)
            ours, messages = replayed(line, degree, method)
            rows.append({**about, "degree": degree, "method": method, "paper": paper, "ours": ours,
                         "paper_ratio": paper / alone, "ours_ratio": ours / alone,
                         "messages": messages})  # fmt: skip
    return rows


def table_rows(study: Study, environment: int) -> list[Row]:
    # Tests have few processes: then the other environment stands in.
    return rows_of(lines_of(environment, study.procs_max) or lines_of(2, study.procs_max))


def line_of(row: Row) -> Line:
    return Line(*(row[name] for name in Line._fields))


def factor_between(rows: Sequence[Row]) -> float:
    """The median of how many times the larger of both numbers is the smaller one."""
    return math.exp(median(abs(math.log(row["ours"] / row["paper"])) for row in rows))


def by_case(rows: Sequence[Row]) -> dict[tuple[Any, ...], Row]:
    return {(line_of(row), row["degree"], row["method"]): row for row in rows}
