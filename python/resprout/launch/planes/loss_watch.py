"""Whether a plane has lost somebody, before its launcher knows: a rank that sees it leaves word."""

import contextlib
import json
from pathlib import Path


class LossWatch:
    """Of one plane, by the parts of the report in its run directory (report/ranks.py)."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: dict[str, int] = {}
        self._has_lost = False

    def __call__(self) -> bool:
        """Once it is so it stays so."""
        for path in () if self._has_lost else self._directory.glob("rank-*.json"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                written = path.stat().st_mtime_ns
                if self._read.get(path.name) != written:
                    self._has_lost = self._has_lost or bool(json.loads(path.read_text())["losses"])
                    self._read[path.name] = written
        return self._has_lost
