"""Figure 9: work penalty per inactive process."""

from typing import TYPE_CHECKING

from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.ftco.inactive import campaigns, draw_bars, penalties, table_of

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
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    draw_bars(figure.subplots(), rows, "more messages a process, per fault")


FIG9 = Experiment(
    "fig9",
    "Figure 9: work penalty per fault",
    "By how many messages a process sends more for each inactive process, mean of random "
    "placements. Several roots, k-nomial, best k, L = 10, o = 1. Whiskers hold the true mean 95 "
    "times in a hundred.",
    campaigns,
    lambda study: penalties(study, "messages_per_process"),
    _claims,
    _draw,
)
