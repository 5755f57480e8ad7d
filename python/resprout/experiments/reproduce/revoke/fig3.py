"""Figure 3: a revoked barrier of 6,000 processes, and those after it, by who revokes."""

from statistics import mean
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import ERRORS, Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.revoke.benchmark import (
    LATENCIES,
    NORMAL,
    REVOKED,
    SHARE_OF_NOTHING,
    benchmark,
    benchmark_rows,
    broadcast,
    by_machine,
    chance_of,
    procs_of_paper,
    spread_of,
)
from resprout.experiments.reproduce.store import Campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OPERATIONS = (NORMAL, REVOKED, 1, 2, 5, 6)
_NAMES = {
    NORMAL: ("nobody revokes", pictures.BLACK, "o", "-"),
    REVOKED: ("revoked", pictures.VERMILION, "X", "--"),
    1: ("1st after", pictures.BLUE, "s", "-."),
    2: ("2nd after", pictures.SKY, "D", ":"),
    6: ("6th after", pictures.GREEN, "^", (0, (5, 1, 1, 1, 1, 1))),
}


def _measured(study: Study) -> list[Campaign]:
    procs = procs_of_paper(study)
    initiators = [0, 1, procs // 4, procs // 2, 3 * procs // 4, procs - 1]
    runs = study.scale.runs(10, 2000)
    others = [operation for operation in _OPERATIONS if operation != REVOKED]
    # A revoked operation begins and ends at other times each run, so its durations vary most.
    revoked_runs = study.scale.runs(150, 2000)
    return [
        benchmark("initiators_revoked", ["barrier"], [REVOKED], [procs], revoked_runs, initiators),
        benchmark("initiators", ["barrier"], others, [procs], runs, initiators),
    ]


def _rows(study: Study) -> list[Row]:
    return [row for measured in _measured(study) for row in benchmark_rows(study, measured)]


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig3")
    sql = "SELECT latency, avg(coloring_latency) FROM runs GROUP BY ALL"
    broadcasts = dict(study.ask(broadcast(study), sql))
    runs = sum(row["runs"] for row in rows)

    def each(latency: int, operation: int) -> list[float]:
        """Of each initiator."""
        key = (latency, operation)
        return [row["duration"] for row in rows if (row["latency"], row["operation"]) == key]

    def ratios(operation: int, to: int) -> dict[int, float]:
        return {at: mean(each(at, operation)) / mean(each(at, to)) for at in LATENCIES}

    _claim_independence(claims, rows)
    of_normal = ratios(REVOKED, NORMAL)
    claims.holds(
        "the time to complete a Revoked Barrier is smaller than for a normal Barrier",
        "< 1",
        by_machine(of_normal),
        max(of_normal.values()) < 1,
        runs,
        rule="less, on both machines",
    )
    of_broadcast = {
        at: mean(row["propagation"] for row in rows if _is_revoked(row, at)) / broadcasts[at]
        for at in LATENCIES
    }
    claims.holds(
        "propagation latency is similar to the cost of a small message Broadcast",
        1,
        by_machine(of_broadcast),
        all(2 / 3 < ratio < 3 / 2 for ratio in of_broadcast.values()),
        runs,
        rule="a factor of less than 1.5, on both machines",
    )
    first = ratios(1, NORMAL)
    claims.holds(
        "the latency of the first post-Revoke operation approximately doubles",
        2,
        by_machine(first),
        all(1.5 < ratio < 2.5 for ratio in first.values()),
        runs,
        rule="±0.5: nearer to two than to one or three, on both machines",
    )
    later = {at: max(ratios(2, NORMAL)[at], ratios(5, NORMAL)[at]) for at in LATENCIES}
    extra = {at: (later[at] - 1) / (first[at] - 1) for at in LATENCIES}
    claims.holds(
        "the much reduced impact on the 2nd to 5th Barrier, as a share of the first one's",
        "< 0.5",
        by_machine(extra),
        max(extra.values()) < 0.5,
        runs,
        rule="less than half, on both machines",
    )
    sixth = ratios(6, NORMAL)
    claims.holds(
        "after the fifth Barrier the application is free from observable jitter",
        1,
        by_machine(sixth),
        max(sixth.values()) < 1 + SHARE_OF_NOTHING,
        runs,
        rule=f"less than {SHARE_OF_NOTHING:.0%} more than where nobody revokes, on both machines",
    )
    return claims


def _claim_independence(claims: Claims, rows: list[Row]) -> None:
    for operation, text in (
        (REVOKED, "the Revoked Barrier latency is stable and independent of the initiator rank"),
        (1, "the increased latency of the first Barrier is also independent of the initiator rank"),
    ):
        every = {
            at: [row for row in rows if (row["latency"], row["operation"]) == (at, operation)]
            for at in LATENCIES
        }
        claims.near(
            text,
            0.0,
            max(spread_of(of_machine) for of_machine in every.values()),
            sum(row["runs"] for of_machine in every.values() for row in of_machine),
            tolerance=SHARE_OF_NOTHING,
            why="of the mean, between the least and the most, on both machines",
            error=max(chance_of(of_machine) for of_machine in every.values()) / ERRORS,
        )


def _is_revoked(row: Row, latency: int) -> bool:
    return (row["latency"], row["operation"]) == (latency, REVOKED)


def _draw(figure: "Figure", rows: list[Row]) -> None:
    for axes, latency in zip(figure.subplots(1, 2), LATENCIES, strict=True):
        for operation, (name, color, mark, line) in _NAMES.items():
            shown = [
                row for row in rows if (row["latency"], row["operation"]) == (latency, operation)
            ]
            axes.errorbar(
                [row["initiator"] for row in shown],
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
        axes.set_ylim(bottom=0)
        axes.set_title(f"L = {latency}, o = 1", size=8.5)
        axes.set_xlabel("rank of the initiator")
    figure.axes[0].set_ylabel("latency of a barrier, ticks")
    figure.axes[0].legend(frameon=False, fontsize=7)


FIG3 = Experiment(
    "fig3",
    "Figure 3: a revoked barrier by initiator",
    "The most that a process spends in a barrier of 6,000: if nobody revokes, revoked, and on "
    "another communicator after it. Dissemination barriers, LogP, noise of half a tick a receive. "
    "Bars are standard deviations.",
    lambda study: [*_measured(study), broadcast(study)],
    _rows,
    _claims,
    _draw,
)
