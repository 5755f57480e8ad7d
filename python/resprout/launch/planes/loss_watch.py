"""Whether a plane has lost somebody, before its launcher knows: a rank that sees it leaves word.

They watch the parts of the report in a plane's run directory (report/ranks.py).
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resprout.report.notes import NoteReader


class _Parts:
    """Those that are new, or have changed since they were read."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: dict[str, int] = {}

    def changed(self) -> Iterator[dict[str, Any]]:
        for path in self._directory.glob("rank-*.json"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                written = path.stat().st_mtime_ns
                if self._read.get(path.name) != written:
                    yield json.loads(path.read_text())
                    self._read[path.name] = written


class LossWatch:
    """Of a plane that ends with its first loss."""

    def __init__(self, directory: Path) -> None:
        self._parts = _Parts(directory)
        self._has_lost = False

    def __call__(self) -> bool:
        """Once it is so it stays so."""
        if not self._has_lost:
            for part in self._parts.changed():
                with contextlib.suppress(KeyError, TypeError):
                    self._has_lost = self._has_lost or bool(part["losses"])
        return self._has_lost


class DoubtWatch:
    """Of a plane: whether a process has ended the job, as nobody can tell which data are right."""

    def __init__(self, directory: Path) -> None:
        self._notes = NoteReader(directory)
        self._is_in_doubt = False

    def __call__(self) -> bool:
        """Once it is so it stays so."""
        for note in self._notes.new():
            with contextlib.suppress(KeyError, TypeError):
                self._is_in_doubt = self._is_in_doubt or note.value["then"] == "abort"
        return self._is_in_doubt


@dataclass(frozen=True)
class NewLoss:
    """A rank that was lost, as it looks now."""

    rank: int
    how: str
    """As report.merge.Loss has it."""


class LossNews:
    """Of a plane that goes on without those it loses. Who is lost has no word about others."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._parts = _Parts(directory)
        self._lost: set[int] = set()

    def __call__(self) -> list[NewLoss]:
        """Those of which it has not told before. Nobody is lost where MPI_Abort ends all."""
        if (self._directory / "abort.json").exists():
            return []
        seen: list[tuple[int, int, int, str]] = []
        for part in self._parts.changed():
            with contextlib.suppress(KeyError, TypeError, ValueError):
                witness = int(part["rank"])
                seen += [
                    (int(loss["detected_ns"]), witness, int(loss["rank"]), str(loss["kind"]))
                    for loss in part["losses"]
                ]
        found = []
        for _, witness, rank, kind in sorted(seen):
            if witness not in self._lost and rank not in self._lost:
                self._lost.add(rank)
                found.append(NewLoss(rank, self._how(rank, kind)))
        return found

    def _how(self, rank: int, kind: str) -> str:
        """Only who exits by itself leaves a status."""
        has_status = (self._directory / f"exit-{rank}").exists()
        return "killed" if kind == "exited" and not has_status else kind
