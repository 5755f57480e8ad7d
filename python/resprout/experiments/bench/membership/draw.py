"""Draws the time to the last view over the number of members, a line a radix, a panel a victim."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from resprout import pictures
from resprout.experiments.bench.membership.figures import Row

_COLORS = (pictures.BLUE, pictures.VERMILION, pictures.GREEN, pictures.PURPLE, pictures.ORANGE)
_MARKERS = ("o", "^", "s", "D", "v")


def render(rows: Sequence[Row], format: str) -> bytes:
    """The picture's bytes. REQUIRES: there are rows; format is one of pictures.FORMATS."""
    victims = list(dict.fromkeys(row.victim for row in rows))
    radixes = sorted({row.radix for row in rows})
    with pictures.settings():
        figure = Figure(figsize=(3.7 * len(victims), 2.9), layout="constrained")
        panels = figure.subplots(1, len(victims), sharey=True, squeeze=False)[0]
        for axes, victim in zip(panels, victims, strict=True):
            for place, radix in enumerate(radixes):
                line = [row for row in rows if row.radix == radix and row.victim == victim]
                procs = [row.procs for row in line]
                color = _COLORS[place % len(_COLORS)]
                axes.plot(procs, [row.total.median / 1e3 for row in line], color=color,
                          marker=_MARKERS[place % len(_MARKERS)], markersize=4, linewidth=1.2,
                          label=f"radix {radix}")  # fmt: skip
                lower = [row.total.lower / 1e3 for row in line]
                upper = [row.total.upper / 1e3 for row in line]
                axes.fill_between(procs, lower, upper, color=color, alpha=0.12, linewidth=0)
            axes.set_title(f"one {victim} killed", fontsize=9)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            sizes = sorted({row.procs for row in rows})
            axes.set_xticks(sizes, [str(size) for size in sizes])
            axes.minorticks_off()
            axes.set_xlabel("members")
            axes.grid(visible=True, linewidth=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel("from the kill to the last view, ms")
        panels[0].legend(frameon=False)
        about = "Lines are medians, ribbons quartiles; both axes are logarithmic."
        return pictures.encode(figure, format, "A membership that loses a member", about)
