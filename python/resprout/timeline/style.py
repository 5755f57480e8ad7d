"""Colors and marks of a timeline.

No meaning is carried by color alone: sends are filled, receives open, the dead and gaps hatched.
"""

from collections.abc import Iterable

from resprout.pictures import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW

_KIND_COLORS = {
    "tree": BLUE,
    "gossip": BLUE,
    "contribution": BLUE,
    "correction": ORANGE,
    "result": GREEN,
    "supply": GREEN,
    "pull": VERMILION,
}
_SPARE_COLORS = (SKY, VERMILION, GREEN, PURPLE, YELLOW)

DEAD_FILL, DEAD_HATCH = "#e4e4e4", "#b0b0b0"
GAP_FILL, GAP_EDGE = "#f7e6ef", PURPLE
WAITING_LINE, HAVING_LINE = "#c8c8c8", "#5a5a5a"

# Event: its mark, what to call it. Those that are not here are not shown.
EVENT_MARKS = {
    "deliver": ("o", "returns"),
    "combine": ("P", "combines"),
    "adopt": ("D", "adopts a decision"),
    "restart": ("<", "starts again"),
    "exclude": ("_", "leaves a dead one out"),
    "fail": ("X", "fails"),
    "suspect": ("v", "suspects"),
}


def kind_colors(kinds: Iterable[str]) -> dict[str, str]:
    """A color for each kind, no two the same while they last; equal kinds, equal colors."""
    colors: dict[str, str] = {}
    for kind in kinds:
        wanted = (_KIND_COLORS.get(kind), *_SPARE_COLORS)
        free = (color for color in wanted if color and color not in colors.values())
        colors[kind] = next(free, BLACK)
    return colors
