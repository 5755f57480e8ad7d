"""What an experiment is: the campaigns that it needs, what it finds in them, and how that looks."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.gossip import GossipTimes
from resprout.experiments.reproduce.scale import Scale
from resprout.experiments.reproduce.store import Campaign, Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Row = dict[str, Any]


@dataclass
class Study:
    """One call of `resprout reproduce`."""

    store: Store
    scale: Scale
    procs_max: int = 65536
    """The paper's largest broadcasts; tests take smaller ones."""

    def ask(self, campaign: Campaign, sql: str) -> list[tuple[Any, ...]]:
        return self.store.ask(campaign, sql)

    def rows(self, campaign: Campaign, columns: Sequence[str], sql: str) -> list[Row]:
        """Likewise, each row by the names of its columns."""
        return [dict(zip(columns, row, strict=True)) for row in self.ask(campaign, sql)]

    @cached_property
    def gossip(self) -> GossipTimes:
        return GossipTimes(self.store, self.scale, self.procs_max)


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper."""

    name: str
    title: str
    caption: str
    campaigns: Callable[[Study], Iterable[Campaign]]
    rows: Callable[[Study], list[Row]]
    """What the picture shows, as a table."""
    claims: Callable[[Study, list[Row]], Claims]
    draw: Callable[["Figure", list[Row]], None]
    size: tuple[float, float] = field(default=(6.4, 4.0))
    """Of the picture, in inches."""
