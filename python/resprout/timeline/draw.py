"""Draws a story as the paper's Figure 5 does, with matplotlib.

Corrected Trees, Figure 5. Every drawn thing has an id in the SVG: send-N and receive-N are those of
message N of the trace. Equal stories give equal bytes.
Thread rule: one thread, since matplotlib's settings are global.
"""

import textwrap
from math import ceil
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from resprout import pictures
from resprout.timeline import style
from resprout.timeline.layout import BREAK, LANE, ROW, Layout
from resprout.timeline.legend import legend_columns, legend_handles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from resprout.native import TracedMessage

_RIGHT, _RIGHT_OF_GAPS, _TITLE, _MILESTONE, _AXIS = 0.25, 0.85, 0.34, 0.19, 0.5
_LEGEND_ROW, _CAPTION_ROW = 0.21, 0.17


def render(layout: Layout, title: str, caption: str, format: str) -> bytes:
    """The picture's bytes. REQUIRES: format is one of pictures.FORMATS."""
    with pictures.settings():
        figure = _Picture(layout, title, caption).figure
        return pictures.encode(figure, format, title, caption)


def drawn(layout: Layout, title: str, caption: str) -> Figure:
    """The picture, for a notebook."""
    with pictures.settings():
        return _Picture(layout, title, caption).figure


