"""Appendix A.2: run times without replication by the number of processes on a node."""

from dataclasses import replace
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.bench.replication.paper import seconds_of
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.lazy_replication.cells import Line, compute_of
from resprout.experiments.reproduce.lazy_replication.cluster import CLUSTERS
from resprout.experiments.reproduce.lazy_replication.replay import Replay
from resprout.experiments.reproduce.lazy_replication.traces import trace_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Figure; environment, benchmark, class; numbers of processes; most of them on a node.
_CASES = (
    ("A.1", 1, "cg", "B", (32,), 14),
    ("A.2", 1, "cg", "B", (16, 64, 128), 14),
    ("A.3", 1, "ft", "B", (16, 32, 64), 16),
    ("A.4", 2, "cg", "B", (32,), 4),
)
# Non-zeros of class C by those of class B.
_C_BY_B = 2 * 16**2 / 14**2


def _processor_seconds(environment: int, benchmark: str) -> float:
    """Of all processes together, for one part of the trace: of those that the tables have."""
    if benchmark == "cg":
        return 16 * compute_of(Line(2, "cg", "C", 16)) / _C_BY_B / _speed(environment)
    return 16 * compute_of(Line(2, "ft", "B", 16)) / _speed(environment)


def _speed(environment: int) -> float:
    """Of a processor, by EP: class D has 16 times the work of class C."""
    if environment == 2:
        return 1.0
    return seconds_of(2, "ep", 16, 1) * 16 / (2 * seconds_of(1, "ep", 32, 1))


def _rows(study: Study) -> list[Row]:
    rows: list[Row] = []
    for figure, environment, benchmark, problem, sizes, most in _CASES:
        for processes in sizes:
            if processes > max(study.procs_max, 32):
                continue
            trace = trace_of(benchmark, problem, processes)
            compute = _processor_seconds(environment, benchmark) / processes
            for per_node in range(1, most + 1):
                cluster = replace(CLUSTERS[environment], per_node=per_node)
                replay = Replay(trace, 1, "", cluster, compute).run()
                rows.append({"figure": figure, "benchmark": benchmark, "processes": processes,
                             "per_node": per_node, "seconds": replay.seconds * trace.parts,
                             "messages": replay.messages})  # fmt: skip
    return rows


def _curve(rows: list[Row], figure: str) -> dict[int, float]:
    """The first of a figure's."""
    own = [row for row in rows if row["figure"] == figure]
    return {r["per_node"]: r["seconds"] for r in own if r["processes"] == own[0]["processes"]}


def _claims(study: Study, rows: list[Row]) -> Claims:
    del study
    claims = Claims("appendix-a")
    messages = sum(row["messages"] for row in rows)
    cg, ft = _curve(rows, "A.1"), _curve(rows, "A.3")
    claims.more(
        "A.1: substantial variations in run time, some over 300 %",
        "> 3",
        max(cg.values()) / min(cg.values()),
        3,
        messages,
        rule="the slowest by the quickest number of processes on a node",
    )
    for figure, curve in (("A.1", cg), ("A.3", ft)):
        minima = [n for n in (2, 4, 8) if curve[n] < min(curve[n - 1], curve[n + 1])]
        claims.holds(
            f"{figure}: powers of 2 are local minima",
            "2, 4, 8",
            ", ".join(map(str, minima)) or "none",
            len(minima) >= 2,
            messages,
            rule="two of three",
        )
    poor = sum(ft[n] for n in range(11, 16)) / 5
    claims.more(
        "A.3: 11 to 15 processes on a node perform particularly poorly, by 8 and 16",
        "> 1",
        poor / ((ft[8] + ft[16]) / 2),
        1,
        messages,
        rule="more, on average",
    )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    names = list(dict.fromkeys(row["figure"] for row in rows))
    colors = (pictures.BLUE, pictures.VERMILION, pictures.GREEN)
    for axes, name in zip(figure.subplots(2, 2).flat, names, strict=True):
        own = [row for row in rows if row["figure"] == name]
        for color, processes in zip(
            colors, dict.fromkeys(r["processes"] for r in own), strict=False
        ):
            curve = [row for row in own if row["processes"] == processes]
            axes.plot(
                [row["per_node"] for row in curve],
                [row["seconds"] for row in curve],
                color=color,
                marker="o",
                markersize=3,
                linewidth=1,
                label=f"{processes} processes",
            )
        axes.set_title(f"{name}: {own[0]['benchmark'].upper()}", fontsize=8.5)
        axes.set_ylim(bottom=0)
        axes.set(xlabel="processes on a node", ylabel="s")
        axes.legend(frameon=False, fontsize=6.5)


PLACEMENT = Experiment(
    "appendix-a",
    "Appendix A.2: processes on a node",
    "Run time without replication by the number of processes on a node before the next one is "
    "filled. Class B; computing is that of Table 5.2, by the classes' sizes and EP's speeds.",
    lambda study: [],
    _rows,
    _claims,
    _draw,
    (6.4, 4.6),
)
