"""A bar on stderr that says how much is done and how long the rest will take."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Bar:
    """For a stderr that nobody looks at; the subclass is for a terminal."""

    def advance(self, work: int, things: int) -> None:
        """So much work has been done more, and so many things are finished by it."""


class _ShownBar(Bar):
    """Counts things; measures work, which says more about time."""

    def __init__(
        self, work: int, work_done: int, things: int, things_done: int, name: str, quiet: float
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._things, self._done, self._name = things, things_done, name
        self._shown_from = time.monotonic() + quiet
        self.progress = Progress(
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}% {task.description}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            # Pieces of work may take minutes each; the time left is told from many of them.
            speed_estimate_period=3600,
        )
        self._task = self.progress.add_task(self._text(), total=work, completed=work_done)
        self._show()

    def advance(self, work: int, things: int) -> None:
        self._done += things
        self.progress.update(self._task, advance=work, description=self._text())
        self._show()

    def _show(self) -> None:
        if time.monotonic() >= self._shown_from:
            self.progress.start()

    def _text(self) -> str:
        return f"{self._done:,} of {self._things:,} {self._name}, time left"


@contextmanager
def progress_bar(
    *,
    work: int,
    work_done: int = 0,
    things: int,
    things_done: int = 0,
    name: str,
    quiet_seconds: float = 0.0,
) -> Iterator[Bar]:
    """A bar on stderr, if that is a terminal, of `things` called `name` that take `work` in all.

    It does not show for the first `quiet_seconds`: what is done by then needs no bar.
    """
    if not sys.stderr.isatty():
        yield Bar()
        return
    bar = _ShownBar(work, work_done, things, things_done, name, quiet_seconds)
    try:
        yield bar
    finally:
        bar.progress.stop()
