"""What ranks tell while they run: lines of notes-<rank> in a run directory.

src/mpi/process/report/notes.hpp writes them.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Note:
    rank: int
    kind: str
    value: Any


class NoteReader:
    """Of a run directory, whose processes may write on."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: dict[str, int] = {}
        self.unreadable: set[str] = set()
        """The names of files with a note that cannot be understood."""

    def new(self) -> Iterator[Note]:
        """Those that were not read yet. A line that has no end yet is none."""
        for path in sorted(self._directory.glob("notes-*")):
            with contextlib.suppress(OSError):
                yield from self._new_of(path)

    def _new_of(self, path: Path) -> Iterator[Note]:
        with path.open("rb") as file:
            file.seek(self._read.get(path.name, 0))
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._read[path.name] = self._read.get(path.name, 0) + len(whole)
        for line in filter(None, whole.split(b"\n")):
            try:
                ((kind, value),) = json.loads(line).items()
                yield Note(int(path.name.removeprefix("notes-")), kind, value)
            except (ValueError, AttributeError):
                self.unreadable.add(path.name)
