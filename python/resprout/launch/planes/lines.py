"""What of several copies of the same output is shown: every line once, whoever says it.

Copies of a program may print different times or process ids, so what has been shown is known by its
place: the n-th line of a rank's stream. One copy leads, and its lines are shown as they come. The
others' are kept until the leader has said its own; when the leader is lost, the next one's go on
from there.

A plane that is started again says nothing before it is back. Then each copy that takes part says a
marker in all its streams: there the new one stands where the others stand, maybe in the middle of a
line that they have begun. What it says before a marker of another one is known is held.

1. A copy is one launch of a plane; of those that are started again the number says which start of
   the job it is. The first launches have number 0.
2. A copy has said a marker if it is older than the one that comes back with it, unless it was lost
   on the way there: then it has said all that stands before the marker.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Key = tuple[int, str]
"""A rank and the name of its stream."""


@dataclass(frozen=True)
class Marker:
    """A plane is back; nothing that is shown."""

    number: int
    """The how manieth start again of the job it is, from 1."""
    begun: bytes = b""
    """Of the line in whose middle it stands."""


class _Kept:
    """Lines of one copy that nobody has shown."""

    def __init__(self, is_there: bool) -> None:
        self.is_there = is_there
        """Not before its own marker, if it has one."""
        self.first = 0
        self.lines: deque[bytes] = deque()
        self.begun = b""
        """Of its next line others have said this, before it was there."""
        self.held: list[bytes | Marker] | None = None
        """Said since its own marker, if nobody knows where that is."""

    @property
    def said(self) -> int:
        return self.first + len(self.lines)

    def add(self, line: bytes) -> None:
        self.lines.append(self.begun + line)
        self.begun = b""

    def skip_to(self, shown: int) -> None:
        while self.lines and self.first < shown:
            self.lines.popleft()
            self.first += 1


class Lines:
    """The output of all ranks in all copies. The first one leads first."""

    def __init__(self, planes: int) -> None:
        # Of each copy.
        self._numbers: list[int] = []
        self._kept: list[defaultdict[Key, _Kept]] = []
        # Whose lines may be shown, the leader first; and who may still say something.
        self._living: list[int] = []
        self._running: set[int] = set()
        self._shown: defaultdict[Key, int] = defaultdict(int)
        # How many lines stand before a marker, and what of one that is begun.
        self._places: dict[tuple[int, Key], tuple[int, bytes]] = {}
        for _ in range(planes):
            self.add(0)

    @property
    def leader(self) -> int | None:
        return self._living[0] if self._living else None

    def add(self, number: int) -> int:
        """A further copy, that start again of the job: its index."""
        copy = len(self._numbers)
        self._numbers.append(number)
        self._kept.append(defaultdict(lambda: _Kept(is_there=number == 0)))
        self._living.append(copy)
        self._running.add(copy)
        return copy

    def take(self, copy: int, key: Key, said: bytes | Marker) -> bytes:
        """What is to be shown now that this copy has said its next line there, or a marker.

        An empty line is the end of the stream.
        """
        if copy not in self._living:
            return b""
        kept = self._kept[copy][key]
        if kept.held is not None:
            kept.held.append(said)
        elif isinstance(said, Marker) and said.number == self._numbers[copy]:
            kept.is_there = True
            kept.held = []
            if not any(self._numbers[one] < said.number for one in self._running):
                # Who was there before has never said anything here.
                self._places.setdefault((said.number, key), (0, b""))
            return self._place(said.number, key)
        elif kept.is_there and isinstance(said, Marker):
            self._places.setdefault((said.number, key), (kept.said, kept.begun + said.begun))
            return self._place(said.number, key)
        elif kept.is_there and isinstance(said, bytes) and (said or kept.begun):
            kept.add(said)
            return self._show(copy, key)
        return b""

    def finish(self, copy: int, begun: Mapping[Key, bytes]) -> list[tuple[Key, bytes]]:
        """The copy came to its end: what is to be shown now. `begun`: lines without an end."""
        found = self._end(copy, begun)
        keys = dict.fromkeys([*self._kept[copy], *begun])
        found += [(key, self.take(copy, key, begun.get(key, b""))) for key in keys]
        return joined(found)

    def lose(self, copy: int, begun: Mapping[Key, bytes]) -> list[tuple[Key, bytes]]:
        """The copy is no more: what of the next one's is to be shown now."""
        found = self._end(copy, begun)
        was_leader = copy == self.leader
        if copy in self._living:
            self._living.remove(copy)
        self._kept[copy].clear()
        leader = self.leader
        if was_leader and leader is not None:
            found += [(key, self._show(leader, key)) for key in self._keys(leader)]
        return joined(found)

    def _end(self, copy: int, begun: Mapping[Key, bytes]) -> list[tuple[Key, bytes]]:
        """It says nothing any more. If nobody else can say where another one came back, it was
        where this one ends."""
        self._running.discard(copy)
        found = []
        for back in sorted(self._living, key=lambda one: self._numbers[one]):
            number = self._numbers[back]
            if back == copy or any(self._numbers[one] < number for one in self._running):
                continue
            for key in dict.fromkeys([*self._kept[copy], *begun, *self._kept[back]]):
                last = self._kept[copy][key]
                if last.is_there and last.held is None:
                    place = (last.said, last.begun + begun.get(key, b""))
                    self._places.setdefault((number, key), place)
                    found.append((key, self._place(number, key)))
        return found

    def _place(self, number: int, key: Key) -> bytes:
        """Have the one that waits for it know where it is."""
        if (number, key) not in self._places or number not in self._numbers:
            return b""
        copy = self._numbers.index(number)
        kept = self._kept[copy][key]
        held, kept.held = kept.held, None
        if held is None:
            return b""
        kept.first, kept.begun = self._places[number, key]
        return b"".join([self.take(copy, key, said) for said in held])

    def _keys(self, copy: int) -> list[Key]:
        return list(self._kept[copy])

    def _show(self, copy: int, key: Key) -> bytes:
        kept = self._kept[copy][key]
        kept.skip_to(self._shown[key])
        if copy != self.leader:
            return b""
        text = b"".join(kept.lines)
        kept.first += len(kept.lines)
        kept.lines.clear()
        self._shown[key] = max(self._shown[key], kept.first)
        for other in self._living[1:]:
            self._kept[other][key].skip_to(self._shown[key])
        return text


def joined(texts: Iterable[tuple[Key, bytes]]) -> list[tuple[Key, bytes]]:
    """One text for each key."""
    sums: defaultdict[Key, bytes] = defaultdict(bytes)
    for key, text in texts:
        sums[key] += text
    return [(key, text) for key, text in sums.items() if text]
