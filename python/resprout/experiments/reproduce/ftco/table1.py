"""Table 1: latency of an allreduce with parallel and serial faults."""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.ftco.recovery import FAULTS, OURS, recovery_rows, totals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What "approximately the same" and "not change" are of times on shared cores.
_SAME = 2.0
# Serial faults cost the paper twice the time of one: nearer to that than to the time of one.
_PROPORTIONAL = 1.5


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("table1")
    times = totals(rows, OURS)
    sizes = sorted({procs for procs, _ in times})
    jobs = sum(row["jobs"] for row in rows if row["way"] == OURS)

    def ratio(faults: str, to: str) -> list[float]:
        return [times[procs, faults] / times[procs, to] for procs in sizes]

    def text(ratios: list[float]) -> str:
        return f"{min(ratios):.2f} to {max(ratios):.2f} times"

    parallel, mixed = ratio("two parallel", "one"), ratio("three mixed", "two serial")
    rule = f"at most {_SAME:.0f} times, at every number of ranks"
    claims.holds(
        "two parallel faults are approximately the same as a single fault",
        "the same",
        text(parallel),
        max(parallel) <= _SAME,
        jobs,
        rule=rule,
    )
    claims.holds(
        "adding a third parallel fault to two serial faults does not change the latency",
        "the same",
        text(mixed),
        max(mixed) <= _SAME,
        jobs,
        rule=rule,
    )
    serial = ratio("two serial", "one")
    claims.holds(
        "the latency is proportional to the number of serial faults",
        "2 times",
        text(serial),
        min(serial) >= _PROPORTIONAL,
        jobs,
        rule=f"two take {_PROPORTIONAL} times as long as one at least",
    )
    faultless = max(times[procs, "none"] / times[procs, "one"] for procs in sizes)
    claims.holds(
        "a fault costs far more than the operation (the operation alone, of the time with one)",
        "0.0002 to 0.0012",
        faultless,
        faultless < 0.5,
        jobs,
        rule="less than half of it",
    )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    times = totals(rows, OURS)
    sizes = sorted({procs for procs, _ in times})
    colors = (pictures.GRAY, pictures.BLUE, pictures.SKY, pictures.VERMILION, pictures.GREEN)
    axes = figure.subplots()
    for number, (faults, color) in enumerate(zip(FAULTS, colors, strict=True)):
        places = [place + 0.16 * (number - 2) for place in range(len(sizes))]
        heights = [times[procs, faults] for procs in sizes]
        axes.bar(places, heights, width=0.15, color=color, label=faults)
    axes.set_xticks(range(len(sizes)), [str(procs) for procs in sizes])
    axes.set_xlabel("ranks")
    axes.set_ylabel("ms from the last death to the last result")
    axes.legend(frameon=False)


TABLE1 = Experiment(
    "table1",
    "Table 1: latency of an allreduce with faults",
    "Real processes that are killed as they should enter an allreduce over the binomial tree: from "
    "the last death until the last survivor has the result; without a death, the allreduce. "
    "Medians of `resprout bench recovery`.",
    lambda study: (),
    recovery_rows,
    _claims,
    _draw,
)
