"""Figure 3: a revoked barrier of 6,000 processes, and those after it, by who revokes."""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.revoke.benchmark import (
    BEFORE,
    LATENCIES,
    REVOKED,
    SHARE_OF_NOTHING,
    benchmark,
    benchmark_rows,
    broadcast,
    procs_of_paper,
    spread_of,
)
from resprout.experiments.reproduce.store import Campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OPERATIONS = (BEFORE, REVOKED, 1, 2, 5, 6)
_NAMES = {
    BEFORE: ("before Revoke", pictures.BLACK, "o"),
    REVOKED: ("revoked", pictures.VERMILION, "X"),
    1: ("1st after", pictures.BLUE, "s"),
    2: ("2nd after", pictures.SKY, "D"),
    6: ("6th after", pictures.GREEN, "^"),
}


def _measured(study: Study) -> Campaign:
    procs = procs_of_paper(study)
    initiators = [0, 1, procs // 4, procs // 2, 3 * procs // 4, procs - 1]
    return benchmark("initiators", ["barrier"], _OPERATIONS, [procs], initiators)


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig3")
    sql = "SELECT latency, max(coloring_latency) FROM runs GROUP BY ALL"
    broadcasts = dict(study.ask(broadcast(study), sql))
    for latency in LATENCIES:
        _judge(claims, [row for row in rows if row["latency"] == latency], broadcasts[latency])
    return claims


def _judge(claims: Claims, rows: list[Row], broadcast_latency: int) -> None:
    latency, runs = rows[0]["latency"], len(rows)

    def durations(operation: int) -> list[int]:
        return [row["duration"] for row in rows if row["operation"] == operation]

    def longest(operation: int) -> int:
        return max(durations(operation))

    def says(claim: str) -> str:
        return f"{claim} (L = {latency}, o = 1)"

    equal = f"less than {SHARE_OF_NOTHING:.0%} between the least and the most"
    for operation, text in (
        (REVOKED, "the Revoked Barrier latency is stable and independent of the initiator rank"),
        (1, "the increased latency of the first Barrier is also independent of the initiator rank"),
    ):
        share = spread_of(durations(operation))
        is_stable = share < SHARE_OF_NOTHING
        claims.holds(says(text), "equal", share, is_stable, runs, rule=equal)
    normal = longest(BEFORE)
    claims.less(
        says("the time to complete a Revoked Barrier is smaller than for a normal Barrier"),
        f"< {normal}",
        longest(REVOKED),
        normal,
        runs,
        rule="less",
    )
    propagation = max(row["propagation"] for row in rows) / broadcast_latency
    claims.holds(
        says("propagation latency is similar to the cost of a small message Broadcast"),
        1,
        propagation,
        2 / 3 < propagation < 3 / 2,
        runs,
        rule="a factor of less than 1.5",
    )
    claims.near(
        says("the latency of the first post-Revoke operation approximately doubles"),
        2,
        longest(1) / normal,
        runs,
        tolerance=0.5,
        why="nearer to two than to one or three",
    )
    extra = (max(longest(2), longest(5)) - normal) / (longest(1) - normal)
    claims.less(
        says("the much reduced impact on the 2nd to 5th Barrier, as a share of the first one's"),
        "< 0.5",
        extra,
        0.5,
        runs,
        rule="less than half",
    )
    claims.less(
        says("after the fifth Barrier the application is free from observable jitter"),
        "1",
        longest(6) / normal,
        1 + SHARE_OF_NOTHING,
        runs,
        rule=f"less than {SHARE_OF_NOTHING:.0%} more than a normal one",
    )


def _draw(figure: "Figure", rows: list[Row]) -> None:
    for axes, latency in zip(figure.subplots(1, 2), LATENCIES, strict=True):
        for operation, (name, color, mark) in _NAMES.items():
            shown = [
                row for row in rows if (row["latency"], row["operation"]) == (latency, operation)
            ]
            axes.plot(
                [row["initiator"] for row in shown],
                [row["duration"] for row in shown],
                color=color,
                marker=mark,
                markersize=4,
                linewidth=1,
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
    "The most that a process spends in a barrier of 6,000: before one rank revokes, revoked, and "
    "on another communicator after it. Dissemination barriers, LogP.",
    lambda study: [_measured(study), broadcast(study)],
    lambda study: benchmark_rows(study, _measured(study)),
    _claims,
    _draw,
)
