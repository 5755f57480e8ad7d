"""Figure 8: latency penalty per inactive process."""

from typing import TYPE_CHECKING

from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.ftco.allreduces import FAULTS
from resprout.experiments.reproduce.ftco.inactive import (
    PUBLIC,
    campaigns,
    draw_bars,
    penalties,
    table_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Trees of so many levels have the best k of both sizes.
_SAME_HEIGHT = ((4096, 8192), (8192, 16384))


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig8")
    found = table_of(rows)
    sizes = sorted({row["procs"] for row in rows})
    runs = sum(row["runs"] for row in rows)

    def penalty(procs: int, faults: int) -> float:
        return float(found[procs, faults]["penalty"])

    falling = sum(penalty(p, 1) > penalty(p, 10) > penalty(p, 100) for p in sizes)
    claims.equal(
        "the penalty decreases as the number of inactive nodes is increased (sizes)",
        len(sizes),
        falling,
        runs,
    )
    above = sum(penalty(p, faults) * faults > penalty(p, 1) for p in sizes for faults in (10, 100))
    claims.equal(
        "in an ideal placement the penalty would have been in inverse proportion to their number; "
        "the actual penalty is higher (sizes, for 10 and for 100)",
        2 * len(sizes),
        above,
        runs,
    )
    if 4096 in sizes:
        claims.less(
            "adding a new level to the tree, with a significant number of nodes, reduces the "
            "average penalty, e.g. between 2K and 4K (one inactive node)",
            f"< {penalty(2048, 1):.1f}",
            penalty(4096, 1),
            penalty(2048, 1),
            found[2048, 1]["runs"] + found[4096, 1]["runs"],
            rule="less",
        )
    for small, large in _SAME_HEIGHT:
        if large not in sizes:
            continue
        claims.more(
            "adding new nodes without increasing tree height increases the average penalty (one "
            f"inactive node, {small} to {large} processes)",
            f"> {penalty(small, 1):.1f}",
            penalty(large, 1),
            penalty(small, 1),
            found[small, 1]["runs"] + found[large, 1]["runs"],
            rule="more",
        )
    for row in rows:
        published = PUBLIC[row["procs"]][FAULTS.index(row["faults"])]
        claims.near(
            f"mean latency of the authors' public results: {row['procs']} processes, "
            f"{row['faults']} inactive",
            published,
            float(row["mean"]),
            row["runs"],
            tolerance=0.1 * published,
            why="a tenth; theirs are of 100 placements",
        )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    draw_bars(figure.subplots(), rows, "more steps, per fault")


FIG8 = Experiment(
    "fig8",
    "Figure 8: latency penalty per fault",
    "By how much an allreduce takes longer for each inactive process, mean of random placements. "
    "Several roots, k-nomial, best k, L = 10, o = 1. Whiskers hold the true mean 95 times in a "
    "hundred.",
    campaigns,
    lambda study: penalties(study, "completion_latency"),
    _claims,
    _draw,
)
