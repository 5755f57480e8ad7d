"""The trees themselves, as the simulator's messages show them, and Definition 1."""

from collections.abc import Iterator, Mapping

from resprout import native

Parents = Mapping[int, int]


def parents_of(tree: str, procs: int, latency: int = 2, overhead: int = 1) -> Parents:
    """Who sends to each process but the root, 0."""
    messages = native.Simulation(
        f"corrected-tree:{tree},correction=none",
        procs=procs,
        latency=latency,
        overhead=overhead,
        trace=True,
    ).run()["trace"]["messages"]
    return {message["to"]: message["from"] for message in messages}


def violations_of_definition_1(parents: Parents) -> int:
    """Pairs of neighbors on the ring of some subtree that it forbids.

    "A tree is interleaved iff for any of its subtrees T_s and a ring R_s comprising the nodes of
    T_s, any adjacent pair of distinct nodes in R_s either descend from each other or their only
    common ancestor is root(T_s)."
    """
    lines = {rank: list(_ancestors(rank, parents)) for rank in (0, *parents)}
    subtrees: dict[int, list[int]] = {}
    for rank in sorted(lines):
        for ancestor in lines[rank]:
            subtrees.setdefault(ancestor, []).append(rank)
    wrong = 0
    for root, ring in subtrees.items():
        for left, right in zip(ring, [*ring[1:], ring[0]], strict=True):
            if left in lines[right] or right in lines[left]:
                continue
            meeting = next(a for a in lines[left] if a in lines[right])
            wrong += meeting != root
    return wrong


def _ancestors(rank: int, parents: Parents) -> Iterator[int]:
    """The process itself first, then upwards to the root."""
    yield rank
    while rank in parents:
        rank = parents[rank]
        yield rank
