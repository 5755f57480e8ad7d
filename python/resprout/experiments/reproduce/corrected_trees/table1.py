"""Table 1: percentiles of the longest gap and of the time of correction, all trees together."""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.corrected_trees.broadcasts import (
    CORRECTION_FAULT_FREE,
    PAPER_RUNS,
    RATES,
    TREES,
    fault_free,
    percent,
    resilience,
)
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.store import Campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# By fault rate: 99 %, 99.9 % and maximum of g_max, then of L_SCC.
PAPER = {
    "0.01%": ((1, 2, 3), (10, 12, 14)),
    "0.1%": ((2, 3, 6), (12, 13, 16)),
    "1%": ((5, 7, 19), (16, 19, 32)),
    "2%": ((8, 11, 35), (19, 24, 56)),
    "4%": ((13, 20, 55), (26, 34, 86)),
}
COLUMNS = ("g_max", "L_SCC")
PERCENTILES = ("99 %", "99.9 %", "maximum")


def _campaigns(study: Study) -> list[Campaign]:
    return [resilience(study), fault_free(study)]


def _rows(study: Study) -> list[Row]:
    """How often each value was seen: percentiles and maxima follow from that."""
    rows = []
    for column, expression in zip(
        COLUMNS, ("g_max", "quiescence_latency - correction_start"), strict=True
    ):
        sql = f"SELECT faults, {expression} AS v, count(*) FROM runs GROUP BY ALL ORDER BY ALL"
        for faults, value, count in study.ask(resilience(study), sql):
            rows.append({"faults": faults, "column": column, "value": value, "runs": count})
    return rows


def sample_of(rows: list[Row], faults: str, column: str) -> list[int]:
    """All values, ascending."""
    own = [r for r in rows if (r["faults"], r["column"]) == (faults, column)]
    return [row["value"] for row in own for _ in range(row["runs"])]


def percentile(ordered: list[int], of_thousand: int) -> int:
    """The least value that so many of a thousand are not above."""
    return ordered[-(-len(ordered) * of_thousand // 1000) - 1]


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("table1")
    for rate, papers in PAPER.items():
        for column, paper in zip(COLUMNS, papers, strict=True):
            sample = sample_of(rows, rate, column)
            for name, of_thousand, value in zip(PERCENTILES, (990, 999), paper, strict=False):
                claims.near(
                    f"Table 1, {rate} faults: {name} percentile of {column}",
                    value,
                    percentile(sample, of_thousand),
                    len(sample),
                    tolerance=1,
                    why="whole ticks, and a percentile may stand on the edge of two",
                )
            runs_of_paper = PAPER_RUNS * len(TREES)
            claims.maximum(
                f"Table 1, {rate} faults: maximum of {column}", paper[2], sample, runs_of_paper
            )
    sql = """
        SELECT max(g_max), min(quiescence_latency - correction_start),
               max(quiescence_latency - correction_start), count(*)
        FROM runs WHERE protocol LIKE '%checked%'"""
    ((g_max, least, most, runs),) = study.ask(fault_free(study), sql)
    claims.equal("with no faults g_max = 0", 0, g_max, runs)
    claims.equal("with no faults L_SCC = 8", CORRECTION_FAULT_FREE, max(least, most), runs)
    return claims


_AXES = {
    "g_max": "longest gap (g_max), processes",
    "L_SCC": "time of correction (L_SCC), ticks",
}


def _draw(figure: "Figure", rows: list[Row]) -> None:
    colors = (pictures.BLUE, pictures.GREEN, pictures.VERMILION)
    for axes, column in zip(figure.subplots(1, 2), COLUMNS, strict=True):
        rates = [percent(rate) for rate in RATES]
        for place, (name, color) in enumerate(zip(PERCENTILES, colors, strict=True)):
            ours = [
                percentile(sample_of(rows, rate, column), (990, 999, 1000)[place]) for rate in RATES
            ]
            papers = [PAPER[rate][COLUMNS.index(column)][place] for rate in RATES]
            axes.plot(rates, ours, color=color, marker="o", markersize=4, label=f"{name}, ours")
            axes.plot(rates, papers, color=color, marker="x", linestyle="", label=f"{name}, paper")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
        axes.set_xlabel("failed processes in %")
        axes.set_ylabel(_AXES[column])
        axes.legend(fontsize=6.5, frameon=False)


TABLE1 = Experiment(
    "table1",
    "Table 1: the cost of correction under faults",
    "The longest gap (left) and the time of synchronized checked correction (right), over four "
    "trees together: what 99 % and 99.9 % of broadcasts stay within, and the maximum; crosses are "
    "the paper's. 64K processes, L = 2, o = 1.",
    _campaigns,
    _rows,
    _claims,
    _draw,
    (7.0, 3.4),
)
