"""Draws how many flips were detected, corrected and missed, by method and degree."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from resprout import pictures
from resprout.experiments.bench.injection.figures import Row, total

_PARTS = (
    ("corrected", pictures.GREEN, ""),
    ("detected only", pictures.SKY, ""),
    ("missed", pictures.VERMILION, "//"),
)


def render(rows: Sequence[Row], format: str) -> bytes:
    """The picture's bytes. REQUIRES: something was injected; format is one of pictures.FORMATS."""
    injected = [row for row in rows if not row.is_control]
    cases = list(dict.fromkeys((row.degree, row.method) for row in injected))
    with pictures.settings():
        figure = Figure(figsize=(7.4, 0.8 + 0.32 * len(cases)), layout="constrained")
        axes = figure.subplots()
        for place, case in enumerate(cases):
            found = total([row for row in injected if (row.degree, row.method) == case])
            widths = (found.corrected, found.detected - found.corrected, found.missed)
            begin = 0
            for (name, color, hatch), width in zip(_PARTS, widths, strict=True):
                axes.barh([place], [width], 0.7, left=begin, color=color, hatch=hatch,
                          edgecolor="white", linewidth=0.4,
                          label=name if place == 0 else None)  # fmt: skip
                begin += width
        axes.set_yticks(range(len(cases)), [f"{method}, {degree}" for degree, method in cases])
        axes.invert_yaxis()
        axes.set_xlabel("flipped bits")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        about = "Bars: how many flips were corrected, detected only, and missed."
        return pictures.encode(figure, format, "Flipped bits by method and replicas", about)
