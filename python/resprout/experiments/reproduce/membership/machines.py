"""The paper's two machines (section 5), and the protocol simulated on them."""

from dataclasses import dataclass
from statistics import correlation, median

from resprout import native
from resprout.experiments.reproduce.experiment import Row, Study
from resprout.experiments.reproduce.measured import bench_rows
from resprout.experiments.reproduce.membership import models

O_CP = 2.0
"""Microseconds, on both (section 7)."""
TORUS_L = 4.6
"""Of a hop on BlueGene/L (section 7.1)."""
TORUS_O = 2.0
"""Microseconds that a task takes for a message that it sends or receives. The paper does not say;
it is as long as O_cp here."""
TORUS_SIZES = tuple(1 << bits for bits in range(2, 11))
ETHERNET_L = 118.0
"""Of XTORC (section 7.2)."""
ETHERNET_NODES = 47
PAIRS_BEAR = 12
"""So many nodes the switch handles well in pairs (section 7.2)."""
SERVICE = ETHERNET_L / (PAIRS_BEAR / 2)
"""That follows: six messages that are always on their way keep the switch just busy."""
REAL_SIZES = (3, 5, 7, 11, 15, 16, 21, 22, 27, 31, 32, 39, 47)
REAL_RADIXES = (2, 4)


@dataclass(frozen=True)
class Spread:
    """Over the victims, in microseconds."""

    lowest: float
    median: float
    highest: float
    runs: int


def simulate(
    study: Study, procs: int, radix: int, network: str, talkers: int = 0, overhead: float = 0.0
) -> Spread:
    """T_s of the protocol, for dead members all over the tree but the root.

    The models count the dead one, so none is taken that leaves a tree of fewer levels.
    """
    able = [member for member in range(1, procs) if models.keeps_height(procs, radix, member)]
    count = min(len(able), study.scale.runs(31, procs - 1))
    victims = [able[place * len(able) // count] for place in range(count)]
    is_torus = network == "torus"
    times = [
        native.stabilize(
            procs=procs,
            radix=radix,
            victim=victim,
            network=network,
            latency=_ns(TORUS_L if is_torus else ETHERNET_L),
            processing=_ns(O_CP),
            service=0 if is_torus else _ns(SERVICE),
            talkers=talkers,
            overhead=_ns(overhead),
        )["stabilized"]
        / 1e3
        for victim in victims
    ]
    return Spread(min(times), median(times), max(times), len(times))


def simulate_contention(nodes: int, children: int) -> float:
    """Microseconds."""
    times = {"latency": _ns(ETHERNET_L), "service": _ns(SERVICE)}
    return native.contention_latency(nodes, children, **times) / 1e3


def _ns(us: float) -> int:
    return round(us * 1e3)


def measured(study: Study, radix: int) -> list[Row]:
    """T_s of members of this machine over TCP on the loopback, by `resprout bench membership`."""
    sizes = REAL_SIZES if study.scale.divisor == 1 else REAL_SIZES[:2]
    repetitions = study.scale.runs(5, 30)
    name = f"tcp-{len(sizes)}-{repetitions}"
    rows = study.store.keep(name, lambda: _measure(sizes, repetitions))
    return [row for row in rows if row["radix"] == radix and row["victim"] == "member"]


def _measure(sizes: tuple[int, ...], repetitions: int) -> list[Row]:
    words = ["--members", ",".join(map(str, sizes)), "--radix", ",".join(map(str, REAL_RADIXES))]
    words += ["--groups", "1", "--repetitions", str(repetitions)]
    return bench_rows("membership", words)


def linearity(xs: list[float], ys: list[float]) -> float:
    """R^2 of a straight line through the points."""
    return correlation(xs, ys) ** 2
