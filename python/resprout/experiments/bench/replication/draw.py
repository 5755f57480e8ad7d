"""Draws times to the limit and memory by kernel, as Figures 5.1 to 5.4 do the former, and how many
requests are incomplete over time, as Figure 5.5 does."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from resprout import pictures
from resprout.experiments.bench.replicated import EAGER, LAZY
from resprout.experiments.bench.replication.figures import Row
from resprout.experiments.bench.replication.paper import ratio_in_figures

_LOOKS = {
    EAGER[0]: (pictures.VERMILION, "//"),
    LAZY[0]: (pictures.ORANGE, ""),
    EAGER[1]: (pictures.BLUE, "//"),
    LAZY[1]: (pictures.SKY, ""),
}
_WIDTH = 0.8 / len(_LOOKS)


def render(rows: Sequence[Row], degree: int, format: str) -> bytes:
    """The picture's bytes. REQUIRES: rows of this degree; format is one of pictures.FORMATS."""
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


def render_histories(rows: Sequence[Row], degree: int, format: str) -> bytes:
    """Figure 5.5: the mean number of incomplete requests of a process over time, by kernel.

    REQUIRES: rows of this degree; format is one of pictures.FORMATS.
    """
    with pictures.settings():
        kernels = list(dict.fromkeys(row.kernel for row in rows))
        columns = min(3, len(kernels))
        lines = -(-len(kernels) // columns)
        figure = Figure(figsize=(8.4, 0.6 + 1.9 * lines), layout="constrained")
        all_axes = figure.subplots(lines, columns, squeeze=False).flatten()
        for axes, kernel in zip(all_axes, kernels, strict=False):
            _draw_history(axes, [_value(rows, kernel, degree, method) for method in _LOOKS])
            axes.set_title(kernel, fontsize=8.5)
        for axes in all_axes[len(kernels) :]:
            axes.set_visible(False)
        figure.supxlabel("seconds since the first message", fontsize=8.5)
        figure.supylabel("incomplete requests", fontsize=8.5)
        all_axes[0].legend(frameon=False, fontsize=6.5)
        about = "Means over the processes of the quickest run of each method. See Figure 5.5."
        return pictures.encode(figure, format, f"Requests over time, {degree} replicas", about)


def _draw_history(axes: Axes, rows: Sequence[Row | None]) -> None:
    for (method, (color, hatch)), row in zip(_LOOKS.items(), rows, strict=True):
        if row is None or row.history is None:
            continue
        seconds = row.history["interval_ns"] / 1e9
        values = row.history["open"]
        axes.plot([seconds * number for number in range(len(values))], values, color=color,
                  linestyle="--" if hatch else "-", linewidth=1.0, label=method)  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, axis="y", linewidth=0.3)


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
