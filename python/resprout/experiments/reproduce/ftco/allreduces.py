"""The allreduces that the paper simulates, and the campaigns that figures share.

Section 5.2: L = 10, o = 1, in steps of o; k-nomial trees, several roots, 1K to 64K processes.
"""

from collections.abc import Iterable

from resprout.experiments.campaign.plan import NONE, Point
from resprout.experiments.reproduce.experiment import Study
from resprout.experiments.reproduce.store import Campaign, campaign

LATENCY, OVERHEAD = 10, 1
PLACEMENTS = 10_000
"""Of inactive processes, for each point of the paper's figures 8 and 9."""
FAULTS = (1, 10, 100)
BEST_K = {1024: 11, 2048: 12, 4096: 9, 8192: 10, 16384: 12, 32768: 9, 65536: 9}
"""By number of processes: with which the authors' public results of faults were made."""
RADICES = range(2, 21)
"""Among which the authors' simulator searches: below 2 L + 1."""
# Processes that are simulated for a point, and the fewest runs of it.
_PROCESSES, _RUNS_MIN = 1 << 21, 100


def allreduce(k: int, roots: str = "multi", tree: str = "knomial", more: str = "") -> str:
    return f"ftco-allreduce:tree={tree},k={k},roots={roots},detection=in-band{more}"


def point(spec: str, procs: int, faults: str = NONE, late: str = NONE) -> Point:
    return Point(spec, procs, LATENCY, OVERHEAD, faults=faults, late=late)


def sizes(study: Study) -> list[int]:
    return [procs for procs in BEST_K if procs <= study.procs_max]


def by_size(
    study: Study, name: str, faults: Iterable[str], full: int, share: int = 1
) -> list[Campaign]:
    """A campaign for each size: fewer runs of the larger ones, a `share`-th of the usual number."""
    texts = list(faults)
    return [
        campaign(
            f"{name}_{procs}",
            [point(allreduce(BEST_K[procs]), procs, text) for text in texts],
            study.scale.runs(max(_RUNS_MIN, _PROCESSES // procs) // share, full),
        )
        for procs in sizes(study)
    ]


def fault_free(study: Study) -> Campaign:
    """No chance in it: twice shows that."""
    points = [point(allreduce(BEST_K[procs]), procs) for procs in sizes(study)]
    return campaign("fault_free", points, 2)


def inactive(study: Study) -> list[Campaign]:
    """Figures 8 and 9: processes that are dead from the beginning."""
    return by_size(study, "inactive", map(str, FAULTS), PLACEMENTS)


def optimal_latency(procs: int) -> int:
    """Of an allreduce: up and down the optimal trees of k roots that tell each other, best k."""
    return min(_exchange(k) + 2 * _optimal_broadcast(-(-procs // k)) for k in (1, *RADICES))


def _exchange(roots: int) -> int:
    """Each root sends to all others, one a step, then receives as many."""
    sends = (roots - 1) * OVERHEAD
    return max(sends, LATENCY + OVERHEAD) + sends if roots > 1 else 0


def _optimal_broadcast(procs: int) -> int:
    hop = 2 * OVERHEAD + LATENCY
    reached = [1] * hop  # by time; who has it at t sends in every step from t on
    while reached[-1] < procs:
        reached.append(reached[-1] + reached[-hop])
    return len(reached) - 1
