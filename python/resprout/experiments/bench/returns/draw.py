"""Draws what a checkpoint costs, and how long a job is still after a death, by way."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from resprout import pictures
from resprout.experiments.bench.returns.figures import CHECKPOINT, DEATH, Row
from resprout.experiments.bench.returns.measure import WAYS

_STAGES = (
    ("in MPI_Init", pictures.SKY, ""),
    ("has data", pictures.ORANGE, "//"),
    ("computes", pictures.BLUE, ".."),
)


def render(rows: Sequence[Row], format: str) -> bytes:
    """The picture's bytes. REQUIRES: format is svg or png."""
    with pictures.settings():
        figure = Figure(figsize=(7.4, 2.6), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(2, 3))
        _draw_costs(left, [row for row in rows if row.of == CHECKPOINT])
        _draw_deaths(right, rows)
        for axes in (left, right):
            axes.set_xlabel("median, ms")
            axes.grid(visible=True, axis="x", linewidth=0.3)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        about = "Bars are medians. Lines on the left are quartiles."
        return pictures.encode(figure, format, "Checkpoints, and the way back", about)


def _draw_costs(axes: Axes, rows: Sequence[Row]) -> None:
    medians = [row.figure.median / 1e3 for row in rows]
    below = [(row.figure.median - row.figure.lower) / 1e3 for row in rows]
    above = [(row.figure.upper - row.figure.median) / 1e3 for row in rows]
    axes.barh([row.what for row in rows], medians, 0.6, color=pictures.SKY, xerr=[below, above],
              error_kw={"linewidth": 0.8, "ecolor": pictures.TEXT})  # fmt: skip
    axes.invert_yaxis()
    axes.set_title("what a checkpoint costs", fontsize=9)


def _draw_deaths(axes: Axes, rows: Sequence[Row]) -> None:
    found = {(row.what, row.time): row.figure.median / 1e3 for row in rows if row.of == DEATH}
    begins = dict.fromkeys(WAYS, 0.0)
    for stage, color, hatch in _STAGES:
        ends = {way: max(begins[way], found.get((way, stage), begins[way])) for way in WAYS}
        widths = [ends[way] - begins[way] for way in WAYS]
        axes.barh(WAYS, widths, 0.6, left=list(begins.values()), color=color, hatch=hatch,
                  edgecolor="white", linewidth=0, label=stage)  # fmt: skip
        begins = ends
    axes.invert_yaxis()
    axes.set_title("from a kill until all ranks", fontsize=9)
    axes.legend(frameon=False, fontsize=7.5)
