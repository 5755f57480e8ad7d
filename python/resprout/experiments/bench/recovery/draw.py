"""Draws what one fault costs over the number of ranks, as FTCO's Figure 6 does."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from resprout import pictures
from resprout.experiments.bench.recovery.figures import Row

_LOOKS = {
    "resprout": (pictures.BLUE, "o"),
    "resprout, binomial": (pictures.SKY, "s"),
    "ulfm, told": (pictures.ORANGE, "v"),
    "ulfm": (pictures.VERMILION, "^"),
}
_PANELS = (
    ("total", "from the death to the last result"),
    ("recovery", "from when a survivor knew"),
)


def render(rows: Sequence[Row], format: str, faults: str = "one") -> bytes:
    """The picture's bytes. REQUIRES: rows of such faults; format is one of pictures.FORMATS."""
    with pictures.settings():
        figure = Figure(figsize=(7.4, 2.9), layout="constrained")
        for axes, (name, title) in zip(figure.subplots(1, 2), _PANELS, strict=True):
            for way, (color, marker) in _LOOKS.items():
                line = [row for row in rows if row.way == way and row.faults == faults]
                procs = [row.procs for row in line]
                times = [getattr(row, name) for row in line]
                axes.plot(procs, [t.median / 1e3 for t in times], color=color, marker=marker,
                          markersize=4, linewidth=1.2, label=way)  # fmt: skip
                lower, upper = [t.lower / 1e3 for t in times], [t.upper / 1e3 for t in times]
                axes.fill_between(procs, lower, upper, color=color, alpha=0.12, linewidth=0)
            axes.set_title(title, fontsize=9)
            axes.set_yscale("log")
            axes.set_xscale("log", base=2)
            counts = list(dict.fromkeys(row.procs for row in rows))
            axes.set_xticks(counts, [str(count) for count in counts])
            axes.minorticks_off()
            axes.set_xlabel("ranks")
            axes.set_ylabel("median, ms")
            axes.grid(visible=True, linewidth=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        about = "Lines are medians, ribbons quartiles; both axes are logarithmic."
        return pictures.encode(figure, format, "An allreduce into which a rank dies", about)
