"""What happened in a traced run, in the terms of the picture: who died, when, and who was colored.

Corrected Trees, section 3 and Figure 5. Times are ticks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from resprout.native import Run, TracedMessage

# The first phase of a broadcast; what comes after it colors the gaps that it left.
DISSEMINATION_KINDS = ("tree", "gossip")


@dataclass(frozen=True)
class Gap:
    """A run on the closed ring of processes that dissemination has not colored, dead ones too."""

    first: int
    size: int
    procs: int

    def ranks(self) -> list[int]:
        return [(self.first + i) % self.procs for i in range(self.size)]

    def neighbors(self) -> list[int]:
        """The two processes that were colored beside it."""
        return [(self.first - 1) % self.procs, (self.first + self.size) % self.procs]


@dataclass(frozen=True)
class Story:
    """A run with its trace."""

    run: Run
    operation: str  # broadcast, allreduce, reduce
    root: int

    @property
    def procs(self) -> int:
        return self.run["procs"]

    @property
    def messages(self) -> list[TracedMessage]:
        return self.run["trace"]["messages"]

    @property
    def end(self) -> int:
        return self.run["quiescence_latency"]

    @property
    def is_broadcast(self) -> bool:
        return self.operation == "broadcast"

    @cached_property
    def died(self) -> dict[int, int]:
        """From each rank that died before the end to the time of its death."""
        first: dict[int, int] = {}
        for death in self.run["trace"]["deaths"]:
            if death["at"] <= self.end:
                rank = death["rank"]
                first[rank] = min(first.get(rank, death["at"]), death["at"])
        return first

    @cached_property
    def finished(self) -> dict[int, int]:
        """From rank to when it was colored, or when it returned from a reduction."""
        kinds = ("colored", "deliver") if self.is_broadcast else ("deliver",)
        first: dict[int, int] = {}
        for event in self.run["trace"]["events"]:
            if event["kind"] in kinds:
                first.setdefault(event["rank"], event["at"])
        return first

    @cached_property
    def gaps(self) -> list[Gap]:
        """In the order of their first ranks; none in a reduction, which has no coloring."""
        if not self.is_broadcast:
            return []
        reached = {self.root} if self.root in self.finished else set()
        reached |= {
            message["to"]
            for message in self.messages
            if message["received"] is not None and message["kind"] in DISSEMINATION_KINDS
        }
        return list(_gaps(sorted(reached), self.procs))

    @cached_property
    def repaired(self) -> set[int]:
        """Live ranks in the gaps: those that correction had to color."""
        return {rank for gap in self.gaps for rank in gap.ranks() if rank not in self.died}

    @cached_property
    def last(self) -> int | None:
        """The live rank that finished last; none: nobody did."""
        live = [rank for rank in self.finished if rank not in self.died]
        return max(live, key=lambda rank: (self.finished[rank], rank), default=None)

    @cached_property
    def path(self) -> list[TracedMessage]:
        """The messages, the last one first, by which the last process finished."""
        path: list[TracedMessage] = []
        rank = self.last
        if rank is None:
            return path
        at = self.finished[rank]
        while (message := self._latest_receive(rank, at)) is not None:
            path.append(message)
            rank, at = message["from"], message["sent"]
            if self.is_broadcast:
                at = self.finished.get(rank, at)
        return path

    @cached_property
    def lost(self) -> dict[int, TracedMessage]:
        """From each dead rank to the first message that it no longer received."""
        first: dict[int, TracedMessage] = {}
        for message in self.messages:
            known = first.get(message["to"])
            if message["received"] is None and (
                known is None or message["arrived"] < known["arrived"]
            ):
                first[message["to"]] = message
        return first

    def finished_by(self, rank: int) -> TracedMessage | None:
        """The message by which the rank finished; none: it did not, or needed no other."""
        at = self.finished.get(rank)
        return None if at is None else self._latest_receive(rank, at)

    def _latest_receive(self, rank: int, at: int) -> TracedMessage | None:
        """The last by `at`; in a reduction, none from before a restart, which made it obsolete."""
        best: TracedMessage | None = None
        restarts = [time for time in self._restarts.get(rank, ()) if time <= at]
        since = max(restarts, default=0)
        for message in self._received_by.get(rank, ()):
            received = message["received"]
            if received is not None and since <= received <= at:
                best = message
        return best

    @cached_property
    def _restarts(self) -> dict[int, list[int]]:
        by_rank: dict[int, list[int]] = {}
        for event in self.run["trace"]["events"]:
            if event["kind"] == "restart":
                by_rank.setdefault(event["rank"], []).append(event["at"])
        return by_rank

    @cached_property
    def _received_by(self) -> dict[int, list[TracedMessage]]:
        """The received messages of each rank, in the order of their receives."""
        by_rank: dict[int, list[TracedMessage]] = {}
        for message in self.messages:
            if message["received"] is not None:
                by_rank.setdefault(message["to"], []).append(message)
        for messages in by_rank.values():
            messages.sort(key=lambda message: message["received"] or 0)
        return by_rank


def _gaps(reached: list[int], procs: int) -> Iterator[Gap]:
    if not reached:
        yield Gap(0, procs, procs)
        return
    following = [*reached[1:], reached[0] + procs]
    for rank, after in zip(reached, following, strict=True):
        if after - rank > 1:
            yield Gap((rank + 1) % procs, after - rank - 1, procs)