class _Picture:
    """One figure, drawn from back to front when it is made."""

    def __init__(self, layout: Layout, title: str, caption: str) -> None:
        self.layout, self.story = layout, layout.story
        self.on_path = {id(message) for message in self.story.path}
        kinds = dict.fromkeys(message["kind"] for message in self.story.messages)
        self.colors = style.kind_colors(kinds)
        self.used_kinds: set[str] = set()
        self.used: set[str] = set()
        self.names = {rank: self._name(rank) for rank in layout.rows}
        self.left = 0.35 + 0.072 * max(5, *map(len, self.names.values()))
        self.milestones = self._place_milestones()
        self.figure = Figure(facecolor="white")
        self.axes: Axes = self.figure.add_axes((0, 0, 1, 1))
        self._make_axes()
        self._draw_rows()
        self._draw_gaps()
        self._draw_messages()
        self._draw_events()
        self._draw_milestones()
        self._make_frame(title, caption)

    # --- the frame ---

    def _make_frame(self, title: str, caption: str) -> None:
        """The figure's size, and what stands around the axes; all lengths are inches."""
        layout = self.layout
        width = self.left + layout.width + (_RIGHT_OF_GAPS if self.story.gaps else _RIGHT)
        lines = [
            part for line in caption.split("\n") for part in textwrap.wrap(line, int(width * 16))
        ]
        colors = {kind: self.colors[kind] for kind in self.colors if kind in self.used_kinds}
        handles = legend_handles(colors, self.used, self.story.is_broadcast)
        columns = legend_columns(handles, width)
        legend = ceil(len(handles) / columns) * _LEGEND_ROW
        levels = 1 + max((level for _, _, level in self.milestones), default=0)
        top = _TITLE + levels * _MILESTONE + 0.08
        foot = legend + len(lines) * _CAPTION_ROW + 0.25
        height = top + layout.height + _AXIS + foot
        self.figure.set_size_inches(width, height)
        self.axes.set_position(
            (
                self.left / width,
                (_AXIS + foot) / height,
                layout.width / width,
                layout.height / height,
            )
        )
        left = 0.12 / width
        self.figure.text(
            left, 1 - 0.12 / height, title, va="top", weight="bold", size=10, gid="title"
        )
        for number, line in enumerate(reversed(lines)):
            y = (0.1 + number * _CAPTION_ROW) / height
            self.figure.text(left, y, line, va="bottom", color=pictures.FAINT_TEXT)
        self.figure.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0, foot / height),
            ncols=columns,
            frameon=False,
            fontsize=7.5,
            handlelength=1.4,
            columnspacing=1.2,
        )

    def _make_axes(self) -> None:
        axes, layout = self.axes, self.layout
        axes.set_xlim(0, self.layout.end)
        axes.set_ylim(layout.height, 0)
        axes.set_xlabel("time in ticks")
        axes.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
        axes.set_yticks(list(layout.rows.values()), list(self.names.values()))
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", length=3)
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)

    def _name(self, rank: int) -> str:
        died = self.story.died.get(rank)
        words = [] if died is None else ["dead" if died == 0 else f"dies at {died}"]
        if rank == self.story.root and self.story.operation != "allreduce":
            words.insert(0, "root")
        return f"{', '.join(words)}  {rank}" if words else str(rank)

    # --- the processes ---

    def _draw_rows(self) -> None:
        end = self.layout.end
        for rank, y in self.layout.rows.items():
            stop = self.story.died.get(rank, end)
            has = min(self.story.finished.get(rank, stop), stop)
            self._line([0, has], [y, y], style.WAITING_LINE, 0.9, 1)
            self._line([has, stop], [y, y], style.HAVING_LINE, 1.3, 1)
            if rank in self.story.died:
                self._dead(rank, stop, y)
        for omitted in self.layout.breaks:
            self._draw_break(omitted.first, omitted.last, omitted.y)

    def _dead(self, rank: int, since: int, y: float) -> None:
        end = self.layout.end
        self.used.add("dead")
        self.axes.add_patch(
            Rectangle(
                (since, y - ROW / 2 + 0.02),
                end - since,
                ROW - 0.04,
                facecolor=style.DEAD_FILL,
                edgecolor=style.DEAD_HATCH,
                hatch="////",
                linewidth=0,
                zorder=0.5,
                gid=f"dead-{rank}",
            )
        )
        if since > 0:
            self._mark(since, y, "X", 7, pictures.BLACK, f"death-{rank}")

    def _draw_break(self, first: int, last: int, y: float) -> None:
        end = self.layout.end
        for side in (-1, 1):
            edge = y + side * (BREAK / 2 - 0.04)
            self._line([0, end], [edge, edge], style.WAITING_LINE, 0.6, 0.4, dashes=(1, 2))
        count = last - first + 1
        ranks = str(first) if count == 1 else f"{first} … {last}"
        self.axes.annotate(
            ranks,
            (0, y),
            (-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            size=6.5,
            color=pictures.FAINT_TEXT,
            gid=f"break-{first}-{last}",
        )

    def _draw_gaps(self) -> None:
        if not self.story.gaps:
            return
        end = self.layout.end
        begin = min(self.story.run["correction_start"] or 0, self.story.end)
        for rank in sorted(self.story.repaired & self.layout.rows.keys()):
            self.used.add("gap")
            until = self.story.finished.get(rank, end)
            self.axes.add_patch(
                Rectangle(
                    (begin, self.layout.rows[rank] - ROW / 2 + 0.02),
                    max(until - begin, 0),
                    ROW - 0.04,
                    facecolor=style.GAP_FILL,
                    edgecolor=style.GAP_EDGE,
                    hatch="....",
                    linewidth=0,
                    zorder=0.5,
                    gid=f"uncolored-{rank}",
                )
            )
        x = 1 + 0.1 / self.layout.width
        for gap in self.story.gaps:
            for top, bottom in self.layout.spans_of(gap):
                gid = f"gap-{gap.first}-{top:.2f}"
                self._draw_bracket(x, top + 0.03, bottom - 0.03, f"gap of {gap.size}", gid)

    def _draw_bracket(self, x: float, top: float, bottom: float, text: str, gid: str) -> None:
        place = self.axes.get_yaxis_transform()
        side = 0.05 / self.layout.width
        self.axes.plot(
            [x - side, x, x, x - side],
            [top, top, bottom, bottom],
            color=style.GAP_EDGE,
            linewidth=1.2,
            transform=place,
            clip_on=False,
        )
        self.axes.text(
            x + 0.06 / self.layout.width,
            (top + bottom) / 2,
            text,
            transform=place,
            va="center",
            size=7.5,
            gid=gid,
        )

    # --- the messages ---

    def _draw_messages(self) -> None:
        for number, message in enumerate(self.story.messages):
            from_shown = self.layout.is_shown(message["from"])
            to_shown = self.layout.is_shown(message["to"])
            if not from_shown and not to_shown:
                continue
            self.used_kinds.add(message["kind"])
            self._draw_flight(number, message, from_shown and to_shown)
            if from_shown:
                self._draw_box(f"send-{number}", message, True)
            if to_shown and message["received"] is not None:
                self._draw_box(f"receive-{number}", message, False)

    def _draw_flight(self, number: int, message: "TracedMessage", is_whole: bool) -> None:
        """Thin if one of its ends is left out, thick if it brought the result to the last one."""
        color = self.colors[message["kind"]]
        is_lost = message["received"] is None
        begin, arrived = message["sent"] + self.layout.overhead, message["arrived"]
        begin_y = self._lane_middle(message["from"], True)
        end_y = self._lane_middle(message["to"], False)
        width = 0.9 if is_whole else 0.5
        if id(message) in self.on_path:
            self.used.add("path")
            width = 2.0
        self.axes.plot(
            [begin, arrived],
            [begin_y, end_y],
            color=color,
            linewidth=width,
            alpha=0.95 if is_whole else 0.55,
            linestyle=(0, (3, 2)) if is_lost else "-",
            solid_capstyle="round",
            zorder=2,
            gid=f"flight-{number}",
        )
        if is_lost and self.layout.is_shown(message["to"]):
            self.used.add("lost")
            self._mark(arrived, end_y, "x", 3.5, color, f"lost-{number}", zorder=3)
        if not is_lost and self.layout.is_shown(message["to"]):
            receive = (message["received"] or 0) - self.layout.overhead
            if receive > arrived:
                self._line([arrived, receive], [end_y, end_y], color, 1.0, 2, dashes=(1, 1))
                self.used.add("queued")

    def _lane_middle(self, rank: int, is_send: bool) -> float:
        y = self.layout.y_of(rank)
        if not self.layout.is_shown(rank):
            return y
        return y - LANE / 2 if is_send else y + LANE / 2

    def _draw_box(self, gid: str, message: "TracedMessage", is_send: bool) -> None:
        overhead = self.layout.overhead
        rank, peer = message["from"], message["to"]
        begin = message["sent"]
        if not is_send:
            rank, peer = peer, rank
            begin = (message["received"] or 0) - overhead
        color = self.colors[message["kind"]]
        y = self.layout.rows[rank]
        top = y - LANE if is_send else y
        self.axes.add_patch(
            Rectangle(
                (begin, top),
                overhead,
                LANE,
                facecolor=color if is_send else "white",
                edgecolor="white" if is_send else color,
                linewidth=0.7 if is_send else 0.9,
                zorder=4 if is_send else 3.9,
                gid=gid,
            )
        )
        if self.layout.has_labeled_boxes:
            dark = color in (pictures.ORANGE, pictures.SKY, pictures.YELLOW, pictures.PURPLE)
            self.axes.text(
                begin + overhead / 2,
                top + LANE / 2,
                str(peer),
                ha="center",
                va="center_baseline",
                size=5.5,
                color=pictures.BLACK if dark or not is_send else "white",
                zorder=5,
            )

    # --- what processes did ---

    def _draw_events(self) -> None:
        said = {(e["at"], e["rank"], e["kind"]): None for e in self.story.run["trace"]["events"]}
        if self.story.is_broadcast:
            # The color alone: what a process had first, and nothing of what it does with it.
            said = {key: None for key in said if key[2] not in ("colored", "deliver")}
            said |= {(at, rank, "deliver"): None for rank, at in self.story.finished.items()}
        place: dict[tuple[int, int], int] = {}
        for at, rank, kind in said:
            if rank not in self.layout.rows or kind not in style.EVENT_MARKS:
                continue
            # Marks of one time stand beside each other.
            number = place.get((at, rank), 0)
            place[(at, rank)] = number + 1
            x = at + number * 0.1 / self.layout.tick
            self.used.add(kind)
            mark = style.EVENT_MARKS[kind][0]
            y = self.layout.rows[rank]
            self._mark(x, y, mark, 5.5, pictures.BLACK, f"{kind}-{rank}-{at}")

    # --- the ends of the phases ---

    def _place_milestones(self) -> list[tuple[int, str, int]]:
        """Time, text and level of each line, so that no text runs into another."""
        run = self.story.run
        named: dict[int, list[str]] = {}
        for name, at in (
            ("correction starts", run["correction_start"]),
            ("all colored" if not run["uncolored"] else "last colored", run["coloring_latency"]),
            (
                "all have returned" if not run["uncolored"] else "last returned",
                run.get("completion_latency"),
            ),
            ("quiescence", run["quiescence_latency"]),
        ):
            if at is not None and (self.story.finished or name == "quiescence"):
                named.setdefault(at, []).append(name)
        placed: list[tuple[int, str, int]] = []
        ends: list[float] = []  # of the last text on each level
        for at, names in sorted(named.items()):
            text = f"{', '.join(names)}: {at}"
            half = len(text) * 0.062 / 2
            x = at * self.layout.tick
            level = next((i for i, end in enumerate(ends) if end < x - half), len(ends))
            ends[level:] = [x + half + 0.1, *ends[level + 1 :]]
            placed.append((at, text, level))
        return placed

    def _draw_milestones(self) -> None:
        for at, text, level in self.milestones:
            y = -0.06 - level * _MILESTONE
            self._line([at, at], [y, self.layout.height], pictures.TEXT, 0.8, 1.5, dashes=(5, 2))
            x = at * self.layout.tick
            half = len(text) * 0.062 / 2
            room = self.layout.width + (_RIGHT_OF_GAPS if self.story.gaps else _RIGHT) - x
            align = "right" if half > room else "left" if half > x + self.left else "center"
            self.axes.text(
                at, y - 0.03, text, ha=align, va="bottom", size=7.5, gid=f"milestone-{at}"
            )

    # --- strokes ---

    def _line(
        self,
        x: list[float],
        y: list[float],
        color: str,
        width: float,
        zorder: float,
        dashes: tuple[float, float] | None = None,
    ) -> None:
        self.axes.plot(
            x,
            y,
            color=color,
            linewidth=width,
            linestyle="-" if dashes is None else (0, dashes),
            zorder=zorder,
            clip_on=False,
        )

    def _mark(
        self, x: float, y: float, mark: str, size: float, color: str, gid: str, zorder: float = 6
    ) -> None:
        self.axes.plot(
            [x],
            [y],
            marker=mark,
            markersize=size,
            color=color,
            markeredgecolor=color if mark in "x_" else "white",
            markeredgewidth=1.2 if mark in "x_" else 0.5,
            linestyle="",
            zorder=zorder,
            clip_on=False,
            gid=gid,
        )
