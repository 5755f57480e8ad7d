"""Figure 6: the latency cost of one fault, of FTCO and of ULFM."""

import math
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.ftco.recovery import OURS, ULFM, recovery_rows, totals

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig6")
    ours, theirs = totals(rows, OURS), totals(rows, ULFM)
    sizes = sorted({procs for procs, _ in ours})
    jobs = sum(row["jobs"] for row in rows if row["faults"] in ("none", "one"))
    # Where no job of ULFM's way came to a good end there is no time.
    sooner = sum(ours[procs, "one"] < theirs.get((procs, "one"), math.inf) for procs in sizes)
    claims.equal(
        "an allreduce with one fault is done sooner with FTCO than with ULFM's revoke, shrink and "
        "another attempt (numbers of ranks)",
        len(sizes),
        sooner,
        jobs,
    )
    without = [ours[procs, "none"] / theirs[procs, "none"] for procs in sizes]
    claims.holds(
        "without faults ULFM shows up to 50 % better latency",
        "up to 2 times",
        f"{min(without):.2f} to {max(without):.2f} times",
        max(without) <= 2,
        jobs,
        rule="ours at most twice theirs, at every number of ranks",
    )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    axes = figure.subplots()
    looks = ((OURS, pictures.BLUE, "o"), (ULFM, pictures.VERMILION, "^"))
    for way, color, marker in looks:
        times = totals(rows, way)
        sizes = sorted({procs for procs, faults in times if faults == "one"})
        axes.plot(sizes, [times[procs, "one"] for procs in sizes], color=color, marker=marker,
                  markersize=4, linewidth=1.2, label=way)  # fmt: skip
        axes.set_xticks(sizes, [str(procs) for procs in sizes])
    axes.set_yscale("log")
    axes.set_xlabel("ranks")
    axes.set_ylabel("ms with one fault")
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(frameon=False)


FIG6 = Experiment(
    "fig6",
    "Figure 6: the latency cost of one fault",
    "Real processes: from the death until the last survivor has the result, on a logarithmic axis. "
    "ULFM's way is revoke, shrink and another allreduce, with its own detection. Medians of "
    "`resprout bench recovery`, where the same stands with equal detection.",
    lambda study: (),
    recovery_rows,
    _claims,
    _draw,
)
