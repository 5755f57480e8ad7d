"""Where things stand in a timeline: rows down in inches, ticks across.

A row has two lanes, because a process can send while it receives: sends above, receives below.
"""

from bisect import bisect_right
from dataclasses import dataclass, field

from resprout.timeline.ranks import omitted_ranges
from resprout.timeline.story import Gap, Story

ROW = 0.34
BREAK = 0.26
LANE = 0.125  # from the middle of a row to the far side of a box

_BOX_BEST = 0.26
_BOX_DENSE = 0.165  # where the best would make the picture wider than _WIDTH_BEST
_WIDTH_MIN = 5.5
_WIDTH_BEST = 9.0
_WIDTH_MAX = 24.0
# A box that is narrower has no room for a rank.
_LABELED_BOX_MIN = 0.15


@dataclass(frozen=True)
class Break:
    """Rows that are left out."""

    first: int
    last: int
    y: float


@dataclass
class Layout:
    """The rows of `shown`, which are in order, and the size of the field they are drawn in."""

    story: Story
    shown: list[int]
    overhead: int
    rows: dict[int, float] = field(init=False)  # from rank to the middle of its row
    breaks: list[Break] = field(init=False)
    height: float = field(init=False)
    width: float = field(init=False)

    def __post_init__(self) -> None:
        self.rows, self.breaks = {}, []
        y = 0.0
        ranges = omitted_ranges(self.shown, self.story.procs)
        breaks = {last + 1: (first, last) for first, last in ranges}
        for rank in [*self.shown, self.story.procs]:
            if rank in breaks:
                self.breaks.append(Break(*breaks[rank], y + BREAK / 2))
                y += BREAK
            if rank < self.story.procs:
                self.rows[rank] = y + ROW / 2
                y += ROW
        self.height = y
        ticks = self.end
        wanted = min(ticks * _BOX_BEST / min(self.overhead, 2), _WIDTH_BEST)
        dense = min(ticks * _BOX_DENSE / self.overhead, _WIDTH_MAX)
        self.width = max(wanted, dense, _WIDTH_MIN)

    @property
    def end(self) -> int:
        """Of the time axis, in ticks: a picture of nothing has some width too."""
        return max(self.story.end, 1)

    @property
    def tick(self) -> float:
        """Inches."""
        return self.width / self.end

    @property
    def has_labeled_boxes(self) -> bool:
        digits = len(str(self.story.procs - 1))
        return self.overhead * self.tick >= _LABELED_BOX_MIN + 0.05 * max(digits - 2, 0)

    def is_shown(self, rank: int) -> bool:
        return rank in self.rows

    def y_of(self, rank: int) -> float:
        """The middle of its row, or of the break that it is in."""
        if rank in self.rows:
            return self.rows[rank]
        starts = [omitted.first for omitted in self.breaks]
        return self.breaks[bisect_right(starts, rank) - 1].y

    def spans_of(self, gap: Gap) -> list[tuple[float, float]]:
        """From where to where the gap reaches; two parts if it goes over the end of the ring."""
        inside = set(gap.ranks())
        bands = [(y - ROW / 2, y + ROW / 2) for rank, y in self.rows.items() if rank in inside]
        bands += [
            (b.y - BREAK / 2, b.y + BREAK / 2)
            for b in self.breaks
            if b.first in inside and b.last in inside
        ]
        spans: list[tuple[float, float]] = []
        for top, bottom in sorted(bands):
            if spans and top - spans[-1][1] < 1e-6:
                spans[-1] = (spans[-1][0], bottom)
            else:
                spans.append((top, bottom))
        return spans
