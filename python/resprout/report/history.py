"""How much waited for its verdict over time: of one process, or of all."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any


@dataclass(frozen=True)
class History:
    """Sums over processes of what each had in the mean of an interval, from its first message on.

    Of a process that has ended there is nothing any more.
    """

    processes: int
    interval_ns: int
    open: tuple[float, ...]
    """Requests."""
    bytes: tuple[float, ...]
    """Of copies."""

    def __add__(self, other: "History") -> "History":
        interval = max(self.interval_ns, other.interval_ns)
        one, two = self._over(interval), other._over(interval)
        return History(
            one.processes + two.processes,
            interval,
            _sums(one.open, two.open),
            _sums(one.bytes, two.bytes),
        )

    def _over(self, interval_ns: int) -> "History":
        """The same in longer intervals. REQUIRES: a power of two times as long."""
        if not self.interval_ns or self.interval_ns == interval_ns:
            return History(self.processes, interval_ns, self.open, self.bytes)
        of = interval_ns // self.interval_ns
        return History(
            self.processes, interval_ns, _coarser(self.open, of), _coarser(self.bytes, of)
        )

    def as_json(self) -> dict[str, Any]:
        """Means of a process."""
        each = max(1, self.processes)
        return {
            "interval_ns": self.interval_ns,
            "open": [round(value / each, 3) for value in self.open],
            "bytes": [round(value / each) for value in self.bytes],
        }


NO_HISTORY = History(0, 0, (), ())


def _sums(one: Sequence[float], two: Sequence[float]) -> tuple[float, ...]:
    return tuple(a + b for a, b in zip_longest(one, two, fillvalue=0.0))


def _coarser(values: Sequence[float], of: int) -> tuple[float, ...]:
    return tuple(sum(values[i : i + of]) / of for i in range(0, len(values), of))


def parse_history(value: dict[str, Any]) -> History:
    """That of one process."""
    return History(
        1,
        int(value["interval_ns"]),
        tuple(float(number) for number in value["open"]),
        tuple(float(number) for number in value["bytes"]),
    )
