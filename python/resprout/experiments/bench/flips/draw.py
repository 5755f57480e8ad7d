"""Draws what became of flipped bits, by method and degree."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from resprout import pictures
from resprout.experiments.bench.flips.figures import Row, total

_PARTS = (
    ("masked", "0.8", ""),
    ("corrected", pictures.GREEN, ""),
    ("detected", pictures.SKY, ""),
    ("noticed", pictures.SKY, ".."),
    ("hung", pictures.VERMILION, ""),
    ("silent", pictures.VERMILION, "//"),
)


def render(rows: Sequence[Row], format: str) -> bytes:
    """The picture's bytes. REQUIRES: something was flipped; format is one of pictures.FORMATS."""
    cases = list(dict.fromkeys((row.degree, row.method) for row in rows))
    with pictures.settings():
        figure = Figure(figsize=(7.4, 0.8 + 0.32 * len(cases)), layout="constrained")
        axes = figure.subplots()
        for place, case in enumerate(cases):
            counts = total([row for row in rows if (row.degree, row.method) == case])
            begin = 0
            for name, color, hatch in _PARTS:
                width = getattr(counts, name)
                axes.barh([place], [width], 0.7, left=begin, color=color, hatch=hatch,
                          edgecolor="white", linewidth=0.4,
                          label=name if place == 0 else None)  # fmt: skip
                begin += width
        axes.set_yticks(range(len(cases)), [f"{method}, {degree}" for degree, method in cases])
        axes.invert_yaxis()
        axes.set_xlabel("jobs with a flipped bit")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        about = "Bars: how many flips were masked, corrected, detected, noticed, hung and silent."
        return pictures.encode(figure, format, "Flipped bits of processes by method", about)
