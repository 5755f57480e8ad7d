"""Pieces of SVG that stand within a page, and the scale of time on which they stand."""

from dataclasses import dataclass
from html import escape

from resprout.report.show import duration

ROW = 22
_LEFT, _RIGHT, _TOP, _BOTTOM = 130, 20, 8, 30
_WIDTH = 900
_TICKS = 6


@dataclass(frozen=True)
class Scale:
    """Points in time to places across."""

    begin_ns: int
    end_ns: int
    zero_ns: int
    """From which the labels count."""

    @property
    def length_ns(self) -> int:
        return max(1, self.end_ns - self.begin_ns)

    def x(self, at_ns: int) -> float:
        share = (at_ns - self.begin_ns) / self.length_ns
        return round(_LEFT + min(1.0, max(0.0, share)) * (_WIDTH - _LEFT - _RIGHT), 1)

    def ticks(self) -> list[int]:
        """Round numbers of nanoseconds from zero on."""
        step = 1
        while self.length_ns / step > _TICKS:
            for factor in (2, 2.5, 2):
                step = round(step * factor)
                if self.length_ns / step <= _TICKS:
                    break
        return list(range(0, self.end_ns - self.zero_ns + 1, step))


class Picture:
    """Rows below each other, times across. What is drawn has a text that readers can point at."""

    def __init__(self, scale: Scale, rows: list[str], title: str) -> None:
        self._scale = scale
        self._rows = rows
        self._title = title
        self._parts: list[str] = []

    def bar(self, row: int, begin_ns: int, end_ns: int, kind: str, text: str) -> None:
        x = self._scale.x(begin_ns)
        width = max(1.5, self._scale.x(end_ns) - x)
        y = _TOP + row * ROW + 4
        self._parts.append(
            f'<rect class="{kind}" x="{x}" y="{y}" width="{width:.1f}" height="{ROW - 8}" rx="2">'
            f"<title>{escape(text)}</title></rect>"
        )

    def cross(self, row: int, at_ns: int, kind: str, text: str) -> None:
        x, y = self._scale.x(at_ns), _TOP + row * ROW + ROW / 2
        self._parts.append(
            f'<path class="mark {kind}" d="M{x - 5} {y - 5}l10 10m0 -10l-10 10">'
            f"<title>{escape(text)}</title></path>"
        )

    def line(self, at_ns: int, kind: str, text: str) -> None:
        """Through all rows."""
        x = self._scale.x(at_ns)
        self._parts.append(
            f'<path class="mark {kind}" d="M{x} {_TOP}V{_TOP + ROW * len(self._rows)}">'
            f"<title>{escape(text)}</title></path>"
        )

    def text(self) -> str:
        height = _TOP + ROW * len(self._rows) + _BOTTOM
        foot = _TOP + ROW * len(self._rows)
        parts = [
            f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(self._title)}">'
        ]
        for tick in self._scale.ticks():
            x = self._scale.x(self._scale.zero_ns + tick)
            parts.append(f'<path class="grid" d="M{x} {_TOP}V{foot}"/>')
            label = duration(tick) if tick else "0"
            parts.append(f'<text class="axis" x="{x}" y="{foot + 18}">{label}</text>')
        for row, name in enumerate(self._rows):
            y = _TOP + row * ROW + ROW / 2 + 4
            parts.append(f'<text class="name" x="{_LEFT - 8}" y="{y}">{escape(name)}</text>')
        return "\n".join([*parts, *self._parts, "</svg>"])
