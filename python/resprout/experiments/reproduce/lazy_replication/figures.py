"""Figures 5.1 to 5.4: run times normalized by those without replication, as bars."""

from functools import partial
from typing import TYPE_CHECKING

from resprout.experiments.bench.replication.paper import FIGURES
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.lazy_replication.cells import METHODS, lines_of, rows_of
from resprout.experiments.reproduce.lazy_replication.tables import COLORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COMPARABLE = ("bt", "cg", "is", "sp")


def _rows(environment: int, degree: int, study: Study) -> list[Row]:
    # Tests have few processes: then those of the other environment stand in for these.
    lines = lines_of(environment, study.procs_max, FIGURES[environment])
    every = rows_of(lines or lines_of(2, study.procs_max, FIGURES[2]))
    return [row for row in every if row["degree"] == degree]


def _claims(name: str, study: Study, rows: list[Row]) -> Claims:
    del study
    claims = Claims(name)
    ours = {(row["benchmark"], row["method"]): row["ours_ratio"] for row in rows}
    theirs = {(row["benchmark"], row["method"]): row["paper_ratio"] for row in rows}
    messages = sum(row["messages"] for row in rows)
    talking = [b for b in dict.fromkeys(row["benchmark"] for row in rows) if b != "ep"]

    def count(found: dict[tuple[str, str], float], less: str, more: str) -> int:
        return sum(found[b, less] < found[b, more] for b in talking)

    for text, less, more in (
        ("MsgPlusHash has a lesser penalty than AllToAll", "msg-plus-hash", "all-to-all"),
        ("Async alleviates the overhead of AllToAll", "async", "all-to-all"),
        ("AsyncHash alleviates that of MsgPlusHash", "async-hash", "msg-plus-hash"),
    ):
        claims.holds(
            f"{text}, of {len(talking)} benchmarks",
            count(theirs, less, more),
            (seen := count(ours, less, more)),
            2 * seen > len(talking),
            messages,
            rule="most of them",
        )
    claims.less(
        "EP: negligible fixed overhead, the most of any method",
        f"{max(theirs['ep', method] for method in METHODS):.2f}",
        max(ours["ep", method] for method in METHODS),
        1.05,
        messages,
        rule="less than 5 %",
    )
    claims.less(
        "BT, CG, IS and SP: AsyncHash is comparable to Open MPI, the most of them",
        f"{max(theirs[b, 'async-hash'] for b in _COMPARABLE):.2f}",
        max(ours[b, "async-hash"] for b in _COMPARABLE),
        1.2,
        messages,
        rule="less than 20 %",
    )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    names = list(dict.fromkeys(row["benchmark"] for row in rows))
    grid = figure.subplots(1, 2, sharey=True)
    for axes, column, title in zip(
        grid, ("paper_ratio", "ours_ratio"), ("paper", "replayed"), strict=True
    ):
        for place, method in enumerate(METHODS):
            heights = [row[column] for row in rows if row["method"] == method]
            at = [number + 0.2 * (place - 1.5) for number in range(len(names))]
            axes.bar(at, heights, 0.19, color=COLORS[method][0], label=method)
        axes.axhline(1, color="black", linewidth=0.6)
        axes.set_xticks(range(len(names)), [name.upper() for name in names])
        axes.set_title(title)
    grid[0].set_ylabel("run time, times Open MPI's")
    grid[1].legend(frameon=False, fontsize=7)


def _figure(number: int, environment: int, degree: int) -> Experiment:
    words = {2: "double", 3: "triple"}[degree]
    name = f"fig5.{number}"
    return Experiment(
        name,
        f"Figure 5.{number}: {words} replication in environment {environment}",
        f"Run time at {words} replication by that without, {FIGURES[environment]} processes.",
        lambda study: [],
        partial(_rows, environment, degree),
        partial(_claims, name),
        _draw,
        (6.4, 3.0),
    )


BARS = (_figure(1, 1, 2), _figure(2, 1, 3), _figure(3, 2, 2), _figure(4, 2, 3))
