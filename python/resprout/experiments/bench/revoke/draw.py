"""Draws what a revocation costs by initiator, ranks and size: Plan B's Figures 3, 4 and 5."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from resprout import pictures
from resprout.experiments.bench.bcast.plan import size_text
from resprout.experiments.bench.revoke.figures import Row
from resprout.experiments.bench.revoke.plan import AFTER, SMALL

_COLORS = {"resprout": pictures.BLUE, "ulfm": pictures.VERMILION}
_LINES: tuple[tuple[str, str, str, Callable[[Row], float]], ...] = (
    ("before", "o", ":", lambda row: row.before),
    ("revoked", "^", "-", lambda row: row.revoked),
    ("first after", "s", "--", lambda row: row.after[0]),
)


def render(rows: Sequence[Row], format: str) -> bytes:
    """The picture's bytes. REQUIRES: the rows of a measurement; one of pictures.FORMATS."""
    most = max(row.ranks for row in rows)
    largest = [row for row in rows if row.ranks == most]
    barriers = [row for row in rows if row.operation == "barrier" and row.initiator == 0]
    small = [row for row in rows if row.operation == "allreduce" and row.bytes == SMALL]
    by_initiator = [row for row in largest if row.operation == "barrier"]
    by_size = [row for row in largest if row.operation == "allreduce"]
    with pictures.settings():
        figure = Figure(figsize=(9.6, 5.2), layout="constrained")
        panels = figure.subplots(2, 3).flat
        _draw(panels[0], by_initiator, lambda row: row.initiator, "initiator")
        panels[0].set_title(f"barrier, {most} ranks", fontsize=9)
        panels[0].xaxis.get_major_locator().set_params(integer=True)
        _draw(panels[1], barriers, lambda row: row.ranks, "ranks")
        panels[1].set_title("barrier", fontsize=9)
        _draw(panels[2], small, lambda row: row.ranks, "ranks")
        panels[2].set_title(f"allreduce, {SMALL} B", fontsize=9)
        _draw(panels[3], by_size, lambda row: row.bytes, "size")
        panels[3].set_title(f"allreduce, {most} ranks", fontsize=9)
        for axes in panels[1:3]:
            axes.set_xscale("log", base=2)
            counts = sorted({row.ranks for row in rows})
            axes.set_xticks(counts, [str(count) for count in counts])
        panels[3].set_xscale("log", base=2)
        sizes = sorted({row.bytes for row in by_size})
        panels[3].set_xticks(sizes, [size_text(size) for size in sizes], rotation=45)
        _draw_trace(panels[4], [row for row in largest if row in barriers])
        panels[4].set_title(f"barriers after it, {most} ranks", fontsize=9)
        panels[5].set_axis_off()
        panels[5].legend(*panels[0].get_legend_handles_labels(), loc="center", frameon=False)
        for axes in panels[:5]:
            axes.minorticks_off()
        about = "Median latency of the slowest rank; vertical axes are logarithmic."
        return pictures.encode(figure, format, "A communicator that is revoked", about)


def _draw(axes: Axes, rows: Sequence[Row], place: Callable[[Row], int], name: str) -> None:
    for way, color in _COLORS.items():
        line = sorted((row for row in rows if row.way == way), key=place)
        for label, marker, style, time in _LINES:
            axes.plot([place(row) for row in line], [time(row) for row in line], color=color,
                      marker=marker, linestyle=style, markersize=3.5, linewidth=1.1,
                      label=f"{way}: {label}")  # fmt: skip
    _finish(axes, name)


def _draw_trace(axes: Axes, rows: Sequence[Row]) -> None:
    for row in rows:
        color = _COLORS[row.way]
        axes.plot(range(1, AFTER + 1), row.after, color=color, marker="s", linestyle="--",
                  markersize=3, linewidth=1.1)  # fmt: skip
        axes.axhline(row.before, color=color, linestyle=":", linewidth=1.1)
    _finish(axes, "operation")


def _finish(axes: Axes, name: str) -> None:
    axes.set_yscale("log")
    axes.set_xlabel(name)
    axes.set_ylabel("median latency, µs")
    axes.grid(visible=True, linewidth=0.3)
    axes.spines[["top", "right"]].set_visible(False)
