"""Gossip times by search, as the paper chose them (section 4.1).

Checked Corrected Gossip: "for each process count, we empirically found gossiping time with a
minimum average latency in the fault-free case". Opportunistic: "the smallest gossiping time where
we observed no uncolored processes in 10^5 simulations"; the paper says so of 64K processes, and the
same is done here for all others. Who is reached by gossip after its end sends nothing, as in the
authors' simulator (late=end).
"""

import itertools
from collections.abc import Mapping

from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.scale import Scale
from resprout.experiments.reproduce.store import Campaign, Store, campaign

OPPORTUNISTIC_PROCS = (256, 1024, 4096, 16384, 65536)
CHECKED_PROCS = tuple(1 << bits for bits in range(4, 17))
# Around the latency of an optimal broadcast, which colors as fast as gossip could.
_BELOW, _ABOVE = 3, 8
# So much earlier gossip has colored a twentieth: some gap is longer than correction reaches.
_TOO_SHORT = 10
_LATENCY, _OVERHEAD = 2, 1


def checked_gossip(time: int) -> str:
    return f"corrected-gossip:time={time},late=end,correction=checked"


def opportunistic_gossip(time: int) -> str:
    return f"corrected-gossip:time={time},late=end,correction=opportunistic,d=4"


def optimal_latency(procs: int) -> int:
    """When an optimal broadcast with L = 2, o = 1 has colored everybody (section 3.2.3)."""
    hop = 2 * _OVERHEAD + _LATENCY
    colored = [1] * hop  # by time; who is colored at t sends in every tick from t on
    while colored[-1] < procs:
        colored.append(colored[-1] + colored[-hop])
    return len(colored) - 1


class GossipTimes:
    """Times by number of processes, searched when they are asked for."""

    def __init__(self, store: Store, scale: Scale, procs_max: int) -> None:
        self._store, self._scale, self._procs_max = store, scale, procs_max
        self._found: dict[str, dict[int, int]] = {}

    @property
    def checked(self) -> Mapping[int, int]:
        """Those with the least mean quiescence latency, fault-free."""
        if "checked" not in self._found:
            sizes = [procs for procs in CHECKED_PROCS if procs <= self._procs_max]
            self._found["checked"] = self._least_latency("fault_free", dict.fromkeys(sizes, "none"))
        return self._found["checked"]

    def checked_with_faults(self, faults: str) -> int:
        """Likewise for the largest broadcast with so many faults."""
        key = f"faults_{faults.rstrip('%')}"
        if key not in self._found:
            self._found[key] = self._least_latency(key, {self._procs_max: faults})
        return self._found[key][self._procs_max]

    @property
    def opportunistic(self) -> Mapping[int, int]:
        """The least with which nobody stayed uncolored, in opportunistic_runs() runs."""
        if "opportunistic" not in self._found:
            self._found["opportunistic"] = self._least_coloring()
        return self._found["opportunistic"]

    def opportunistic_runs(self) -> int:
        return self._scale.runs(1000, 100_000)

    def _least_latency(self, name: str, faults: Mapping[int, str]) -> dict[int, int]:
        """A window of times; it is moved while the best is at its edge."""
        runs = self._scale.runs(60, 1000)
        means: dict[int, dict[int, float]] = {procs: {} for procs in faults}
        wanted = {
            procs: range(max(1, (c := optimal_latency(procs)) - _BELOW), c + _ABOVE + 1)
            for procs in faults
        }
        for window in itertools.count(1):
            if not any(wanted.values()):
                break
            points = [
                Point(checked_gossip(time), procs, faults=faults[procs])
                for procs, times in wanted.items()
                for time in times
            ]
            search = campaign(f"gossip_search_{name}_{window}", points, runs)
            for procs, time, mean in self._means(search):
                means[procs][time] = mean
            wanted = {procs: _beyond_the_edge(found) for procs, found in means.items()}
        return {procs: min(found, key=found.__getitem__) for procs, found in means.items()}

    def _means(self, search: Campaign) -> list[tuple[int, int, float]]:
        self._store.simulate([search])
        sql = "SELECT procs, protocol, avg(quiescence_latency) FROM runs GROUP BY ALL"
        return [(procs, _time_of(spec), mean) for procs, spec, mean in self._store.ask(search, sql)]

    def _least_coloring(self) -> dict[int, int]:
        """Few runs rule out most times; only those that pass are run more often."""
        sizes = [procs for procs in OPPORTUNISTIC_PROCS if procs <= self._procs_max]
        times = {procs: max(1, optimal_latency(procs) - _TOO_SHORT) for procs in sizes}
        runs = self.opportunistic_runs()
        for stage in sorted({max(2, runs // 50), max(2, runs // 10), runs}):
            open_sizes = list(sizes)
            while open_sizes:
                points = [Point(opportunistic_gossip(times[p]), p) for p in open_sizes]
                name = "gossip_coloring_" + "_".join(str(times[p]) for p in open_sizes)
                tried = campaign(name, points, stage)
                self._store.simulate([tried])
                sql = "SELECT procs FROM runs GROUP BY procs HAVING max(uncolored) > 0"
                open_sizes = sorted(procs for (procs,) in self._store.ask(tried, sql))
                for procs in open_sizes:
                    times[procs] += 1
        return times


def _beyond_the_edge(means: Mapping[int, float]) -> range:
    """The times to try next; none if the best has neighbors on both sides."""
    best = min(means, key=means.__getitem__)
    if best == max(means):
        return range(best + 1, best + 1 + _ABOVE)
    if best == min(means) and best > 1:
        return range(max(1, best - _ABOVE), best)
    return range(0)


def _time_of(spec: str) -> int:
    return int(spec.partition("time=")[2].partition(",")[0])
