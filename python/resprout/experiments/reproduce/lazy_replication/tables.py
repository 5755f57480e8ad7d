"""Tables 5.1 and 5.2: run times of the benchmarks by method, degree and number of processes."""

from functools import partial
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.lazy_replication.cells import (
    METHODS,
    factor_between,
    line_of,
    table_rows,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TOLERANCE = 0.25
COLORS = {
    "all-to-all": (pictures.VERMILION, "o"),
    "async": (pictures.ORANGE, "s"),
    "msg-plus-hash": (pictures.BLUE, "^"),
    "async-hash": (pictures.GREEN, "D"),
}


def _claims(name: str, study: Study, rows: list[Row]) -> Claims:
    del study
    claims = Claims(name)
    for row in rows:
        line = str(line_of(row))
        if row["degree"] == 1:
            with claims.circular():
                claims.near(
                    f"{line}: 1x, s", row["paper"], row["ours"], row["messages"],
                    tolerance=0.05 * row["paper"], why="the time of computing is chosen by it",
                )  # fmt: skip
            continue
        claims.near(
            f"{line}: {row['degree']}x {row['method']}, s",
            row["paper"],
            row["ours"],
            row["messages"],
            tolerance=_TOLERANCE * row["paper"],
            why="a quarter of the paper's",
        )
    for method in METHODS:
        own = [row for row in rows if row["method"] == method]
        claims.near(
            f"{method}: the factor between both in the median",
            1,
            factor_between(own),
            sum(row["messages"] for row in own),
            tolerance=_TOLERANCE,
            why="a quarter",
        )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    grid = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, degree in zip(grid, (2, 3), strict=True):
        for method, (color, mark) in COLORS.items():
            own = [r for r in rows if (r["degree"], r["method"]) == (degree, method)]
            axes.plot(
                [row["paper_ratio"] for row in own],
                [row["ours_ratio"] for row in own],
                linestyle="",
                marker=mark,
                markersize=4,
                color=color,
                label=method,
            )
        axes.plot([0.5, 12], [0.5, 12], color=pictures.GRAY, linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="paper, times 1x", title=f"{degree}x")
    grid[0].set_ylabel("replayed, times 1x")
    grid[0].legend(frameon=False, fontsize=7)


def _table(environment: int) -> Experiment:
    name = f"table5.{environment}"
    return Experiment(
        name,
        f"Table 5.{environment}: run times in environment {environment}",
        "Seconds by method and degree, the paper's beside those of replayed traces of the same "
        "benchmarks on a network of the same delay and bandwidth. On the line both are equal.",
        lambda study: [],
        lambda study: table_rows(study, environment),
        partial(_claims, name),
        _draw,
        (6.4, 3.6),
    )


TABLES = (_table(1), _table(2))
