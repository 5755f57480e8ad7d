"""Figure 9: work penalty per inactive process."""

from typing import TYPE_CHECKING

from resprout.reproduce.claims import Claims
from resprout.reproduce.experiment import Experiment, Row, Study
from resprout.reproduce.ftco.inactive import campaigns, draw_bars, penalties, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig9")
    found = table_of(rows)
    sizes = sorted({row["procs"] for row in rows})
    for procs in sizes:
        claims.near(
            f"in a fault-free run, each node sends on average 3 messages ({procs} processes)",
            3,
            found[procs, 1]["alone"],
            2,
            tolerance=0.5,
            why="the paper gives whole messages",
        )
    claims.near(
        "with 1K nodes and one inactive node, each of the 1023 nodes sends on average 0.5 more "
        "messages during a run",
        0.5,
        found[1024, 1]["penalty"],
        found[1024, 1]["runs"],
        tolerance=0.05,
        why="the paper gives tenths",
    )
    falling = [
        found[p, 1]["penalty"] > found[p, 10]["penalty"] > found[p, 100]["penalty"] for p in sizes
    ]
    claims.holds(
        "as the latency's, the penalty a fault falls with the number of faults (sizes)",
        "as figure 8",
        f"{sum(falling)} of {len(sizes)}",
        sum(falling) * 2 > len(sizes),
        sum(row["runs"] for row in rows),
        rule="at more than half of the sizes",
    )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    draw_bars(figure.subplots(), rows, "more messages a process, per fault")


FIG9 = Experiment(
    "fig9",
    "Figure 9: work penalty per fault",
    "By how many messages a process sends more for each inactive process, mean of random "
    "placements. Several roots, k-nomial, best k, L = 10, o = 1.",
    campaigns,
    lambda study: penalties(study, "messages_per_process"),
    _claims,
    _draw,
)
