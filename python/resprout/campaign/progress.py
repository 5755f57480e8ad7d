"""How far a campaign is, and how long it will take."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from resprout.campaign.parts import Part


class _NoBar:
    """For a stderr that nobody looks at."""

    def finish(self, part: Part) -> None:
        """One part more has been stored."""


class _Bar(_NoBar):
    """Counts runs; measures work, which says more about time."""

    def __init__(self, parts: list[Part], missing: list[Part]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._left = sum(part.runs for part in missing)
        self._runs = sum(part.runs for part in parts)
        work = sum(part.work for part in parts)
        self.progress = Progress(
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}% {task.description}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            # Parts may take minutes each; the time left is told from many of them.
            speed_estimate_period=3600,
        )
        done = work - sum(part.work for part in missing)
        self._task = self.progress.add_task(self._text(), total=work, completed=done)

    def finish(self, part: Part) -> None:
        self._left -= part.runs
        self.progress.update(self._task, advance=part.work, description=self._text())

    def _text(self) -> str:
        return f"{self._runs - self._left:,} of {self._runs:,} runs, time left"


@contextmanager
def progress_bar(parts: list[Part], missing: list[Part]) -> Iterator[_NoBar]:
    """A bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield _NoBar()
        return
    bar = _Bar(parts, missing)
    with bar.progress:
        yield bar
