"""Figure 4: barrier and allreduce, revoked and after it, by the number of processes."""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.revoke.benchmark import (
    BEFORE,
    LATENCIES,
    PROCS,
    REVOKED,
    SHARE_OF_NOTHING,
    benchmark,
    benchmark_rows,
)
from resprout.experiments.reproduce.store import Campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLANS = ("barrier", "allreduce")
_NAMES = {
    BEFORE: ("before Revoke", pictures.BLACK, "o"),
    REVOKED: ("revoked", pictures.VERMILION, "X"),
    1: ("1st after", pictures.BLUE, "s"),
    2: ("2nd after", pictures.SKY, "D"),
    3: ("3rd after", pictures.GREEN, "^"),
}
_SIZES = (60, 250, 1000, 3000, PROCS)


def _sizes(study: Study) -> list[int]:
    return [procs for procs in _SIZES if procs <= study.procs_max]


def _measured(study: Study) -> Campaign:
    return benchmark("sizes", _PLANS, _NAMES, _sizes(study))


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig4")
    found = {
        (row["plan"], row["latency"], row["operation"], row["procs"]): row["duration"]
        for row in rows
    }
    sizes = _sizes(study)
    large, middle = sizes[-1], sizes[-2]
    for latency in LATENCIES:

        def duration(
            plan: str, operation: int, procs: int = large, latency: int = latency
        ) -> float:
            return float(found[plan, latency, operation, procs])

        def says(claim: str, latency: int = latency) -> str:
            return f"{claim} (L = {latency}, o = 1)"

        for plan in _PLANS:
            growth = {
                operation: duration(plan, operation) / duration(plan, operation, middle)
                for operation in _NAMES
            }
            claims.near(
                says(f"post-Revoke {plan}s follow the same scalability trend: growth of the 1st"),
                growth[BEFORE],
                growth[1],
                len(rows),
                tolerance=0.1 * growth[BEFORE],
                why=f"a tenth, from {middle} to {large} processes",
            )
            jitter = [duration(plan, 1, n) - duration(plan, BEFORE, n) for n in (middle, large)]
            claims.less(
                says(f"the impact of jitter on {plan}s is almost constant or slightly decreasing"),
                f"<= {jitter[0]:.0f}",
                jitter[1],
                1.1 * jitter[0],
                len(rows),
                rule=f"at most a tenth more at {large} than at {middle} processes",
            )
        normal = duration("allreduce", BEFORE)
        claims.less(
            says("the 2nd AllReduce is only mildly impacted, as a share of the normal one"),
            "< 1.25",
            duration("allreduce", 2) / normal,
            1.25,
            len(rows),
            rule="less than a quarter more",
        )
        claims.less(
            says("the 3rd AllReduce exhibits no significant difference"),
            "1",
            duration("allreduce", 3) / normal,
            1 + SHARE_OF_NOTHING,
            len(rows),
            rule=f"less than {SHARE_OF_NOTHING:.0%} more than a normal one",
        )
        claims.near(
            says("the propagation latency is independent of the communication plan being revoked"),
            duration("barrier", REVOKED),
            duration("allreduce", REVOKED),
            len(rows),
            tolerance=0.1 * duration("barrier", REVOKED),
            why="a tenth",
        )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    for axes, plan in zip(figure.subplots(1, 2, sharey=True), _PLANS, strict=True):
        for operation, (name, color, mark) in _NAMES.items():
            for latency, line in zip(LATENCIES, (":", "-"), strict=True):
                key = (plan, latency, operation)
                shown = [r for r in rows if (r["plan"], r["latency"], r["operation"]) == key]
                axes.plot(
                    [row["procs"] for row in shown],
                    [row["duration"] for row in shown],
                    color=color,
                    marker=mark,
                    markersize=4,
                    linewidth=1,
                    linestyle=line,
                    label=name if latency == LATENCIES[-1] else None,
                )
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_title(plan, size=8.5)
        axes.set_xlabel("processes")
    figure.axes[0].set_ylabel("latency of an operation, ticks")
    figure.axes[0].legend(frameon=False, fontsize=7)


FIG4 = Experiment(
    "fig4",
    "Figure 4: revoked operations by the number of processes",
    "The most that a process spends in an operation: before Revoke, revoked, and on another "
    "communicator after it. Solid: L = 10, o = 1; dotted: L = 2, o = 1. LogP.",
    lambda study: [_measured(study)],
    lambda study: benchmark_rows(study, _measured(study)),
    _claims,
    _draw,
)
