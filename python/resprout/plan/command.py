"""The command `resprout plan`."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from resprout import native
from resprout.advise.durations import read_duration
from resprout.errors import UserError
from resprout.plan.hosts import ORDERS, Host, read_hosts
from resprout.plan.missed import Chances, Estimate, System, expected, negligible, sample

TREES = ("tree=binomial", "tree=kary,k=4", "tree=lame,k=2", "tree=optimal")
DISTANCE_MAX = 8
_PROCS_MAX = 1 << 16
_SEED = 1


@dataclass(frozen=True)
class Asked:
    """Unchecked."""

    hosts: Path
    order: Path | None
    target: float
    noticed: str
    rank_mean: str
    host_mean: str
    rack_mean: str
    latency: int
    overhead: int
    samples: int


@dataclass(frozen=True)
class Choice:
    """The least distance with which one tree in one order keeps the target."""

    tree: str
    order: str
    distance: int | None
    """None: none up to DISTANCE_MAX does."""
    expected: float | None
    """Ranks that a broadcast misses on average."""
    ticks: int | None
    """Until all is silent, without failures."""


def plan(asked: Asked, as_json: bool) -> int:
    hosts = _hosts_of(asked)
    chances = _chances_of(asked)
    systems = _systems(hosts, chances, asked)
    choices = [_choose(key, system, asked) for key, system in systems.items()]
    choices.sort(key=lambda choice: (choice.distance or DISTANCE_MAX + 1, choice.ticks or 0))
    best = choices[0]
    estimate = None
    if best.distance is not None and asked.samples > 0:
        system = systems[best.tree, best.order]
        simulator = Simulator(best.tree, system.procs, best.distance, asked.latency, asked.overhead)
        small = negligible(asked.target, system.procs)
        estimate = sample(system, best.distance, simulator.missed, asked.samples, _SEED, small)
    procs = sum(host.slots for host in hosts)
    if as_json:
        value = {
            "schema": 1,
            "procs": procs,
            "chances": asdict(chances),
            "target": asked.target,
            "choices": [asdict(choice) for choice in choices],
            "sampled": None if estimate is None else asdict(estimate),
        }
        print(json.dumps(value, indent=2))
    else:
        _show(procs, len(hosts), chances, choices, estimate, asked)
    return 0


def _hosts_of(asked: Asked) -> list[Host]:
    """Refuses what is out of range."""
    if not 0 < asked.target < 1:
        raise UserError(f"--target: {asked.target:g} is not between 0 and 1")
    hosts = read_hosts(asked.hosts, asked.order)
    procs = sum(host.slots for host in hosts)
    if not 3 <= procs <= _PROCS_MAX:
        raise UserError(f"{asked.hosts}: {procs} slots are not from 3 to {_PROCS_MAX}")
    return hosts


def _systems(
    hosts: Sequence[Host], chances: Chances, asked: Asked
) -> dict[tuple[str, str], System]:
    """By tree and order."""
    placed = {
        name: place(hosts)
        for name, place in ORDERS.items()
        if name != "rack" or any(host.rack for host in hosts)
    }
    systems = {}
    for tree in TREES:
        parents = parents_of(tree, sum(h.slots for h in hosts), asked.latency, asked.overhead)
        for name, ranks in placed.items():
            systems[tree, name] = System(ranks, parents, chances)
    return systems


def _chances_of(asked: Asked) -> Chances:
    noticed = read_duration("--noticed-after", asked.noticed)
    means = (
        ("--rank-mtbf", asked.rank_mean),
        ("--host-mtbf", asked.host_mean),
        ("--rack-mtbf", asked.rack_mean),
    )
    return Chances(*(-math.expm1(-noticed / read_duration(*mean)) for mean in means))


def parents_of(tree: str, procs: int, latency: int, overhead: int) -> list[int]:
    """By rank; of the root itself 0. What a simulated broadcast without failures shows."""
    simulation = native.Simulation(
        f"corrected-tree:{tree},correction=none",
        procs=procs, latency=latency, overhead=overhead, trace=True,
    )  # fmt: skip
    parents = [0] * procs
    for message in simulation.run()["trace"]["messages"]:
        parents[message["to"]] = message["from"]
    return parents


def _spec(tree: str, distance: int) -> str:
    return f"corrected-tree:{tree},correction=opportunistic,d={distance}"


class Simulator:
    """Broadcasts that are simulated, message by message or computed (docs/explanation/exact.md)."""

    def __init__(self, tree: str, procs: int, distance: int, latency: int, overhead: int) -> None:
        self._simulation = native.Simulation(
            _spec(tree, distance),
            procs=procs, latency=latency, overhead=overhead, digest=False,
        )  # fmt: skip

    def missed(self, dead: Sequence[int]) -> int:
        """How many live ranks a broadcast does not reach if these are dead from the start."""
        faults = ",".join(map(str, dead)) + "," if dead else "none"
        return self._simulation.run(faults=faults)["uncolored"]


def _choose(key: tuple[str, str], system: System, asked: Asked) -> Choice:
    tree, order = key
    for distance in range(1, DISTANCE_MAX + 1):
        if 2 * distance + 1 > system.procs:
            break
        small = negligible(asked.target, system.procs)
        missed = expected(system, distance, asked.target, small)
        if missed <= asked.target:
            run = native.Simulation(
                _spec(tree, distance),
                procs=system.procs, latency=asked.latency, overhead=asked.overhead,
            ).run()  # fmt: skip
            return Choice(tree, order, distance, missed, run["quiescence_latency"])
    return Choice(tree, order, None, None, None)


def _show(
    procs: int,
    host_count: int,
    chances: Chances,
    choices: list[Choice],
    estimate: Estimate | None,
    asked: Asked,
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    print(
        f"{procs} ranks on {host_count} hosts; failed when a broadcast begins: a rank with "
        f"{chances.rank:.1e}, a host with {chances.host:.1e}, a rack with {chances.rack:.1e}"
    )
    console = Console(highlight=False)
    if not sys.stdout.isatty():
        console.width = 120
    table = Table(
        *("tree", "ranks dealt by", "d", "missed a broadcast", "ticks"),
        box=box.SIMPLE_HEAD, pad_edge=False,
    )  # fmt: skip
    for choice in choices:
        if choice.distance is None:
            cells = (f"none up to {DISTANCE_MAX}", "", "")
        else:
            cells = (str(choice.distance), f"{choice.expected or 0:.1e}", str(choice.ticks))
        table.add_row(choice.tree, choice.order, *cells)
    console.print(table)
    best = choices[0]
    if best.distance is None:
        print(f"no choice keeps the target of {asked.target:.1e}")
        return
    print(f"choose {_spec(best.tree, best.distance)}, ranks dealt by {best.order}")
    if estimate is None:
        return
    print(
        f"sampled: somebody is missed with {estimate.chance:.2e} ± {estimate.error:.0e} "
        f"({asked.samples} simulated broadcasts that miss somebody)"
    )
    if estimate.contradictions:
        print(f"a defect of Resprout: {estimate.contradictions} of them missed nobody")
