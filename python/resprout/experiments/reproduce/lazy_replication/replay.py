"""Replays a trace at r replicas of each rank, by a method of comparing messages.

Lazy Fault Detection for Redundant MPI, chapter 4: who sends what to whom, and what a receive and a
send wait for. Nothing is corrupted, and nobody dies. Replica k of rank i is process k n + i, and
processes fill nodes one after the other.
Thread rule: one thread.
"""

import heapq
import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from resprout.experiments.reproduce.lazy_replication.cluster import Cluster, Network
from resprout.experiments.reproduce.lazy_replication.traces import Trace

_HASH_BYTES = 16
_EAGER_MAX = 64 * 1024
"""A larger message leaves before its sender goes on, unless its buffer was copied."""


class Method(NamedTuple):
    """`first`: a lazy method gives out whichever copy comes first, else that of the own plane."""

    name: str
    sends_hashes: bool = False
    is_lazy: bool = False
    first: bool = False


METHODS = {
    "": Method(""),  # one replica, compared with nothing
    "all-to-all": Method("all-to-all"),
    "async": Method("async", is_lazy=True, first=True),
    "async-own": Method("async", is_lazy=True),
    "msg-plus-hash": Method("msg-plus-hash", sends_hashes=True),
    "async-hash": Method("async-hash", sends_hashes=True, is_lazy=True),
}


@dataclass
class Replayed:
    seconds: float
    """Until all have ended and compared all they have."""
    first_seconds: float
    """Until the first replica of each rank has come to its end."""
    requests: list[tuple[float, int]]
    """When how many were allocated (1) or freed (-1), over all processes."""
    messages: int


@dataclass
class _Inbox:
    """Of one process and one peer: the n-th receive takes the n-th message."""

    heard: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Copies and hashes that have come, by message, until it is verified."""
    usable: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Of these, copies that the program may have."""
    taken: int = 0


class Replay:
    """REQUIRES: a trace in which every receive has its send."""

    def __init__(
        self,
        trace: Trace,
        degree: int,
        method: str,
        cluster: Cluster,
        compute_s: float,
        seed: int = 1,
        slowness: Mapping[int, float] | None = None,
        noise: float = 0.0,
    ) -> None:
        self._ranks = len(trace.ranks)
        self._trace = trace
        self._degree = degree
        self._method = METHODS[method]
        self._cluster = cluster
        self._compute_s = compute_s
        self._slowness = slowness or {}
        self._noise = noise
        self._random = random.Random(seed)
        self._network = Network(cluster, random.Random(seed + 1))
        procs = self._ranks * degree
        self._at = [0] * procs
        self._ends = [0.0] * procs
        self._sent: list[dict[int, int]] = [defaultdict(int) for _ in range(procs)]
        self._inboxes: list[dict[int, _Inbox]] = [defaultdict(_Inbox) for _ in range(procs)]
        self._waits: list[int] = [-1] * procs  # for a message of this rank
        self._events: list[tuple[float, int, int, int, int, bool]] = []
        self._order = 0
        self._requests: list[tuple[float, int]] = []
        self._due = self._shares() if degree > 1 else 1
        self._messages = 0

    def run(self) -> Replayed:
        for process in range(self._ranks * self._degree):
            self._push(0.0, process)
        last = 0.0
        while self._events:
            last, _, process, peer, number, is_usable = heapq.heappop(self._events)
            if peer >= 0:
                self._arrive(last, process, peer, number, is_usable)
            else:
                self._go_on(last, process)
        if any(peer >= 0 for peer in self._waits):
            raise RuntimeError("a receive of the trace has no send")
        firsts = [min(self._ends[rank :: self._ranks]) for rank in range(self._ranks)]
        return Replayed(max(last, *self._ends), max(firsts), self._requests, self._messages)

    def _shares(self) -> int:
        """That a receiver hears of before a message is verified."""
        return 2 if self._method.sends_hashes else self._degree

    def _push(
        self, time: float, process: int, peer: int = -1, number: int = 0, is_usable: bool = False
    ) -> None:
        self._order += 1
        heapq.heappush(self._events, (time, self._order, process, peer, number, is_usable))

    def _go_on(self, now: float, process: int) -> None:
        """Until it sends or computes, so that all that happens is in the order of time."""
        steps = self._trace.ranks[process % self._ranks]
        while self._at[process] < len(steps):
            step = steps[self._at[process]]
            if step.kind == "receive":
                if not self._maybe_receive(now, process, step.peer):
                    return
                self._at[process] += 1
                continue
            self._at[process] += 1
            if step.kind == "compute":
                self._push(now + self._duration(process, step.amount), process)
            else:
                self._push(self._send(now, process, step.peer, step.amount), process)
            return
        self._ends[process] = max(self._ends[process], now)

    def _duration(self, process: int, weight: float) -> float:
        seconds = weight * self._compute_s * self._slowness.get(process, 1.0)
        return seconds * (1 + self._random.expovariate(1 / self._noise)) if self._noise else seconds

    def _send(self, now: float, process: int, peer: int, size: float) -> float:
        """When the sender goes on."""
        plane = process // self._ranks
        number = self._sent[process][peer]
        self._sent[process][peer] = number + 1
        method, degree = self._method, self._degree
        goes_on = now
        for step in range(degree):
            to = (plane + step) % degree
            is_hash = method.sends_hashes and step == 1
            if method.sends_hashes and step > 1:
                break
            is_usable = not is_hash and (to == plane or not method.is_lazy or method.first)
            bytes_sent = _HASH_BYTES if is_hash else size
            left, arrival = self._network.send(now, process, to * self._ranks + peer, bytes_sent)
            self._messages += 1
            arrival += self._cluster.overhead_s
            goes_on += self._cluster.overhead_s
            is_copied = method.is_lazy and not method.sends_hashes
            if bytes_sent > _EAGER_MAX and not is_copied:
                goes_on = max(goes_on, left)
            self._push(arrival, to * self._ranks + peer, process % self._ranks, number, is_usable)
        if degree > 1:
            goes_on += size * self._cluster.copy_s  # hashed, or copied
        return goes_on

    def _arrive(self, now: float, process: int, peer: int, number: int, is_usable: bool) -> None:
        inbox = self._inboxes[process][peer]
        inbox.heard[number] += 1
        inbox.usable[number] += is_usable
        if number < inbox.taken:
            self._maybe_free(now, inbox, number)
        if self._waits[process] == peer:
            self._go_on(now, process)

    def _maybe_receive(self, now: float, process: int, peer: int) -> bool:
        inbox = self._inboxes[process][peer]
        number = inbox.taken
        if self._waits[process] < 0:
            self._requests.append((now, 1))
        self._waits[process] = peer
        is_verified = inbox.heard[number] == self._due
        if not is_verified and not (self._method.is_lazy and inbox.usable[number] > 0):
            return False
        self._waits[process] = -1
        inbox.taken += 1
        self._maybe_free(now, inbox, number)
        return True

    def _maybe_free(self, now: float, inbox: _Inbox, number: int) -> None:
        if inbox.heard[number] == self._due:
            self._requests.append((now, -1))
            del inbox.heard[number], inbox.usable[number]


def compute_seconds(trace: Trace, cluster: Cluster, seconds: float) -> float:
    """How long a process computes if one replica, which waits for its messages, takes `seconds`; 0
    if the messages alone take longer."""
    found = 0.0
    for _ in range(6):
        found += seconds - Replay(trace, 1, "", cluster, found).run().seconds
        found = max(found, 0.0)
    return found
