"""Draws times to the limit and memory by kernel, as Figures 5.1 to 5.4 do the former."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from resprout import pictures
from resprout.bench.replicated import EAGER, LAZY
from resprout.bench.replication.figures import Row
from resprout.bench.replication.paper import ratio_in_figures

_LOOKS = {
    EAGER[0]: (pictures.VERMILION, "//"),
    LAZY[0]: (pictures.ORANGE, ""),
    EAGER[1]: (pictures.BLUE, "//"),
    LAZY[1]: (pictures.SKY, ""),
}
_WIDTH = 0.8 / len(_LOOKS)


def render(rows: Sequence[Row], degree: int, format: str) -> bytes:
    """The picture's bytes. REQUIRES: rows of this degree; format is svg or png."""
    with pictures.settings():
        figure = Figure(figsize=(8.4, 5.2), layout="constrained")
        upper, lower = figure.subplots(2, 1)
        kernels = list(dict.fromkeys(row.kernel for row in rows))
        _draw_times(upper, rows, kernels, degree)
        _draw_memory(lower, rows, kernels, degree)
        for axes in (upper, lower):
            axes.set_xticks(range(len(kernels)), kernels)
            axes.grid(visible=True, axis="y", linewidth=0.3)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        upper.legend(ncols=3, frameon=False, fontsize=7.5)
        about = (
            "Bars: medians of the ratios to copies without any tie. Dots: the paper's ratios to "
            "Open MPI, Environment 1 with 64 or else Environment 2 with 16 processes."
        )
        return pictures.encode(figure, format, f"{degree} replicas by method", about)


def _value(rows: Sequence[Row], kernel: str, degree: int, method: str) -> Row | None:
    key = (kernel, degree, method)
    return next((row for row in rows if (row.kernel, row.degree, row.method) == key), None)


def _draw_times(axes: Axes, rows: Sequence[Row], kernels: Sequence[str], degree: int) -> None:
    for number, (method, (color, hatch)) in enumerate(_LOOKS.items()):
        places = [place + (number - 1.5) * _WIDTH for place in range(len(kernels))]
        found = [_value(rows, kernel, degree, method) for kernel in kernels]
        heights = [(row.to_limit or 0.0) if row is not None else 0.0 for row in found]
        axes.bar(places, heights, _WIDTH * 0.92, color=color, hatch=hatch, edgecolor="white",
                 linewidth=0.4, label=method)  # fmt: skip
        for place, kernel in zip(places, kernels, strict=True):
            published = _published(kernel, degree, method)
            if published is not None:
                label = "the paper" if number == 0 and kernel == kernels[0] else None
                axes.plot([place], [published], color=pictures.BLACK, marker="o", markersize=3,
                          linestyle="", label=label)  # fmt: skip
    axes.axhline(1.0, color=pictures.GRAY, linewidth=0.8)
    axes.set_ylabel("time to the limit")


def _draw_memory(axes: Axes, rows: Sequence[Row], kernels: Sequence[str], degree: int) -> None:
    for number, (method, (color, hatch)) in enumerate(_LOOKS.items()):
        places = [place + (number - 1.5) * _WIDTH for place in range(len(kernels))]
        found = [_value(rows, kernel, degree, method) for kernel in kernels]
        heights = [(row.open_max or 0) if row is not None else 0 for row in found]
        axes.bar(places, heights, _WIDTH * 0.92, color=color, hatch=hatch, edgecolor="white",
                 linewidth=0.4)  # fmt: skip
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylabel("most incomplete requests")


def _published(kernel: str, degree: int, method: str) -> float | None:
    ratios = (ratio_in_figures(e, kernel, degree, method) for e in (1, 2))
    return next((ratio for ratio in ratios if ratio is not None), None)
