"""Figure 4: barrier and allreduce, revoked and after it, by the number of processes."""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.revoke.benchmark import (
    LATENCIES,
    NORMAL,
    PROCS,
    REVOKED,
    SHARE_OF_NOTHING,
    benchmark,
    benchmark_rows,
    by_machine,
)
from resprout.experiments.reproduce.store import Campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLANS = ("barrier", "allreduce")
_NAMES = {
    NORMAL: ("nobody revokes", pictures.BLACK, "o", "-"),
    REVOKED: ("revoked", pictures.VERMILION, "X", "--"),
    1: ("1st after", pictures.BLUE, "s", "-."),
    2: ("2nd after", pictures.SKY, "D", ":"),
    3: ("3rd after", pictures.GREEN, "^", (0, (5, 1, 1, 1, 1, 1))),
}
_SIZES = (60, 250, 1000, 3000, PROCS)

Key = tuple[str, int, int, int]
"""Plan, L, operation, processes."""


def _sizes(study: Study) -> list[int]:
    return [procs for procs in _SIZES if procs <= study.procs_max]


def by_size(study: Study) -> Campaign:
    return benchmark("sizes", PLANS, _NAMES, _sizes(study), study.scale.runs(20, 2000))


def keyed(rows: list[Row]) -> dict[Key, Row]:
    return {(row["plan"], row["latency"], row["operation"], row["procs"]): row for row in rows}


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig4")
    found = keyed(rows)
    sizes = _sizes(study)
    large, middle = sizes[-1], sizes[-2]
    runs = sum(row["runs"] for row in rows)

    def duration(plan: str, latency: int, operation: int, procs: int = large) -> float:
        return float(found[plan, latency, operation, procs]["duration"])

    def growth(plan: str, latency: int, operation: int) -> float:
        return duration(plan, latency, operation) / duration(plan, latency, operation, middle)

    def jitter(plan: str, latency: int, procs: int) -> float:
        return duration(plan, latency, 1, procs) - duration(plan, latency, NORMAL, procs)

    every = [(plan, latency) for plan in PLANS for latency in LATENCIES]
    trend = [growth(*one, 1) / growth(*one, NORMAL) for one in every]
    claims.holds(
        "post-Revoke operations follow the same scalability trend: growth of the 1st, of the "
        "normal one's",
        1,
        f"{min(trend):.3f} to {max(trend):.3f}",
        all(abs(ratio - 1) <= 0.1 for ratio in trend),
        runs,
        rule=f"±0.1 from {middle} to {large} processes, for both operations on both machines",
    )
    impact = [jitter(*one, large) / jitter(*one, middle) for one in every]
    claims.holds(
        "the impact of jitter is almost constant or slightly decreasing",
        "<= 1",
        f"{min(impact):.2f} to {max(impact):.2f}",
        max(impact) <= 1.1,
        runs,
        rule=f"at most a tenth more at {large} than at {middle} processes, likewise",
    )
    second = {at: _share(found, at, 2, large) for at in LATENCIES}
    claims.holds(
        "the 2nd AllReduce is only mildly impacted, as a share of the normal one",
        "< 1.25",
        by_machine(second),
        max(second.values()) < 1.25,
        runs,
        rule="less than a quarter more, on both machines",
    )
    third = {at: _share(found, at, 3, large) for at in LATENCIES}
    claims.holds(
        "the 3rd AllReduce exhibits no significant difference",
        1,
        by_machine(third),
        max(third.values()) < 1 + SHARE_OF_NOTHING,
        runs,
        rule=f"less than {SHARE_OF_NOTHING:.0%} more than where nobody revokes, on both machines",
    )
    plans = {
        at: duration("allreduce", at, REVOKED) / duration("barrier", at, REVOKED)
        for at in LATENCIES
    }
    claims.holds(
        "the propagation latency is independent of the communication plan being revoked",
        1,
        by_machine(plans),
        all(abs(ratio - 1) <= 0.1 for ratio in plans.values()),
        runs,
        rule="±0.1, on both machines",
    )
    return claims


def _share(found: dict[Key, Row], latency: int, operation: int, procs: int) -> float:
    """Of the normal allreduce."""
    normal = found["allreduce", latency, NORMAL, procs]["duration"]
    return float(found["allreduce", latency, operation, procs]["duration"] / normal)


def _draw(figure: "Figure", rows: list[Row]) -> None:
    grid = figure.subplots(len(LATENCIES), len(PLANS), sharex=True)
    for line_of_axes, latency in zip(grid, LATENCIES, strict=True):
        for axes, plan in zip(line_of_axes, PLANS, strict=True):
            for operation, (name, color, mark, line) in _NAMES.items():
                key = (plan, latency, operation)
                shown = [r for r in rows if (r["plan"], r["latency"], r["operation"]) == key]
                axes.errorbar(
                    [row["procs"] for row in shown],
                    [row["duration"] for row in shown],
                    yerr=[row["deviation"] for row in shown],
                    color=color,
                    marker=mark,
                    markersize=4,
                    linewidth=1,
                    linestyle=line,
                    capsize=2,
                    label=name,
                )
            axes.set_xscale("log")
            axes.set_ylim(bottom=0)
            axes.set_title(f"{plan}, L = {latency}, o = 1", size=8.5)
    for axes in grid[-1]:
        axes.set_xlabel("processes")
    for axes in grid[:, 0]:
        axes.set_ylabel("latency, ticks")
    grid[0, 0].legend(frameon=False, fontsize=7)


FIG4 = Experiment(
    "fig4",
    "Figure 4: revoked operations by the number of processes",
    "The most that a process spends in an operation: if nobody revokes, revoked, and on another "
    "communicator after it. LogP, noise of half a tick a receive. Bars are standard deviations.",
    lambda study: [by_size(study)],
    lambda study: benchmark_rows(study, by_size(study)),
    _claims,
    _draw,
    (6.4, 5.6),
)
