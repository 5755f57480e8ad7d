"""Draws medians and quartiles over the number of ranks, a panel for each size.

In the manner of Corrected Trees, Figures 11, 12 and 15: lines are medians, ribbons quartiles. What
is many times slower than the rest is named, not drawn. No meaning is carried by color alone.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from resprout import pictures
from resprout.experiments.bench.bcast.figures import Row
from resprout.experiments.bench.bcast.plan import size_text
from resprout.experiments.bench.bcast.variants import VARIANTS

_COLORS = (
    pictures.BLACK,
    pictures.VERMILION,
    pictures.BLUE,
    pictures.SKY,
    pictures.GREEN,
    pictures.ORANGE,
    pictures.PURPLE,
)
_MARKERS = "os^vDPX*<>"
_OFF_SCALE = 8  # times the typical median
_COLUMNS, _PANEL, _LEGEND = 3, (3.1, 2.5), 1.7


def render(rows: Sequence[Row], format: str) -> bytes:
    """The bytes. REQUIRES: rows, with one number of dead ranks; one of pictures.FORMATS."""
    sizes = list(dict.fromkeys(row.bytes for row in rows))
    columns = min(len(sizes), _COLUMNS)
    lines = ceil(len(sizes) / columns)
    with pictures.settings():
        width, height = columns * _PANEL[0] + _LEGEND, lines * _PANEL[1] + 0.3
        figure = Figure(figsize=(width, height), layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False).flat
        for size, axes in zip(sizes, panels, strict=False):
            of_size = [row for row in rows if row.bytes == size]
            _draw_panel(axes, of_size, size_text(size), _looks(rows))
        for axes in list(panels)[len(sizes) :]:
            axes.set_axis_off()
        figure.legend(handles=_legend(rows), loc="outside right center", frameon=False)
        about = "Median latency by number of ranks; lines are medians, ribbons quartiles."
        return pictures.encode(figure, format, "MPI_Bcast", about)


def _draw_panel(
    axes: Axes, rows: Sequence[Row], name: str, looks: Mapping[str, Mapping[str, str]]
) -> None:
    limit = _OFF_SCALE * median(row.median for row in rows)
    slow = {row.variant: row.median for row in rows if row.median > limit}
    for variant in dict.fromkeys(row.variant for row in rows if row.variant not in slow):
        line = sorted((row for row in rows if row.variant == variant), key=lambda row: row.ranks)
        ranks = [row.ranks for row in line]
        middle = [row.median for row in line]
        axes.add_line(Line2D(ranks, middle, markersize=4, linewidth=1.2, **looks[variant]))  # type: ignore[arg-type]
        low, high = [row.lower_quartile for row in line], [row.upper_quartile for row in line]
        axes.fill_between(ranks, low, high, color=looks[variant]["color"], alpha=0.08, linewidth=0)
    axes.autoscale_view()
    axes.set_ylim(bottom=0)
    beyond = ", ".join(f"{variant} takes {us:.0f} µs" for variant, us in slow.items())
    axes.set_title(f"{name}   ({beyond})" if beyond else name, fontsize=9)
    axes.set_xticks(sorted({row.ranks for row in rows}))
    axes.set_xlabel("ranks")
    axes.set_ylabel("median latency, µs")
    axes.grid(visible=True, linewidth=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _looks(rows: Sequence[Row]) -> dict[str, dict[str, str]]:
    """By variant: the same in every picture."""
    known = dict.fromkeys(variant.name for variant in VARIANTS)
    names = [*known, *(row.variant for row in rows if row.variant not in known)]
    return {
        variant: {
            "color": _COLORS[number % len(_COLORS)],
            "marker": _MARKERS[number % len(_MARKERS)],
        }
        for number, variant in enumerate(dict.fromkeys(names))
    }


def _legend(rows: Sequence[Row]) -> list[Line2D]:
    looks = _looks(rows)
    return [
        Line2D([], [], markersize=4, label=variant, **looks[variant])  # type: ignore[arg-type]
        for variant in dict.fromkeys(row.variant for row in rows)
    ]
