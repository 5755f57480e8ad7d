"""What of several copies of the same output is shown: every line once, whoever says it.

Copies of a program may print different times or process ids, so what has been shown is known by its
place: the n-th line of a rank's stream. One plane leads, and its lines are shown as they come. The
others' are kept until the leader has said its own; when the leader is lost, the next plane's go on
from there.
"""

from collections import defaultdict, deque
from collections.abc import Iterable

Key = tuple[int, str]
"""A rank and the name of its stream."""


class _Kept:
    """Lines of one plane that nobody has shown."""

    def __init__(self) -> None:
        self.first = 0
        self.lines: deque[bytes] = deque()

    def skip_to(self, shown: int) -> None:
        while self.lines and self.first < shown:
            self.lines.popleft()
            self.first += 1


class Lines:
    """The output of all ranks in all planes. Plane 0 leads first."""

    def __init__(self, planes: int) -> None:
        self._living = list(range(planes))
        self._shown: defaultdict[Key, int] = defaultdict(int)
        self._kept: list[defaultdict[Key, _Kept]] = [defaultdict(_Kept) for _ in range(planes)]

    @property
    def leader(self) -> int | None:
        return self._living[0] if self._living else None

    def take(self, plane: int, key: Key, line: bytes) -> bytes:
        """What is to be shown now that this plane has said its next line there."""
        if plane not in self._living:
            return b""
        kept = self._kept[plane][key]
        kept.lines.append(line)
        return self._show(plane, key)

    def lose(self, plane: int) -> Iterable[tuple[Key, bytes]]:
        """The plane is no more: what of the next one's is to be shown now."""
        was_leader = plane == self.leader
        if plane in self._living:
            self._living.remove(plane)
        self._kept[plane].clear()
        next_plane = self.leader
        if not was_leader or next_plane is None:
            return []
        found = [(key, self._show(next_plane, key)) for key in list(self._kept[next_plane])]
        return [(key, text) for key, text in found if text]

    def _show(self, plane: int, key: Key) -> bytes:
        kept = self._kept[plane][key]
        kept.skip_to(self._shown[key])
        if plane != self.leader:
            return b""
        text = b"".join(kept.lines)
        kept.first += len(kept.lines)
        kept.lines.clear()
        self._shown[key] = max(self._shown[key], kept.first)
        for other in self._living[1:]:
            self._kept[other][key].skip_to(self._shown[key])
        return text
