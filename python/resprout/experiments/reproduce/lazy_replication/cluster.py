"""The paper's two clusters: nodes behind a switch, each with one link of 1 Gb/s in each direction.

Delays, with their deviations, are half of what `ping` said (Lazy Fault Detection, appendix A.1).
What the paper does not say is ours: what a message costs a processor, and how fast memory is.
Thread rule: one thread.
"""

import random
from dataclasses import dataclass, field

_LINK = 1e9 / 8  # bytes a second


@dataclass(frozen=True)
class Cluster:
    per_node: int
    """Processes on a node."""
    delay_s: float
    deviation_s: float
    copy_s: float
    """A byte within a node, and a byte that is hashed."""
    overhead_s: float
    """Of a processor, for each message that it sends or receives."""


CLUSTERS = {
    1: Cluster(12, 0.22e-3 / 2, 0.10e-3 / 2**0.5, 0.4e-9, 10e-6),
    2: Cluster(4, 0.62e-3 / 2, 0.23e-3 / 2**0.5, 1.2e-9, 25e-6),
}


@dataclass
class Network:
    """Messages one after the other, each as early as links and connections allow.

    A link carries one message at a time, in the order in which they are sent. Messages of one
    connection do not overtake one another.
    """

    cluster: Cluster
    random: random.Random
    _out: dict[int, float] = field(default_factory=dict)  # by node: the link is free from then on
    _in: dict[int, float] = field(default_factory=dict)
    _last: dict[tuple[int, int], float] = field(default_factory=dict)  # arrival, by connection

    def send(self, now: float, source: int, target: int, size: float) -> tuple[float, float]:
        """When the last byte has left the sender, and when it is there. REQUIRES: `now` never
        falls."""
        cluster = self.cluster
        nodes = (source // cluster.per_node, target // cluster.per_node)
        if nodes[0] == nodes[1]:
            left = now + size * cluster.copy_s
            arrival = left + 1e-6
        else:
            took = size / _LINK
            left = max(now, self._out.get(nodes[0], 0.0)) + took
            self._out[nodes[0]] = left
            arrival = max(left + self._delay(), self._in.get(nodes[1], 0.0) + took)
            self._in[nodes[1]] = arrival
        arrival = max(arrival, self._last.get((source, target), 0.0))
        self._last[source, target] = arrival
        return left, arrival

    def _delay(self) -> float:
        mean, deviation = self.cluster.delay_s, self.cluster.deviation_s
        shape = (mean / deviation) ** 2
        return self.random.gammavariate(shape, mean / shape)
