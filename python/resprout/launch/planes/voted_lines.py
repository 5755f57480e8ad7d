"""Output that is shown once a majority of a rank's replicas has said the same (--commit-output).

It is about stdout, line by line: the n-th line of a rank is compared with the n-th lines of its
replicas. stderr is as without it.

1. Of 2 or 3 replicas that take part 2 have to say the same. Who has ended and said less has said
   nothing, which may be what the others say, too.
2. If all have said theirs, and no two the same, nobody can tell which is right: the line is held
   back if that ends the job; else it is the first replica's.
3. A replica that is left alone is believed.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from resprout.launch.planes.first_lines import FirstLines
from resprout.launch.planes.lines import Key, Lines, Marker, joined
from resprout.report.corruptions import Corruption


@dataclass(frozen=True)
class Difference:
    """A line that is not the same in all copies."""

    rank: int
    number: int
    """From 1."""
    bytes: int
    wrong: tuple[int, ...]
    """The copies that two others have out-voted; nothing: nobody can tell."""


class VotedLines(Lines):
    """The output of all ranks in all copies; in the place of lines.Lines."""

    def __init__(self, planes: int, stands_in: bool, shows_undecided: bool) -> None:
        super().__init__(planes)
        self.differences: list[Difference] = []
        """For whoever takes them out."""
        self._first = FirstLines(planes) if stands_in else None
        self._shows_undecided = shows_undecided
        self._is_held = False
        # By number, as long as a copy has not said its own.
        self._lines_shown: defaultdict[Key, dict[int, bytes]] = defaultdict(dict)
        self._undecided: set[tuple[Key, int]] = set()
        self._finished: set[int] = set()
        self._gone: set[tuple[int, int]] = set()

    def take(self, copy: int, key: Key, said: bytes | Marker) -> bytes:
        if self._first is not None and not _is_voted(key):
            return self._first.take(copy, key, said)
        return super().take(copy, key, said)

    def finish(self, copy: int, begun: Mapping[Key, bytes]) -> list[tuple[Key, bytes]]:
        voted, others = _apart(begun, self._first is not None)
        found = super().finish(copy, voted)
        self._finished.add(copy)
        found += self._show_all()
        return joined(found + (self._first.finish(copy, others) if self._first else []))

    def lose(self, copy: int, begun: Mapping[Key, bytes]) -> list[tuple[Key, bytes]]:
        voted, others = _apart(begun, self._first is not None)
        found = super().lose(copy, voted) + self._show_all()
        return joined(found + (self._first.lose(copy, others) if self._first else []))

    def lose_rank(self, copy: int, rank: int) -> list[tuple[Key, bytes]]:
        """The copy goes on without it."""
        self._gone.add((copy, rank))
        return joined(self._show_all())

    def _show_all(self) -> list[tuple[Key, bytes]]:
        keys = dict.fromkeys(key for kept in self._kept for key in list(kept))
        return [(key, self._show_voted(key)) for key in keys if _is_voted(key)]

    def _show(self, copy: int, key: Key) -> bytes:
        return self._show_voted(key) if _is_voted(key) else super()._show(copy, key)

    def _show_voted(self, key: Key) -> bytes:
        shown = []
        self._compare_late(key)
        while not self._is_held and (line := self._next(key)) is not None:
            shown.append(line)
            self._lines_shown[key][self._shown[key]] = line
            self._shown[key] += 1
            self._compare_late(key)
        return b"".join(shown)

    def _voters(self, key: Key) -> list[int]:
        """Copies in which this rank takes part."""
        return [
            copy
            for copy in self._living
            if (copy, key[0]) not in self._gone
            and self._kept[copy][key].is_there
            and self._kept[copy][key].held is None
        ]

    def _next(self, key: Key) -> bytes | None:
        """The next line that is to be shown, if it is known by now; empty: it is none."""
        voters = self._voters(key)
        said: dict[int, bytes] = {}
        for copy in voters:
            kept = self._kept[copy][key]
            if kept.lines and kept.first == self._shown[key]:
                said[copy] = kept.lines[0]
            elif copy in self._finished:
                said[copy] = b""
        if not any(said.values()):
            return None
        ((line, votes),) = Counter(said.values()).most_common(1)
        if votes >= min(2, len(voters)):
            return line
        if len(said) < len(voters):
            return None
        # Nobody can tell.
        line = next(text for text in said.values() if text)
        self._note(key, self._shown[key], line, ())
        self._undecided.add((key, self._shown[key]))
        self._is_held = not self._shows_undecided
        return None if self._is_held else line

    def _compare_late(self, key: Key) -> None:
        """What copies have said with what was shown in its place."""
        lines = self._lines_shown[key]
        voters = self._voters(key)
        for copy in voters:
            kept = self._kept[copy][key]
            while kept.first < self._shown[key] and (kept.lines or copy in self._finished):
                said = kept.lines.popleft() if kept.lines else b""
                line = lines.get(kept.first, said)
                if said != line and (key, kept.first) not in self._undecided:
                    self._note(key, kept.first, line, (copy,))
                kept.first += 1
        oldest = min((self._kept[copy][key].first for copy in voters), default=0)
        for number in [number for number in lines if number < oldest]:
            del lines[number]

    def _note(self, key: Key, at: int, line: bytes, wrong: tuple[int, ...]) -> None:
        self.differences.append(Difference(key[0], at + 1, len(line), wrong))


def corruption_of(found: Difference, is_reported: bool) -> Corruption:
    """`found`: by replicas. `is_reported`: the job goes on though nobody can tell."""
    is_outvoted = bool(found.wrong)
    return Corruption(
        of="output", call="stdout", sender=found.rank, receiver=found.rank, tag=0,
        communicator="world", number=found.number, bytes=found.bytes, wrong_replicas=found.wrong,
        tainted=False, replaced=is_outvoted, end="outvoted" if is_outvoted else "undecided",
        then="go_on" if is_outvoted or is_reported else "abort", rank=found.rank,
        replica=found.wrong[0] if found.wrong else 0, found_ns=time.time_ns(),
    )  # fmt: skip


def _is_voted(key: Key) -> bool:
    return key[1] == "stdout"


def _apart(begun: Mapping[Key, bytes], is_apart: bool) -> tuple[dict[Key, bytes], dict[Key, bytes]]:
    """What is voted on, and the rest; all of it if nothing is apart."""
    if not is_apart:
        return dict(begun), {}
    voted = {key: text for key, text in begun.items() if _is_voted(key)}
    return voted, {key: text for key, text in begun.items() if not _is_voted(key)}
