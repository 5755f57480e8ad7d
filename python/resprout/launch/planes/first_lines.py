"""What of several copies of the same output is shown where none of them leads.

Where siblings stand in for lost ranks, the copy of a rank that lives may be in any plane. So of
each rank and stream the n-th line is shown as soon as the first copy has said its n-th: lines are
counted, not compared. Nothing is kept, and nothing has to be done when a copy is lost.

Lines without an end come last, when no copy can say more.
"""

from collections import defaultdict
from collections.abc import Mapping

from resprout.launch.planes.lines import Key, Marker


class FirstLines:
    """The output of all ranks in all copies; in the place of lines.Lines."""

    def __init__(self, copies: int) -> None:
        self._running = set(range(copies))
        self._shown: defaultdict[Key, int] = defaultdict(int)
        self._said: list[defaultdict[Key, int]] = [defaultdict(int) for _ in range(copies)]
        # What copies that are over have begun, each at a line's number.
        self._begun: defaultdict[Key, list[tuple[int, bytes]]] = defaultdict(list)

    def take(self, copy: int, key: Key, said: bytes | Marker) -> bytes:
        """What is to be shown now that this copy has said its next line there."""
        if isinstance(said, Marker):
            return b""
        at = self._said[copy][key]
        self._said[copy][key] += 1
        if at < self._shown[key]:
            return b""
        self._shown[key] += 1
        return said

    def finish(self, copy: int, begun: Mapping[Key, bytes]) -> list[tuple[Key, bytes]]:
        """The copy is over: what is to be shown now. `begun`: lines without an end."""
        self._running.discard(copy)
        for key, text in begun.items():
            self._begun[key].append((self._said[copy][key], text))
        return [] if self._running else self._show_begun()

    def lose(self, copy: int, begun: Mapping[Key, bytes]) -> list[tuple[Key, bytes]]:
        """Likewise: what others of its ranks say is shown anyway."""
        return self.finish(copy, begun)

    def _show_begun(self) -> list[tuple[Key, bytes]]:
        """The longest, as who is lost may have said less."""
        found = []
        for key, lines in self._begun.items():
            texts = [text for at, text in lines if at == self._shown[key]]
            if texts:
                found.append((key, max(texts, key=len)))
        self._begun.clear()
        return found
