"""Table 2: process imbalance.

Judged twice: as printed, with the polling that the paper writes, and as its authors ran it, with
that of their simulator (src/sim/steps/published_polling.hpp).
"""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import PRINTED, RUN, Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.ftco.allreduces import BEST_K, allreduce, point
from resprout.experiments.reproduce.store import Campaign, campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ("latency", "work", "output spread", "longest queue")
# By distribution and input spread, in the order of MEASURES.
PAPER = {
    "uniform": {
        256: (151.8, 15.3, 43.4, 70),
        512: (150.0, 23.0, 43.2, 71),
        1024: (148.8, 35.9, 43.7, 74),
        2048: (147.0, 62.0, 44.0, 71),
        4096: (145.3, 114.4, 44.0, 74),
        8192: (144.0, 219.2, 44.2, 76),
        16384: (143.3, 428.8, 44.8, 74),
    },
    "normal": {
        256: (141.1, 14.8, 49.5, 93),
        512: (140.4, 21.5, 51.6, 83),
        1024: (139.8, 33.7, 52.5, 80),
        2048: (139.0, 58.9, 52.9, 78),
        4096: (137.4, 108.1, 53.5, 75),
        8192: (139.9, 208.8, 53.5, 81),
        16384: (138.1, 408.0, 53.6, 76),
    },
}
TOGETHER = (171.0, 3.0, 43.0, 9.0)
"""Everybody enters at once; the same in both columns."""
POLLINGS = ("written", "simulated")
_TOLERANCE = 0.1
# With --full; the paper does not say of how many.
_RUNS = 100
# So many ticks of spread are simulated for a point, and the fewest runs of it.
_TICKS = {"written": 1024, "simulated": 8192}
_RUNS_MIN = {"written": 1, "simulated": 2}
# A spread of twice that costs, with polling as written, as much as all others together.
_WRITTEN_MAX = 8192
_LARGEST = 65536


def _campaigns(study: Study) -> list[Campaign]:
    """Spreads have a campaign each: the large ones cost as much as all others together."""
    procs = study.procs_max
    every = [
        campaign(
            f"late_{polling}_{spread}",
            [
                point(_spec(study, polling), procs, late=f"{distribution}:{spread}")
                for distribution in PAPER
            ],
            _runs(study, polling, spread),
        )
        for polling in POLLINGS
        for spread in _spreads(study)
        if polling == "simulated" or spread <= _WRITTEN_MAX or study.scale.is_full
    ]
    together = [point(_spec(study, polling), procs) for polling in POLLINGS]
    return [*every, campaign("together", together, 2)]


def _runs(study: Study, polling: str, spread: int) -> int:
    """Means hardly differ between runs of so many processes; a large spread is run once."""
    stated = max(_RUNS_MIN[polling], _TICKS[polling] // spread)
    return study.scale.runs(stated, _RUNS) if study.scale.is_full or stated > 1 else 1


def _spec(study: Study, polling: str) -> str:
    return allreduce(BEST_K[study.procs_max], more=f",polling={polling}")


def _spreads(study: Study) -> list[int]:
    """Those of the table, up to a quarter of the processes, as there."""
    return [spread for spread in PAPER["uniform"] if spread <= study.procs_max // 4]


def _rows(study: Study) -> list[Row]:
    columns = ("protocol", "late", *(name.replace(" ", "_") for name in MEASURES), "runs")
    sql = """
        SELECT protocol, late, avg(completion_latency), avg(messages_per_process),
               avg(output_spread), max(longest_queue), count(*)
        FROM runs GROUP BY ALL ORDER BY ALL"""
    rows = []
    for measured in _campaigns(study):
        for row in study.rows(measured, columns, sql):
            row["polling"] = row.pop("protocol").rpartition("=")[2]
            row["distribution"], _, spread = row.pop("late").partition(":")
            row["spread"] = int(spread or 0)
            rows.append(row)
    return rows


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("table2")
    found = {(row["polling"], row["distribution"], row["spread"]): row for row in rows}
    places = [place[1:] for place in found if place[0] == "simulated"]
    for polling, reading in (("written", PRINTED), ("simulated", RUN)):
        with claims.read(reading):
            for distribution, spread in places:
                _claim_row(claims, distribution, spread, found.get((polling, distribution, spread)))
    return claims


def _claim_row(claims: Claims, distribution: str, spread: int, row: Row | None) -> None:
    where = f"Table 2, {distribution}, spread {spread}" if spread else "Table 2, all at once"
    for name, paper in zip(
        MEASURES, PAPER[distribution][spread] if spread else TOGETHER, strict=True
    ):
        claim = f"{where}: {name}"
        if row is None:
            claims.undecided(claim, paper, "not simulated without --full: it costs too much")
        elif name == "longest queue" and spread > 0:
            _claim_queue(claims, claim, row, paper)
        else:
            ours = float(row[name.replace(" ", "_")])
            claims.near(
                claim, paper, ours, row["runs"], tolerance=_TOLERANCE * paper, why="a tenth"
            )


def _claim_queue(claims: Claims, claim: str, row: Row, paper: float) -> None:
    """A maximum of many runs is more than one of few."""
    claims.holds(
        claim,
        paper,
        row["longest_queue"],
        paper / 2 <= row["longest_queue"] <= 1.1 * paper,
        row["runs"],
        rule="from a half, for the maximum of fewer runs, to a tenth more",
    )


def _draw(figure: "Figure", rows: list[Row]) -> None:
    colors = {"uniform": pictures.BLUE, "normal": pictures.VERMILION}
    lines = {"written": "dotted", "simulated": "solid"}
    for axes, name in zip(figure.subplots(2, 2).flat, MEASURES, strict=True):
        for distribution, color in colors.items():
            own = [row for row in rows if row["distribution"] == distribution]
            spreads = sorted({row["spread"] for row in own})
            printed = [PAPER[distribution][spread][MEASURES.index(name)] for spread in spreads]
            label = f"{distribution}, paper"
            axes.plot(spreads, printed, color=color, marker="x", linestyle="", label=label)
            for polling, line in lines.items():
                of = {row["spread"]: row for row in own if row["polling"] == polling}
                spreads = sorted(of)
                values = [of[spread][name.replace(" ", "_")] for spread in spreads]
                label = f"{distribution}, as {polling}"
                axes.plot(spreads, values, color=color, linestyle=line, label=label)
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("input spread in steps")
        axes.set_ylabel(name)
    figure.axes[0].legend(fontsize=6, frameon=False)


TABLE2 = Experiment(
    "table2",
    "Table 2: process imbalance",
    "64K processes, k = 9, several roots: crosses are the paper's figures, dotted lines ours with "
    "the polling that it writes, solid lines with that of its authors' simulator. Latency from the "
    "last entry, work in messages a process, the longest queue over all runs.",
    _campaigns,
    _rows,
    _claims,
    _draw,
    (7.0, 5.4),
)
