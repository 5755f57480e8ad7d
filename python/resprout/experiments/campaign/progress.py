"""How far a campaign is, and how long it will take."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from resprout.experiments.campaign.parts import Part
from resprout.progress import Bar, progress_bar


class PartsBar:
    """The bar of some parts."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    def finish(self, part: Part) -> None:
        """One part more has been stored."""
        self._bar.advance(part.work, part.runs)


@contextmanager
def parts_bar(parts: Collection[Part], missing: Collection[Part]) -> Iterator[PartsBar]:
    """A bar on stderr, if that is a terminal; all but the missing parts are done."""
    work, runs = (sum(p.work for p in parts), sum(p.runs for p in parts))
    with progress_bar(
        work=work,
        work_done=work - sum(part.work for part in missing),
        things=runs,
        things_done=runs - sum(part.runs for part in missing),
        name="runs",
    ) as bar:
        yield PartsBar(bar)
