"""What figures 8 and 9 have in common: more than without faults, per inactive process."""

import math
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.experiment import Row, Study
from resprout.experiments.reproduce.ftco.allreduces import FAULTS, fault_free, inactive
from resprout.experiments.reproduce.store import Campaign

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PUBLIC = {
    1024: (126.87, 171.77, 487.29),
    2048: (141.20, 192.43, 401.15),
    4096: (140.75, 162.42, 270.94),
    8192: (151.43, 173.26, 271.35),
    16384: (161.39, 185.41, 272.08),
    32768: (167.69, 184.99, 230.36),
    65536: (182.68, 201.31, 251.97),
}
"""By number of processes, for 1, 10 and 100 inactive ones: the mean latency of 100 placements that
the authors have published (alex--m/sim_allreduce, test.csv). The paper only draws bars."""


def error_of_mean(row: Row) -> float:
    """Of the `mean`, or of the `latency`: within so much of it the true one lies, 95 % of times."""
    return float(1.96 * row["deviation"] / math.sqrt(row["runs"]))


COLORS = dict(zip(FAULTS, (pictures.BLUE, pictures.GREEN, pictures.VERMILION), strict=True))


def campaigns(study: Study) -> list[Campaign]:
    return [fault_free(study), *inactive(study)]


def penalties(study: Study, column: str) -> list[Row]:
    """A row for each size and number of inactive processes: mean, deviation, penalty a fault."""
    sql = f"SELECT procs, max({column}) FROM runs GROUP BY ALL"
    alone = dict(study.ask(fault_free(study), sql))
    rows = []
    for measured in inactive(study):
        columns = ("procs", "faults", "mean", "deviation", "queue", "runs")
        sql = f"""
            SELECT procs, faults::INT, avg({column}), stddev_samp({column}), max(longest_queue),
                   count(*)
            FROM runs GROUP BY ALL ORDER BY ALL"""
        for row in study.rows(measured, columns, sql):
            row["alone"] = alone[row["procs"]]
            row["penalty"] = (row["mean"] - row["alone"]) / row["faults"]
            rows.append(row)
    return rows


def table_of(rows: list[Row]) -> dict[tuple[int, int], Row]:
    return {(row["procs"], row["faults"]): row for row in rows}


def draw_bars(axes: "Axes", rows: list[Row], name: str) -> None:
    found = table_of(rows)
    sizes = sorted({row["procs"] for row in rows})
    for place, faults in enumerate(FAULTS):
        axes.bar(
            [i + (place - 1) * 0.27 for i in range(len(sizes))],
            [found[procs, faults]["penalty"] for procs in sizes],
            yerr=[error_of_mean(found[procs, faults]) / faults for procs in sizes],
            error_kw={"linewidth": 0.8, "capsize": 1.5},
            width=0.25,
            color=COLORS[faults],
            label=f"{faults} inactive",
        )
    axes.set_xticks(range(len(sizes)), [f"{procs // 1024}K" for procs in sizes])
    axes.set_xlabel("processes")
    axes.set_ylabel(name)
    axes.legend(frameon=False)
