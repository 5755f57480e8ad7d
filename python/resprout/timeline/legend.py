"""What the marks of a timeline mean: an entry for each that was used, and for no other."""

from collections.abc import Collection, Mapping
from functools import partial
from itertools import pairwise
from math import ceil

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from resprout import pictures
from resprout.timeline import style

_GRAY = "#808080"


def legend_handles(
    kind_colors: Mapping[str, str], used: Collection[str], is_broadcast: bool
) -> list[Artist]:
    """The entries, in order. `used`: kinds of events, and the words of the conditions below."""
    hatched = partial(Patch, linewidth=0)
    handles: list[Artist] = [Patch(color=color, label=kind) for kind, color in kind_colors.items()]
    handles.append(Patch(facecolor=_GRAY, edgecolor=_GRAY, label="send (filled)"))
    handles.append(Patch(facecolor="white", edgecolor=_GRAY, label="receive (open)"))
    if "path" in used:
        last = "path to the last colored" if is_broadcast else "path to the last to return"
        handles.append(Line2D([], [], color=_GRAY, linewidth=2, label=last))
    if "queued" in used:
        handles.append(Line2D([], [], color=_GRAY, linestyle=":", label="waits for the port"))
    if "dead" in used:
        fill = partial(hatched, facecolor=style.DEAD_FILL, edgecolor=style.DEAD_HATCH)
        handles.append(fill(hatch="////", label="dead"))
    if "lost" in used:
        dashed = partial(Line2D, [], [], color=_GRAY, linestyle="--")
        handles.append(dashed(marker="x", markersize=4, label="lost, the receiver is dead"))
    if "gap" in used:
        fill = partial(hatched, facecolor=style.GAP_FILL, edgecolor=style.GAP_EDGE)
        handles.append(fill(hatch="....", label="missed by dissemination, not yet colored"))
    for kind, (mark, text) in style.EVENT_MARKS.items():
        if kind in used:
            label = "colored" if is_broadcast and kind == "deliver" else text
            point = partial(Line2D, [], [], color=pictures.BLACK, linestyle="", markersize=5)
            handles.append(point(marker=mark, label=label))
    return handles


def legend_columns(handles: list[Artist], width: float) -> int:
    """The most columns in which the legend, filled column by column, fits in so many inches."""
    lengths = [len(str(handle.get_label())) for handle in handles]
    for rows in range(1, len(lengths)):
        columns = ceil(len(lengths) / rows)
        longer = len(lengths) % columns or columns  # of the columns have one entry more
        starts = [0]
        for column in range(columns):
            starts.append(starts[-1] + rows - (column >= longer))
        widest = (max(lengths[begin:end]) for begin, end in pairwise(starts))
        if sum(0.5 + 0.062 * length for length in widest) < width:
            return columns
    return 1
