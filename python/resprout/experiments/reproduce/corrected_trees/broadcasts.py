"""The broadcasts that the paper compares, how they are drawn, and the campaigns that figures share.

Section 4: L = 2, o = 1; Lamé trees have k = 2; opportunistic correction sends up to 4 messages in
each direction.
"""

from typing import Any

from resprout import pictures
from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.experiment import Study
from resprout.experiments.reproduce.store import Campaign, campaign

TREES = {
    "binomial": "tree=binomial",
    "4-ary": "tree=kary,k=4",
    "Lamé": "tree=lame,k=2",
    "optimal": "tree=optimal",
}
COLORS = {
    "binomial": pictures.VERMILION,
    "4-ary": pictures.ORANGE,
    "Lamé": pictures.GREEN,
    "optimal": pictures.BLUE,
    "gossip": pictures.BLACK,
}
MARKS = {"binomial": "x", "4-ary": "s", "Lamé": "^", "optimal": "o", "gossip": "D"}
RATES = ("0.01%", "0.1%", "1%", "2%", "4%")
PAPER_RUNS = 100_000
CORRECTION_FAULT_FREE = 8
"""Ticks that synchronized checked correction takes without faults, L = 2, o = 1."""


def checked(tree: str, more: str = "") -> str:
    return f"corrected-tree:{TREES[tree]},correction=checked,start=synchronized{more}"


def optimized(tree: str, more: str = "", d: int = 4) -> str:
    spec = f"corrected-tree:{TREES[tree]},correction=optimized-opportunistic,d={d}"
    return f"{spec},start=overlapped{more}"


def opportunistic(tree: str, more: str = "", d: int = 4) -> str:
    spec = f"corrected-tree:{TREES[tree]},correction=opportunistic,d={d}"
    return f"{spec},start=overlapped{more}"


def acknowledged(tree: str) -> str:
    return f"acknowledged-tree:{TREES[tree]}"


def tree_of(spec: str) -> str:
    return next(name for name, option in TREES.items() if option in spec)


def kind_of(spec: str) -> str:
    """How a broadcast is made reliable."""
    if spec.startswith("acknowledged"):
        return "acknowledged"
    return "opportunistic" if "opportunistic" in spec else "checked"


def percent(faults: str) -> float:
    return float(faults.removesuffix("%"))


def sizes(study: Study) -> list[int]:
    """The numbers of processes of figures 6, 7 and 14."""
    return [1 << bits for bits in range(4, 17) if 1 << bits <= study.procs_max]


def fault_free(study: Study) -> Campaign:
    """Every tree with every kind of reliability. No chance in it: twice shows that."""
    points = [
        Point(spec, procs)
        for procs in sizes(study)
        for tree in TREES
        for spec in (checked(tree), optimized(tree), acknowledged(tree))
    ]
    return campaign("fault_free", points, 2)


def gossip_fault_free(study: Study) -> Campaign:
    from resprout.experiments.reproduce.gossip import checked_gossip

    times = study.gossip.checked
    points = [Point(checked_gossip(times[procs]), procs) for procs in sizes(study)]
    return campaign("gossip", points, study.scale.runs(300, 10_000))


def opportunistic_gossip_fault_free(study: Study) -> Campaign:
    from resprout.experiments.reproduce.gossip import opportunistic_gossip

    times = study.gossip.opportunistic
    points = [Point(opportunistic_gossip(time), procs) for procs, time in times.items()]
    return campaign("gossip_opportunistic", points, study.scale.runs(100, 10_000))


def resilience(study: Study) -> Campaign:
    """The two million broadcasts of section 4.3: computed, so always at the paper's size."""
    points = [
        Point(checked(tree), study.procs_max, faults=rate) for tree in TREES for rate in RATES
    ]
    return campaign("resilience", points, study.scale.runs(PAPER_RUNS, PAPER_RUNS))


def least_failures(study: Study) -> str:
    """So many are 0.01 % in the authors' script, which divides integers: 6 of 65536.

    6.55 are nearer to 7, with which the campaigns are. At other rates rounding changes nothing.
    """
    return str(study.procs_max // 10_000)


def resilience_run(study: Study) -> Campaign:
    points = [Point(checked(tree), study.procs_max, faults=least_failures(study)) for tree in TREES]
    return campaign("resilience_run", points, study.scale.runs(PAPER_RUNS, PAPER_RUNS))


def resilience_of_gossip(study: Study) -> Campaign:
    """With the gossip time that is best without faults."""
    from resprout.experiments.reproduce.gossip import checked_gossip

    spec = checked_gossip(study.gossip.checked[study.procs_max])
    points = [Point(spec, study.procs_max, faults=rate) for rate in ("none", *RATES)]
    return campaign("resilience_of_gossip", points, study.scale.runs(500, PAPER_RUNS))


def with_rates(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The rows of one broadcast by rising fault rate."""
    own = [row for row in rows if row["broadcast"] == name]
    return sorted(own, key=lambda row: float(row["percent"]))
